import { expect, test } from "vitest";

import { diffCounts, lineDiff, marksOf } from "./diff";
import { readInput } from "./tool";

const SIGN = { same: " ", added: "+", removed: "-", gap: "" } as const;
const drawn = (before: string, after: string): string[] => lineDiff(before, after).map((line) => SIGN[line.kind] + line.text);

test("only what changed is marked", () => {
  expect(drawn("a\nb\nc\n", "a\nB\nc\nd\n")).toEqual([" a", "-b", "+B", " c", "+d"]);
  expect(drawn("", "a\n")).toEqual(["+a"]);
  expect(drawn("a", "a")).toEqual([" a"]);
});

test("applying the marked lines turns one text into the other", () => {
  const before = Array.from({ length: 60 }, (_, i) => `line ${(i * 7) % 13}`).join("\n");
  const after = Array.from({ length: 60 }, (_, i) => `line ${(i * 5) % 11}`).join("\n");
  const lines = lineDiff(before, after);
  expect(lines.filter((line) => line.kind !== "added").map((line) => line.text).join("\n")).toBe(before);
  expect(lines.filter((line) => line.kind !== "removed").map((line) => line.text).join("\n")).toBe(after);
});

test("very large edits stay quick, and complete", () => {
  const before = Array.from({ length: 3000 }, (_, i) => `a${i}`).join("\n");
  const after = Array.from({ length: 3000 }, (_, i) => `b${i}`).join("\n");
  expect(diffCounts(lineDiff(before, after))).toEqual({ added: 3000, removed: 3000 });
});

test("edits are shown as diffs, commands as commands, the rest as JSON", () => {
  expect(readInput("Edit", '{"file_path":"/a","old_string":"x","new_string":"y"}')).toMatchObject({ as: "diff", path: "/a" });
  expect(readInput("MultiEdit", '{"file_path":"/a","edits":[{"old_string":"x","new_string":"y"},null]}')).toMatchObject({ as: "diff", lines: [{ kind: "removed" }, { kind: "added" }] });
  expect(readInput("Write", '{"file_path":"/a","content":"x\\ny"}')).toMatchObject({ as: "diff", lines: [{ kind: "added" }, { kind: "added" }] });
  expect(readInput("Bash", '{"command":"ls -l","description":"d"}')).toEqual({ as: "text", text: "ls -l" });
  expect(readInput("Grep", '{"pattern":"x"}')).toEqual({ as: "text", text: '{\n  "pattern": "x"\n}' });
});

test.each(['{"command": "cut', "null", "[1]", ""])("input that is no object is shown unchanged: %j", (input) => {
  expect(readInput("Bash", input)).toEqual({ as: "text", text: input });
});

test("a line that replaces another is marked where its words differ", () => {
  const lines = (removed: string[], added: string[]) => [...removed.map((text) => ({ kind: "removed" as const, text })), ...added.map((text) => ({ kind: "added" as const, text }))];
  const marked = (...of: [string[], string[]]) => {
    const all = lines(...of);
    return [...marksOf(all)].map(([at, [from, to]]) => all[at]!.text.slice(from, to));
  };
  expect(marked(["let total = one + two;"], ["let total = one + three;"])).toEqual(["two", "three"]);
  expect(marked(["a b", "c d"], ["a x", "c y"])).toEqual(["b", "x", "d", "y"]);
  expect(marked(["return value"], ["if (broken) throw new Error()"]), "other lines").toEqual([]);
  expect(marked(["one line"], ["one line", "and one more"]), "no pairs").toEqual([]);
  expect(marked(["x"], ["x;"]), "what was empty before has no mark of its own").toEqual(["", ";"]);
});

import { expect, test } from "vitest";

import type { Hit } from "./bindings/Hit";
import { manyRows } from "./host/mock/rows";
import { choicesFor, projectName, speakerOf } from "./palette";

const commands = [{ name: "Keyboard", run: () => undefined }];
const hit: Hit = { sessionId: "s", workChainId: "w", role: "tool_result", tool: "Bash", snippet: "x", snippetParts: [], project: "/home/dev/api", score: 1, offset: 0 };

test("sessions come before commands, and at most fifty of them", () => {
  const [sessions, rest] = choicesFor("", manyRows(200), commands);
  expect(sessions?.choices).toHaveLength(50);
  expect(rest?.choices.map((choice) => choice.kind)).toEqual(["command"]);
});

test("all words must occur", () => {
  const kinds = (text: string) => choicesFor(text, manyRows(30), commands).flatMap((group) => group.choices.map((choice) => choice.kind));
  expect(kinds("fix flaky scheduler")).toEqual(["session"]);
  expect(kinds("keyb")).toEqual(["command"]);
  expect(kinds("nothing of the kind")).toEqual([]);
});

test("what was found in the history comes last, since it comes later, and leaves room for itself", () => {
  const groups = choicesFor("e", manyRows(200), commands, [hit, { ...hit, offset: 7 }]);
  expect(groups.map((group) => [group.name, group.choices.length])).toEqual([
    ["Sessions", 8],
    ["Commands", 1],
    ["History", 2],
  ]);
  const ids = groups.flatMap((group) => group.choices.map((choice) => choice.id));
  expect(new Set(ids).size).toBe(ids.length);
});

test("who said it, and where", () => {
  expect(speakerOf(hit)).toBe("Output of Bash");
  expect(speakerOf({ ...hit, role: "tool_input" })).toBe("Bash");
  expect(speakerOf({ ...hit, role: "answer", agentId: "a7c1" })).toBe("Answer, subagent");
  expect(speakerOf({ ...hit, role: "something new" })).toBe("something new");
  expect([projectName("/home/dev/api/"), projectName("-home-dev-api"), projectName("")]).toEqual(["api", "-home-dev-api", ""]);
});

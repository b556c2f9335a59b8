import { expect, test } from "vitest";

import type { Hit } from "./bindings/Hit";
import { manyRows } from "./host/mock/rows";
import { choicesFor, hitWords, projectName, speakerOf } from "./palette";

const commands = [{ name: "Keyboard", run: () => undefined }];
const hit: Hit = { sessionId: "s", workChainId: "w", role: "tool_result", tool: "Bash", snippet: "x", snippetParts: [], project: "/home/dev/api", score: 1, offset: 0 };

test("sessions come before commands, and at most fifty of them", () => {
  const [sessions, rest] = choicesFor({ words: "", sessions: manyRows(200), commands });
  expect(sessions?.choices).toHaveLength(50);
  expect(rest?.choices.map((choice) => choice.kind)).toEqual(["command"]);
});

test("all words must occur", () => {
  const kinds = (text: string) => choicesFor({ words: text, sessions: manyRows(30), commands }).flatMap((group) => group.choices.map((choice) => choice.kind));
  expect(kinds("fix flaky scheduler")).toEqual(["session"]);
  expect(kinds("keyb")).toEqual(["command"]);
  expect(kinds("nothing of the kind")).toEqual([]);
});

test("of commands with one name the first counts", () => {
  const [group] = choicesFor({ words: "", sessions: [], commands: [...commands, ...commands] });
  expect(group?.choices.map(({ id }) => id)).toEqual(["c-Keyboard"]);
});

test("search hits come last, and fewer sessions leave room for them", () => {
  const groups = choicesFor({ words: "e", sessions: manyRows(200), commands, hits: [hit, { ...hit, offset: 7 }] });
  expect(groups.map((group) => [group.name, group.choices.length])).toEqual([
    ["Sessions", 8],
    ["Commands", 1],
    ["History", 2],
  ]);
  const ids = groups.flatMap((group) => group.choices.map((choice) => choice.id));
  expect(new Set(ids).size).toBe(ids.length);
});

test("recent choices come first while nothing is typed, once each, and only if they still exist", () => {
  const sessions = manyRows(30);
  const third = `s-${sessions[2]?.sessionId}`;
  const groups = choicesFor({ words: "", sessions, commands, recent: ["c-Keyboard", "s-gone", third] });
  expect(groups.map((group) => group.name)).toEqual(["Recent", "Sessions"]);
  expect(groups[0]?.choices.map((choice) => choice.id)).toEqual(["c-Keyboard", third]);
  expect(groups[1]?.choices).toHaveLength(29);
  expect(choicesFor({ words: "keyb", sessions, commands, recent: [third] }).map((group) => group.name)).toEqual(["Commands"]);
});

test("with a filter only the history is searched", () => {
  const groups = choicesFor({ words: "fix", narrowed: true, sessions: manyRows(30), commands, hits: [hit] });
  expect(groups.map((group) => group.name)).toEqual(["History"]);
});

test("a hit shows its speaker and its project", () => {
  expect(speakerOf(hit)).toBe("Output of Bash");
  expect(speakerOf({ ...hit, role: "tool_input" })).toBe("Bash");
  expect(speakerOf({ ...hit, role: "answer", agentId: "a7c1" })).toBe("Answer, subagent");
  expect(speakerOf({ ...hit, role: "something new" })).toBe("something new");
  expect([projectName("/home/dev/api/"), projectName("-home-dev-api"), projectName("")]).toEqual(["api", "-home-dev-api", ""]);
});

test("a hit is one text for screen readers, with invisible characters shown", () => {
  const parts = [{ text: "run the ", found: false }, { text: "release\u202e", found: true }];
  expect(hitWords({ ...hit, snippetParts: parts, title: "Ship it" }, 0)).toBe("run the release⟨202E⟩, Output of Bash, Ship it, api");
});

import { expect, test } from "vitest";

import type { FocusAnswer } from "./bindings/FocusAnswer";
import { MockHost } from "./host/mock/mock";
import { everydayRows } from "./host/mock/rows";
import { focusResultOf, Terminal } from "./terminal.svelte";

const answer = (rest: Partial<FocusAnswer>): FocusAnswer => ({ sessionId: "a", outcome: "notPossible", ...rest });

test("each outcome has its words, and a command that helps", () => {
  expect(focusResultOf(answer({ outcome: "focused", by: "tmux in kitty" }))).toEqual({ words: "Brought to the front by tmux in kitty" });
  expect(focusResultOf(answer({ outcome: "windowOnly", by: "VS Code", reason: "Editors keep their tabs." })).words).toBe(
    "Its window is in front, by VS Code. Editors keep their tabs.",
  );
  const detached = answer({ reason: "Shown nowhere.", attachCommand: "tmux attach -t '=w'", resumeCommand: "claude --resume a" });
  expect(focusResultOf(detached)).toEqual({ words: "Shown nowhere.", command: "tmux attach -t '=w'", commandIs: "attach" });
  expect(focusResultOf(answer({ reason: "It has ended.", resumeCommand: "claude --resume a" })).commandIs).toBe("resume");
});

test("a terminal that has not answered is not asked again, and an answer belongs to its session", async () => {
  const [first, second] = everydayRows();
  if (first === undefined || second === undefined) throw new Error("there are rows");
  const host = new MockHost({ rows: [first, second] });
  const terminal = new Terminal(host);
  const one = terminal.focus(first.sessionId);
  expect(terminal.isAsked(first.sessionId)).toBe(true);
  void terminal.focus(first.sessionId);
  const two = terminal.focus(second.sessionId);
  await Promise.all([one, two]);
  expect(host.focused).toEqual([first.sessionId, second.sessionId]);
  expect(terminal.result(first.sessionId)).toBeUndefined();
  expect(terminal.result(second.sessionId)?.words).not.toBe("");
});

test("a refusal of the host is shown", async () => {
  const terminal = new Terminal(new MockHost({ rows: [] }));
  await terminal.focus("gone");
  expect(terminal.result("gone")?.words).toContain("gone");
});

import { describe, expect, test } from "vitest";

import type { TrackedSession } from "../bindings/TrackedSession";
import { row } from "../host/mock/rows";
import { glyphOf, nowOf, placeOf, stateWords, titleOf } from "./words";

const of = (sketch: Partial<TrackedSession>): TrackedSession => row({ sessionId: "1234567890", ...sketch });
const said = (sketch: Partial<TrackedSession>): string => {
  const now = nowOf(of(sketch));
  return [now.lead, now.code].filter(Boolean).join(" ");
};

describe("the current activity", () => {
  const asks = { state: "waiting_for_approval" } as const;
  test.each<[string, Partial<TrackedSession>, string]>([
    ["permission to run", { ...asks, stateKind: "permission", pendingTool: { tool: "Bash", target: "rm -rf build" } }, "wants to run: rm -rf build"],
    ["permission to edit", { ...asks, pendingTool: { tool: "Edit", target: "src/a.rs" } }, "wants to edit: src/a.rs"],
    ["permission for an unknown tool", { ...asks, pendingTool: { tool: "mcp__x", target: "y" } }, "wants to use mcp__x: y"],
    ["permission without a tool", asks, "waits for approval"],
    ["a question", { ...asks, stateKind: "question", pendingTool: { tool: "AskUserQuestion", target: "Which colour?" } }, "asks: Which colour?"],
    ["a question without words", { ...asks, stateKind: "question" }, "asks a question"],
    ["a plan", { ...asks, stateKind: "plan" }, "wants a verdict on its plan"],
    ["a tool that runs", { state: "working", pendingTool: { tool: "Bash", target: "cargo test" } }, "Bash: cargo test"],
    ["compaction", { state: "working", stateKind: "compacting", pendingTool: { tool: "Bash", target: "x" } }, "compacting"],
    ["a retry", { state: "working", stateKind: "retrying", error: "retrying, 429, 3 of 10" }, "retrying, 429, 3 of 10"],
    ["a retry that says only why", { state: "working", stateKind: "retrying", error: "429" }, "retrying: 429"],
    ["a retry of which nothing is known", { state: "working", stateKind: "retrying" }, "retrying"],
    ["an error", { stateKind: "error", error: "API Error: `529` **Overloaded**" }, "API Error: 529 Overloaded"],
    ["an error of which nothing is known", { stateKind: "error" }, "failed"],
    ["a limit", { stateKind: "limit", error: "5-hour limit reached, resets 15:40" }, "5-hour limit reached, resets 15:40"],
    ["what came of a turn", { stateKind: "turn_ended", summary: "Done", outcome: { files: 4, passed: false, seconds: 690 } }, "4 files, tests fail, 11 min"],
    ["a limit of which nothing is known", { stateKind: "limit" }, "usage limit reached"],
    ["nothing yet", { state: "working" }, "thinking"],
    ["the end of a turn", { title: "t", stateKind: "turn_ended", summary: "All tests pass." }, "All tests pass."],
    ["an answer in Markdown", { title: "t", stateKind: "turn_ended", summary: "## **All** `cargo` tests [pass](x)" }, "All cargo tests pass"],
    ["an interruption", { stateKind: "interrupted", summary: "x" }, "interrupted"],
    ["a crash", { state: "ended", stateKind: "crashed" }, "the process died"],
    ["a background task", { state: "idle", backgroundTasks: 2 }, "2 background tasks running"],
    ["a blocked task", { title: "t", stateKind: "blocked", summary: "The **keys** are missing." }, "blocked: The keys are missing."],
    ["a blocked task of which nothing is known", { title: "t", stateKind: "blocked" }, "blocked"],
    ["a completed task", { title: "t", stateKind: "completed", summary: "All of it." }, "All of it."],
    ["a completed task of which nothing is known", { title: "t", stateKind: "completed" }, "completed"],
    ["an end", { state: "ended" }, "ended"],
    ["a tool named like an object's member", { ...asks, pendingTool: { tool: "constructor", target: "" } }, "wants to use constructor"],
  ])("%s", (_, sketch, words) => expect(said(sketch)).toBe(words));

  test("does not repeat a title made of the summary", () => {
    expect(said({ summary: "All tests pass." })).toBe("done");
  });

  test("shows characters that would reverse a command", () => {
    expect(said({ ...asks, pendingTool: { tool: "Bash", target: "a\u202eb\u0007\nc" } })).toBe("wants to run: a⟨202E⟩b⟨0007⟩ c");
  });

  test("the tone follows the session's request", () => {
    expect(nowOf(of(asks)).tone).toBe("need");
    expect(nowOf(of({ stateKind: "error" })).tone).toBe("error");
    expect(nowOf(of({ state: "working" })).tone).toBe("plain");
  });
});

test("the title is the best available one, on one line", () => {
  expect(titleOf(of({ workChainName: "mine", title: "t", goal: "g" }))).toBe("mine");
  expect(titleOf(of({ title: "\u200b ", goal: "first\nprompt" }))).toBe("first prompt");
  expect(titleOf(of({}))).toBe("Session 12345678");
});

test("the place is the repository's folder, else the working folder", () => {
  expect(placeOf(of({ repoRoot: "/home/dev/shop/", cwd: "/home/dev/shop/sub", branch: "main" }))).toEqual({ project: "shop", branch: "main" });
  expect(placeOf(of({ cwd: "C:\\work\\desk" }))).toEqual({ project: "desk" });
  expect(placeOf(of({ cwd: "/" }))).toEqual({ project: "" });
});

test("every kind has a shape of its own where it matters", () => {
  const glyphs = [
    of({ state: "waiting_for_approval", stateKind: "permission" }),
    of({ state: "waiting_for_approval", stateKind: "question" }),
    of({ state: "waiting_for_approval", stateKind: "plan" }),
    of({ stateKind: "error", group: "needs_you" }),
    of({ state: "working" }),
    of({ stateKind: "turn_ended" }),
    of({ stateKind: "interrupted" }),
    of({ state: "idle" }),
    of({ state: "ended" }),
  ].map(glyphOf);
  const waiting = { state: "waiting_for_approval", stateKind: "question", group: "idle" } as const;
  expect([of({ ...waiting, putAway: true }), of({ ...waiting, superseded: true })].map(glyphOf)).toEqual(["idle", "idle"]);
  expect(nowOf(of({ ...waiting, putAway: true }))).toEqual({ lead: "put away", tone: "plain" });
  expect(nowOf(of({ ...waiting, superseded: true }))).toEqual({ lead: "continued in another session", tone: "plain" });
  expect(glyphs).toEqual(["approval", "question", "plan", "error", "working", "turn", "interrupted", "idle", "ended"]);
});

test("an unknown state is still shown", () => {
  expect(stateWords({ state: "toString", stateKind: "constructor" })).toBe("toString");
  expect(stateWords({ state: "waiting_for_something" })).toBe("waiting for something");
});

import { expect, test } from "vitest";

import type { TrackedSession } from "../bindings/TrackedSession";
import { ago, ENGINE_START, row } from "../host/mock/rows";
import { headLineOf, isCutInHead } from "./head";

const said = (sketch: Partial<TrackedSession>): string => {
  const { fact, when, about, guessed } = headLineOf(row({ sessionId: "1234567890", stateSince: ago(130), ...sketch }), ENGINE_START);
  const text = `${fact} ${when}${about === undefined ? "" : `: ${about}`}${guessed ? " (a guess)" : ""}`;
  return text.replace(/\d\d:\d\d/, "14:02");
};
const asks = { state: "waiting_for_approval" } as const;
const reason = (confidence: string): TrackedSession["stateReason"] => ({ source: "transcript", detail: "the transcript says so", confidence });

test.each<[Partial<TrackedSession>, string]>([
  [{ ...asks, stateKind: "permission", pendingTool: { tool: "Bash", target: "npm publish" } }, "Waits for your permission since 14:02: npm publish"],
  [{ ...asks, stateKind: "permission", pendingTool: { tool: "mcp__x" } }, "Waits for your permission since 14:02: mcp__x"],
  [asks, "Waits for your permission since 14:02"],
  [{ ...asks, stateKind: "question", pendingTool: { tool: "AskUserQuestion", target: "Which?" } }, "Waits for your answer since 14:02: Which?"],
  [{ ...asks, stateKind: "plan", pendingTool: { tool: "ExitPlanMode", target: "# Plan" } }, "Waits for your verdict on its plan since 14:02"],
  [{ ...asks, stateKind: "dialog" }, "A dialog is open in its terminal since 14:02"],
  [{ ...asks, stateReason: reason("inferred") }, "Waits for your permission since 14:02 (a guess)"],
  [{ state: "working", pendingTool: { tool: "Bash", target: "cargo test" } }, "Working for 2 min: cargo test"],
  [{ state: "working" }, "Working for 2 min"],
  [{ state: "working", stateKind: "compacting", pendingTool: { tool: "Bash", target: "x" } }, "Compacting for 2 min"],
  [{ state: "working", stateKind: "retrying", error: "429, 3 of 10" }, "Retrying for 2 min: 429, 3 of 10"],
  [{ stateKind: "turn_ended" }, "Finished 2 min ago"],
  [{ stateKind: "turn_ended", outcome: { files: 4, passed: true, seconds: 690 } }, "Finished 2 min ago · 4 files, tests pass, 11 min"],
  [{ stateKind: "turn_ended", outcome: { files: 1, seconds: 9 } }, "Finished 2 min ago · 1 file"],
  [{ stateKind: "interrupted" }, "Interrupted 2 min ago"],
  [{ stateKind: "limit", error: "Rate limit, resets 15:40" }, "Rate limit, resets 14:02 · 2 min ago"],
  [{ stateKind: "limit" }, "Usage limit reached 2 min ago"],
  [{ stateKind: "limit", limitResetsAt: ago(-3600) }, "Usage limit reached · resets 14:02"],
  [{ stateKind: "limit", limitResetsAt: ago(0) }, "Usage limit reached · was reset 14:02"],
  [{ stateKind: "error", error: `API Error: 529 overloaded. Try again.${" And so on.".repeat(9)}` }, "API Error: 529 overloaded. · 2 min ago"],
  [{ stateKind: "error" }, "Failed 2 min ago"],
  [{ stateKind: "dialog" }, "A dialog is open in its terminal since 14:02"],
  [{ state: "idle", stateKind: "turn_ended", stateReason: reason("inferred") }, "Idle for 2 min"],
  [{ state: "ended" }, "Ended 2 min ago"],
  [{ state: "ended", stateKind: "crashed" }, "Its process died 2 min ago"],
  [{ state: "waiting_for_something" }, "waiting for something since 14:02"],
])("%j", (sketch, words) => expect(said(sketch)).toBe(words));

test("the card repeats only an error that the line cuts", () => {
  expect([undefined, "API Error: 529", "x".repeat(81), "a\nb"].map(isCutInHead)).toEqual([false, false, true, false]);
});

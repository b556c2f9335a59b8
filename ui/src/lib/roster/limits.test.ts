import { expect, test } from "vitest";

import type { PlanLimit } from "../bindings/PlanLimit";
import { metersOf } from "./limits";

const NOW = Date.parse("2026-11-20T14:00:00.000Z");
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

function limit(percent: number, rest: Partial<PlanLimit> = {}): PlanLimit {
  return { agent: "claude", folder: "/home/dev/.claude", minutes: 300, percent, resetsAt: at(100), saidAt: at(0), sessionId: "s", ...rest };
}

const meter = (percent: number, rest?: Partial<PlanLimit>) => metersOf([limit(percent, rest)], NOW)[0]!;

test("a limit that would be full before its span ends is near, and says when", () => {
  // 200 of 300 minutes are over.
  expect(meter(60)).toMatchObject({ name: "5 h", percent: 60, tone: "plain", pace: "Enough, at this pace" });
  expect(Math.round(meter(60).over)).toBe(67);
  const near = meter(80);
  expect(near.tone).toBe("near");
  expect(near.pace).toMatch(/^At this pace full at \d\d:\d\d$/);
  expect(meter(97)).toMatchObject({ tone: "full" });
  expect(meter(140)).toMatchObject({ percent: 100, pace: "Used up" });
});

test("the pace is of the time of the word, not of now", () => {
  // Half is used a third through the span, an hour and forty minutes ago.
  expect(meter(50, { saidAt: at(-100) })).toMatchObject({ tone: "near", old: true, pace: "At this pace full by now" });
});

test("a beginning says nothing of the pace", () => {
  expect(meter(5, { resetsAt: at(299) })).toMatchObject({ tone: "plain", pace: "Little is used" });
});

test("a span that has ended is not shown, and its end is said in words", () => {
  expect(metersOf([limit(60, { resetsAt: at(0) })], NOW)).toEqual([]);
  expect(meter(60).resets).toMatch(/^resets .*, in 1 h 40 min$/);
  expect(meter(60, { minutes: 10_080, resetsAt: at(3 * 1440) }).resets).toMatch(/^resets 2026-11-23 .*, in 3 d$/);
});

test("several accounts are told apart", () => {
  const names = (...limits: PlanLimit[]): string[] => metersOf(limits, NOW).map(({ name }) => name);
  expect(names(limit(1), limit(2, { minutes: 10_080 }))).toEqual(["5 h", "week"]);
  expect(names(limit(1), limit(2, { agent: "codex", folder: "/home/dev/.codex" }))).toEqual(["Claude Code 5 h", "Codex 5 h"]);
  expect(names(limit(1), limit(2, { folder: "/home/dev/.claude-work" }))).toEqual(["Claude Code .claude 5 h", "Claude Code .claude-work 5 h"]);
  expect(names(limit(1, { minutes: 60 }))).toEqual(["1 h"]);
});

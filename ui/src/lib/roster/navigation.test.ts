import { expect, test } from "vitest";

import { row } from "../host/mock/rows";
import { entranceOf, neighbourOf, nextNeeding, visibleIds } from "./navigation";

const sections = [
  { group: "needs_you", ids: ["a"] },
  { group: "idle", ids: ["b", "c"] },
] as const;

test("folded groups are skipped, unless a filter opens them", () => {
  const isFolded = (group: string) => group === "idle";
  expect(visibleIds({ sections, filtered: false, selected: undefined }, isFolded)).toEqual(["a"]);
  expect(visibleIds({ sections, filtered: true, selected: undefined }, isFolded)).toEqual(["a", "b", "c"]);
});

test("the list is entered at the selection, else at the first row", () => {
  expect(entranceOf(["a", "b"], "b")).toBe("b");
  expect(entranceOf(["a", "b"], "gone")).toBe("a");
  expect(entranceOf([], "b")).toBeUndefined();
});

test("steps stop at the ends, and without a selection begin at the first or last row", () => {
  const ids = ["a", "b", "c"];
  expect([neighbourOf(ids, "a", 1), neighbourOf(ids, "c", 1), neighbourOf(ids, "a", -1)]).toEqual(["b", "c", "a"]);
  expect([neighbourOf(ids, undefined, 1), neighbourOf(ids, "gone", -1), neighbourOf([], undefined, 1)]).toEqual(["a", "c", undefined]);
});

test("`n` walks round the sessions that need the user, without superseded rows", () => {
  const asks = (sessionId: string, more = {}) => row({ sessionId, state: "waiting_for_approval", ...more });
  const sessions = [asks("a"), asks("old", { superseded: true }), asks("b"), row({ sessionId: "w", state: "working" })];
  expect([nextNeeding(sessions, undefined), nextNeeding(sessions, "a"), nextNeeding(sessions, "b")]).toEqual(["a", "b", "a"]);
  expect(nextNeeding([], "a")).toBeUndefined();
});

import { describe, expect, test } from "vitest";

import type { RosterDelta } from "../bindings/RosterDelta";
import type { TrackedSession } from "../bindings/TrackedSession";
import { publishRequest } from "../host/mock/requests";
import { row } from "../host/mock/rows";
import { applyDelta, fromSnapshot, headOf, newlyNeeding, type Roster } from "./apply";

function roster(...ids: string[]): Roster {
  return fromSnapshot({ revision: 7, generatedAt: "2026-03-14T13:00:00.000Z", sessions: ids.map((id) => row({ sessionId: id })), problems: [], reading: false });
}

function delta(change: Partial<RosterDelta>): RosterDelta {
  return { base: 7, revision: 8, generatedAt: "2026-03-14T13:00:01.000Z", upserts: [], removals: [], reading: false, ...change };
}

function put(index: number, sessionId: string, sketch: Partial<TrackedSession> = {}) {
  return { index, session: row({ sessionId, ...sketch }) };
}

function ids(after: Roster | null): string[] | undefined {
  return after?.sessions.map((session) => session.sessionId);
}

/** The semantics as the protocol describes them, without any optimization. */
function naively(before: readonly TrackedSession[], change: RosterDelta): TrackedSession[] {
  const after = before.filter(
    (session) => !change.removals.includes(session.sessionId) && !change.upserts.some((upsert) => upsert.session.sessionId === session.sessionId),
  );
  for (const { index, session } of change.upserts) after.splice(index, 0, session);
  return after;
}

describe("applyDelta", () => {
  test("puts new rows at their places", () => {
    expect(ids(applyDelta(roster("a", "b", "c"), delta({ upserts: [put(0, "x"), put(2, "y")] })))).toEqual(["x", "a", "y", "b", "c"]);
  });

  test("moves a row that is already there, and takes its new content", () => {
    const after = applyDelta(roster("a", "b", "c"), delta({ upserts: [put(0, "c", { title: "new" })] }));
    expect(ids(after)).toEqual(["c", "a", "b"]);
    expect(after?.sessions[0]?.title).toBe("new");
  });

  test("drops removals, and ignores one that was not there", () => {
    expect(ids(applyDelta(roster("a", "b"), delta({ removals: ["a", "ghost"] })))).toEqual(["b"]);
  });

  test("a row may be removed and come again in one delta", () => {
    expect(ids(applyDelta(roster("a", "b"), delta({ removals: ["a"], upserts: [put(1, "a")] })))).toEqual(["b", "a"]);
  });

  test("an index beyond the end appends", () => {
    expect(ids(applyDelta(roster("a"), delta({ upserts: [put(9, "z")] })))).toEqual(["a", "z"]);
  });

  test("asks for a snapshot when the base is another revision", () => {
    expect(applyDelta(roster("a"), delta({ base: 6 }))).toBeNull();
  });

  test("keeps problems unless the delta brings them, and leaves the roster it was given alone", () => {
    const problem = { path: "/home/dev/x.jsonl", kind: "bad_json", count: 2, detail: "cut off" };
    const before = roster("a");
    const with1 = applyDelta(before, delta({ problems: [problem] }));
    expect(with1?.problems).toEqual([problem]);
    expect(applyDelta(with1!, delta({ base: 8, revision: 9 }))?.problems).toEqual([problem]);
    expect(before.problems).toEqual([]);
    expect(with1?.revision).toBe(8);
  });

  test("equals one splice after another, for three hundred made-up deltas", () => {
    let seed = 20260314;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    let before = roster(..."abcdefghijkl");
    for (let round = 0; round < 300; round += 1) {
      const names = new Set(Array.from({ length: random(5) }, () => String.fromCharCode(97 + random(20))));
      const removals = before.sessions.filter(() => random(6) === 0).map((session) => session.sessionId);
      const places = [...names].map(() => random(14)).sort((a, b) => a - b);
      // Rising and distinct, as the engine sends them.
      const upserts = [...names].map((name, i) => put(places[i]! + i, name));
      const change = delta({ base: before.revision, revision: before.revision + 1, removals, upserts });
      const after = applyDelta(before, change);
      expect(ids(after)).toEqual(naively(before.sessions, change).map((session) => session.sessionId));
      before = after!;
    }
  });
});

describe("newlyNeeding", () => {
  const asks = (id: string) => row({ sessionId: id, state: "waiting_for_approval" });

  test("returns only sessions that did not need the user before", () => {
    const before = { ...roster("a"), sessions: [asks("a"), row({ sessionId: "b" })] };
    const after = { ...before, sessions: [asks("a"), asks("b"), asks("c")] };
    expect(newlyNeeding(before, after).map((session) => session.sessionId)).toEqual(["b", "c"]);
    expect(newlyNeeding(after, after)).toEqual([]);
  });

  test("leaves out the open session with a card, which announces itself", () => {
    const before = roster("a");
    const after = { ...before, sessions: [{ ...asks("a"), request: publishRequest() }, asks("b")] };
    expect(newlyNeeding(before, after, "a").map((session) => session.sessionId)).toEqual(["b"]);
    expect(newlyNeeding(before, { ...before, sessions: [asks("a")] }, "a")).toHaveLength(1);
  });
});

test("a need answered within a second, or of a superseded session, is no news", () => {
  const before = roster("a");
  const { needs: _, ...answered } = row({ sessionId: "b", state: "waiting_for_approval" });
  const past = row({ sessionId: "c", state: "waiting_for_approval", superseded: true, supersededBy: "a" });
  expect(newlyNeeding(before, { ...before, sessions: [answered, past] })).toEqual([]);
  expect(newlyNeeding({ ...before, sessions: [answered] }, { ...before, sessions: [{ ...answered, needs: "approval" }] })).toHaveLength(1);
});

describe("headOf", () => {
  const old = row({ sessionId: "old", workChainId: "w", superseded: true, supersededBy: "mid" });
  const mid = row({ sessionId: "mid", workChainId: "w", superseded: true, supersededBy: "new" });
  const now = row({ sessionId: "new", workChainId: "w" });

  test("a head is its own head", () => expect(headOf([now], now)).toBe(now));
  test("follows successors over several steps", () => expect(headOf([old, mid, now], old)).toBe(now));
  test("finds the head when the superseded row has left the roster", () => {
    const unsuperseded = row({ sessionId: "old", workChainId: "w" });
    expect(headOf([now], unsuperseded)).toBe(now);
  });
  test("a fork is not the head while the session itself is there", () => {
    const fork = row({ sessionId: "fork", workChainId: "w" });
    expect(headOf([fork, now], now)).toBe(now);
  });
  test("is undefined when the roster has no session of the chain", () => expect(headOf([row({ sessionId: "x" })], old)).toBeUndefined());
  test("two sessions that supersede each other do not cause an endless loop", () => {
    const a = row({ sessionId: "a", superseded: true, supersededBy: "b" });
    const b = row({ sessionId: "b", superseded: true, supersededBy: "a" });
    expect(headOf([a, b], a)).toBeUndefined();
  });
});

// The window's copy of the roster, and how a delta changes it. Pure.

import type { GroupCounts } from "../bindings/GroupCounts";
import type { PlanLimit } from "../bindings/PlanLimit";
import type { Problem } from "../bindings/Problem";
import type { RosterDelta } from "../bindings/RosterDelta";
import type { RosterSnapshot } from "../bindings/RosterSnapshot";
import type { TrackedSession } from "../bindings/TrackedSession";

export type Roster = {
  readonly revision: number;
  readonly generatedAt: string;
  readonly sessions: readonly TrackedSession[];
  readonly problems: readonly Problem[];
  /** The limits of plans whose spans ran when they were said. */
  readonly limits: readonly PlanLimit[];
  /** More rows will come: transcripts are read for the first time, or the rest of these rows is on its way. */
  readonly reading: boolean;
  /** Set if these are only the first rows: how many sessions the next message brings. */
  readonly rest?: GroupCounts | undefined;
  /** Alerts are muted until then. */
  readonly mutedUntil?: string | undefined;
};

export const NO_ROSTER: Roster = { revision: -1, generatedAt: "", sessions: [], problems: [], limits: [], reading: true };

export function fromSnapshot(snapshot: RosterSnapshot): Roster {
  return {
    revision: snapshot.revision,
    generatedAt: snapshot.generatedAt,
    sessions: snapshot.sessions,
    problems: snapshot.problems,
    limits: snapshot.limits ?? [],
    reading: (snapshot.reading ?? false) || snapshot.rest !== undefined,
    rest: snapshot.rest,
    mutedUntil: snapshot.mutedUntil,
  };
}

/**
 * The first rows of a new snapshot do not replace a longer list: it would lose its scroll position, and many rows
 * would seem to be gone.
 */
export function isLessThan(before: Roster, after: Roster): boolean {
  return after.rest !== undefined && after.sessions.length < before.sessions.length;
}

/** The roster after the delta. Null if the delta belongs to another revision; then a new snapshot is needed. */
export function applyDelta(roster: Roster, delta: RosterDelta): Roster | null {
  if (delta.base !== roster.revision) return null;
  return {
    revision: delta.revision,
    generatedAt: delta.generatedAt,
    sessions: placed(roster.sessions, delta),
    problems: delta.problems ?? roster.problems,
    limits: delta.limits ?? roster.limits,
    reading: delta.reading ?? false,
    mutedUntil: delta.mutedUntil,
  };
}

function placed(sessions: readonly TrackedSession[], delta: RosterDelta): readonly TrackedSession[] {
  if (delta.upserts.length === 0 && delta.removals.length === 0) return sessions;
  const taken = new Set(delta.removals);
  for (const upsert of delta.upserts) taken.add(upsert.session.sessionId);
  const kept = sessions.filter((session) => !taken.has(session.sessionId));
  // Upserts come in the order of their index, so one merge gives the same result as inserting each in turn.
  const after: TrackedSession[] = [];
  let next = 0;
  for (const { index, session } of delta.upserts) {
    while (after.length < index && next < kept.length) after.push(kept[next++]!);
    after.push(session);
  }
  return after.concat(kept.slice(next));
}

/**
 * Sessions that need the user now and did not before. They are the only announcement. The engine reports a need a
 * second after it began: a need that an automatic reviewer ends within that second, or one of a snoozed session, is
 * never reported. The card of the open session (`open`) announces its request by itself.
 */
export function newlyNeeding(before: Roster, after: Roster, open?: string): TrackedSession[] {
  const already = new Set<string>();
  for (const session of before.sessions) if (needsPerson(session)) already.add(session.sessionId);
  const hasCard = (session: TrackedSession): boolean => session.request !== undefined && session.sessionId === open;
  return after.sessions.filter((session) => needsPerson(session) && !already.has(session.sessionId) && !hasCard(session));
}

/** The engine's decision, which tray, chips and status bars use as well. */
export function needsPerson(session: TrackedSession): boolean {
  return session.needs !== undefined && !session.superseded;
}

/**
 * The session in which the work of `known` goes on: itself while it is the head, else the session that superseded it,
 * else any unsuperseded session of its work chain. Undefined if the roster has none of them.
 */
export function headOf(sessions: readonly TrackedSession[], known: TrackedSession): TrackedSession | undefined {
  const byId = new Map(sessions.map((session) => [session.sessionId, session]));
  let at: TrackedSession | undefined = byId.get(known.sessionId) ?? known;
  const seen = new Set<string>();
  while (at && at.superseded && at.supersededBy !== undefined && !seen.has(at.sessionId)) {
    seen.add(at.sessionId);
    at = byId.get(at.supersededBy);
  }
  if (at && !at.superseded && byId.has(at.sessionId)) return at;
  return sessions.find((session) => session.workChainId === known.workChainId && !session.superseded);
}

// Which rows stand where: groups in the engine's order, narrowed by the filter. Nothing is sorted here.

import type { Group } from "../bindings/Group";
import type { TrackedSession } from "../bindings/TrackedSession";
import { needsPerson } from "./apply";
import { nowOf, placeOf, titleOf } from "./words";

export const GROUPS: readonly Group[] = ["needs_you", "working", "your_turn", "idle"];

export const GROUP_WORDS: Record<Group, string> = {
  needs_you: "Needs you",
  working: "Working",
  your_turn: "Your turn",
  idle: "Idle",
};

export type Section = { readonly group: Group; readonly ids: readonly string[] };

export type Filter = { readonly groups: ReadonlySet<Group>; readonly text: string };

/**
 * How many sessions each group has, without any filter, with those that are still on their way. Superseded rows are shown
 * but not counted.
 */
export function countsOf(sessions: readonly TrackedSession[], rest?: Readonly<Record<Group, number>>): Record<Group, number> {
  const counts: Record<Group, number> = { needs_you: 0, working: 0, your_turn: 0, idle: 0, ...rest };
  for (const session of sessions) if (!session.superseded) counts[groupOf(session)] += 1;
  return counts;
}

export function layoutOf(sessions: readonly TrackedSession[], filter: Filter): Section[] {
  const terms = filter.text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const ids: Record<Group, string[]> = { needs_you: [], working: [], your_turn: [], idle: [] };
  for (const session of sessions) {
    const group = groupOf(session);
    if (filter.groups.size > 0 && !filter.groups.has(group)) continue;
    if (terms.length > 0 && !matches(session, terms)) continue;
    ids[group].push(session.sessionId);
  }
  return GROUPS.filter((group) => ids[group].length > 0).map((group) => ({ group, ids: ids[group] }));
}

/** A group that a newer engine may know is better shown last than not at all. */
function groupOf(session: TrackedSession): Group {
  return GROUPS.includes(session.group) ? session.group : "idle";
}

function matches(session: TrackedSession, terms: readonly string[]): boolean {
  const now = nowOf(session);
  const text = [titleOf(session), placeOf(session).project, session.branch, session.cwd, now.lead, now.code, session.goal, session.sessionId]
    .join("\n")
    .toLocaleLowerCase();
  return terms.every((term) => text.includes(term));
}

export function sameLayout(a: readonly Section[], b: readonly Section[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((section, i) => {
    const other = b[i]!;
    if (section.group !== other.group || section.ids.length !== other.ids.length) return false;
    return section.ids.every((id, k) => id === other.ids[k]);
  });
}

/** How many sessions need the person and do not stand where such sessions stand, while an order is held. */
export function unseenIn(held: readonly Section[], sessions: readonly TrackedSession[]): number {
  const seen = new Set(held.find((section) => section.group === "needs_you")?.ids);
  return sessions.filter((session) => needsPerson(session) && !seen.has(session.sessionId)).length;
}

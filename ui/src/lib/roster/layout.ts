// The order of rows: groups in the engine's order, narrowed by the filter. Nothing is sorted here.

import type { Group } from "../bindings/Group";
import type { TrackedSession } from "../bindings/TrackedSession";
import { readTyped } from "../query";
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
 * Number of sessions in each group, without any filter and with those still on their way. Superseded rows are shown
 * but not counted.
 */
export function countsOf(sessions: readonly TrackedSession[], rest?: Readonly<Record<Group, number>>): Record<Group, number> {
  const counts: Record<Group, number> = { needs_you: 0, working: 0, your_turn: 0, idle: 0, ...rest };
  for (const session of sessions) if (!session.superseded) counts[groupOf(session)] += 1;
  return counts;
}

/** The parsed text of the filter. */
type Wanted = { readonly terms: readonly string[]; readonly projects: readonly string[]; readonly agents: readonly string[] };

/** Words, `project:` and `agent:` as in the palette. Other filters apply only to the history, see {@link ofHistory}. */
function wantedOf(text: string): Wanted {
  const { words, filters } = readTyped(text, 0);
  const valuesOf = (name: string): string[] => filters.flatMap(({ filter, value }) => (filter === name ? [value.toLocaleLowerCase()] : []));
  return { terms: words.toLocaleLowerCase().split(/\s+/).filter(Boolean), projects: valuesOf("project"), agents: valuesOf("agent") };
}

/** Names of the filters that apply only to the history. */
export function ofHistory(text: string): string[] {
  const { filters } = readTyped(text, 0);
  return [...new Set(filters.flatMap(({ filter }) => (filter === "project" || filter === "agent" ? [] : [`${filter}:`])))];
}

/** The sessions that match the filter's text. */
export function withText(sessions: readonly TrackedSession[], text: string): readonly TrackedSession[] {
  const wanted = wantedOf(text);
  if (wanted.terms.length + wanted.projects.length + wanted.agents.length === 0) return sessions;
  return sessions.filter((session) => matches(session, wanted));
}

export function layoutOf(sessions: readonly TrackedSession[], filter: Filter): Section[] {
  const ids: Record<Group, string[]> = { needs_you: [], working: [], your_turn: [], idle: [] };
  for (const session of withText(sessions, filter.text)) {
    const group = groupOf(session);
    if (filter.groups.size > 0 && !filter.groups.has(group)) continue;
    ids[group].push(session.sessionId);
  }
  return GROUPS.filter((group) => ids[group].length > 0).map((group) => ({ group, ids: ids[group] }));
}

/** An unknown group, from a newer engine, goes last instead of missing. */
function groupOf(session: TrackedSession): Group {
  return GROUPS.includes(session.group) ? session.group : "idle";
}

function matches(session: TrackedSession, { terms, projects, agents }: Wanted): boolean {
  if (!agents.every((wanted) => session.agent.startsWith(wanted))) return false;
  const { project } = placeOf(session);
  const folders = [project, session.repoRoot, session.cwd].join("\n").toLocaleLowerCase();
  if (!projects.every((wanted) => folders.includes(wanted))) return false;
  const now = nowOf(session);
  const text = [titleOf(session), project, session.branch, session.cwd, now.lead, now.code, session.goal, session.sessionId]
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

/** While an order is held: number of sessions that need the user but are not in the held group "Needs you". */
export function unseenIn(held: readonly Section[], sessions: readonly TrackedSession[]): number {
  const seen = new Set(held.find((section) => section.group === "needs_you")?.ids);
  return sessions.filter((session) => needsPerson(session) && !seen.has(session.sessionId)).length;
}

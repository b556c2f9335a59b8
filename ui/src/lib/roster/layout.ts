// The order of rows: groups in the engine's order, narrowed by the filter, each with the sessions of programs at its end.
// Nothing is sorted here.

import type { Group } from "../bindings/Group";
import type { TrackedSession } from "../bindings/TrackedSession";
import { readTyped } from "../query";
import { needsPerson } from "./apply";
import { starterOf } from "./runs";
import { nowOf, placeOf, titleOf } from "./words";

export const GROUPS: readonly Group[] = ["needs_you", "working", "your_turn", "idle"];

export const GROUP_WORDS: Record<Group, string> = {
  needs_you: "Needs you",
  working: "Working",
  your_turn: "Your turn",
  idle: "Idle",
};

/** What a heading stands for: a group of the engine's, or a project. */
export type Heading = Group | `project ${string}`;

export function headingWords(heading: Heading): string {
  return heading in GROUP_WORDS ? GROUP_WORDS[heading as Group] : heading.slice("project ".length) || "No folder";
}

export type Section = { readonly group: Heading; readonly ids: readonly string[] };

export type Filter = {
  readonly groups: ReadonlySet<Group>;
  readonly text: string;
  /** Only sessions with refused calls. */
  readonly refused?: boolean;
  /** Each session that a program started, not one for each starter. */
  readonly programs?: boolean;
  /** Below "Needs you", a heading for each project. */
  readonly byProject?: boolean;
};

/** Whether one row stands for the runs of a starter. A search shows each run that matches. */
export function folds({ text, refused = false, programs = false }: Omit<Filter, "groups" | "byProject">): boolean {
  return !programs && !refused && text.trim() === "";
}

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
type Wanted = { readonly terms: readonly string[]; readonly projects: readonly string[]; readonly agents: readonly string[]; readonly states: readonly string[] };

/** The history has no states, so the palette does not know this filter. */
const STATE = /(^|\s)state:(\S*)(?=\s|$)/giu;

/** Words, `state:`, and `project:` and `agent:` as in the palette. Other filters apply only to the history, see {@link ofHistory}. */
function wantedOf(text: string): Wanted {
  const states = [...text.matchAll(STATE)].flatMap((found) => (found[2] ? [found[2].toLocaleLowerCase().replaceAll("-", "_")] : []));
  const { words, filters } = readTyped(text.replace(STATE, "$1"), 0);
  const valuesOf = (name: string): string[] => filters.flatMap(({ filter, value }) => (filter === name ? [value.toLocaleLowerCase()] : []));
  return { terms: words.toLocaleLowerCase().split(/\s+/).filter(Boolean), projects: valuesOf("project"), agents: valuesOf("agent"), states };
}

/** Names of the filters that apply only to the history. */
export function ofHistory(text: string): string[] {
  const { filters } = readTyped(text, 0);
  return [...new Set(filters.flatMap(({ filter }) => (filter === "project" || filter === "agent" ? [] : [`${filter}:`])))];
}

/** The sessions that match the filter's text. */
export function withText(sessions: readonly TrackedSession[], text: string): readonly TrackedSession[] {
  const wanted = wantedOf(text);
  if (wanted.terms.length + wanted.projects.length + wanted.agents.length + wanted.states.length === 0) return sessions;
  return sessions.filter((session) => matches(session, wanted));
}

export function layoutOf(sessions: readonly TrackedSession[], filter: Filter): Section[] {
  // Projects come in the order of their first rows, those at work first.
  const headings = new Map<Heading, { ids: string[]; ofPrograms: string[] }>(GROUPS.map((group) => [group, { ids: [], ofPrograms: [] }]));
  const starters = new Set<string>();
  for (const session of withText(sessions, filter.text)) {
    const group = groupOf(session);
    if (filter.groups.size > 0 && !filter.groups.has(group)) continue;
    if (filter.refused === true && session.refused === undefined) continue;
    const starter = starterOf(session);
    if (starter !== undefined && folds(filter)) {
      if (starters.has(starter)) continue;
      starters.add(starter);
    }
    const heading: Heading = filter.byProject === true && group !== "needs_you" ? `project ${placeOf(session).project}` : group;
    const rows = headings.get(heading) ?? { ids: [], ofPrograms: [] };
    headings.set(heading, rows);
    rows[starter === undefined ? "ids" : "ofPrograms"].push(session.sessionId);
  }
  const sections = [...headings].map(([group, { ids, ofPrograms }]) => ({ group, ids: [...ids, ...ofPrograms] }));
  return sections.filter((section) => section.ids.length > 0);
}

/** An unknown group, from a newer engine, goes last instead of missing. */
function groupOf(session: TrackedSession): Group {
  return GROUPS.includes(session.group) ? session.group : "idle";
}

function matches(session: TrackedSession, { terms, projects, agents, states }: Wanted): boolean {
  const kinds = [session.group, session.state, session.stateKind ?? "", session.refused === undefined ? "" : "refused"];
  if (!states.every((wanted) => kinds.some((kind) => kind.startsWith(wanted)))) return false;
  if (!agents.every((wanted) => session.agent.startsWith(wanted))) return false;
  const { project } = placeOf(session);
  const folders = [project, session.worktreeOf, session.repoRoot, session.cwd].join("\n").toLocaleLowerCase();
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

// The palette's choices for the typed text.

import { timeWords } from "./age";
import type { Hit } from "./bindings/Hit";
import type { TrackedSession } from "./bindings/TrackedSession";
import { plain } from "./markdown/plain";
import type { Completion } from "./query";
import { placeOf, titleOf } from "./roster/words";
import { oneLine, revealed } from "./text";

export type Command = { readonly name: string; readonly key?: string; readonly run: () => void };

export type Choice =
  | { readonly kind: "session"; readonly id: string; readonly session: TrackedSession }
  | { readonly kind: "command"; readonly id: string; readonly command: Command }
  | { readonly kind: "filter"; readonly id: string; readonly completion: Completion }
  | { readonly kind: "hit"; readonly id: string; readonly hit: Hit };

/** Choices of one kind, under one heading. */
export type ChoiceGroup = { readonly name: string; readonly choices: readonly Choice[] };

/** A longer list would not help. */
const MOST_SESSIONS = 50;
/** The limit beside search hits in the history. */
const MOST_SESSIONS_FOUND = 8;

export type Offer = {
  /** The typed words, without filters. */
  readonly words: string;
  /** Filters are set. They apply only to the history, so nothing else is offered. */
  readonly narrowed?: boolean;
  readonly sessions: readonly TrackedSession[];
  readonly commands: readonly Command[];
  readonly completions?: readonly Completion[];
  readonly hits?: readonly Hit[];
  /** Ids of recent choices. They come first while nothing is typed. */
  readonly recent?: readonly string[];
};

/**
 * Sessions in the roster's order, then commands; all words must occur. Search hits come last: they arrive later, and
 * must not move a choice that the user is about to take.
 */
export function choicesFor({ words, narrowed = false, sessions, commands, completions = [], hits = [], recent = [] }: Offer): ChoiceGroup[] {
  const terms = words.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const filters = completions.map((completion): Choice => ({ kind: "filter", id: `f-${completion.text}`, completion }));
  const history = hits.map((hit, index): Choice => ({ kind: "hit", id: `h-${index}`, hit }));
  if (narrowed) return withoutEmpty([{ name: "Filters", choices: filters }, { name: "History", choices: history }]);
  const known = terms.length === 0 ? recentOf(recent, sessions, commands) : [];
  const taken = new Set(known.map((choice) => choice.id));
  const most = terms.length === 0 ? MOST_SESSIONS : MOST_SESSIONS_FOUND;
  const fits = (words: string): boolean => terms.every((term) => words.toLocaleLowerCase().includes(term));
  const found: Choice[] = [];
  for (const session of sessions) {
    if (found.length === most) break;
    const place = placeOf(session);
    if (taken.has(`s-${session.sessionId}`)) continue;
    if (fits(`${titleOf(session)} ${place.project} ${place.branch ?? ""} ${session.sessionId}`)) {
      found.push(sessionChoice(session));
    }
  }
  // Two views that the user saved may have one name; the first counts.
  const fitting = commands.filter((command, i) => fits(command.name) && commands.findIndex(({ name }) => name === command.name) === i).map(commandChoice);
  return withoutEmpty([
    { name: "Recent", choices: known },
    { name: "Filters", choices: filters },
    { name: "Sessions", choices: found },
    { name: "Commands", choices: fitting.filter((choice) => !taken.has(choice.id)) },
    { name: "History", choices: history },
  ]);
}

function withoutEmpty(groups: readonly ChoiceGroup[]): ChoiceGroup[] {
  return groups.filter((group) => group.choices.length > 0);
}

function sessionChoice(session: TrackedSession): Choice {
  return { kind: "session", id: `s-${session.sessionId}`, session };
}

function commandChoice(command: Command): Choice {
  return { kind: "command", id: `c-${command.name}`, command };
}

/** The recent choices that still exist. */
function recentOf(recent: readonly string[], sessions: readonly TrackedSession[], commands: readonly Command[]): Choice[] {
  return recent.flatMap((id) => {
    const session = sessions.find((candidate) => `s-${candidate.sessionId}` === id);
    if (session !== undefined) return [sessionChoice(session)];
    const command = commands.find((candidate) => `c-${candidate.name}` === id);
    return command === undefined ? [] : [commandChoice(command)];
  });
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ["prompt", "Prompt"],
  ["answer", "Answer"],
  ["thinking", "Thought"],
  ["summary", "Summary"],
  ["title", "Title"],
]);

/** The speaker: "Prompt", "Bash", "Output of Bash", with "subagent" if it was one. */
export function speakerOf(hit: Hit): string {
  const tool = hit.tool ?? "a tool";
  const words = hit.role === "tool_result" ? `Output of ${tool}` : hit.role === "tool_input" ? tool : (ROLES.get(hit.role) ?? hit.role);
  return hit.agentId === undefined ? words : `${words}, subagent`;
}

/** Models write Markdown. Texts of people and tools are shown unchanged. */
export function isMarkdown(hit: Hit): boolean {
  return hit.role === "answer" || hit.role === "thinking" || hit.role === "summary";
}

/** A search hit as one text for screen readers: what, who, where, when. */
export function hitWords(hit: Hit, now: number): string {
  const text = hit.snippetParts.map((part) => part.text).join("");
  const snippet = revealed(isMarkdown(hit) ? plain(text) : text);
  const parts = [snippet, speakerOf(hit), oneLine(hit.title ?? ""), projectName(hit.project), hit.at === undefined ? "" : timeWords(hit.at, now)];
  return parts.filter(Boolean).join(", ");
}

/** The last part of a path, as in the roster. */
export function projectName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}

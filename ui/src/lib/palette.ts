// What the palette offers for what was typed.

import type { Hit } from "./bindings/Hit";
import type { TrackedSession } from "./bindings/TrackedSession";
import { placeOf, titleOf } from "./roster/words";

export type Command = { readonly name: string; readonly key?: string; readonly run: () => void };

export type Choice =
  | { readonly kind: "session"; readonly id: string; readonly session: TrackedSession }
  | { readonly kind: "command"; readonly id: string; readonly command: Command }
  | { readonly kind: "hit"; readonly id: string; readonly hit: Hit };

/** Choices of one kind, under one heading. */
export type ChoiceGroup = { readonly name: string; readonly choices: readonly Choice[] };

/** More would not be read. */
const MOST_SESSIONS = 50;
/** Beside what was found in the history. */
const MOST_SESSIONS_FOUND = 8;

/**
 * Sessions in the roster's order, then commands; all words must occur. What was found in the history comes last: it
 * arrives later, and must not push away what is about to be taken.
 */
export function choicesFor(
  text: string,
  sessions: readonly TrackedSession[],
  commands: readonly Command[],
  hits: readonly Hit[] = [],
): ChoiceGroup[] {
  const terms = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const most = terms.length === 0 ? MOST_SESSIONS : MOST_SESSIONS_FOUND;
  const fits = (words: string): boolean => terms.every((term) => words.toLocaleLowerCase().includes(term));
  const found: Choice[] = [];
  for (const session of sessions) {
    if (found.length === most) break;
    const place = placeOf(session);
    if (fits(`${titleOf(session)} ${place.project} ${place.branch ?? ""} ${session.sessionId}`)) {
      found.push({ kind: "session", id: `s-${session.sessionId}`, session });
    }
  }
  const fitting = commands.filter((command) => fits(command.name));
  return [
    { name: "Sessions", choices: found },
    { name: "Commands", choices: fitting.map((command): Choice => ({ kind: "command", id: `c-${command.name}`, command })) },
    { name: "History", choices: hits.map((hit, index): Choice => ({ kind: "hit", id: `h-${index}`, hit })) },
  ].filter((group) => group.choices.length > 0);
}

const ROLES: ReadonlyMap<string, string> = new Map([
  ["prompt", "Prompt"],
  ["answer", "Answer"],
  ["thinking", "Thought"],
  ["summary", "Summary"],
  ["title", "Title"],
]);

/** Who said it: "Prompt", "Bash", "Output of Bash", with the subagent if it was one. */
export function speakerOf(hit: Hit): string {
  const tool = hit.tool ?? "a tool";
  const words = hit.role === "tool_result" ? `Output of ${tool}` : hit.role === "tool_input" ? tool : (ROLES.get(hit.role) ?? hit.role);
  return hit.agentId === undefined ? words : `${words}, subagent`;
}

/** The last part of a path, as the roster names projects. */
export function projectName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}

// What the palette offers for what was typed.

import type { TrackedSession } from "./bindings/TrackedSession";
import { placeOf, titleOf } from "./roster/words";

export type Command = { readonly name: string; readonly key?: string; readonly run: () => void };

export type Choice =
  | { readonly kind: "session"; readonly id: string; readonly session: TrackedSession }
  | { readonly kind: "command"; readonly id: string; readonly command: Command };

/** More would not be read. */
const MOST_SESSIONS = 50;

/** Sessions in the roster's order, then commands; all words must occur. */
export function choicesFor(text: string, sessions: readonly TrackedSession[], commands: readonly Command[]): Choice[] {
  const terms = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const fits = (words: string): boolean => terms.every((term) => words.toLocaleLowerCase().includes(term));
  const found: Choice[] = [];
  for (const session of sessions) {
    if (found.length === MOST_SESSIONS) break;
    const place = placeOf(session);
    if (fits(`${titleOf(session)} ${place.project} ${place.branch ?? ""} ${session.sessionId}`)) {
      found.push({ kind: "session", id: `s-${session.sessionId}`, session });
    }
  }
  for (const command of commands) {
    if (fits(command.name)) found.push({ kind: "command", id: `c-${command.name}`, command });
  }
  return found;
}

// The words of past alerts.

import type { PastAlert } from "./bindings/PastAlert";
import { ageWords } from "./age";
import { oneLine } from "./text";
import type { Glyph } from "./roster/words";

const NEEDS: Readonly<Record<string, readonly [glyph: Glyph, words: string]>> = {
  approval: ["approval", "wanted permission"],
  question: ["question", "asked"],
  plan: ["plan", "showed a plan"],
  dialog: ["approval", "had a dialog open"],
};

/** What the session wanted. */
export function wantedOf({ need }: PastAlert): readonly [glyph: Glyph, words: string] {
  return NEEDS[need] ?? ["error", "failed"];
}

/** "answered after 3 min" */
export function endWords({ became, need, answer, at, until }: PastAlert, now: number): string {
  const after = ageWords((until === undefined ? now : Date.parse(until)) - Date.parse(at));
  if (answer !== undefined) return `${oneLine(answer)} after ${after}`;
  if (became === "open") return `still open, ${after}`;
  if (became === "went_on") return `${need === "error" ? "went on" : "answered"} after ${after}`;
  return `${became === "ended" ? "session ended" : "stopped there"} after ${after}`;
}

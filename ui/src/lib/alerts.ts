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

const ENDS: Readonly<Record<PastAlert["became"], string>> = {
  open: "still open",
  unseen: "its end was not seen",
  went_on: "answered",
  stopped: "stopped there",
  ended: "session ended",
};

/** What the session wanted. */
export function wantedOf({ need }: PastAlert): readonly [glyph: Glyph, words: string] {
  return NEEDS[need] ?? ["error", "failed"];
}

/** "answered after 3 min" */
export function endWords({ became, need, answer, at, until }: PastAlert, now: number): string {
  const after = (end: number): string => ageWords(end - Date.parse(at));
  if (became === "open" && answer === undefined) return `still open, ${after(now)}`;
  const words = answer === undefined ? (became === "went_on" && need === "error" ? "went on" : ENDS[became]) : oneLine(answer);
  return until === undefined ? words : `${words} after ${after(Date.parse(until))}`;
}

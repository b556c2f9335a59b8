// How high an item will be, before it is drawn: so that of a timeline that opens no more is drawn than is in sight.

import type { TimelineItem } from "../bindings/TimelineItem";

/** One line, and most calls and thoughts are one, in pixels. */
const ONE = 30;
const LINE = 19;
const AROUND = 10;
/** The time beside it, and what is left free at both sides. */
const BESIDE = 92;
/** Too narrow rather than too wide: an item that is drawn in vain costs little, and a gap would be seen. */
const LETTER = 5.5;
/** Longer ones are cut when they are drawn. */
const MOST = 5000;

export function guessedHeight(item: TimelineItem | undefined, width: number): number {
  if (item === undefined || (item.kind !== "prompt" && item.kind !== "response")) return ONE;
  const letters = Math.max(20, (width - BESIDE) / LETTER);
  let lines = 0;
  for (const line of item.text.slice(0, MOST).split("\n")) lines += Math.max(1, Math.ceil(line.length / letters));
  return Math.max(ONE, AROUND + lines * LINE);
}

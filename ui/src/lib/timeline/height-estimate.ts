// Estimates the height of an item before it is drawn, so that a timeline that opens draws only the view.

import type { TimelineItem } from "../bindings/TimelineItem";

/** Height of one line in pixels. Most calls and thoughts are one line. */
const ONE = 30;
const LINE = 19;
const AROUND = 10;
/** Width of the time column and the margins. */
const BESIDE = 92;
/** Rather too narrow than too wide: drawing an item too many costs little, and a gap would be visible. */
const LETTER = 5.5;
/** Longer texts are cut when they are drawn. */
const MOST = 5000;

export function estimatedHeight(item: TimelineItem | undefined, width: number): number {
  if (item === undefined || (item.kind !== "prompt" && item.kind !== "response")) return ONE;
  const letters = Math.max(20, (width - BESIDE) / LETTER);
  let lines = 0;
  for (const line of item.text.slice(0, MOST).split("\n")) lines += Math.max(1, Math.ceil(line.length / letters));
  return Math.max(ONE, AROUND + lines * LINE);
}

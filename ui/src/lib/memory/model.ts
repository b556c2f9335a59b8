// The model that is asked after turns, in one line.

import { timeWords } from "../age";
import type { ModelQueue } from "../bindings/ModelQueue";
import { oneLine, plural } from "../text";

/** What waits, what it took on this day, and what holds it up. */
export function modelWords(queue: ModelQueue, now: number): string {
  const { today, pausedUntil, limitReached, lastError } = queue;
  const waiting = queue.running === true ? "is asked now" : queue.queued > 0 ? `${plural(queue.queued, "turn")} wait${queue.queued === 1 ? "s" : ""}` : "no turn waits";
  const money = today.microUsd === 0 ? "" : `, $${(today.microUsd / 1e6).toFixed(4)}`;
  const parts = [
    `${oneLine(queue.name ?? queue.address)}: ${waiting}`,
    queue.older > 0 ? `${queue.older} older` : "",
    `today ${plural(today.questions, "question")}, ${plural(today.tokensIn + today.tokensOut, "token")}${money}`,
    pausedUntil !== undefined ? `paused until ${timeWords(pausedUntil, now)}` : limitReached !== undefined ? `the limit ${oneLine(limitReached)} of this day is reached` : "",
    lastError !== undefined ? `last failure: ${oneLine(lastError)}` : "",
  ];
  return `Model ${parts.filter((part) => part !== "").join(" · ")}`;
}

// The words of a day.

import type { Day } from "../bindings/Day";
import type { DayStretch } from "../bindings/DayStretch";
import { clockWords } from "../age";
import { ms } from "./view";

/** "40 s", "26 min", "2 h 22 min": of seconds. */
export function spanWords(secs: number): string {
  if (secs < 60) return `${Math.floor(secs)} s`;
  const minutes = Math.floor(secs / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const lasted = (stretch: DayStretch): number => (ms(stretch.to) - ms(stretch.from)) / 1000;

/** What a chain did in a stretch. */
export function doingWords({ doing, stateKind }: DayStretch): string {
  switch (doing) {
    case "waiting":
      if (stateKind === "question") return "waited for an answer";
      if (stateKind === "plan") return "waited for a decision about its plan";
      return stateKind === "dialog" ? "a dialog was open" : "waited for your permission";
    case "failed":
      if (stateKind === "retrying") return "tried a request again";
      return stateKind === "limit" ? "reached a usage limit" : "failed";
    case "working":
      return stateKind === "compacting" ? "compacted its context" : "worked";
    case "your_turn":
      return "your turn";
    case "idle":
      return "idle";
  }
}

/** "08:22 to 08:48, 26 min" */
export function whenWords(stretch: DayStretch, day: Day): string {
  const end = stretch.to === day.now ? "now" : clockWords(stretch.to);
  const sure = stretch.inferred === true ? ", concluded from silence" : "";
  return `${clockWords(stretch.from)} to ${end}, ${spanWords(lasted(stretch))}${sure}`;
}

/** "Saturday, 14 March" */
export function dateWords(date: string): string {
  return new Date(`${date}T12:00:00`).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" });
}

/** "Sat 14 Mar" */
export function shortDate(date: string): string {
  return new Date(`${date}T12:00:00`).toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short" });
}

/** The day before or after. */
export function dayBeside(date: string, by: number): string {
  const time = new Date(`${date}T12:00:00Z`);
  time.setUTCDate(time.getUTCDate() + by);
  return time.toISOString().slice(0, 10);
}

// Ages and durations in words, and when such a text next changes.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "12 s", "4 min", "3 h", "2 d": one unit, rounded down, never negative. */
export function ageWords(ms: number): string {
  if (!Number.isFinite(ms)) return "";
  const age = Math.max(0, ms);
  if (age < MINUTE) return `${Math.floor(age / SECOND)} s`;
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h`;
  return `${Math.floor(age / DAY)} d`;
}

/** "2026-11-20": the day of a time in the person's time zone. */
export function localDay(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return "";
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
}

/** A wait for the user is long from this age on. */
const LONG_WAIT = 5 * MINUTE;

export function isLongWait(ms: number): boolean {
  return ms >= LONG_WAIT;
}

/** Milliseconds until `ageWords` gives another text. */
export function untilNextWord(ms: number): number {
  if (!Number.isFinite(ms)) return Infinity;
  if (ms < 0) return SECOND - ms;
  const unit = ms < MINUTE ? SECOND : ms < HOUR ? MINUTE : ms < DAY ? HOUR : DAY;
  return unit - (ms % unit);
}

/** "40 ms", "0.1 s", "48 s", "1 min 12 s", "2 h 5 min". */
export function durationWords(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${Math.floor((ms % MINUTE) / SECOND)} s`;
  return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`;
}

/** "Friday, 27 November" for the later of two times, if it is of another day than the earlier one. */
export function dayBegins(before: string, at: string): string {
  if (localDay(before) === localDay(at) || localDay(at) === "") return "";
  return new Date(at).toLocaleDateString("en-GB", { weekday: "long", day: "numeric", month: "long" });
}

/** "14:02"; with the date if it was another day. */
export function timeWords(at: string, now: number): string {
  const when = new Date(at);
  if (Number.isNaN(when.getTime())) return "";
  const time = `${two(when.getHours())}:${two(when.getMinutes())}`;
  if (when.toDateString() === new Date(now).toDateString()) return time;
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())} ${time}`;
}

export function clockWords(at: string | undefined): string {
  if (at === undefined) return "";
  const when = new Date(at);
  return Number.isNaN(when.getTime()) ? "" : `${two(when.getHours())}:${two(when.getMinutes())}`;
}

/** "14:02:38" */
export function secondWords(at: number): string {
  const when = new Date(at);
  return `${two(when.getHours())}:${two(when.getMinutes())}:${two(when.getSeconds())}`;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

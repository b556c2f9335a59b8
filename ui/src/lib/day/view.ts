// The part of a day that is shown, and where a time lies in it. Pure.

import type { Day } from "../bindings/Day";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** The least and the usual part of a day. */
const LEAST = 15 * MINUTE;

/** From when to when, in milliseconds. */
export type View = { readonly from: number; readonly to: number };

export const ms = (at: string): number => Date.parse(at);

export const whole = (day: Day): View => ({ from: ms(day.from), to: ms(day.to) });

/** The hours in which something was done, and a tenth more beyond now. */
export function fitting(day: Day): View {
  const busy = day.chains.flatMap((chain) => chain.stretches.filter(({ doing }) => doing !== "idle"));
  const all = whole(day);
  if (busy.length === 0) return all;
  const from = Math.min(...busy.map((stretch) => ms(stretch.from)));
  const to = day.now === undefined ? Math.max(...busy.map((stretch) => ms(stretch.to))) : ms(day.now);
  const begin = from - ((from - all.from) % HOUR);
  return within({ from: begin, to: Math.max(to + (to - begin) / (day.now === undefined ? 50 : 10), begin + HOUR) }, all);
}

/** The view, moved and cut so that it lies in the other one. */
function within(view: View, all: View): View {
  const span = Math.min(Math.max(view.to - view.from, LEAST), all.to - all.from);
  const from = Math.min(Math.max(view.from, all.from), all.to - span);
  return { from, to: from + span };
}

/** Nearer or farther, around a time. */
export function zoomed(view: View, by: number, around: number, all: View): View {
  const at = around < view.from || around > view.to ? (view.from + view.to) / 2 : around;
  return within({ from: at - (at - view.from) * by, to: at + (view.to - at) * by }, all);
}

/** The view that has a time in sight. */
export function showing(view: View, at: number, all: View): View {
  if (at >= view.from && at <= view.to) return view;
  const half = (view.to - view.from) / 2;
  return within({ from: at - half, to: at + half }, all);
}

export function percent(view: View, at: number): number {
  return Math.min(100, Math.max(0, ((at - view.from) / (view.to - view.from)) * 100));
}

/** Round times in the view, at most eight. */
export function ticks(view: View, day: Day): number[] {
  const span = view.to - view.from;
  const step = [5, 15, 30, 60, 120, 180, 360].map((minutes) => minutes * MINUTE).find((one) => span / one <= 8) ?? 6 * HOUR;
  const begin = ms(day.from);
  const first = begin + Math.ceil((view.from - begin) / step) * step;
  return Array.from({ length: Math.floor((view.to - first) / step) + 1 }, (_, number) => first + number * step);
}

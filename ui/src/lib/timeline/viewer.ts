// The view of a timeline, as its model sees it: what the model must know before it moves items on the screen.

import type { TimelineItem } from "../bindings/TimelineItem";
import type { Moves } from "./moves";

export interface Viewer {
  /** Resolves after the new items have been painted and shown for a moment: whether the user is still there. */
  stays(): Promise<boolean>;
  /** Resolves when the view may be moved, because the user does not hold it. */
  free(): Promise<void>;
  /** The first and the last item in view; undefined if the view follows the end. */
  inSight(): readonly [first: number, last: number] | undefined;
  /** Called before the items are drawn at their new indexes: how they moved, and how many there are now. */
  moved(moves: Moves, total: number): void;
}

export const NO_VIEWER: Viewer = { stays: async () => true, free: async () => {}, inSight: () => undefined, moved: () => {} };

/** The user has left this timeline. */
export const GONE: Viewer = { ...NO_VIEWER, stays: async () => false };

/**
 * Fetches the items in view at their new indexes. The answer that reveals a move mostly holds the newest items. The
 * items in view may have moved with them, by the number of added items. Or they stayed, because a session in the
 * middle of the chain has grown. So this asks for these places, one after the other. The result is empty if that is
 * not needed, or if none of the places holds the items.
 */
export async function lookedAt(
  viewer: Viewer,
  moves: Moves,
  more: number,
  item: (index: number) => TimelineItem | undefined,
  ask: (from: number, limit: number) => Promise<readonly TimelineItem[]>,
): Promise<readonly TimelineItem[]> {
  const [first, last] = viewer.inSight() ?? [0, -1];
  if (last < first || moves.knows(first)) return [];
  const keys = new Set<string>();
  for (let index = first; index <= last; index += 1) keys.add(item(index)?.key ?? "");
  for (const from of new Set([moves.to(first) ?? first, Math.max(0, first + more), first])) {
    const found = await ask(from, last - first + 1);
    if (found.some(({ key }) => keys.has(key))) return found;
  }
  return [];
}

/** Longest wait for a frame, in milliseconds: a hidden window paints none. */
const NO_FRAME = 250;

/** Resolves after the next frame: a timer set in a frame runs after its painting. */
export function nextPainting(): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, NO_FRAME);
    requestAnimationFrame(() => setTimeout(done));
  });
}

/** A user who stays this long, in milliseconds, does not just move past. */
export const REST = 150;

export function after(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

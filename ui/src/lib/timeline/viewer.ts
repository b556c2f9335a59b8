// Who looks at a timeline, and what has to be known before it is moved under their eyes.

import type { TimelineItem } from "../bindings/TimelineItem";
import type { Moves } from "./moves";

export interface Viewer {
  /** Resolves when what has come has been painted and looked at for a moment: whether they are still there. */
  stays(): Promise<boolean>;
  /** Resolves when the view may be moved: nobody holds it. */
  free(): Promise<void>;
  /** The first and the last item in sight; nothing where those at the end are meant, whichever they are. */
  inSight(): readonly [first: number, last: number] | undefined;
  /** Told before anything is drawn at its new place: where items have moved, and how many there are now. */
  moved(moves: Moves, total: number): void;
}

export const NOBODY: Viewer = { stays: async () => true, free: async () => {}, inSight: () => undefined, moved: () => {} };

/** They have gone on to something else. */
export const GONE: Viewer = { ...NOBODY, stays: async () => false };

/**
 * What is in sight, where it is now. The answer that tells of a move is mostly of the newest items: those that are looked
 * at may have moved with them, by as many as there are more now, or stay where they were because a session in the middle of the
 * chain has gone on. So these places are asked for, one after the other; nothing comes back where that is not needed, or they are
 * at none of them.
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

/** The longest that is waited for a frame, in milliseconds: a hidden window paints none. */
const NO_FRAME = 250;

/** Resolves after the next frame: a timer that is set in a frame comes after its painting. */
export function nextPainting(): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, NO_FRAME);
    requestAnimationFrame(() => setTimeout(done));
  });
}

/** Who stays for so long, in milliseconds, has not just walked past. */
export const REST = 150;

export function after(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}

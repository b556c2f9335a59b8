// Where the items of a timeline stand when it has become another one: counted, joined to another, or written anew.

import type { TimelineItem } from "../bindings/TimelineItem";

/** An item that is known again: where it stood, and where it is. */
type Pair = { readonly from: number; readonly to: number; /** What came after it there is not known. */ readonly goesOn: boolean };

/**
 * Items are known again by their keys, as far as both timelines hold them; of the new one some stretches are known, each without
 * gaps. What stands before all that are known again, or after the last one of a stretch, is taken to have moved along with its
 * neighbour.
 */
export class Moves {
  /** In the order in which they stood. */
  readonly #pairs: readonly Pair[];
  readonly #byPlace: ReadonlyMap<number, number>;

  constructor(before: Iterable<TimelineItem>, ...now: readonly (readonly TimelineItem[])[]) {
    const places = new Map<string, { index: number; goesOn: boolean }>();
    for (const stretch of now) {
      const last = stretch.at(-1);
      for (const item of stretch) {
        const known = places.get(item.key);
        places.set(item.key, { index: item.index, goesOn: item === last && (known === undefined || known.goesOn) });
      }
    }
    const pairs: Record<number, Pair> = {};
    for (const { key, index } of before) {
      const place = places.get(key);
      if (place !== undefined) pairs[index] = { from: index, to: place.index, goesOn: place.goesOn };
    }
    // What an object has by numbers comes in their order.
    this.#pairs = Object.values(pairs);
    this.#byPlace = new Map(this.#pairs.map(({ from, to }) => [from, to]));
  }

  /** Whether the item that stood there is known again. */
  knows(index: number): boolean {
    return this.#byPlace.has(index);
  }

  /** Where the item is now that stood there; nothing where it is gone, or nobody knows. */
  to(index: number): number | undefined {
    const known = this.#byPlace.get(index);
    if (known !== undefined) return known;
    const after = this.#after(index);
    const [before, next] = [this.#pairs[after - 1], this.#pairs[after]];
    const beside = before ?? next;
    if (beside === undefined || before?.goesOn === false) return undefined;
    const place = index + beside.to - beside.from;
    return place < 0 || place >= (next?.to ?? Infinity) ? undefined : place;
  }

  /** How many of those that are known again stood before it. */
  #after(index: number): number {
    let [low, high] = [0, this.#pairs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pairs[middle]?.from ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

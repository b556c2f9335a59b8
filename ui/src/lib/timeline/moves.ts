// Where the items of a timeline are after it has changed: counted, joined to another one, or rewritten.

import type { TimelineItem } from "../bindings/TimelineItem";

/** A recognized item: its old index and its new index. */
type Pair = { readonly from: number; readonly to: number; /** The items after it are not known. */ readonly goesOn: boolean };

/**
 * Items are recognized by their keys, as far as both timelines hold them. Of the new timeline some ranges are known,
 * each without gaps. Items before all recognized ones, or after the last one of a range, are assumed to have moved
 * with their neighbour.
 */
export class Moves {
  /** In the order of the old indexes. */
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
    // An object yields its numeric keys in ascending order.
    this.#pairs = Object.values(pairs);
    this.#byPlace = new Map(this.#pairs.map(({ from, to }) => [from, to]));
  }

  /** Whether the item of this old index is recognized. */
  knows(index: number): boolean {
    return this.#byPlace.has(index);
  }

  /** The new index of the item with this old index; undefined if it is gone or not known. */
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

  /** Number of recognized items before this old index. */
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

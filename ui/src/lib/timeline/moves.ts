// Where the items of a timeline stand when it has become another one: counted, joined to another, or written anew.

import type { TimelineItem } from "../bindings/TimelineItem";

/**
 * Items are known again by their keys, as far as both timelines hold them. What stands before all of those, or after the
 * last item that the new one has shown, is taken to have moved along with its neighbour.
 */
export class Moves {
  #pairs = new Map<number, number>();
  #first: number | undefined;
  #last: number | undefined;
  #goesOn = false;

  constructor(before: Iterable<TimelineItem>, now: readonly TimelineItem[]) {
    const places = new Map(now.map((item) => [item.key, item.index]));
    for (const { key, index } of before) {
      const place = places.get(key);
      if (place === undefined) continue;
      this.#pairs.set(index, place);
      if (index < (this.#first ?? Infinity)) this.#first = index;
      if (index > (this.#last ?? -1)) this.#last = index;
    }
    this.#goesOn = this.#last !== undefined && this.#pairs.get(this.#last) === now.at(-1)?.index;
  }

  /** Where the item is now that stood there; nothing where it is gone, or nobody knows. */
  to(index: number): number | undefined {
    if (this.#first === undefined || this.#last === undefined) return undefined;
    const beside = index < this.#first ? this.#first : index > this.#last && this.#goesOn ? this.#last : undefined;
    if (beside === undefined) return this.#pairs.get(index);
    const place = index + (this.#pairs.get(beside) ?? 0) - beside;
    return place < 0 ? undefined : place;
  }
}

// The fetched items of a timeline, page by page.

import type { Timeline } from "../bindings/Timeline";
import type { TimelineItem } from "../bindings/TimelineItem";
import type { Moves } from "./moves";

export const PAGE = 100;
/** Number of pages kept. An item may hold 32 KiB, so this bounds the memory of a long scroll. */
const KEPT = 40;
/** The turn of a page with moved items. They are shown until the page is fetched at its new index. */
const MOVED = 0;

/** Items of one page, and the number of the request that brought them. */
type Page = { readonly items: readonly (TimelineItem | undefined)[]; readonly turn: number };

export const pageOf = (index: number): number => Math.floor(index / PAGE);

export class Pages {
  /** In the order of their last use. */
  #pages = new Map<number, Page>();
  /** The subagent of each item, kept after its page is dropped: a folded run must stay folded without the page. */
  #agents: (string | undefined)[] = [];

  item(index: number): TimelineItem | undefined {
    return this.#pages.get(pageOf(index))?.items[index % PAGE];
  }

  agentOf(index: number): string | undefined {
    return this.#agents[index];
  }

  /** Whether all of the page is there, fetched at its present index. */
  isComplete(page: number, total: number): boolean {
    const known = this.#pages.get(page);
    return known !== undefined && known.turn !== MOVED && known.items.length >= Math.min(PAGE, total - page * PAGE);
  }

  /** Marks the page as used, so that others are dropped before it. */
  touch(page: number): void {
    const known = this.#pages.get(page);
    if (known !== undefined) this.#put(page, known);
  }

  /** Keeps the requested page, or every page whose beginning is in the range. */
  take(stretch: Timeline, turn: number, asked?: number): void {
    const first = asked ?? Math.ceil(stretch.from / PAGE);
    const end = asked === undefined ? Math.ceil((stretch.from + stretch.items.length) / PAGE) : asked + 1;
    for (let page = first; page < end; page += 1) {
      if ((this.#pages.get(page)?.turn ?? 0) > turn) continue;
      const begin = page * PAGE - stretch.from;
      this.#put(page, { items: stretch.items.slice(begin, begin + PAGE), turn });
    }
    for (const item of stretch.items) if (item.agentId !== undefined) this.#agents[item.index] = item.agentId;
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= KEPT) break;
      this.#pages.delete(page);
    }
  }

  /**
   * Whether an item of the range differs from the known item at that index. The index of a moved item may be only an
   * assumption.
   */
  contradicts(stretch: Timeline, besides: { moved: boolean }): boolean {
    return stretch.items.some(({ index, key }) => {
      const page = this.#pages.get(pageOf(index));
      const known = page?.items[index % PAGE];
      return known !== undefined && (besides.moved || page?.turn !== MOVED) && known.key !== key;
    });
  }

  /** The items of pages that were fetched at their present index. */
  asked(): (readonly TimelineItem[])[] {
    return [...this.#pages.values()].filter(({ turn }) => turn !== MOVED).map(({ items }) => items.filter((item) => item !== undefined));
  }

  /** Moves everything to its new index, and drops the items that are gone. */
  move(moves: Moves): void {
    const [items, agents] = [[...this.items()], this.#agents];
    const pages = new Map<number, (TimelineItem | undefined)[]>();
    for (const item of items) {
      const index = moves.to(item.index);
      if (index === undefined) continue;
      const page = pages.get(pageOf(index)) ?? [];
      page[index % PAGE] = { ...item, index };
      pages.set(pageOf(index), page);
    }
    this.#pages = new Map([...pages].map(([page, items]) => [page, { items, turn: MOVED }]));
    this.#agents = [];
    agents.forEach((agent, index) => {
      const place = agent === undefined ? undefined : moves.to(index);
      if (place !== undefined) this.#agents[place] = agent;
    });
  }

  *items(): Iterable<TimelineItem> {
    for (const { items } of this.#pages.values()) for (const item of items) if (item !== undefined) yield item;
  }

  /** The pages with tools that had no outcome when they were fetched, the newest first. */
  *unfinished(): Iterable<number> {
    for (const [page, { items }] of [...this.#pages].reverse()) {
      if (items.some((item) => item?.kind === "tool" && item.outcome === "pending")) yield page;
    }
  }

  #put(page: number, known: Page): void {
    this.#pages.delete(page);
    this.#pages.set(page, known);
  }
}

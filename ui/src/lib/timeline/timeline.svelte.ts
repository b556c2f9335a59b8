// The timeline of one work chain, fetched in pages as they come into view.

import type { TimelineItem } from "../bindings/TimelineItem";
import { type Host, reasonOf } from "../host/host";

export const PAGE = 100;
/** Pages kept; an item may carry 32 KiB, so this bounds what a long scroll costs. */
const KEPT_PAGES = 40;
/** Pages with unfinished tools that are asked for again when the session moves. */
const UNFINISHED_PAGES = 4;

export class TimelineModel {
  total = $state(0);
  /** Rises whenever items came or changed. */
  version = $state(0);
  loaded = $state(false);
  failure = $state("");

  #host: Host;
  #sessionId: string;
  #chainId: string | undefined;
  #pages = new Map<number, readonly TimelineItem[]>();
  /** Whose each item is, also when its page is gone: a folded run must stay folded without it. */
  #agents: (string | undefined)[] = [];
  #inFlight = new Set<number>();
  #refreshing = false;
  #refreshAgain = false;

  constructor(host: Host, sessionId: string) {
    this.#host = host;
    this.#sessionId = sessionId;
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  async open(): Promise<void> {
    await this.#fetch(0);
    const last = this.#lastPage();
    if (last > 0) await this.#fetch(last);
    this.loaded = this.failure === "";
  }

  /** The work goes on in another session of the same chain; what is shown stays. */
  moveTo(sessionId: string): void {
    if (sessionId === this.#sessionId) return;
    this.#sessionId = sessionId;
    this.refresh();
  }

  item(index: number): TimelineItem | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** The subagent that an item belongs to, as far as the item was ever seen. */
  agentOf(index: number): string | undefined {
    return this.#agents[index];
  }

  /** Sees to it that these items are there, now or soon. */
  ensure(indexes: Iterable<number>): void {
    const pages = new Set<number>();
    for (const index of indexes) pages.add(Math.floor(index / PAGE));
    for (const page of pages) {
      if (!this.#isComplete(page)) void this.#fetch(page);
      else this.#touch(page);
    }
  }

  /** Fetches the item at the index, which may be newer than everything known. */
  async reach(index: number): Promise<void> {
    const page = Math.floor(index / PAGE);
    if (!this.#isComplete(page) || index >= this.total) await this.#fetch(page);
  }

  /** Asks again for the tail and for tools without an outcome; calls that come meanwhile are one more round. */
  refresh(): void {
    if (this.#refreshing) {
      this.#refreshAgain = true;
      return;
    }
    this.#refreshing = true;
    void this.#refreshOnce().finally(() => {
      this.#refreshing = false;
      if (this.#refreshAgain) {
        this.#refreshAgain = false;
        this.refresh();
      }
    });
  }

  /** Index of the first item at or after the time, by bisection. */
  async indexAt(at: string): Promise<number> {
    const wanted = Date.parse(at);
    let low = 0;
    let high = this.total;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const page = Math.floor(middle / PAGE);
      if (!this.#isComplete(page)) await this.#fetch(page);
      const time = this.#timeAtOrAfter(middle, high);
      if (time === undefined || time >= wanted) high = middle;
      else low = middle + 1;
    }
    return Math.min(low, Math.max(0, this.total - 1));
  }

  #timeAtOrAfter(index: number, end: number): number | undefined {
    for (let i = index; i < end; i += 1) {
      const item = this.item(i);
      if (item === undefined) return undefined;
      if (item.at !== undefined) return Date.parse(item.at);
    }
    return undefined;
  }

  async #refreshOnce(): Promise<void> {
    const pages = new Set<number>([this.#lastPage()]);
    for (const [page, items] of [...this.#pages].reverse()) {
      if (pages.size > UNFINISHED_PAGES) break;
      if (items.some((item) => item.kind === "tool" && item.outcome === "pending")) pages.add(page);
    }
    for (const page of pages) await this.#fetch(page);
    const last = this.#lastPage();
    if (!this.#isComplete(last)) await this.#fetch(last);
  }

  async #fetch(page: number): Promise<void> {
    if (this.#inFlight.has(page)) return;
    this.#inFlight.add(page);
    try {
      const stretch = await this.#host.timeline(this.#sessionId, page * PAGE, PAGE);
      // A shorter timeline is another one, since a file was replaced; so is that of a chain that was joined.
      if (stretch.total < this.total || stretch.workChainId !== this.#chainId) this.#forget();
      this.#chainId = stretch.workChainId;
      this.#pages.delete(page);
      this.#pages.set(page, stretch.items);
      for (const item of stretch.items) if (item.agentId !== undefined) this.#agents[item.index] = item.agentId;
      this.#evict();
      this.total = stretch.total;
      this.failure = "";
      this.version += 1;
    } catch (error) {
      this.failure = reasonOf(error);
    } finally {
      this.#inFlight.delete(page);
    }
  }

  #forget(): void {
    this.#pages.clear();
    this.#agents = [];
  }

  #isComplete(page: number): boolean {
    const items = this.#pages.get(page);
    return items !== undefined && items.length >= Math.min(PAGE, this.total - page * PAGE);
  }

  #lastPage(): number {
    return Math.max(0, Math.floor((this.total - 1) / PAGE));
  }

  #touch(page: number): void {
    const items = this.#pages.get(page);
    if (items === undefined) return;
    this.#pages.delete(page);
    this.#pages.set(page, items);
  }

  #evict(): void {
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= KEPT_PAGES) break;
      this.#pages.delete(page);
    }
  }
}

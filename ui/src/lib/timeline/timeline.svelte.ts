// The timeline of one work chain, fetched in pages as they come into view.

import type { Timeline } from "../bindings/Timeline";
import type { TimelineItem } from "../bindings/TimelineItem";
import { type Host, reasonOf } from "../host/host";

export const PAGE = 100;
/** Pages kept; an item may carry 32 KiB, so this bounds what a long scroll costs. */
const KEPT_PAGES = 40;
/** Pages with unfinished tools that are asked for again when the session moves. */
const UNFINISHED_PAGES = 4;

/** Items of one page, and the request that brought them. */
type Page = { readonly items: readonly TimelineItem[]; readonly turn: number };

export class TimelineModel {
  total = $state(0);
  /** Rises whenever items came or changed. */
  version = $state(0);
  /** Rises when what stood at an index before is no longer there. */
  epoch = $state(0);
  loaded = $state(false);
  /** Until then what is shown are the newest items alone, and how many stand before them is not known. */
  counted = $state(true);
  failure = $state("");
  /** How often somebody wished to go somewhere in it, or went: an answer to an older wish moves nobody. */
  wishes = 0;

  #host: Host;
  #sessionId: string;
  #chainId: string | undefined;
  #pages = new Map<number, Page>();
  /** Whose each item is, also when its page is gone: a folded run must stay folded without it. */
  #agents: (string | undefined)[] = [];
  #inFlight = new Map<number, Promise<void>>();
  /** Requests are numbered, for their answers come in any order: what an older one says is not how it is now. */
  #turn = 0;
  /** The newest request that was answered. */
  #answered = 0;
  #opened = Promise.resolve();
  #refreshing = false;
  #refreshAgain = false;

  constructor(host: Host, sessionId: string) {
    this.#host = host;
    this.#sessionId = sessionId;
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  /** Asks for the newest items, in one go: what is older is asked for when it comes into view. */
  open(): Promise<void> {
    void this.#openNewest();
    return (this.#opened = this.#openWhole());
  }

  async #openWhole(): Promise<void> {
    const turn = ++this.#turn;
    try {
      // Twice as many as a page has, so that at least one page is whole.
      this.#take(await this.#host.timeline(this.#sessionId, undefined, 2 * PAGE), turn);
    } catch (error) {
      this.failure = reasonOf(error);
    }
  }

  /** A long timeline is shown from its end until it has been read and counted, and is another one then. */
  async #openNewest(): Promise<void> {
    const turn = ++this.#turn;
    // If it fails, the other question tells why.
    const newest = await this.#host.newestItems(this.#sessionId, 2 * PAGE).catch(() => null);
    if (newest === null || this.loaded) return;
    this.#take(newest, turn);
    this.counted = false;
  }

  /** The work goes on in another session of the same chain; what is shown stays. */
  moveTo(sessionId: string): void {
    if (sessionId === this.#sessionId) return;
    this.#sessionId = sessionId;
    this.refresh();
  }

  item(index: number): TimelineItem | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.items[index % PAGE];
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
    if (index >= this.total) await this.#fetchAnew(page);
    else if (!this.#isComplete(page)) await this.#fetch(page);
  }

  /** Asks again for the tail, when it is known where that is, and for tools without an outcome; calls that come meanwhile are one more round. */
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
    await this.#opened;
    const pages = new Set<number>([this.#lastPage()]);
    for (const [page, { items }] of [...this.#pages].reverse()) {
      if (pages.size > UNFINISHED_PAGES) break;
      if (items.some((item) => item.kind === "tool" && item.outcome === "pending")) pages.add(page);
    }
    for (const page of pages) await this.#fetchAnew(page);
    const last = this.#lastPage();
    if (!this.#isComplete(last)) await this.#fetch(last);
  }

  /** What is on its way already is waited for. */
  #fetch(page: number): Promise<void> {
    let coming = this.#inFlight.get(page);
    if (coming === undefined) {
      coming = this.#ask(page).finally(() => this.#inFlight.delete(page));
      this.#inFlight.set(page, coming);
    }
    return coming;
  }

  /** What is on its way may be from before that for which it is asked now. */
  async #fetchAnew(page: number): Promise<void> {
    await this.#inFlight.get(page);
    await this.#fetch(page);
  }

  async #ask(page: number): Promise<void> {
    try {
      for (let isTaken = false; !isTaken; ) {
        const turn = ++this.#turn;
        isTaken = this.#take(await this.#host.timeline(this.#sessionId, page * PAGE, PAGE), turn, page);
      }
    } catch (error) {
      this.failure = reasonOf(error);
    }
  }

  /** Keeps every page of which the stretch has the beginning; says whether the stretch is one of this timeline. */
  #take(stretch: Timeline, turn: number, asked?: number): boolean {
    const isOtherChain = this.#chainId !== undefined && stretch.workChainId !== this.#chainId;
    if (turn < this.#answered) {
      if (isOtherChain || stretch.total !== this.total) return false;
    } else {
      this.#answered = turn;
      // A shorter timeline is another one, since a file was replaced; so is that of a chain that was joined.
      if (isOtherChain || stretch.total < this.total || !this.counted) this.#forget();
      this.counted = true;
    }
    this.#chainId = stretch.workChainId;
    const first = asked ?? Math.ceil(stretch.from / PAGE);
    const end = asked === undefined ? Math.ceil((stretch.from + stretch.items.length) / PAGE) : asked + 1;
    for (let page = first; page < end; page += 1) {
      if ((this.#pages.get(page)?.turn ?? 0) > turn) continue;
      const begin = page * PAGE - stretch.from;
      this.#pages.delete(page);
      this.#pages.set(page, { items: stretch.items.slice(begin, begin + PAGE), turn });
    }
    for (const item of stretch.items) if (item.agentId !== undefined) this.#agents[item.index] = item.agentId;
    this.#evict();
    this.total = stretch.total;
    this.loaded = true;
    this.failure = "";
    this.version += 1;
    return true;
  }

  #forget(): void {
    this.#pages.clear();
    this.#agents = [];
    this.epoch += 1;
  }

  #isComplete(page: number): boolean {
    const known = this.#pages.get(page);
    return known !== undefined && known.items.length >= Math.min(PAGE, this.total - page * PAGE);
  }

  #lastPage(): number {
    return Math.max(0, Math.floor((this.total - 1) / PAGE));
  }

  #touch(page: number): void {
    const known = this.#pages.get(page);
    if (known === undefined) return;
    this.#pages.delete(page);
    this.#pages.set(page, known);
  }

  #evict(): void {
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= KEPT_PAGES) break;
      this.#pages.delete(page);
    }
  }
}

// The timeline of one work chain, fetched in pages as they come into view.

import type { Timeline } from "../bindings/Timeline";
import type { TimelineItem } from "../bindings/TimelineItem";
import { type Host, reasonOf } from "../host/host";
import { Moves } from "./moves";
import { PAGE, pageOf, Pages } from "./pages";
import { GONE, lookedAt, NO_VIEWER, type Viewer } from "./viewer";

/** Number of pages with unfinished tools that are fetched again when the session moves on. */
const UNFINISHED_PAGES = 4;

export class TimelineModel {
  total = $state(0);
  /** Rises whenever items come or change. */
  version = $state(0);
  /** Rises when the indexes of items change. */
  epoch = $state(0);
  loaded = $state(false);
  /** False while only the newest items are shown and the number of items before them is not known. */
  counted = $state(true);
  failure = $state("");
  /** Counts requests to go to a place, and moves. The answer to an older request moves nothing. */
  wishes = 0;
  viewer: Viewer = NO_VIEWER;

  #host: Host;
  #sessionId: string;
  #chainId: string | undefined;
  #pages = new Pages();
  #inFlight = new Map<number, Promise<void>>();
  /** Requests are numbered, because their answers come in any order. The answer to an older request may be out of date. */
  #turn = 0;
  /** The newest answered request. */
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

  /** Fetches the newest items in one request. Older ones are fetched when they come into view. */
  open(): Promise<void> {
    return (this.#opened = this.#open());
  }

  /** A long timeline is shown from its end until it has been read and counted. Then its items get other indexes. */
  async #open(): Promise<void> {
    try {
      const turn = ++this.#turn;
      // Twice the size of a page, so that at least one page is complete.
      const { counted, timeline } = await this.#host.ask("newest_items", { session: this.#sessionId, limit: 2 * PAGE });
      if (counted || !this.loaded) {
        await this.#receive(timeline, turn);
        this.counted = counted;
      }
      if (counted) return;
      // Reading and counting keeps a processor busy. A user who opens a session first waits to see it, and one who
      // moves past needs no more.
      if (!(await this.viewer.stays())) return;
      const whole = ++this.#turn;
      await this.#receive(await this.#host.ask("timeline", { session: this.#sessionId, limit: 2 * PAGE }), whole);
    } catch (error) {
      this.failure = reasonOf(error);
    }
  }

  /** The work goes on in another session of the same chain. The shown items stay. */
  moveTo(sessionId: string): void {
    if (sessionId === this.#sessionId) return;
    this.#sessionId = sessionId;
    this.refresh();
  }

  item(index: number): TimelineItem | undefined {
    return this.#pages.item(index);
  }

  /** The subagent of an item, if the item was ever fetched. */
  agentOf(index: number): string | undefined {
    return this.#pages.agentOf(index);
  }

  /** Fetches these items if they are not there yet. */
  ensure(indexes: Iterable<number>): void {
    const pages = new Set<number>();
    for (const index of indexes) pages.add(pageOf(index));
    for (const page of pages) {
      if (!this.#isComplete(page)) void this.#fetch(page);
      else this.#pages.touch(page);
    }
  }

  /** Fetches the item at the index, which may be newer than all known items. */
  async reach(index: number): Promise<void> {
    const page = pageOf(index);
    if (index >= this.total) return this.#fetchAnew(page);
    if (!this.#isComplete(page)) await this.#fetch(page);
  }

  /** Fetches the tail again, and tools without an outcome. Calls during a refresh cause one more round. */
  refresh(): void {
    if (this.#refreshing) {
      this.#refreshAgain = true;
      return;
    }
    this.#refreshing = true;
    void this.#refreshOnce().finally(() => {
      const again = this.#refreshAgain;
      this.#refreshing = this.#refreshAgain = false;
      if (again) this.refresh();
    });
  }

  /** Index of the first item at or after the time, by bisection. */
  async indexAt(at: string): Promise<number> {
    const wanted = Date.parse(at);
    let low = 0;
    let high = this.total;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const page = pageOf(middle);
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
    // A request for any page makes the engine read the whole timeline.
    if (!this.counted && this.viewer === GONE) return;
    const pages = new Set<number>([this.#lastPage()]);
    for (const page of this.#pages.unfinished()) {
      if (pages.size > UNFINISHED_PAGES) break;
      pages.add(page);
    }
    for (const page of pages) await this.#fetchAnew(page);
    const last = this.#lastPage();
    if (!this.#isComplete(last)) await this.#fetch(last);
  }

  /** A request on its way is reused. */
  #fetch(page: number): Promise<void> {
    let coming = this.#inFlight.get(page);
    if (coming === undefined) {
      coming = this.#ask(page).finally(() => this.#inFlight.delete(page));
      this.#inFlight.set(page, coming);
    }
    return coming;
  }

  /** A request on its way may be too old for this caller, so it waits for that one and asks again. */
  async #fetchAnew(page: number): Promise<void> {
    await this.#inFlight.get(page);
    await this.#fetch(page);
  }

  async #ask(page: number): Promise<void> {
    try {
      for (let isTaken = false; !isTaken; ) {
        const turn = ++this.#turn;
        isTaken = await this.#receive(await this.#host.ask("timeline", { session: this.#sessionId, from: page * PAGE, limit: PAGE }), turn, page);
      }
    } catch (error) {
      this.failure = reasonOf(error);
    }
  }

  /** Takes the range, once the view may be moved. Returns whether the range belongs to this timeline. */
  async #receive(stretch: Timeline, turn: number, asked?: number): Promise<boolean> {
    let inSight: readonly TimelineItem[] = [];
    if (this.#isAnother(stretch, turn)) {
      await this.viewer.free();
      const [moves, more] = [this.#moves(stretch, []), stretch.total - this.total];
      inSight = await lookedAt(this.viewer, moves, more, (index) => this.item(index), (from, limit) =>
        this.#host.ask("timeline", { session: this.#sessionId, from, limit }).then((found) => (found.workChainId === stretch.workChainId ? found.items : []), () => []),
      );
    }
    return this.#take(stretch, turn, asked, inSight);
  }

  /** Keeps the items of the range. Returns whether the range belongs to this timeline. */
  #take(stretch: Timeline, turn: number, asked?: number, inSight: readonly TimelineItem[] = []): boolean {
    if (turn < this.#answered) {
      if (this.#isOtherChain(stretch) || stretch.total !== this.total) return false;
    } else {
      if (this.#isAnother(stretch, turn)) this.#move(this.#moves(stretch, inSight), stretch.total);
      this.#answered = turn;
      this.counted = true;
    }
    this.#chainId = stretch.workChainId;
    this.#pages.take(stretch, turn, asked);
    this.total = stretch.total;
    this.loaded = true;
    this.failure = "";
    this.version += 1;
    return true;
  }

  /** A shorter timeline is another one, because a file was replaced. So is the timeline of a joined chain. */
  #isAnother(stretch: Timeline, turn: number): boolean {
    return turn >= this.#answered && (this.#isOtherChain(stretch) || stretch.total < this.total || !this.counted || this.#pages.contradicts(stretch, { moved: true }));
  }

  #moves(stretch: Timeline, inSight: readonly TimelineItem[]): Moves {
    // If the number of items is the same, the fetched pages are still at their indexes.
    const isSame = !this.#isOtherChain(stretch) && stretch.total === this.total && this.counted && !this.#pages.contradicts(stretch, { moved: false });
    return new Moves(this.#pages.items(), stretch.items, inSight, ...(isSame ? this.#pages.asked() : []));
  }

  /** Keeps the known items whose new index is known. */
  #move(moves: Moves, total: number): void {
    this.#pages.move(moves);
    this.epoch += 1;
    this.viewer.moved(moves, total);
  }

  #isOtherChain(stretch: Timeline): boolean {
    return this.#chainId !== undefined && stretch.workChainId !== this.#chainId;
  }

  #isComplete(page: number): boolean {
    return this.#pages.isComplete(page, this.total);
  }

  #lastPage(): number {
    return pageOf(Math.max(0, this.total - 1));
  }
}

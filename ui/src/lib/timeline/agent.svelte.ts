// The timeline of one subagent, fetched when it is opened: a range that grows at both ends.

import type { TimelineItem } from "../bindings/TimelineItem";
import { type Host, reasonOf } from "../host/host";

const PAGE = 50;

export class AgentRun {
  items = $state.raw<readonly TimelineItem[]>([]);
  total = $state(0);
  loaded = $state(false);
  failure = $state("");

  #host: Pick<Host, "ask">;
  #sessionId: string;
  #agentId: string;
  /** The end of the queue. Requests run one after the other, each from the state that the one before has left. */
  #last: Promise<void> = Promise.resolve();
  /** A refresh that has not begun yet. */
  #refresh: Promise<void> | undefined;

  constructor(host: Pick<Host, "ask">, sessionId: string, agentId: string) {
    this.#host = host;
    this.#sessionId = sessionId;
    this.#agentId = agentId;
  }

  get from(): number {
    return this.items[0]?.index ?? 0;
  }

  get end(): number {
    return this.from + this.items.length;
  }

  /** Shows the entries around an item. */
  open(around: number): Promise<void> {
    return this.#next(async () => {
      if (around >= this.from && around < this.end) return;
      await this.#fetch(Math.max(0, around - PAGE / 2), PAGE, (items) => items);
    });
  }

  more(): Promise<void> {
    return this.#next(() => this.#fetch(this.end, PAGE, (items) => [...this.items, ...items]));
  }

  earlier(): Promise<void> {
    return this.#next(async () => {
      const from = Math.max(0, this.from - PAGE);
      if (from < this.from) await this.#fetch(from, this.from - from, (items) => [...items, ...this.items]);
    });
  }

  /** Fetches the first page, and later the shown range again: the subagent may have gone on, or calls may have results. */
  refresh(): Promise<void> {
    this.#refresh ??= this.#next(() => {
      this.#refresh = undefined;
      return this.#fetch(this.from, Math.max(PAGE, this.items.length), (items) => items);
    });
    return this.#refresh;
  }

  #next(round: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(round);
    return this.#last;
  }

  async #fetch(from: number, limit: number, join: (items: readonly TimelineItem[]) => readonly TimelineItem[]): Promise<void> {
    try {
      const stretch = await this.#host.ask("agent_timeline", { session: this.#sessionId, agent: this.#agentId, from, limit });
      this.items = join(stretch.items);
      this.total = stretch.total;
      this.loaded = true;
      this.failure = "";
    } catch (error) {
      this.failure = reasonOf(error);
    }
  }
}

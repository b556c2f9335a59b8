// What one subagent did, fetched when somebody looks: a stretch that grows at both ends.

import type { TimelineItem } from "../bindings/TimelineItem";
import { type Host, reasonOf } from "../host/host";

const PAGE = 50;

export class AgentRun {
  items = $state.raw<readonly TimelineItem[]>([]);
  total = $state(0);
  loaded = $state(false);
  failure = $state("");

  #host: Pick<Host, "agentTimeline">;
  #sessionId: string;
  #agentId: string;
  #fetching = false;

  constructor(host: Pick<Host, "agentTimeline">, sessionId: string, agentId: string) {
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

  /** Shows the beginning, or what stands around an item. */
  open(around = 0): Promise<void> {
    if (this.loaded && around >= this.from && around < this.end) return Promise.resolve();
    const from = Math.max(0, around - PAGE / 2);
    return this.#fetch(from, PAGE, (items) => items);
  }

  more(): Promise<void> {
    return this.#fetch(this.end, PAGE, (items) => [...this.items, ...items]);
  }

  earlier(): Promise<void> {
    const from = Math.max(0, this.from - PAGE);
    return this.#fetch(from, this.from - from, (items) => [...items, ...this.items]);
  }

  /** Asks again for what is shown: it may have gone on, or calls may have their results. */
  refresh(): Promise<void> {
    if (!this.loaded) return Promise.resolve();
    return this.#fetch(this.from, Math.max(PAGE, this.items.length), (items) => items);
  }

  async #fetch(from: number, limit: number, join: (items: readonly TimelineItem[]) => readonly TimelineItem[]): Promise<void> {
    if (this.#fetching) return;
    this.#fetching = true;
    try {
      const stretch = await this.#host.agentTimeline(this.#sessionId, this.#agentId, from, limit);
      this.items = join(stretch.items);
      this.total = stretch.total;
      this.loaded = true;
      this.failure = "";
    } catch (error) {
      this.failure = reasonOf(error);
    } finally {
      this.#fetching = false;
    }
  }
}

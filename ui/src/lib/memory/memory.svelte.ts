// The memories of one chain: the engine's page, and the user's decisions. This file decides nothing.

import type { MemoryChange } from "../bindings/MemoryChange";
import type { MemoryPage } from "../bindings/MemoryPage";
import { type Host, reasonOf } from "../host/host";
import { type Mark, marksOf } from "./marks";

export class MemoryModel {
  page = $state.raw<MemoryPage | undefined>(undefined);
  failure = $state("");
  marks: ReadonlyMap<string, readonly Mark[]> = $derived(this.page === undefined ? new Map() : marksOf(this.page));

  #host: Host;
  #sessionId: string;
  #turn = 0;

  constructor(host: Host, sessionId: string) {
    this.#host = host;
    this.#sessionId = sessionId;
  }

  /** Fetches the page. The answer to an older request changes nothing. */
  async load(sessionId = this.#sessionId): Promise<void> {
    this.#sessionId = sessionId;
    const turn = ++this.#turn;
    try {
      const page = await this.#host.ask("memory_page", { session: sessionId });
      if (turn === this.#turn) [this.page, this.failure] = [page, ""];
    } catch (error) {
      if (turn === this.#turn) this.failure = reasonOf(error);
    }
  }

  /** Carries out a decision, and shows what follows from it. Rejects if the engine refuses. */
  async change(change: MemoryChange): Promise<void> {
    await this.#host.ask("memory", { change });
    await this.load();
  }

  /** Adds a text of the user's as a memory of the project. `record`: where the user marked it. */
  async remember(text: string, record?: { sessionId: string; at?: string }): Promise<void> {
    const from = record?.at === undefined ? {} : { from: { sessionId: record.sessionId, at: record.at } };
    await this.change({ do: "add", cwd: this.page?.cwd ?? "", text, ...from });
  }
}

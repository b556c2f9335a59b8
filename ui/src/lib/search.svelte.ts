// The search over all history, as somebody types: the newest words win.

import type { Hit } from "./bindings/Hit";
import type { SearchAnswer } from "./bindings/SearchAnswer";
import { type Host, reasonOf } from "./host/host";

/** The first page; more would not be read in a palette. */
const LIMIT = 20;

export class HistorySearch {
  /** Hits of the newest words that were answered; they stay while newer ones are on their way. */
  hits = $state.raw<readonly Hit[]>([]);
  /** What is to be said beside them: a failure, or that not everything could be found. */
  note = $state("");
  /** An answer is on its way. */
  busy = $state(false);
  /** The words that `hits` answer. */
  answered = $state("");

  #host: Pick<Host, "search">;
  #wanted = "";

  constructor(host: Pick<Host, "search">) {
    this.#host = host;
  }

  /** One question is asked at a time: what was typed meanwhile is asked next, and only the newest of it. */
  async ask(text: string): Promise<void> {
    this.#wanted = text.trim();
    if (!isWorthAsking(this.#wanted)) {
      this.#show([], "");
      return;
    }
    if (this.busy) return;
    this.busy = true;
    let asked = "";
    while (asked !== this.#wanted && isWorthAsking(this.#wanted)) {
      asked = this.#wanted;
      try {
        const answer = await this.#host.search({ query: asked, typing: true, limit: LIMIT });
        if (asked === this.#wanted) this.#show(answer.hits, noteOn(answer));
      } catch (error) {
        if (asked === this.#wanted) this.#show([], reasonOf(error));
      }
    }
    this.busy = false;
  }

  #show(hits: readonly Hit[], note: string): void {
    this.hits = hits;
    this.note = note;
    this.answered = this.#wanted;
  }
}

/** A single letter is in everything; a single ideograph is a word. */
function isWorthAsking(text: string): boolean {
  return text.length > 1 || /[^\u0000-\u024f]/.test(text);
}

function noteOn(answer: SearchAnswer): string {
  switch (answer.index) {
    case "current":
      return answer.hits.length === 0 ? "Nothing in the history has these words." : "";
    case "behind":
      return "The history is still being read: more may be found in a moment.";
    case "absent":
      return "No history is stored yet. It is read in the background; `watchbill index` does it at once.";
  }
}

// The search over all history, as somebody types: the newest words win.

import type { Hit } from "./bindings/Hit";
import type { SearchAnswer } from "./bindings/SearchAnswer";
import type { SearchQuery } from "./bindings/SearchQuery";
import { type Host, reasonOf } from "./host/host";
import { queryOf, readTyped } from "./query";

/** The first page; more would not be read in a palette. */
const LIMIT = 20;

type Wanted = { readonly query: SearchQuery; readonly key: string; readonly trouble: string };

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
  #wanted: Wanted = { query: { query: "" }, key: "", trouble: "" };

  constructor(host: Pick<Host, "search">) {
    this.#host = host;
  }

  /** One question is asked at a time: what was typed meanwhile is asked next, and only the newest of it. */
  async ask(text: string, now = Date.now()): Promise<void> {
    const typed = readTyped(text, now);
    const query = queryOf(typed, now, LIMIT);
    // As a key: the moments of `since` move with the clock, what was typed does not.
    this.#wanted = { query, key: JSON.stringify([typed.words, typed.filters, typed.trouble]), trouble: typed.trouble };
    if (!isWorthAsking(query.query)) {
      const half = typed.filters.length > 0 ? "Type the words to look for as well." : "";
      this.#show([], typed.trouble || half);
      return;
    }
    if (typed.trouble !== "") {
      this.#show([], typed.trouble);
      return;
    }
    if (this.busy) return;
    this.busy = true;
    let asked: Wanted | undefined;
    while (asked?.key !== this.#wanted.key && this.#wanted.trouble === "" && isWorthAsking(this.#wanted.query.query)) {
      asked = this.#wanted;
      try {
        const answer = await this.#host.search(asked.query);
        if (asked.key === this.#wanted.key) this.#show(answer.hits, noteOn(answer));
      } catch (error) {
        if (asked.key === this.#wanted.key) this.#show([], reasonOf(error));
      }
    }
    this.busy = false;
  }

  #show(hits: readonly Hit[], note: string): void {
    this.hits = hits;
    this.note = note;
    this.answered = this.#wanted.query.query;
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

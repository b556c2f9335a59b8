// The search over all history while the user types: the newest words count.

import type { Hit } from "./bindings/Hit";
import type { SearchAnswer } from "./bindings/SearchAnswer";
import type { SearchQuery } from "./bindings/SearchQuery";
import { type Host, reasonOf } from "./host/host";
import { queryOf, readTyped } from "./query";

/** One page; the palette has no room for more. */
const LIMIT = 20;

type Wanted = { readonly query: SearchQuery; readonly key: string; readonly trouble: string };

export class HistorySearch {
  /** Hits for the newest answered words. They stay while newer ones are on their way. */
  hits = $state.raw<readonly Hit[]>([]);
  /** A note beside the hits: an error, or that the index is incomplete. */
  note = $state("");
  /** An answer is on its way. */
  busy = $state(false);
  /** The words that `hits` answer. */
  answered = $state("");

  #host: Pick<Host, "ask">;
  #wanted: Wanted = { query: { query: "" }, key: "", trouble: "" };
  /** The key of the newest query that was sent. */
  #asked = "";

  constructor(host: Pick<Host, "ask">) {
    this.#host = host;
  }

  /** Sends each query at once: the host ends the one before. Only the newest answer is shown. */
  async ask(text: string, now = Date.now()): Promise<void> {
    const typed = readTyped(text, now);
    const query = queryOf(typed, now, LIMIT);
    // The key is made from the typed text, because the moments of `since` move with the clock.
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
    const asked = this.#wanted;
    if (this.busy && asked.key === this.#asked) return;
    this.#asked = asked.key;
    this.busy = true;
    try {
      const answer = await this.#host.ask("search", { query: asked.query });
      if (asked.key === this.#wanted.key) this.#show(answer.hits, noteOn(answer));
    } catch (error) {
      if (asked.key === this.#wanted.key) this.#show([], reasonOf(error));
    }
    if (asked.key === this.#asked) this.busy = false;
  }

  #show(hits: readonly Hit[], note: string): void {
    this.hits = hits;
    this.note = note;
    this.answered = this.#wanted.query.query;
  }
}

/** A single letter matches everything; a single ideograph is a word. */
function isWorthAsking(text: string): boolean {
  return text.length > 1 || /[^\u0000-\u024f]/.test(text);
}

function noteOn(answer: SearchAnswer): string {
  switch (answer.index) {
    case "current":
      if (answer.hits.length > 0) return "";
      return `Nothing in the history has these words.${answer.cutBytes ? " The ends of long texts are not searched." : ""}`;
    case "behind":
      return "The history is still being read: more may be found in a moment.";
    case "cut":
      return "The search ended after three seconds, so texts may be missing: use longer or fewer words.";
    case "absent":
      return "No history is stored yet. It is read in the background; `watchbill index` does it at once.";
  }
}

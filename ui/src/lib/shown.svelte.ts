// The tab that the pane shows, kept for each work chain while the window is open.

import type { Tab } from "./tabs";

const chosen = new Map<string, Tab>();

export class ShownTab {
  now = $state<Tab>("timeline");
  #chain: string;

  /** `first`: the tab of a chain for which the user has chosen none. */
  constructor(chain: string, first: Tab) {
    this.#chain = chain;
    this.now = chosen.get(chain) ?? first;
  }

  show(tab: Tab): void {
    this.now = tab;
    chosen.set(this.#chain, tab);
  }
}

// The folded headings. Groups are kept in local storage, so that they outlive the window; projects come and go.

import { GROUPS, type Heading } from "./roster/layout";

const KEY = "watchbill.folded";

export class Folded {
  #groups = $state.raw<ReadonlySet<Heading>>(remembered());

  has(group: Heading): boolean {
    return this.#groups.has(group);
  }

  toggle(group: Heading): void {
    const groups = new Set(this.#groups);
    if (!groups.delete(group)) groups.add(group);
    this.#keep(groups);
  }

  unfold(group: Heading): void {
    if (this.has(group)) this.toggle(group);
  }

  #keep(groups: ReadonlySet<Heading>): void {
    this.#groups = groups;
    try {
      localStorage.setItem(KEY, GROUPS.filter((group) => groups.has(group)).join(" "));
    } catch {
      // Without storage the folded groups last as long as the window.
    }
  }
}

function remembered(): ReadonlySet<Heading> {
  try {
    const words = (localStorage.getItem(KEY) ?? "").split(" ");
    return new Set(GROUPS.filter((group) => words.includes(group)));
  } catch {
    return new Set();
  }
}

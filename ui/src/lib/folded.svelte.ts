// The folded groups. Kept in local storage, so that they outlive the window.

import type { Group } from "./bindings/Group";
import { GROUPS } from "./roster/layout";

const KEY = "watchbill.folded";

export class Folded {
  #groups = $state.raw<ReadonlySet<Group>>(remembered());

  has(group: Group): boolean {
    return this.#groups.has(group);
  }

  toggle(group: Group): void {
    const groups = new Set(this.#groups);
    if (!groups.delete(group)) groups.add(group);
    this.#keep(groups);
  }

  unfold(group: Group): void {
    if (this.has(group)) this.toggle(group);
  }

  #keep(groups: ReadonlySet<Group>): void {
    this.#groups = groups;
    try {
      localStorage.setItem(KEY, [...groups].join(" "));
    } catch {
      // Without storage the folded groups last as long as the window.
    }
  }
}

function remembered(): ReadonlySet<Group> {
  try {
    const words = (localStorage.getItem(KEY) ?? "").split(" ");
    return new Set(GROUPS.filter((group) => words.includes(group)));
  } catch {
    return new Set();
  }
}

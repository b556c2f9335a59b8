// What of the roster the user looks at: refused calls alone, and the sessions of programs one by one.

import type { Group } from "../bindings/Group";
import type { Filter } from "./layout";

export class RosterView {
  /** Only sessions whose calls the agent's reviewer refused. */
  refused = $state(false);
  /** Each session that a program started has a row, and not one for all of a starter. */
  programs = $state(false);
  #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The whole filter of the list. */
  filter(groups: ReadonlySet<Group>, text: string): Filter {
    return { groups, text, refused: this.refused, programs: this.programs };
  }

  toggle(what: "refused" | "programs"): void {
    this[what] = !this[what];
    this.#changed();
  }
}

// How the user looks at the roster: refused calls alone, the sessions of programs one by one, by project.

import type { Group } from "../bindings/Group";
import type { Filter } from "./layout";

const KEY = "watchbill.by-project";

export class RosterView {
  /** Only sessions whose calls the agent's reviewer refused. */
  refused = $state(false);
  /** Each session that a program started has a row, and not one for all of a starter. */
  programs = $state(false);
  /** A heading for each project. Kept in local storage. */
  byProject = $state(remembered());
  #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The whole filter of the list. */
  filter(groups: ReadonlySet<Group>, text: string): Filter {
    return { groups, text, refused: this.refused, programs: this.programs, byProject: this.byProject };
  }

  toggle(what: "refused" | "programs" | "byProject"): void {
    this[what] = !this[what];
    if (what === "byProject") remember(this.byProject);
    this.#changed();
  }
}

function remembered(): boolean {
  try {
    return localStorage.getItem(KEY) === "yes";
  } catch {
    return false;
  }
}

function remember(on: boolean): void {
  try {
    localStorage.setItem(KEY, on ? "yes" : "no");
  } catch {
    // Without storage it lasts as long as the window.
  }
}

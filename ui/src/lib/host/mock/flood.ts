// A roster that changes all the time: very many rows and many changes a second, as the engine would send them.

import type { Group } from "../../bindings/Group";
import type { RosterDelta } from "../../bindings/RosterDelta";
import type { TrackedSession } from "../../bindings/TrackedSession";
import { ENGINE_START, inRosterOrder, iso, manyRows } from "./rows";

const GROUPS: readonly Group[] = ["needs_you", "working", "your_turn", "idle"];
const STATES: Record<Group, string> = { needs_you: "waiting_for_approval", working: "working", your_turn: "waiting_for_input", idle: "idle" };

/** One change of the flood: its row and the row's new place. */
export type Nudge = RosterDelta["upserts"][number];

/** Rows in order, changed one at a time without sorting again: the mock must not cost more than the window. */
export class Flood {
  #rows: TrackedSession[];
  #seed = 20261121;
  #count = 0;

  constructor(size: number) {
    this.#rows = inRosterOrder(manyRows(size));
  }

  get rows(): readonly TrackedSession[] {
    return this.#rows;
  }

  /**
   * Three in four changes are a new tool call, in place. The fourth is a new state, which moves the row to the top of
   * its group.
   */
  nudge(): Nudge {
    this.#count += 1;
    const at = this.#random(this.#rows.length);
    const [session] = this.#rows.splice(at, 1) as [TrackedSession];
    const target = `make check-${this.#count}`;
    if (this.#count % 4 !== 0) {
      const next = { ...session, hasPendingToolUse: true, pendingTool: { tool: "Bash", target } };
      this.#rows.splice(at, 0, next);
      return { index: at, session: next };
    }
    const group = GROUPS[this.#random(GROUPS.length)] ?? "idle";
    const index = this.#rows.findIndex((other) => GROUPS.indexOf(other.group) >= GROUPS.indexOf(group));
    const now = iso(ENGINE_START + this.#count * 20);
    const { needs: _, stateKind: __, pendingTool: ___, ...rest } = session;
    const next: TrackedSession = {
      ...rest,
      group,
      state: STATES[group],
      stateSince: now,
      lastActivityAt: now,
      hasPendingToolUse: group === "needs_you",
      ...(group === "needs_you" ? { needs: "approval", pendingTool: { tool: "Bash", target } } : {}),
    };
    const place = index === -1 ? this.#rows.length : index;
    this.#rows.splice(place, 0, next);
    return { index: place, session: next };
  }

  #random(below: number): number {
    this.#seed = (Math.imul(this.#seed, 1103515245) + 12345) >>> 0;
    return Math.floor((this.#seed / 2 ** 32) * below);
  }
}

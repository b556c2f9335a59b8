// Targets of the movement keys in the roster, over the visible rows in their order.

import type { TrackedSession } from "../bindings/TrackedSession";
import type { Heading, Section } from "./layout";

type Shown = {
  readonly sections: readonly Section[];
  readonly filtered: boolean;
  readonly selected: TrackedSession | undefined;
};

export function visibleIds({ sections, filtered }: Shown, isFolded: (group: Heading) => boolean): string[] {
  return sections.filter((section) => filtered || !isFolded(section.group)).flatMap((section) => section.ids);
}

/** The row that gets the focus when the list does: the selected row, or the first. */
export function entranceOf(ids: readonly string[], selected: string | undefined): string | undefined {
  return ids.find((id) => id === selected) ?? ids[0];
}

/** The row this many rows further, at most the last. Without a selection, the first or the last row, by the direction. */
export function neighbourOf(ids: readonly string[], selected: string | undefined, by: number): string | undefined {
  const at = selected === undefined ? -1 : ids.indexOf(selected);
  if (at === -1) return by > 0 ? ids[0] : ids.at(-1);
  return ids[Math.min(ids.length - 1, Math.max(0, at + by))];
}

/** The next session that needs the user, in the engine's order; after the last comes the first. */
export function nextNeeding(sessions: readonly TrackedSession[], selected: string | undefined): string | undefined {
  const ids = sessions.filter((row) => row.group === "needs_you" && !row.superseded).map((row) => row.sessionId);
  return ids[(ids.indexOf(selected ?? "") + 1) % ids.length];
}

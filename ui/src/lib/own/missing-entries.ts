// Which live entries the transcript does not have yet.

import type { TimelineItem } from "../bindings/TimelineItem";
import type { LiveItem } from "./fold";

/** Clocks of an agent and its host are the same, but a record and its event are not written in the same moment. */
const SLACK_MS = 5_000;
/** A transcript's text is cut at some length. A text that agrees so far is the same one. */
const ENOUGH = 8_000;

/** As many of the newest entries of a transcript are looked at. */
const NEWEST = 100;

/** The newest entries that were fetched. */
export function newestOf(timeline: { readonly total: number; item(index: number): TimelineItem | undefined }): readonly TimelineItem[] {
  const { total } = timeline;
  return Array.from({ length: Math.min(total, NEWEST) }, (_, i) => timeline.item(total - 1 - i)).filter((item) => item !== undefined);
}

/**
 * The entries after the last one that the transcript has. The agent writes in order, so each entry before that one is
 * there as well. A prompt is known by its id, a call by its id, other entries by their text, which must be of the same
 * time: "Done." is said often.
 */
export function missingEntries(live: readonly LiveItem[], newest: readonly TimelineItem[]): readonly LiveItem[] {
  const begun = Date.parse(live[0]?.item.at ?? "") - SLACK_MS;
  const said = new Set<string>();
  for (const item of newest) {
    const record = item.key.indexOf(".");
    if (record > 0) said.add(`record ${item.key.slice(0, record)}`);
    if (item.kind === "tool") said.add(`call ${item.id}`);
    else if (!(Date.parse(item.at ?? "") < begun)) said.add(markOf(item));
  }
  for (let i = live.length - 1; i >= 0; i -= 1) {
    const { item, growing } = live[i]!;
    if (said.has(nameOf(item)) || (!growing && item.kind !== "tool" && said.has(markOf(item)))) return live.slice(i + 1);
  }
  return live;
}

/** Claude takes a prompt's id as the id of its record; the key of an entry begins with that, without dashes. */
function nameOf(item: TimelineItem): string {
  if (item.kind === "tool") return `call ${item.id}`;
  return `record ${item.key.replace(/^live (prompt )?/, "").replaceAll("-", "")}`;
}

function markOf(item: TimelineItem): string {
  return "text" in item ? `${item.kind} ${item.text.trim().slice(0, ENOUGH)}` : item.kind;
}

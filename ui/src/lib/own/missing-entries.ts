// Which live entries the transcript does not have yet.

import type { TimelineItem } from "../bindings/TimelineItem";
import type { LiveItem } from "./fold";

/** Clocks of an agent and its host are the same, but a record and its event are not written in the same moment. */
const SLACK_MS = 5_000;

/** The key of a record that a host made: with a mark in its middle, and with the number of its log's record at its end. */
const OF_HOST = /^[0-9a-f]{12}80008000([0-9a-f]{12})\./;

/** As many of the newest entries of a transcript are looked at. */
const NEWEST = 100;

/** The newest entries that were fetched. */
export function newestOf(timeline: { readonly total: number; item(index: number): TimelineItem | undefined }): readonly TimelineItem[] {
  const { total } = timeline;
  return Array.from({ length: Math.min(total, NEWEST) }, (_, i) => timeline.item(total - 1 - i)).filter((item) => item !== undefined);
}

/**
 * The entries after the last one that the transcript has. The agent writes in order, so each entry before that one is
 * there as well. An entry is known by the id of its record or call. One without words, such as an interrupt, has no id: it
 * is known by its kind and time. A text that was cut at the end of its agent has an id of its host: the number of the
 * log's record in which it began.
 */
export function missingEntries(live: readonly LiveItem[], newest: readonly TimelineItem[]): readonly LiveItem[] {
  const begun = Date.parse(live[0]?.item.at ?? "") - SLACK_MS;
  const has = new Set<string>();
  for (const item of newest) {
    const end = item.key.indexOf(".");
    if (end > 0) has.add(`record ${item.key.slice(0, end)}`);
    const ofHost = OF_HOST.exec(item.key);
    if (ofHost !== null) has.add(`began ${Number.parseInt(ofHost[1]!, 16)}`);
    // The host names the records of other agents' prompts by itself.
    if (ofHost !== null && item.kind === "prompt") has.add(`asked ${item.text}`);
    if (item.kind === "tool") has.add(`call ${item.id}`);
    else if (!(Date.parse(item.at ?? "") < begun)) has.add(item.kind === "response" ? said(item.text) : item.kind);
  }
  const last = live.findLastIndex((entry) => has.has(idOf(entry)) || (entry.item.kind === "prompt" && has.has(`asked ${entry.item.text}`)));
  return last < 0 ? live : live.slice(last + 1);
}

const said = (text: string): string => `said ${text.trim().slice(0, 8_000)}`;

function idOf({ item, record, began }: LiveItem): string {
  if (item.kind === "tool") return `call ${item.id}`;
  // Claude takes a prompt's id as the id of its record. The key of an entry begins with that, without dashes.
  const id = record ?? (item.kind === "prompt" ? item.key.replace(/^live prompt /, "") : undefined);
  if (began !== undefined) return `began ${began}`;
  // A host of an earlier version names no record.
  if (id === undefined) return item.kind === "response" ? said(item.text) : item.kind;
  return `record ${id.replaceAll("-", "")}`;
}

// Folds what an agent only looked at: its calls that read, and its thoughts, where several follow each other.

import type { TimelineItem } from "../bindings/TimelineItem";
import { plural } from "../text";

/** Items that are folded together, by the indexes of the first and the last one. */
export type Stretch = { readonly first: number; readonly last: number };

/** Tools that only look for something. What `Read` read is counted by file. */
const LOOKING = new Set(["Glob", "Grep", "LS", "ToolSearch", "WebSearch"]);

/** A call that failed or was refused tells more than that it read. */
function folds(item: TimelineItem | undefined): boolean {
  if (item === undefined || item.agentId !== undefined) return false;
  if (item.kind === "thinking") return true;
  return item.kind === "tool" && item.outcome === "ok" && (item.tool === "Read" || LOOKING.has(item.tool));
}

/** The stretch around an item; undefined if it stands alone. Items that are not read yet end a stretch. */
export function stretchAt(item: (index: number) => TimelineItem | undefined, index: number): Stretch | undefined {
  if (!folds(item(index))) return undefined;
  let [first, last] = [index, index];
  while (folds(item(first - 1))) first -= 1;
  while (folds(item(last + 1))) last += 1;
  return first === last ? undefined : { first, last };
}

/** "read 7 files, searched twice, thought 3 times" */
export function stretchWords(items: readonly (TimelineItem | undefined)[]): string {
  const files = new Set<string>();
  let [searches, thoughts] = [0, 0];
  for (const item of items) {
    if (item?.kind === "thinking") thoughts += 1;
    else if (item?.kind === "tool" && item.tool === "Read") files.add(item.target);
    else searches += 1;
  }
  const read = files.size === 0 ? "" : `read ${plural(files.size, "file")}`;
  return [read, times("searched", searches), times("thought", thoughts)].filter(Boolean).join(", ");
}

function times(word: string, count: number): string {
  if (count === 0) return "";
  return `${word} ${count === 1 ? "once" : count === 2 ? "twice" : `${count} times`}`;
}

// Which items of a timeline bear a mark: a memory came from the record, or the agent was told a line after it.

import type { MemoryPage } from "../bindings/MemoryPage";
import type { TimelineItem } from "../bindings/TimelineItem";

export type Mark = {
  readonly kind: "learned" | "said";
  readonly sessionId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly memory: string;
  readonly text: string;
};

type Items = { readonly total: number; readonly item: (index: number) => TimelineItem | undefined };

/** How far the next item of the session itself is looked for: subagents' items may stand between. */
const FAR = 64;

/** The marks of all sessions of a chain, by session: what was learned, then what was said. A line that came too late is no mark. */
export function marksOf(page: MemoryPage): ReadonlyMap<string, readonly Mark[]> {
  const learned = page.marks.map(({ sessionId, at, memory, text }): Mark => ({ kind: "learned", sessionId, at: Date.parse(at), memory, text }));
  const said = page.said.flatMap(({ sessionId, lines }) =>
    lines.filter(({ printed }) => printed).map(({ at, memory, line }): Mark => ({ kind: "said", sessionId, at: Date.parse(at), memory, text: line })),
  );
  const bySession = new Map<string, Mark[]>();
  for (const mark of [...learned, ...said]) {
    const marks = bySession.get(mark.sessionId);
    if (marks === undefined) bySession.set(mark.sessionId, [mark]);
    else marks.push(mark);
  }
  return bySession;
}

/**
 * The marks of an item: those of its session from its time on, until the time of the next one. A subagent's items have
 * none. Where the next item is not fetched yet, the answer is empty.
 */
export function marksAt(marks: ReadonlyMap<string, readonly Mark[]>, items: Items, index: number): readonly Mark[] {
  const item = items.item(index);
  const own = item && marks.get(item.sessionId);
  if (own === undefined || item?.at === undefined || item.agentId !== undefined) return [];
  const from = Date.parse(item.at);
  let until = Infinity;
  for (let next = index + 1; next < items.total; next += 1) {
    const after = items.item(next);
    if (after === undefined || next - index > FAR) return [];
    if (after.sessionId !== item.sessionId) break;
    if (after.agentId !== undefined || after.at === undefined) continue;
    until = Date.parse(after.at);
    break;
  }
  return own.filter(({ at }) => at >= from && at < until);
}

import { expect, test } from "vitest";

import type { OwnEvent } from "../bindings/OwnEvent";
import type { OwnWhat } from "../bindings/OwnWhat";
import type { TimelineItem } from "../bindings/TimelineItem";
import { type LiveItem, OwnFold } from "./fold";
import { missingEntries } from "./missing-entries";

const NOW = Date.UTC(2026, 2, 14, 13, 0, 0);
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString();
const item = (seconds: number, key: string, what: Record<string, unknown>): TimelineItem => ({ index: 0, key, sessionId: "s", at: at(seconds), ...what }) as unknown as TimelineItem;
const live = (entry: TimelineItem, growing = false, record?: string): LiveItem => ({ item: entry, turn: 1, growing, record });

const ID = "3f6a1c52-0b7e-4a55-9d1e-6a2f4c1b8e90";
const asked = live(item(0, `live prompt ${ID}`, { kind: "prompt", text: "Go", origin: "human" }));
const called = live(item(1, "live tool t", { kind: "tool", id: "t", tool: "Bash", target: "ls", input: "", outcome: "pending" }), true);
const said = live(item(2, "live m.0", { kind: "response", text: "Done." }), false, "81b54916-168a-49a6-a6c9-b894b77271b7");
const says = live(item(3, "live m.1", { kind: "response", text: "Do" }), true);
const all = [asked, called, said, says];
const texts = (entries: readonly LiveItem[]): string[] => entries.map((entry) => entry.item.key);

test("without a transcript everything is shown", () => expect(missingEntries(all, [])).toEqual(all));

test("a prompt is known by its id, also if the transcript has another text", () => {
  const record = item(0, `${ID.replaceAll("-", "")}.0`, { kind: "prompt", text: "Go, shortened", origin: "human" });
  expect(missingEntries(all, [record])).toEqual([called, said, says]);
});

test("a call is known by its id, and what came before it is in the transcript too", () => {
  expect(missingEntries(all, [item(1, "a.0", { kind: "tool", id: "t", tool: "Bash", target: "ls", input: "", outcome: "ok" })])).toEqual([said, says]);
});

test("a text is known by the id of its record, whatever its words are", () => {
  const record = item(2, "81b54916168a49a6a6c9b894b77271b7.0", { kind: "response", text: "Shortened" });
  expect(texts(missingEntries(all, [record]))).toEqual([says.item.key]);
  expect(missingEntries(all, [item(2, "b.0", { kind: "response", text: "Done." })])).toEqual(all);
});

test("a text of a host of an earlier version, which names no record, is known by its words", () => {
  const older = live(item(2, "live m.0", { kind: "response", text: "Done." }));
  expect(missingEntries([asked, older], [item(2, "b.0", { kind: "response", text: "Done.\n" })])).toEqual([]);
  expect(missingEntries([asked, older], [item(-60, "b.0", { kind: "response", text: "Done." })])).toEqual([asked, older]);
});

test("a text that was cut at the end of its agent is known by the number of its log's record", () => {
  const cut = { ...live(item(3, "live m.1", { kind: "response", text: "Do" })), began: 27 };
  const keys = (n: string): readonly TimelineItem[] => [item(3, `0123456700008000800000000000${n}.0`, { kind: "response", text: "Do" })];
  expect(missingEntries([asked, cut], keys("001b"))).toEqual([]);
  expect(missingEntries([asked, cut], keys("001c"))).toEqual([asked, cut]);
});

test("a prompt to an agent whose records its host makes is known by its words", () => {
  const record = item(0, "0123456700008000800000000000001b.0", { kind: "prompt", text: "Go", origin: "human" });
  expect(missingEntries([asked, says], [record])).toEqual([says]);
});

test("an entry without words is known by its kind, but not from an earlier time", () => {
  const ends = [...all, live(item(4, "live 1", { kind: "interrupted" }))];
  expect(missingEntries(ends, [item(4, "c.0", { kind: "interrupted" })])).toEqual([]);
  expect(missingEntries(ends, [item(-60, "c.0", { kind: "interrupted" })])).toEqual(ends);
});

test("an error of the API is shown once, from the transcript or from its host", () => {
  for (const [cause, reason] of [["api", "error"], ["limit", "limit"], ["login", "login"]] as const) {
    const fold = new OwnFold("s", false);
    const events: OwnWhat[] = [{ event: "turn_start" }, { event: "error", text: "API Error: 529 overloaded", cause, record: "a" }, { event: "turn_end", reason }];
    for (const [n, event] of events.entries()) fold.apply({ n, at: at(n), ...event } as OwnEvent);
    expect(fold.items.map(({ item: entry }) => entry.kind)).toEqual(["error"]);
    expect(missingEntries(fold.items, [item(1, "a.0", { kind: "error", text: "API Error: 529 overloaded" })])).toEqual([]);
  }
});

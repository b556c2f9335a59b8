import { expect, test } from "vitest";

import type { OwnEvent } from "../bindings/OwnEvent";
import type { OwnWhat } from "../bindings/OwnWhat";
import { publishRequest } from "../host/mock/requests";
import { OwnFold } from "./fold";

const at = (n: number): string => new Date(Date.UTC(2026, 2, 14, 13, 0, n)).toISOString();

function folded(what: readonly OwnWhat[], keepsAll = true): OwnFold {
  const fold = new OwnFold("s", keepsAll);
  for (const [n, one] of what.entries()) fold.apply({ n, at: at(n), ...one } as OwnEvent);
  return fold;
}

/** The entries in short: kind, text or outcome, and "…" while they grow. */
const shown = (fold: OwnFold): string[] =>
  fold.items.map(({ item, growing }) => `${item.kind} ${"text" in item ? item.text : item.kind === "tool" ? `${item.target} ${item.outcome}` : ""}${growing ? "…" : ""}`.trim());

const prompt = (id: string, place: Extract<OwnWhat, { event: "prompt" }>["place"], text = id): OwnWhat => ({ event: "prompt", id, text, place });

test("a turn grows: text, thinking, a call and its result", () => {
  const events: OwnWhat[] = [
    prompt("p", "queued", "Go"),
    prompt("p", "sent", "Go"),
    prompt("p", "started", "Go"),
    { event: "turn_start" },
    { event: "thinking", block: "a", delta: "Hm" },
    { event: "thinking", block: "a", delta: "m" },
    { event: "text", block: "b", delta: "I " },
    { event: "tool_use", id: "t", tool: "Bash", input: { command: "ls" }, target: "ls" },
    { event: "text", block: "b", delta: "look" },
  ];
  expect(shown(folded(events))).toEqual(["prompt Go", "thinking Hmm…", "response I look…", "tool ls pending…"]);
  const ended = folded([...events, { event: "tool_result", id: "t", text: "a\nb", failed: true }, { event: "block", block: "b", text: "I look around" }, { event: "turn_end", reason: "completed" }]);
  expect(shown(ended)).toEqual(["prompt Go", "thinking Hmm", "response I look around", "tool ls error"]);
  expect(ended.items.at(-1)?.item).toMatchObject({ output: "a\nb", durationMs: 2000, input: '{"command":"ls"}' });
  expect([folded(events).facts.working, ended.facts.working]).toEqual([true, false]);
});

test("a block that the agent begins again is dropped, and its retry is said until text comes", () => {
  const cut: OwnWhat[] = [{ event: "turn_start" }, { event: "text", block: "b", delta: "Half" }, { event: "block", block: "b", text: "" }, { event: "retry", attempt: 1, of: 10, waitMs: 500, cause: "529" }, { event: "retry", attempt: 2, of: 10, waitMs: 1000, cause: "529" }];
  expect(shown(folded(cut))).toEqual(["error Trying again in 1.0 s, 2 of 10: 529…"]);
  expect(shown(folded([...cut, { event: "text", block: "c", delta: "Whole" }]))).toEqual(["response Whole…"]);
});

test("prompts wait in order, leave the queue when they go, and are not lost from sight when their place is unknown", () => {
  const fold = folded([prompt("1", "queued"), prompt("2", "queued"), prompt("3", "queued"), prompt("1", "sent"), prompt("3", "dropped"), { event: "queue_held", held: true, cause: "limit" }]);
  expect(fold.facts.queue.map(({ id }) => id)).toEqual(["2"]);
  expect(fold.facts.held).toBe("limit");
  expect(shown(fold)).toEqual(["prompt 1"]);
  fold.apply({ n: 9, at: at(9), event: "prompt", id: "1", text: "1", place: "unknown" });
  expect([shown(fold), fold.facts.lost.map(({ id }) => id)]).toEqual([[], ["1"]]);
  fold.apply({ n: 10, at: at(10), event: "queue_held", held: false });
  expect(fold.facts.held).toBeUndefined();
});

test("with a transcript only the last two turns stay; without one all do", () => {
  const turns = [1, 2, 3, 4].flatMap((turn): OwnWhat[] => [prompt(`p${turn}`, "started"), { event: "turn_start" }, { event: "block", block: `b${turn}`, text: `said ${turn}` }, { event: "turn_end", reason: "completed" }]);
  expect(shown(folded(turns, true))).toHaveLength(8);
  expect(shown(folded(turns, false))).toEqual(["prompt p3", "response said 3", "prompt p4", "response said 4"]);
});

test("ends of turns, errors, compactions and the end of the session are said", () => {
  const fold = folded([
    { event: "turn_start" },
    { event: "compaction", done: false },
    { event: "compaction", done: true, trigger: "auto", before: 150_000 },
    { event: "error", text: "No credit", cause: "limit" },
    { event: "turn_end", reason: "limit" },
    { event: "turn_start" },
    { event: "turn_end", reason: "interrupted" },
    { event: "ending", left: [{ pid: 7, command: "sleep 100" }] },
    { event: "session_ended", code: 1, asked: false, words: "segfault" },
  ]);
  expect(shown(fold)).toEqual(["boundary", "error a usage limit is reached: No credit", "interrupted"]);
  expect(fold.facts.ended).toEqual({ at: at(8), asked: false, words: "The agent ended with code 1: segfault" });
  expect(fold.facts.ending).toBeUndefined();
});

test("a request is open until it is closed, or its turn ends", () => {
  const asks = (...ids: string[]): OwnWhat[] => ids.map((id) => ({ event: "request", request: { ...publishRequest(), id } }));
  const open = (events: readonly OwnWhat[]): readonly string[] => folded([{ event: "turn_start" }, ...events]).facts.asks;
  expect(open(asks("a", "b"))).toEqual(["a", "b"]);
  expect(open([...asks("a", "b"), { event: "request_closed", request: "a", by: "answered" }])).toEqual(["b"]);
  expect(open([...asks("a"), { event: "turn_end", reason: "interrupted" }])).toEqual([]);
  expect(open([...asks("a"), { event: "session_ended", asked: true }])).toEqual([]);
});

test("an event of an unknown kind changes nothing", () => {
  const fold = folded([{ event: "turn_start" }, { event: "of tomorrow" } as unknown as OwnWhat]);
  expect([shown(fold), fold.facts.working]).toEqual([[], true]);
});

test("every entry has a key of its own", () => {
  const fold = folded([prompt("p", "started"), { event: "text", block: "p", delta: "x" }, { event: "tool_use", id: "p", tool: "T", input: 1, target: "" }, { event: "error", text: "1", cause: "api" }, { event: "error", text: "2", cause: "api" }]);
  const keys = fold.items.map(({ item }) => item.key);
  expect(new Set(keys).size).toBe(5);
});

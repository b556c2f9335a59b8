import { expect, test } from "vitest";

import type { MemoryPage } from "../bindings/MemoryPage";
import type { TimelineItem } from "../bindings/TimelineItem";
import { MockHost } from "../host/mock/mock";
import { presetNamed } from "../host/mock/presets";
import { MemoryModel } from "./memory.svelte";
import { marksAt, marksOf } from "./marks";
import { modelWords } from "./model";
import { summaryFields } from "./summary";
import { byFile, saidWords, sourceWords } from "./words";

const at = (second: number): string => new Date(Date.parse("2026-03-14T13:00:00Z") + second * 1000).toISOString();
const note = (index: number, second: number | undefined, sessionId = "s", agentId?: string): TimelineItem => ({
  index,
  key: String(index),
  sessionId,
  kind: "note",
  text: "",
  ...(second === undefined ? {} : { at: at(second) }),
  ...(agentId === undefined ? {} : { agentId }),
});
const line = { event: "PostToolUse", memory: "m", tokens: 3, lost: false };

function page(learned: readonly number[], said: readonly { second: number; printed: boolean }[]): MemoryPage {
  return {
    project: "p",
    cwd: "/c",
    memories: [],
    context: "files",
    said: [{ sessionId: "s", tokens: 0, lines: said.map(({ second, printed }) => ({ ...line, at: at(second), line: `said ${second}`, printed })) }],
    marks: learned.map((second) => ({ sessionId: "s", at: at(second), memory: "m", text: `learned ${second}` })),
    documents: [],
  };
}

function marks(of: MemoryPage, items: readonly (TimelineItem | undefined)[]): string[][] {
  const all = marksOf(of);
  const list = { total: items.length, item: (index: number) => items[index] };
  return items.map((_, index) => marksAt(all, list, index).map(({ text }) => text));
}

test("a mark stands at the last item of its session that is not later", () => {
  const items = [note(0, 0), note(1, 10), note(2, 15, "s", "agent"), note(3, undefined), note(4, 20), note(5, 5, "other")];
  const all = page([10, 99], [{ second: 3, printed: true }, { second: 18, printed: true }]);
  expect(marks(all, items)).toEqual([["said 3"], ["learned 10", "said 18"], [], [], ["learned 99"], []]);
});

test("a line that came too late is no mark, nor is one before the first item", () => {
  expect(marks(page([1], [{ second: 30, printed: false }]), [note(0, 5)])).toEqual([[]]);
});

test("while the next item is not fetched, no mark is shown at a wrong place", () => {
  expect(marks(page([7], []), [note(0, 5), undefined, note(2, 9)])).toEqual([[], [], []]);
});

test("memories are grouped by file, those about none first", async () => {
  const host = new MockHost(presetNamed("everyday"));
  const { memories } = await host.ask("memory_page", { session: host.rows[0]!.sessionId });
  expect(byFile(memories).map(({ path }) => path)).toEqual(["", "CHANGELOG.md", "src/version.ts", "vendor/lint.json"]);
  expect(memories.map(sourceWords).map((words) => words.replace(/\d{4}-\d\d-\d\d/, "DAY"))).toEqual([
    "1 time in 1 session, last DAY",
    "3 times in 2 sessions, last DAY",
    "added by you, DAY",
    "1 time in 1 session, last DAY",
  ]);
});

test("what was said tells where, how much, and what became of it", () => {
  const said = { ...line, at: at(0), line: "x", printed: true };
  expect(saidWords({ ...said, place: "src/a.rs" })).toBe("src/a.rs · 3 tokens");
  expect(saidWords({ ...said, lost: true })).toBe("with a file · 3 tokens · lost at a compaction");
  expect(saidWords({ ...said, printed: false, event: "SessionStart" })).toContain("at the start · 3 tokens · came too late");
});

test("a decision is carried out and shown; a refusal reaches the caller and changes nothing", async () => {
  const host = new MockHost(presetNamed("everyday"));
  const model = new MemoryModel(host, host.rows[0]!.sessionId);
  await model.load();
  const proposal = model.page!.memories.find(({ standing }) => standing === "proposed")!;
  await model.change({ do: "reject", id: proposal.id });
  expect(model.page!.memories.some(({ id }) => id === proposal.id)).toBe(false);
  const before = model.page;
  await expect(model.remember("the key is ghp_0123")).rejects.toMatchObject({ code: "invalid" });
  expect(model.page).toBe(before);
  await model.remember("the proxy holds 8080");
  expect(host.memory.changes.at(-1)).toEqual({ do: "add", cwd: model.page!.cwd, text: "the proxy holds 8080" });
});

test("the answer to an older request does not replace a newer one", async () => {
  const host = new MockHost(presetNamed("everyday"));
  const [first, second] = host.rows;
  const pages: ((page: MemoryPage) => void)[] = [];
  host.memory.page = () => new Promise((done) => pages.push(done));
  const model = new MemoryModel(host, first!.sessionId);
  const [older, newer] = [model.load(), model.load(second!.sessionId)];
  pages[1]!(page([2], []));
  pages[0]!(page([1], []));
  await Promise.all([older, newer]);
  expect(model.page!.marks[0]!.text).toBe("learned 2");
});

test("a summary shows the fields that say something, in the order of the work", () => {
  const summary = { sessionId: "s", request: "Fix the pager", learned: ["rows begin at 0", "the staging registry sleeps"], completed: "changed pager.rs", nextSteps: [] };
  expect(summaryFields(summary)).toEqual([
    { title: "Request", lines: ["Fix the pager"] },
    { title: "Learned", lines: ["rows begin at 0", "the staging registry sleeps"] },
    { title: "Completed", lines: ["changed pager.rs"] },
  ]);
});

test("what is remembered on a row names the record, and a record without a time is left out", async () => {
  const host = new MockHost(presetNamed("everyday"));
  const model = new MemoryModel(host, host.rows[0]!.sessionId);
  await model.load();
  await model.remember("a note", { sessionId: "s", at: "2026-03-14T12:40:00Z" });
  await model.remember("another", { sessionId: "s" });
  const cwd = model.page?.cwd;
  expect(host.memory.changes).toEqual([
    { do: "add", cwd, text: "a note", from: { sessionId: "s", at: "2026-03-14T12:40:00Z" } },
    { do: "add", cwd, text: "another" },
  ]);
});

test("the model's line says what waits, what it took, and what holds it up", () => {
  const today = { day: "2026-03-14", questions: 12, tokensIn: 3000, tokensOut: 1020, microUsd: 0 };
  const queue = { address: "http://127.0.0.1:11434/v1", name: "qwen3:4b", queued: 3, older: 0, failed: 0, today };
  const now = Date.parse(at(0));
  expect(modelWords(queue, now)).toBe("Model qwen3:4b: 3 turns wait · today 12 questions, 4020 tokens");
  expect(modelWords({ ...queue, queued: 1, older: 7, limitReached: "model.daily_tokens" }, now)).toBe("Model qwen3:4b: 1 turn waits · 7 older · today 12 questions, 4020 tokens · the limit model.daily_tokens of this day is reached");
  const agent = { address: "claude -p", queued: 0, older: 0, failed: 0, today: { ...today, microUsd: 31_000 }, lastError: "no \u001b[2J server", running: true };
  expect(modelWords(agent, now)).toContain("Model claude -p: is asked now · today 12 questions, 4020 tokens, $0.0310 · last failure: no ");
  expect(modelWords(agent, now)).not.toContain("\u001b");
});

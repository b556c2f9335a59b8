import { expect, test, vi } from "vitest";

import type { TimelineItem } from "../bindings/TimelineItem";
import type { Host } from "../host/host";
import { endlessTimeline } from "../host/mock/timelines";
import { PAGE, TimelineModel } from "./timeline.svelte";

function hostOf(total: number, change: (item: TimelineItem) => TimelineItem = (item) => item) {
  const state = { total, change, asked: [] as string[], fail: "", chain: "w" };
  const timeline = async (sessionId: string, asked: number | undefined, limit: number) => {
    state.asked.push(`${sessionId} ${asked ?? "newest"}`);
    const from = asked ?? Math.max(0, state.total - limit);
    if (state.fail !== "") throw new Error(state.fail);
    const { at } = endlessTimeline(sessionId, state.total);
    const items = Array.from({ length: Math.max(0, Math.min(limit, state.total - from)) }, (_, i) => state.change(at(from + i)));
    return { sessionId, workChainId: state.chain, from, total: state.total, items };
  };
  return { state, host: { timeline } as unknown as Host };
}

test("opening asks for the end only, in one go", async () => {
  const { state, host } = hostOf(100_000);
  const model = new TimelineModel(host, "s");
  await model.open();
  expect(state.asked).toEqual(["s newest"]);
  expect(model.total).toBe(100_000);
  expect(model.item(99_999)?.index).toBe(99_999);
  expect(model.item(99_999 - PAGE)?.index, "a whole page before it too").toBe(99_999 - PAGE);
  expect(model.item(50_000)).toBeUndefined();
});

test("whatever its length, what opening brought stands at its place", async () => {
  for (const total of [0, 1, 99, 100, 101, 199, 200, 201, 250]) {
    const { state, host } = hostOf(total);
    const model = new TimelineModel(host, "s");
    await model.open();
    for (let index = 0; index < total; index += 1) expect([undefined, index]).toContain(model.item(index)?.index);
    expect(total === 0 ? 0 : model.item(total - 1)?.index).toBe(Math.max(0, total - 1));
    expect(model.loaded).toBe(true);
    state.asked.length = 0;
    model.ensure(Array.from({ length: total }, (_, i) => i));
    await vi.waitFor(() => expect(model.item(0)?.index).toBe(total === 0 ? undefined : 0));
    expect(state.asked.length).toBeLessThan(2);
  }
});

test("what comes into view is fetched once", async () => {
  const { state, host } = hostOf(1000);
  const model = new TimelineModel(host, "s");
  await model.open();
  state.asked.length = 0;
  model.ensure([450, 451, 510]);
  model.ensure([452]);
  await vi.waitFor(() => expect(model.item(510)).toBeDefined());
  model.ensure([450, 510]);
  expect(state.asked).toEqual(["s 400", "s 500"]);
});

test("old pages are forgotten, what they said of subagents is not", async () => {
  const { host } = hostOf(20_000, (item) => (item.index === 150 ? { ...item, agentId: "sub" } : item));
  const model = new TimelineModel(host, "s");
  await model.open();
  for (let i = 0; i < 20_000; i += PAGE) model.ensure([i]);
  await vi.waitFor(() => expect(model.item(19_800)).toBeDefined());
  expect(model.item(150)).toBeUndefined();
  expect(model.agentOf(150)).toBe("sub");
});

test("growing asks for the tail and for tools without an outcome", async () => {
  let outcome = "pending";
  const { state, host } = hostOf(250, (item) => (item.index === 101 && item.kind === "tool" ? { ...item, outcome } : item));
  const model = new TimelineModel(host, "s");
  await model.open();
  model.ensure([101]);
  await vi.waitFor(() => expect(model.item(101)).toMatchObject({ outcome: "pending" }));
  outcome = "ok";
  state.total = 320;
  state.asked.length = 0;
  model.refresh();
  await vi.waitFor(() => expect(model.item(319)).toBeDefined());
  expect(model.item(101)).toMatchObject({ outcome: "ok" });
  expect(state.asked).toEqual(["s 200", "s 100", "s 300"]);
});

test("many refreshes while one is under way are one more", async () => {
  const { state, host } = hostOf(10);
  const model = new TimelineModel(host, "s");
  await model.open();
  state.asked.length = 0;
  for (let i = 0; i < 20; i += 1) model.refresh();
  await vi.waitFor(() => expect(state.asked).toHaveLength(2));
});

test("the successor goes on with what is there", async () => {
  const { state, host } = hostOf(150);
  const model = new TimelineModel(host, "old");
  await model.open();
  state.total = 180;
  state.asked.length = 0;
  model.moveTo("new");
  await vi.waitFor(() => expect(model.item(179)?.sessionId).toBe("new"));
  expect(model.item(5)?.sessionId, "the beginning is still the page fetched before").toBe("old");
  expect(state.asked).toEqual(["new 100"]);
});

test("a time leads to its item without reading everything", async () => {
  const { state, host } = hostOf(100_000);
  const model = new TimelineModel(host, "s");
  await model.open();
  const wanted = endlessTimeline("s", 100_000).at(31_415).at!;
  state.asked.length = 0;
  expect(await model.indexAt(wanted)).toBe(31_415);
  expect(state.asked.length).toBeLessThan(20);
});

test("a failure is told, and gone with the next success", async () => {
  const { state, host } = hostOf(10);
  state.fail = "The transcript /home/dev/x.jsonl cannot be read.";
  const model = new TimelineModel(host, "s");
  await model.open();
  expect(model.failure).toContain("x.jsonl");
  expect(model.loaded).toBe(false);
  state.fail = "";
  await model.open();
  expect(model.failure).toBe("");
  expect(model.loaded).toBe(true);
});

test("a timeline that became shorter is another one", async () => {
  const { state, host } = hostOf(500, (item) => ({ ...item, agentId: "sub" }));
  const model = new TimelineModel(host, "s");
  await model.open();
  state.total = 50;
  state.change = (item) => item;
  model.refresh();
  await vi.waitFor(() => expect(model.total).toBe(50));
  expect(model.item(450)).toBeUndefined();
  expect(model.agentOf(450)).toBeUndefined();
});

test("a chain that was joined to an earlier one is read anew, since every place in it is another", async () => {
  const { state, host } = hostOf(300);
  const model = new TimelineModel(host, "s");
  await model.open();
  Object.assign(state, { chain: "joined", total: 500, change: (item: TimelineItem) => ({ ...item, sessionId: "joined" }) });
  model.refresh();
  await vi.waitFor(() => expect(model.item(499)?.sessionId).toBe("joined"));
  expect(model.item(5), "what was read before is forgotten").toBeUndefined();
});

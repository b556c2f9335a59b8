import { expect, test, vi } from "vitest";

import type { TimelineItem } from "../bindings/TimelineItem";
import type { Host } from "../host/host";
import { askWith, type Replies } from "../host/mock/replies";
import { endlessTimeline } from "../host/mock/timelines";
import { PAGE } from "./pages";
import { TimelineModel } from "./timeline.svelte";
import { GONE, NO_VIEWER } from "./viewer";

function hostOf(total: number, change: (item: TimelineItem) => TimelineItem = (item) => item) {
  const state = { total, change, asked: [] as string[], fail: "", chain: "w" };
  const timeline: Replies["timeline"] = async ({ session: sessionId, from: asked, limit }) => {
    state.asked.push(`${sessionId} ${asked ?? "newest"}`);
    const from = asked ?? Math.max(0, state.total - limit);
    if (state.fail !== "") throw new Error(state.fail);
    const { at } = endlessTimeline(sessionId, state.total);
    const items = Array.from({ length: Math.max(0, Math.min(limit, state.total - from)) }, (_, i) => state.change(at(from + i)));
    return { sessionId, workChainId: state.chain, from, total: state.total, items };
  };
  const newest_items: Replies["newest_items"] = async (asked) => ({ counted: true, timeline: await timeline(asked) });
  const replies = { timeline, newest_items };
  return { state, replies, host: { ask: askWith(replies) } as Host };
}

test("opening fetches only the end, in one request", async () => {
  const { state, host } = hostOf(100_000);
  const model = new TimelineModel(host, "s");
  await model.open();
  expect(state.asked).toEqual(["s newest"]);
  expect(model.total).toBe(100_000);
  expect(model.item(99_999)?.index).toBe(99_999);
  expect(model.item(99_999 - PAGE)?.index, "a whole page before it too").toBe(99_999 - PAGE);
  expect(model.item(50_000)).toBeUndefined();
});

test("at any length, the items from opening have their right indexes", async () => {
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

test("items that come into view are fetched once", async () => {
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

test("old pages are dropped, but their subagents are not", async () => {
  const { host } = hostOf(20_000, (item) => (item.index === 150 ? { ...item, agentId: "sub" } : item));
  const model = new TimelineModel(host, "s");
  await model.open();
  for (let i = 0; i < 20_000; i += PAGE) model.ensure([i]);
  await vi.waitFor(() => expect(model.agentOf(150)).toBe("sub"));
  await vi.waitFor(() => expect(model.item(150)).toBeUndefined());
  expect(model.agentOf(150)).toBe("sub");
});

test("after growth the tail and tools without an outcome are fetched", async () => {
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

test("many refreshes during one cause one more", async () => {
  const { state, host } = hostOf(10);
  const model = new TimelineModel(host, "s");
  await model.open();
  state.asked.length = 0;
  for (let i = 0; i < 20; i += 1) model.refresh();
  await vi.waitFor(() => expect(state.asked).toHaveLength(2));
});

test("the successor continues with the present items", async () => {
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

test("a failure is shown until the next success", async () => {
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

test("after a join to an earlier chain everything is fetched again, since every index changes", async () => {
  const { state, host } = hostOf(300);
  const model = new TimelineModel(host, "s");
  await model.open();
  Object.assign(state, { chain: "joined", total: 500, change: (item: TimelineItem) => ({ ...item, sessionId: "joined" }) });
  model.refresh();
  await vi.waitFor(() => expect(model.item(499)?.sessionId).toBe("joined"));
  expect(model.item(5), "what was read before is forgotten").toBeUndefined();
});

/** A host that computes an answer when it is asked, and sends it when the test lets it. */
function slowHost(total: number) {
  const { state, replies, host } = hostOf(total);
  const { timeline } = replies;
  const waiting: (() => void)[] = [];
  replies.timeline = async (asked) => {
    const answer = timeline(asked);
    await new Promise<void>((give) => waiting.push(give));
    return answer;
  };
  const give = async (n: number): Promise<void> => {
    await vi.waitFor(() => expect(waiting.length).toBeGreaterThan(n));
    waiting[n]!();
    await new Promise((done) => setTimeout(done));
  };
  replies.newest_items = async (asked) => ({ counted: true, timeline: await replies.timeline(asked) });
  return { state, host, give };
}

test("an out-of-date answer does not replace the timeline, and its page is fetched again", async () => {
  const { state, host, give } = slowHost(250);
  const model = new TimelineModel(host, "s");
  void model.open();
  await give(0);
  model.ensure([0]);
  state.total = 260;
  model.refresh();
  await give(2);
  await give(1);
  expect([model.epoch, model.total]).toEqual([0, 260]);
  expect(model.item(259)?.index).toBe(259);
  await give(3);
  expect(model.item(0)?.index, "and what it was asked for is there in the end").toBe(0);
});

test("after a join an earlier answer does not bring the old chain back", async () => {
  const { state, host, give } = slowHost(250);
  const model = new TimelineModel(host, "s");
  void model.open();
  await give(0);
  model.ensure([0]);
  state.chain = "joined";
  model.refresh();
  await give(2);
  await give(1);
  expect(model.epoch, "one other timeline, not three").toBe(1);
  await give(3);
  expect(model.item(0)?.index).toBe(0);
});

test("an out-of-date answer is used if nothing has changed", async () => {
  const { state, host, give } = slowHost(250);
  const model = new TimelineModel(host, "s");
  void model.open();
  await give(0);
  model.ensure([0]);
  model.refresh();
  await give(2);
  await give(1);
  expect(model.item(0)?.index).toBe(0);
  expect(state.asked).toHaveLength(3);
});

test("of two answers for one page, that of the later request stays", async () => {
  const { state, host, give } = slowHost(150);
  const model = new TimelineModel(host, "s");
  void model.open();
  state.change = (item) => ({ ...item, sessionId: "later" });
  model.ensure([0]);
  await give(1);
  await give(0);
  expect([model.item(0)?.sessionId, model.item(100)?.sessionId, model.epoch]).toEqual(["later", "s", 0]);
});

test("items that come while their page is on its way are fetched after it", async () => {
  const { state, host, give } = slowHost(50);
  const model = new TimelineModel(host, "s");
  model.ensure([0]);
  state.total = 51;
  model.refresh();
  await give(0);
  await give(1);
  expect(model.item(50)?.index, "the answer under way was from before").toBe(50);
});

test("a request for a page on its way waits for it", async () => {
  const { host, give } = slowHost(250);
  const model = new TimelineModel(host, "s");
  void model.open();
  await give(0);
  model.ensure([0]);
  let there = false;
  void model.reach(0).then(() => (there = model.item(0) !== undefined));
  await new Promise((done) => setTimeout(done));
  expect(there).toBe(false);
  await give(1);
  expect(there).toBe(true);
});

test("a timeline that was fetched without opening is loaded as well", async () => {
  const { state, host } = hostOf(10);
  state.fail = "The transcript cannot be read.";
  const model = new TimelineModel(host, "s");
  await model.open();
  state.fail = "";
  model.refresh();
  await vi.waitFor(() => expect(model.item(9)).toBeDefined());
  expect(model.loaded).toBe(true);
});

test("a long timeline is shown from its end while it is counted, and then replaced", async () => {
  const { host, replies } = hostOf(100_000);
  const { at } = endlessTimeline("s", 100_000);
  const newest = Array.from({ length: 150 }, (_, index) => ({ ...at(99_850 + index), index }));
  const whole = replies.timeline;
  let counted: () => void = () => {};
  replies.timeline = async (asked) => {
    await new Promise<void>((done) => (counted = done));
    return whole(asked);
  };
  replies.newest_items = async () => ({ counted: false, timeline: { sessionId: "s", workChainId: "w", from: 0, total: 150, items: newest } });
  const model = new TimelineModel(host, "s");
  const opened = model.open();
  await vi.waitFor(() => expect(model.loaded).toBe(true));
  const text = model.item(149);
  expect([model.total, model.counted, model.epoch, text?.at]).toEqual([150, false, 0, at(99_999).at]);
  counted();
  await opened;
  expect([model.total, model.counted, model.epoch, model.item(99_999)?.at, model.item(149)]).toEqual([100_000, true, 1, text?.at, undefined]);
});

test("changes during the count of a long timeline are fetched after it", async () => {
  const { state, host, give } = slowHost(1000);
  const model = new TimelineModel(host, "s");
  const opened = model.open();
  state.change = (item) => ({ ...item, sessionId: "later" });
  model.refresh();
  await give(0);
  await opened;
  await give(1);
  expect([state.asked[1], model.item(999)?.sessionId]).toEqual(["s 900", "later"]);
});

/** The last two of a thousand items, not counted yet. */
const uncounted = () => {
  const { at } = endlessTimeline("s", 1000);
  return { counted: false, timeline: { sessionId: "s", workChainId: "w", from: 0, total: 2, items: [at(998), at(999)].map((item, index) => ({ ...item, index })) } };
};

test("the whole of a long timeline is read when its end has been painted, and not before", async () => {
  const { state, replies, host } = hostOf(1000);
  replies.newest_items = async () => uncounted();
  let stay: (stays: boolean) => void = () => {};
  const model = new TimelineModel(host, "s");
  model.viewer = { ...NO_VIEWER, stays: () => new Promise((done) => (stay = done)) };
  const opened = model.open();
  await vi.waitFor(() => expect(model.total).toBe(2));
  await new Promise((done) => setTimeout(done));
  expect([state.asked, model.counted]).toEqual([[], false]);
  stay(true);
  await opened;
  expect([state.asked, model.counted, model.total]).toEqual([["s newest"], true, 1000]);
});

test("the whole of a long timeline is not read after the user has left", async () => {
  const { state, replies, host } = hostOf(1000);
  replies.newest_items = async () => uncounted();
  const model = new TimelineModel(host, "s");
  model.viewer = GONE;
  const opened = model.open();
  // The session has gone on meanwhile.
  model.refresh();
  await opened;
  await new Promise((done) => setTimeout(done));
  expect([state.asked, model.total, model.counted]).toEqual([[], 2, false]);
});

test("newest items that arrive after a page change nothing", async () => {
  const { replies, host } = hostOf(1000);
  let come: () => void = () => {};
  replies.newest_items = async () => {
    await new Promise<void>((done) => (come = done));
    return uncounted();
  };
  const model = new TimelineModel(host, "s");
  const opened = model.open();
  model.ensure([0]);
  await vi.waitFor(() => expect(model.total).toBe(1000));
  come();
  await opened;
  expect([model.total, model.counted, model.epoch, model.item(0)?.index, model.item(999)?.index]).toEqual([1000, true, 0, 0, 999]);
});

test("the end of a timeline that cannot be read whole is shown, with the error", async () => {
  const { state, replies, host } = hostOf(1000);
  state.fail = "cannot read the transcript a.jsonl";
  replies.newest_items = async () => uncounted();
  const model = new TimelineModel(host, "s");
  await model.open();
  expect([model.total, model.counted, model.failure]).toEqual([2, false, state.fail]);
  state.fail = "";
  model.refresh();
  await vi.waitFor(() => expect([model.counted, model.total, model.failure]).toEqual([true, 1000, ""]));
});

test("known items stay when another chain is joined before them, until their page is fetched at its new index", async () => {
  const { state, host } = hostOf(300, (item) => (item.index === 250 ? { ...item, agentId: "sub" } : item));
  const model = new TimelineModel(host, "s");
  await model.open();
  model.ensure([20]);
  await vi.waitFor(() => expect(model.item(20)).toBeDefined());
  const moves: [number, number | undefined, number][] = [];
  model.viewer = { ...NO_VIEWER, moved: (to, total) => moves.push([20, to.to(20), total]) };
  const change = (item: TimelineItem) => ({ ...item, key: String(item.index - 7), sessionId: "joined" });
  Object.assign(state, { chain: "joined", total: 307, change });
  state.asked.length = 0;
  model.refresh();
  await vi.waitFor(() => expect(model.item(306)?.sessionId).toBe("joined"));
  expect(moves).toEqual([[20, 27, 307]]);
  expect([model.item(27)?.key, model.item(27)?.index, model.item(27)?.sessionId]).toEqual(["20", 27, "s"]);
  expect([model.agentOf(257), model.agentOf(250)]).toEqual(["sub", undefined]);
  model.ensure([27]);
  await vi.waitFor(() => expect(model.item(27)?.sessionId).toBe("joined"));
  expect(model.item(27)?.key).toBe("20");
});

test("a rewritten timeline is noticed by its keys, even if it is not shorter", async () => {
  const { state, host } = hostOf(150);
  const model = new TimelineModel(host, "s");
  await model.open();
  state.total = 152;
  // Two items were inserted at index 40, which moves the items after them.
  state.change = (item) => ({ ...item, key: item.index < 40 ? String(item.index) : `${item.index - 2}` });
  model.refresh();
  await vi.waitFor(() => expect(model.epoch).toBe(1));
  expect(model.item(151)?.key).toBe("149");
});

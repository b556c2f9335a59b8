// @vitest-environment jsdom

import { beforeEach, expect, test, vi } from "vitest";

import { MockHost } from "../host/mock/mock";
import { everydayRows, row } from "../host/mock/rows";
import { RosterModel } from "./roster.svelte";

const asks = (id: string, title = id) => row({ sessionId: id, title, state: "waiting_for_approval", pendingTool: { tool: "Bash", target: "ls" } });
const works = (id: string, more = {}) => row({ sessionId: id, title: id, state: "working", ...more });

let host: MockHost;
let model: RosterModel;

async function start(rows = [works("a"), works("b", { lastActivityAt: "2026-03-14T12:00:00.000Z" })]): Promise<void> {
  host = new MockHost({ rows });
  model = new RosterModel(host);
  await model.connect();
}

beforeEach(() => start());

const shown = (): string[] => model.sections.flatMap((section) => section.ids);

test("needs from before the start are not announced", async () => {
  await start([asks("a")]);
  expect(model.announcement.words).toBe("");
  host.change({ upserts: [works("b")] });
  expect(model.announcement.words).toBe("");
});

test("only a session that newly needs the user is announced, with its request", () => {
  host.change({ upserts: [asks("b", "Fix it")] });
  expect(model.announcement.words).toBe("Fix it needs you: wants to run: ls.");
});

test("several at once are one announcement", () => {
  host.change({ upserts: [asks("a"), asks("b")] });
  expect(model.announcement.words).toBe("2 sessions need you.");
});

test("a delta for another revision brings a new snapshot", async () => {
  host.send({ type: "delta", base: 99, revision: 100, generatedAt: "", upserts: [], removals: ["a", "b"], reading: false });
  await vi.waitFor(() => expect(model.phase).toBe("live"));
  expect(shown()).toEqual(["a", "b"]);
  host.change({ upserts: [works("c")] });
  expect(shown()).toContain("c");
});

test("rows keep their places while the pointer is on the list, with new content", () => {
  model.hold();
  host.change({ upserts: [asks("b")], removals: ["a"] });
  host.change({ upserts: [asks("c")] });
  expect(model.sections).toEqual([{ group: "working", ids: ["a", "b"] }]);
  expect(model.row("b")?.state).toBe("waiting_for_approval");
  expect(model.row("a"), "a row that left stays to be seen").toBeDefined();
  expect(model.isGone("a")).toBe(true);
  expect(model.outOfDate).toBe(true);
  expect(model.counts.needs_you, "the counts are always now").toBe(2);
  model.release();
  expect(model.sections).toEqual([{ group: "needs_you", ids: ["b", "c"] }]);
  expect(model.outOfDate).toBe(false);
});

test("the filter applies at once, also under the pointer", () => {
  model.hold();
  model.setText("b");
  expect(shown()).toEqual(["b"]);
});

test("the selection moves to the successor", () => {
  model.select("a", true);
  host.change({ upserts: [works("a", { superseded: true, supersededBy: "n", workChainId: "chain-a" }), works("n", { workChainId: "chain-a" })] });
  expect(model.selected?.sessionId).toBe("n");
  expect(model.opened).toBe(true);
});

test("the selection finds a successor that comes after its row went", () => {
  model.select("a", true);
  host.change({ removals: ["a"] });
  expect(model.selected?.sessionId, "nothing vanishes under the reader").toBe("a");
  host.change({ upserts: [works("n", { workChainId: "chain-a" })] });
  expect(model.selected?.sessionId).toBe("n");
});

test("choosing a superseded row selects the head, at the chosen segment", async () => {
  await start([works("old", { superseded: true, supersededBy: "n", workChainId: "w" }), works("n", { workChainId: "w" })]);
  model.setShowAll(true);
  await vi.waitFor(() => expect(shown()).toContain("old"));
  model.select("old", true);
  expect(model.selected?.sessionId).toBe("n");
  expect(model.wantedSegment).toEqual({ sessionId: "old" });
});

test("superseded rows are shown only on request", async () => {
  await start([works("old", { superseded: true, supersededBy: "n" }), works("n")]);
  expect(shown()).toEqual(["n"]);
  model.setShowAll(true);
  await vi.waitFor(() => expect(shown()).toHaveLength(2));
});

test("a selection from outside opens the session under any filter", () => {
  model.setText("nothing like it");
  host.send({ type: "select", sessionId: "b" });
  expect(model.selected?.sessionId).toBe("b");
  expect(model.opened).toBe(true);
  expect(shown()).toContain("b");
});

test("a failure is shown in its own words, and a second try can succeed", async () => {
  const failing = new RosterModel(new MockHost({ rows: [], fails: "Permission denied." }));
  await failing.connect();
  expect([failing.phase, failing.failure]).toEqual(["failed", "Permission denied."]);
});

test("the demo fills an empty roster", async () => {
  await start([]);
  expect(shown()).toEqual([]);
  await model.showDemo(true);
  expect(shown()).toHaveLength(everydayRows().length);
});

test("a session that the roster leaves out is opened, and the roster stays as it is", async () => {
  const gone = works("gone", { superseded: true, workChainId: "g" });
  await start([works("old", { superseded: true, supersededBy: "n", workChainId: "w" }), works("n", { workChainId: "w" }), gone]);
  host.send({ type: "select", sessionId: "old" });
  await vi.waitFor(() => expect(model.selected?.sessionId).toBe("n"));
  expect(model.wantedSegment).toEqual({ sessionId: "old" });
  expect(model.asked).toEqual({ sessionId: "old", found: true });
  model.ask("gone", { sessionId: "gone", agentId: undefined, offset: 7 });
  await vi.waitFor(() => expect(model.selected?.sessionId).toBe("gone"));
  expect([model.isOutside, model.vanished, model.opened, model.showAll]).toEqual([true, false, true, false]);
  expect(model.wantedPlace?.offset).toBe(7);
  expect(shown(), "no other old session comes with it").toEqual(["n"]);
  host.send({ type: "select", sessionId: "nobody" });
  await vi.waitFor(() => expect(model.asked).toEqual({ sessionId: "nobody", found: false }));
  expect(model.selected?.sessionId).toBe("gone");
});

test("of two sessions asked for the later one is opened, also when the earlier is found later", async () => {
  await start([works("a"), works("gone", { superseded: true, workChainId: "g" })]);
  let found: () => void = () => {};
  const { head } = host.replies;
  host.replies.head = async (asked) => {
    await new Promise<void>((done) => (found = done));
    return head(asked);
  };
  model.ask("gone");
  model.ask("a");
  found();
  await new Promise((done) => setTimeout(done));
  expect(model.selected?.sessionId).toBe("a");
});

test("a later choice of the user is not overridden by an earlier request from outside", async () => {
  const gone = works("gone", { superseded: true, workChainId: "g" });
  await start([works("a"), works("b"), gone]);
  let found: () => void = () => {};
  const { head } = host.replies;
  host.replies.head = async (asked) => {
    await new Promise<void>((done) => (found = done));
    return head(asked);
  };
  model.ask("gone");
  model.select("b", true);
  found();
  await new Promise((done) => setTimeout(done));
  expect(model.selected?.sessionId).toBe("b");
  model.ask("gone");
  model.close();
  found();
  await new Promise((done) => setTimeout(done));
  expect([model.selected?.sessionId, model.opened], "nor what was closed").toEqual(["b", false]);
});

test("a choice during the first reading of transcripts stays", async () => {
  host = new MockHost({ rows: [works("a"), works("b")], reading: true });
  model = new RosterModel(host);
  await model.connect();
  model.ask("a");
  model.select("b", true);
  host.change({});
  expect(model.roster.reading).toBe(false);
  expect(model.selected?.sessionId).toBe("b");
});

test("asking for a session connects again after a failure", async () => {
  await start([works("a"), works("gone", { superseded: true, workChainId: "g" })]);
  host.send({ type: "stopped" });
  model.ask("a");
  await vi.waitFor(() => expect(model.selected?.sessionId).toBe("a"));
  expect(model.phase).toBe("live");
  host.replies.head = () => Promise.reject({ code: "internal", message: "The database is locked." });
  model.ask("gone");
  await vi.waitFor(() => expect(model.asked).toEqual({ sessionId: "gone", found: false, reason: "The database is locked." }));
});

test("the end of the engine is shown at once, and a second try can succeed", async () => {
  host.send({ type: "stopped" });
  expect(model.phase).toBe("failed");
  expect(model.failure).toContain("stopped");
  expect(shown(), "the old rows stay readable").toEqual(["a", "b"]);
  await model.connect();
  expect([model.phase, model.failure]).toEqual(["live", ""]);
});

test("sessions that only the switch brought into view are no news", async () => {
  await start([{ ...asks("old"), superseded: true, supersededBy: "n" }, works("n")]);
  model.setShowAll(true);
  await vi.waitFor(() => expect(shown()).toHaveLength(2));
  expect(model.announcement.words).toBe("");
});

test("the pane goes on with a successor, and begins anew with another chain", () => {
  model.select("a", true);
  const { pane } = model;
  host.change({ upserts: [works("a", { superseded: true, supersededBy: "n", workChainId: "joined" }), works("n", { workChainId: "joined" })] });
  expect(model.pane).toBe(pane);
  model.select("b");
  expect(model.pane).toBe(pane + 1);
});

test("the first rows come with the counts of the rest, and the rest is no news and is not held", async () => {
  const [a, b, asks] = [works("a"), works("b"), works("asks", { group: "needs_you", needs: "approval", state: "waiting_for_approval" })];
  await start([a]);
  const revision = model.roster.revision;
  const rest = { needs_you: 1, working: 1, your_turn: 0, idle: 0 };
  host.send({ type: "snapshot", revision, generatedAt: "", sessions: [a], problems: [], reading: false, rest });
  model.hold();
  model.ask("b");
  expect([model.counts.needs_you, model.counts.working, model.vanished]).toEqual([1, 2, false]);
  host.send({ type: "delta", base: revision, revision, generatedAt: "", upserts: [asks, b].map((session, i) => ({ index: 2 * i, session })), removals: [], reading: false });
  expect(model.sections.map((section) => section.ids)).toEqual([["asks"], ["a", "b"]]);
  expect([model.counts.needs_you, model.counts.working, model.roster.reading]).toEqual([1, 2, false]);
  expect(model.announcement.words, "needs from before are no news").toBe("");
  expect(model.selected?.sessionId, "the requested session is selected once it comes").toBe("b");
  model.hold();
  host.send({ type: "delta", base: revision, revision: revision + 1, generatedAt: "", upserts: [], removals: ["b"], reading: false });
  expect(model.outOfDate, "from then on rows keep their places").toBe(true);
});

test("after all rows were shown, the first rows of another engine wait for the rest", async () => {
  await start([works("a"), works("b"), works("c")]);
  model.select("c");
  const { revision } = model.roster;
  const rest = { needs_you: 0, working: 2, your_turn: 0, idle: 0 };
  host.send({ type: "snapshot", revision: revision + 5, generatedAt: "", sessions: [works("n")], problems: [], reading: false, rest });
  expect([shown(), model.isGone("c"), model.vanished, model.roster.reading]).toEqual([["a", "b", "c"], false, false, false]);
  const upserts = [works("b"), works("c")].map((session, i) => ({ index: i + 1, session }));
  host.send({ type: "delta", base: revision + 5, revision: revision + 5, generatedAt: "", upserts, removals: [], reading: false });
  expect([shown(), model.roster.revision, model.selected?.sessionId]).toEqual([["n", "b", "c"], revision + 5, "c"]);
});

test("matches of the filter are counted beside all sessions, and the total still counts needs outside it", async () => {
  await start([asks("a", "Fix it"), asks("b", "Paint it"), works("c")]);
  expect(model.found).toBeUndefined();
  model.setText("paint");
  expect(model.found).toMatchObject({ needs_you: 1, working: 0 });
  expect(model.counts).toMatchObject({ needs_you: 2, working: 1 });
});

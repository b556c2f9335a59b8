import { expect, test } from "vitest";

import { askWith, type Replies } from "../host/mock/replies";
import { endlessTimeline } from "../host/mock/timelines";
import { AgentRun } from "./agent.svelte";

function hostOf(total: number) {
  const state = { total, asked: [] as string[], fail: "" };
  const agent_timeline: Replies["agent_timeline"] = ({ session: sessionId, agent: agentId, from, limit }) => {
    state.asked.push(`${agentId} ${from}+${limit}`);
    if (state.fail !== "") throw new Error(state.fail);
    const { at } = endlessTimeline(sessionId, state.total);
    const items = Array.from({ length: Math.max(0, Math.min(limit, state.total - from)) }, (_, i) => at(from + i));
    return { sessionId, workChainId: "w", agentId, from, total: state.total, items };
  };
  return { state, host: { ask: askWith({ agent_timeline }) } };
}

test("a run begins at its beginning and grows at its end", async () => {
  const { state, host } = hostOf(120);
  const run = new AgentRun(host, "s", "a");
  await run.refresh();
  await run.more();
  expect([run.from, run.end, run.total]).toEqual([0, 100, 120]);
  await run.more();
  expect(run.end).toBe(120);
  expect(state.asked).toEqual(["a 0+50", "a 50+50", "a 100+50"]);
});

test("a hit far inside is shown with its surroundings, and grows at both ends", async () => {
  const { host } = hostOf(1000);
  const run = new AgentRun(host, "s", "a");
  await run.open(500);
  expect([run.from, run.end]).toEqual([475, 525]);
  await run.earlier();
  await run.more();
  expect(run.items.map((item) => item.index)).toEqual(Array.from({ length: 150 }, (_, i) => 425 + i));
});

test("a refresh fetches the shown range again", async () => {
  const { state, host } = hostOf(3);
  const run = new AgentRun(host, "s", "a");
  await run.refresh();
  expect(state.asked, "without anything yet, the beginning").toEqual(["a 0+50"]);
  state.total = 7;
  await run.refresh();
  expect(run.items).toHaveLength(7);
});

test("a failure is shown, and the shown entries stay", async () => {
  const { state, host } = hostOf(80);
  const run = new AgentRun(host, "s", "a");
  await run.refresh();
  state.fail = "The transcript is gone.";
  await run.more();
  expect([run.failure, run.items.length]).toEqual(["The transcript is gone.", 50]);
});

test("a request during a pending answer is not lost", async () => {
  const { state, host } = hostOf(120);
  const run = new AgentRun(host, "s", "a");
  void run.refresh();
  void run.more();
  state.total = 121;
  await run.more();
  expect([run.from, run.end, run.total]).toEqual([0, 121, 121]);
});

test("a hit found while the first page is on its way is shown, and grows from there", async () => {
  const { host } = hostOf(1000);
  const run = new AgentRun(host, "s", "a");
  void run.refresh();
  void run.open(500);
  await run.earlier();
  expect([run.from, run.end]).toEqual([425, 525]);
});

test("many refreshes during one cause one more", async () => {
  const { state, host } = hostOf(10);
  const run = new AgentRun(host, "s", "a");
  const all = Array.from({ length: 20 }, () => run.refresh());
  await Promise.all(all);
  expect(state.asked).toHaveLength(1);
  void run.refresh();
  await Promise.resolve();
  for (let i = 0; i < 20; i += 1) void run.refresh();
  await run.refresh();
  expect(state.asked).toHaveLength(3);
});

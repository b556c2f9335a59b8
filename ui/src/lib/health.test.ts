// @vitest-environment jsdom

import { expect, test } from "vitest";

import type { Doctor } from "./bindings/Doctor";
import { HealthModel, healthOf } from "./health.svelte";
import { MockHost } from "./host/mock/mock";
import { askWith } from "./host/mock/replies";
import { RosterModel } from "./roster/roster.svelte";

const root = { agent: "claude", path: "/home/dev/.claude", exists: true, watch: "native", sessions: 1, files: 1, bytes: 1 } as const;
const hooks = (state: string) => ({
  path: "/home/dev/hooks",
  ears: 1,
  waiting: 0,
  damaged: 0,
  dropped: 0,
  journalBytes: 0,
  sessions: 0,
  settings: [{ path: "/home/dev/.claude/settings.json", state, missing: [], scope: "user", root: "/home/dev/.claude", answers: false }],
});

function doctor(more: Partial<Doctor> = {}): Doctor {
  return { versions: { watchbill: "0.1.0", agents: [] }, roots: [root], registry: { readable: true, files: 0, live: 0 }, limits: [], problems: [], ...more };
}

test.each<[string, Partial<Doctor>, string, RegExp]>([
  ["all well", { hooks: hooks("installed") }, "good", /All is watched/],
  ["no hooks heard of, as in the demo", {}, "good", /All is watched/],
  ["hooks missing", { hooks: hooks("absent") }, "note", /not installed/],
  ["the hook for answers alone", { hooks: { ...hooks("absent"), settings: hooks("absent").settings.map((file) => ({ ...file, answers: true })) } }, "note", /Only the hook for answers/],
  ["hooks that tell another data folder", { hooks: hooks("outdated") }, "note", /another data folder/],
  ["hooks without a program", { hooks: hooks("program_missing") }, "warn", /program that is not there/],
  ["a status line without a program", { hooks: { ...hooks("installed"), settings: hooks("installed").settings.map((file) => ({ ...file, statusLine: "program_missing" })) } }, "warn", /status line is not drawn/],
  ["one folder of two gone", { roots: [root, { ...root, exists: false }] }, "warn", /1 folder not watched/],
  ["the only folder gone", { roots: [{ ...root, exists: false }] }, "warn", /no session folder/],
  ["polled", { roots: [{ ...root, watch: "poll" }] }, "note", /polled/],
  ["a full disk", { problems: [{ path: "/home/dev/watchbill.db", kind: "store", count: 1, detail: "no space left" }] }, "warn", /not kept/],
  ["a broken line", { problems: [{ path: "/home/dev/s.jsonl", kind: "malformed_line", count: 1, detail: "no JSON" }] }, "warn", /1 problem/],
  ["a limit too low", { limits: [{ name: "watches", value: 1, needed: 2, enough: false }] }, "warn", /limit/],
])("%s", (_, more, level, words) => {
  const health = healthOf(doctor(more));
  expect(health.level).toBe(level);
  expect(health.words).toMatch(words);
});

/** A doctor that answers when the test lets it. */
async function watched() {
  const host = new MockHost({ rows: [] });
  const roster = new RosterModel(host);
  await roster.connect();
  const answers: ((doctor: Doctor) => void)[] = [];
  const health = new HealthModel({ ask: askWith({ doctor: () => new Promise((give) => answers.push(give)) }) }, roster);
  return { roster, health, answers };
}

const turn = () => new Promise((done) => setTimeout(done));

test("trouble of the store comes from the roster, which also reports its end", async () => {
  const { roster, health, answers } = await watched();
  const trouble = { path: "/home/dev/watchbill.db", kind: "store", count: 1, detail: "no space left" };
  roster.roster = { ...roster.roster, problems: [trouble] };
  void health.ask();
  const store = { path: trouble.path, exists: true, bytes: 1, sessions: 0, texts: 0, filesBehind: 0, bytesBehind: 0, filesLeftOut: 0, excludeChanged: false, archived: 0, archiveBytes: 0, trouble: trouble.detail };
  answers[0]!(doctor({ store, problems: [trouble] }));
  await turn();
  expect(health.now.words).toMatch(/not kept/);
  roster.roster = { ...roster.roster, problems: [] };
  expect(health.now.words).toMatch(/All is watched/);
});

test("requests during a pending answer cause one more request", async () => {
  const { health, answers } = await watched();
  void health.ask();
  for (let i = 0; i < 5; i += 1) void health.ask();
  answers[0]!(doctor({ hooks: hooks("absent") }));
  await turn();
  expect(answers).toHaveLength(2);
  answers[1]!(doctor({ hooks: hooks("installed") }));
  await turn();
  expect([health.now.level, answers.length]).toEqual(["good", 2]);
});

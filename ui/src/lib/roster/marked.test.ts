import { expect, test } from "vitest";

import { MockHost } from "../host/mock/mock";
import { row } from "../host/mock/rows";
import { MarkedRows } from "./marked.svelte";

const NAMES = ["a", "b", "c", "d"];

function stage() {
  let rows = NAMES.map((sessionId) => row({ sessionId, repoRoot: `/w/${sessionId === "b" ? "a" : sessionId}` }));
  const host = new MockHost({ rows });
  const asked: string[] = [];
  const said: { words: string; undo?: (() => void) | undefined }[] = [];
  const announced: string[] = [];
  const several = new Set<string>();
  host.replies.command = ({ command }) => {
    if (command.session === "c") throw { code: "not_found", message: "session c is not known" };
    asked.push(`${command.do} ${command.session} ${"until" in command ? "on" : "away" in command ? command.away : "off"}`);
    return command.session;
  };
  const marked = new MarkedRows(host, () => rows, (id) => several.has(id), (words, undo) => said.push({ words, undo }), (words) => announced.push(words));
  const hide = (id: string) => (rows = rows.filter((one) => one.sessionId !== id));
  const outside = (id: string) => (rows = rows.map((one) => (one.sessionId === id ? row({ sessionId: id, cwd: "/home/dev" }) : one)));
  return { host, marked, asked, said, announced, several, hide, outside };
}

const idsOf = ({ marked }: ReturnType<typeof stage>): string => marked.rows.map((one) => one.sessionId).join("");

test("a range grows and shrinks from where it began, and keeps what was marked before", () => {
  const it = stage();
  it.marked.toggle("d");
  expect(it.marked.step("a", 1)).toBe("b");
  expect(it.marked.step("b", 1)).toBe("c");
  expect(idsOf(it)).toBe("abcd");
  it.marked.step("c", -1);
  expect(idsOf(it)).toBe("abd");
  it.marked.endRange();
  it.marked.step("c", 1);
  expect(idsOf(it)).toBe("abcd");
  it.marked.toggle("a");
  expect(idsOf(it)).toBe("bcd");
  expect(it.announced.at(-1)).toBe("3 marked");
  it.marked.clear();
  expect(idsOf(it)).toBe("");
});

test("a range begins anew where its beginning is gone, after a mark of one row, and where the arrows go on elsewhere", () => {
  const it = stage();
  it.marked.extend("b", "c");
  it.hide("b");
  it.marked.extend("c", "d");
  expect(idsOf(it), "not from the top").toBe("cd");
  it.marked.clear();
  it.marked.extend("gone", "c");
  expect(idsOf(it)).toBe("c");
  it.marked.toggle("a");
  it.marked.extend("d", "c");
  expect(idsOf(it), "from the row that was marked alone").toBe("ac");
  it.marked.clear();
  it.marked.extend("c", "d");
  it.marked.step("a", 1);
  expect(idsOf(it)).toBe("acd");
});

test("a row that stands for several runs is not marked", () => {
  const it = stage();
  it.several.add("b").add("c");
  it.marked.toggle("b");
  expect(it.said.map(({ words }) => words)).toEqual(["This row stands for several runs: Enter shows each"]);
  it.marked.extend("a", "c");
  it.several.delete("c");
  expect(idsOf(it), "nor later, when the runs are shown one by one").toBe("a");
  it.several.add("a");
  expect([idsOf(it), it.marked.has("a")], "nor when they are one row again").toEqual(["", false]);
});

test("one command each, one notice, one Undo; what failed stays marked", async () => {
  const it = stage();
  it.marked.extend("a", "c");
  await it.marked.snooze("2026-03-14T15:00:00.000Z");
  expect(it.asked).toEqual(["snooze a on", "snooze b on"]);
  expect(it.said.map(({ words }) => words)).toEqual(["Snoozed: 2 sessions. 1 failed: session c is not known"]);
  expect(idsOf(it)).toBe("c");
  it.said[0]?.undo?.();
  await expect.poll(() => it.asked.slice(2)).toEqual(["snooze a off", "snooze b off"]);
  await it.marked.putAway();
  expect(it.said[1]).toEqual({ words: "session c is not known", undo: undefined });
});

test("a marked row that the list hides is not acted on", async () => {
  const it = stage();
  it.marked.extend("a", "b");
  it.hide("a");
  await it.marked.putAway();
  expect(it.asked).toEqual(["put_away b true"]);
});

test("muting adds each repository once and no other folder, and Undo takes only these away", async () => {
  const it = stage();
  const muted = async () => (await it.host.ask("settings")).settings.find(({ key }) => key === "alerts.muted")?.value;
  await it.host.ask("change_settings", { changes: [{ key: "alerts.muted", value: ["scratch", "/w/d"] }] });
  it.marked.extend("a", "d");
  await it.marked.mute();
  expect(await muted()).toEqual(["scratch", "/w/d", "/w/a", "/w/c"]);
  expect(it.said.at(-1)?.words).toBe("Muted: 3 projects");
  it.said.at(-1)?.undo?.();
  await expect.poll(muted).toEqual(["scratch", "/w/d"]);
  it.outside("b");
  it.marked.toggle("b");
  await it.marked.mute();
  expect(it.said.at(-1)?.words).toBe("Not muted: no marked session is in a repository");
  it.marked.toggle("c");
  await it.marked.mute();
  expect(it.said.at(-1)?.words).toBe("Muted: /w/c. Not those of 1 session outside a repository");
  expect(await muted()).toEqual(["scratch", "/w/d", "/w/c"]);
});

test("the palette acts on all marked rows only while some are", () => {
  const it = stage();
  expect(it.marked.commands(() => 0)).toEqual([]);
  it.marked.extend("a", "b");
  expect(it.marked.commands(() => 0).map(({ name }) => name)).toContain("Put away the marked 2");
});

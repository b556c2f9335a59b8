import { expect, test } from "vitest";

import type { TrackedSession } from "../bindings/TrackedSession";
import { programRows, refusedRows } from "../host/mock/programs";
import { everydayRows, inRosterOrder, row } from "../host/mock/rows";
import { countsOf, type Filter, headingWords, layoutOf, ofHistory, sameLayout, withText } from "./layout";
import { runsOf, runsWords } from "./runs";

const none = { groups: new Set<never>(), text: "" };

test("groups stand in their order and empty ones are absent", () => {
  const layout = layoutOf([row({ sessionId: "w", state: "working" }), row({ sessionId: "n", state: "waiting_for_approval" })], none);
  expect(layout).toEqual([
    { group: "needs_you", ids: ["n"] },
    { group: "working", ids: ["w"] },
  ]);
});

test("the engine's order inside a group stays as it is", () => {
  const rows = ["z", "a", "m"].map((id) => row({ sessionId: id, state: "idle" }));
  expect(layoutOf(rows, none)[0]?.ids).toEqual(["z", "a", "m"]);
});

test("all words of the filter must occur, in any case and place", () => {
  const rows = everydayRows();
  const find = (text: string) => layoutOf(rows, { ...none, text }).flatMap((section) => section.ids).map((id) => rows.find((session) => session.sessionId === id)?.title);
  expect(find("FLAKY scheduler")).toEqual(["Fix flaky scheduler tests"]);
  expect(find("npm publish")).toEqual(["Publish the 2.4 release"]);
  expect(find("flaky nonsense")).toEqual([]);
  expect(find("split-billing")).toEqual(["Split the billing module"]);
});

test("chips narrow to their groups", () => {
  const layout = layoutOf(everydayRows(), { groups: new Set(["idle"] as const), text: "" });
  expect(layout.map((section) => section.group)).toEqual(["idle"]);
});

test("superseded rows are laid out but not counted", () => {
  const rows = [row({ sessionId: "a", state: "idle" }), row({ sessionId: "b", state: "idle", superseded: true, supersededBy: "a" })];
  expect(countsOf(rows).idle).toBe(1);
  expect(layoutOf(rows, none)[0]?.ids).toHaveLength(2);
});

test("a row is in the engine's group in every state", () => {
  const asks = row({ sessionId: "a", state: "waiting_for_approval", group: "working", needs: undefined });
  expect(countsOf([asks])).toMatchObject({ needs_you: 0, working: 1 });
  expect(layoutOf([asks], none)).toEqual([{ group: "working", ids: ["a"] }]);
  const counts: TrackedSession = { ...asks, group: "needs_you", needs: "approval" };
  expect(countsOf([counts])).toMatchObject({ needs_you: 1, working: 0 });
  expect(layoutOf([counts], none)).toEqual([{ group: "needs_you", ids: ["a"] }]);
});

test("an unknown group is shown last", () => {
  const strange = { ...row({ sessionId: "s" }), group: "__proto__" } as unknown as TrackedSession;
  expect(layoutOf([strange], none)).toEqual([{ group: "idle", ids: ["s"] }]);
  expect(countsOf([strange]).idle).toBe(1);
});

test("two layouts are the same when groups and rows are", () => {
  const a = [{ group: "idle" as const, ids: ["x", "y"] }];
  expect(sameLayout(a, [{ group: "idle", ids: ["x", "y"] }])).toBe(true);
  expect(sameLayout(a, [{ group: "idle", ids: ["y", "x"] }])).toBe(false);
  expect(sameLayout(a, [{ group: "working", ids: ["x", "y"] }])).toBe(false);
  expect(sameLayout(a, [])).toBe(false);
});

test("`agent:` keeps the sessions of one agent", () => {
  const rows = [row({ sessionId: "a" }), row({ sessionId: "b", agent: "codex" })];
  const find = (text: string) => withText(rows, text).map((session) => session.sessionId);
  expect([find("agent:codex"), find("agent:claude"), find("agent:none"), find("")]).toEqual([["b"], ["a"], [], ["a", "b"]]);
});

test("`state:` keeps a group, a state, a kind of it, or the sessions with refused calls", () => {
  const rows = [...everydayRows(), ...refusedRows()];
  const count = (text: string): number => withText(rows, text).length;
  expect(count("state:needs-you")).toBe(rows.filter((session) => session.group === "needs_you").length);
  expect(count("state:question")).toBe(1);
  expect(count("state:refused")).toBe(2);
  expect(count("state:refused hotfix")).toBe(1);
  expect(count("state:nothing")).toBe(0);
  expect(count("state:"), "while the value is being typed it narrows nothing").toBe(rows.length);
});

test("`project:` works as in the palette, and filters for the history hide no session", () => {
  const rows = [row({ sessionId: "a", cwd: "/home/dev/api-server", title: "Fix it" }), row({ sessionId: "b", cwd: "/home/dev/shop", title: "Fix api-server" }), row({ sessionId: "c", repoRoot: "/srv/api-server", cwd: "/srv/api-server/sub" })];
  const find = (text: string) => layoutOf(rows, { ...none, text }).flatMap((section) => section.ids);
  expect(find("project:api")).toEqual(["a", "c"]);
  expect(find("project:api fix")).toEqual(["a"]);
  expect(find('project:"API-server"')).toEqual(["a", "c"]);
  expect(find("project:nothing")).toEqual([]);
  expect(find("fix role:prompt tool:Bash")).toEqual(["a", "b"]);
  expect(find("project:"), "while the value is being typed it narrows nothing").toEqual(["a", "b", "c"]);
  expect(ofHistory("fix role:prompt tool:Bash role:answer project:x")).toEqual(["role:", "tool:"]);
});

test("one row stands for the runs of a starter; a search, the key and the refused view show each", () => {
  const rows = inRosterOrder(programRows());
  const titles = (filter: Partial<Filter>): (string | undefined)[] => layoutOf(rows, { ...none, ...filter }).flatMap((section) => section.ids).map((id) => rows.find((one) => one.sessionId === id)?.title);
  expect(titles({}).toSorted()).toEqual(["Review the staged changes", "Summarise the day", "Translate the release notes"]);
  expect(titles({ programs: true })).toHaveLength(12);
  const mixed = layoutOf([...rows, row({ sessionId: "older", state: "idle", stateSince: "2026-03-01T00:00:00.000Z" })], none);
  expect(mixed[0]?.ids[0], "the sessions of programs stand at the end of the group").toBe("older");
  expect(titles({ text: "staged" })).toHaveLength(9);
  const runs = runsOf(rows);
  expect(runs.get("run-sdk-cli-0")).toEqual({ count: 9, failed: 2, entrypoint: "sdk-cli" });
  expect([...runs.keys()].sort(), "a single run has a row of its own").toEqual(["run-sdk-cli-0", "run-sdk-py-0"]);
  expect([...runs.values()].map(runsWords)).toContain("9 runs, 2 failed · sdk-cli");
});

test("the refused view shows the sessions whose calls were refused", () => {
  const rows = [...refusedRows(), ...everydayRows()];
  expect(layoutOf(rows, { ...none, refused: true })).toEqual([{ group: "working", ids: ["refused-stuck", "refused-goes-on"] }]);
});

test("by project, what needs the user stays on top, and projects come in the order of their first rows", () => {
  const of = (sessionId: string, state: TrackedSession["state"], cwd?: string) => row({ sessionId, state, ...(cwd === undefined ? {} : { cwd }) });
  const rows = inRosterOrder([of("a", "waiting_for_approval", "/d/shop"), of("b", "working", "/d/site"), of("c", "idle", "/d/shop"), of("d", "idle", "/d/site"), of("e", "idle")]);
  const layout = layoutOf(rows, { ...none, byProject: true });
  expect(layout.map(({ group, ids }) => [headingWords(group), ids.length])).toEqual([["Needs you", 1], ["site", 2], ["shop", 1], [headingWords(layout.at(-1)!.group), 1]]);
  expect(layout.flatMap(({ ids }) => ids).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
});

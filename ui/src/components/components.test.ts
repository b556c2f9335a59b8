// @vitest-environment jsdom

import { cleanup, fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, expect, test, vi } from "vitest";

import { EngineClock } from "../lib/clock.svelte";
import type { TimelineItem } from "../lib/bindings/TimelineItem";
import { refusedRows } from "../lib/host/mock/programs";
import { ENGINE_START, everydayRows, iso, planLimits, planRows, row } from "../lib/host/mock/rows";
import { presetNamed } from "../lib/host/mock/presets";
import { limitUse } from "../lib/host/mock/usage";
import { refusedTimeline } from "../lib/host/mock/timelines";
import PlanLimits from "./day/PlanLimits.svelte";
import AskCard from "./detail/AskCard.svelte";
import Markdown from "./markdown/Markdown.svelte";
import LiveTail from "./own/LiveTail.svelte";
import { MockHost } from "../lib/host/mock/mock";
import { RosterModel } from "../lib/roster/roster.svelte";
import Menu from "./roster/Menu.svelte";
import PlanLine from "./roster/PlanLine.svelte";
import Row from "./roster/Row.svelte";
import { Opened } from "../lib/timeline/opened.svelte";
import { TimelineModel } from "../lib/timeline/timeline.svelte";
import Entry from "./timeline/Entry.svelte";
import Timeline from "./timeline/Timeline.svelte";
import ToolEntry from "./timeline/ToolEntry.svelte";

afterEach(cleanup);

function showRow(session = everydayRows()[0]!, withAgent = false) {
  const clock = new EngineClock();
  clock.sync(iso(ENGINE_START));
  const onopen = vi.fn();
  render(Row, { session, clock, selected: false, reachable: true, withAgent, gone: false, onopen });
  return { button: screen.getByRole("button"), onopen };
}

test("a row shows title, age, place, current activity and badges", () => {
  const { button } = showRow();
  const text = button.textContent!.replace(/\s+/g, " ");
  expect(within(button).getByRole("img").getAttribute("aria-label")).toBe("Waiting for approval");
  for (const part of ["Publish the 2.4 release", "38 s", "api-server", "release/2.4", "wants to run:", "npm publish --tag latest", "3segments", "context 86 %"]) {
    expect(text).toContain(part);
  }
});

test("a finished turn that was not looked at has a mark", () => {
  expect(within(showRow(row({ sessionId: "a" })).button).queryByLabelText("not looked at yet")).toBeNull();
  cleanup();
  expect(within(showRow(row({ sessionId: "a", unseen: true })).button).getByLabelText("not looked at yet")).toBeTruthy();
});

test("a click on the pull request copies its address and opens nothing", async () => {
  const clock = new EngineClock();
  clock.sync(iso(ENGINE_START));
  const onopen = vi.fn();
  const copy = vi.fn();
  render(Row, { props: { session: planRows()[0]!, clock, selected: false, reachable: true, withAgent: false, gone: false, onopen }, context: new Map([["copy", copy]]) });
  await fireEvent.click(screen.getByRole("button", { name: "Copy the address of pull request 318, approved" }));
  expect(copy).toHaveBeenCalledWith("https://example.invalid/pull/318", "Address");
  expect(onopen).not.toHaveBeenCalled();
});

test("the foot of the roster has the limits, and is absent without any", async () => {
  const onopen = vi.fn();
  const host = new MockHost(presetNamed("plan"));
  const asked = vi.spyOn(host, "ask");
  const line = { host, news: 1, asleep: false, limits: planLimits(), now: ENGINE_START, onopen };
  const { container, rerender } = render(PlanLine, line);
  await vi.waitFor(() => expect(container.textContent!.replace(/\s+/g, " ").trim()).toMatch(/^5 h 78 % week 41 % today [\d.]+ [kM] tokens$/));
  // A quiet minute and a change in the same minute ask nothing.
  await rerender({ ...line, now: ENGINE_START + 60_000 });
  await rerender({ ...line, now: ENGINE_START, news: 2 });
  expect(asked).toHaveBeenCalledTimes(1);
  await rerender({ ...line, now: ENGINE_START + 60_000, news: 2 });
  expect(asked).toHaveBeenCalledTimes(2);
  expect(container.querySelector(".near")!.textContent).toContain("5 h");
  await fireEvent.click(screen.getByRole("button"));
  expect(onopen).toHaveBeenCalledOnce();
  vi.spyOn(host, "ask").mockRejectedValue(new Error("nothing is stored"));
  await rerender({ ...line, limits: [], now: ENGINE_START + 120_000, news: 3 });
  await vi.waitFor(() => expect(container.textContent!.trim()).toBe(""));
});

test("the usage says each limit with its pace and who said it, or how it comes to be said", async () => {
  const onsession = vi.fn();
  const { container } = render(PlanLimits, { limits: planLimits(), uses: limitUse(planLimits()), now: ENGINE_START, titleOf: () => "Publish the 2.4 release", onsession, onsetup: () => {} });
  const text = container.textContent!.replace(/\s+/g, " ");
  for (const part of ["5 hours 78 %", "At this pace full at", "Week 41 %", "Enough, at this pace", "in 1 h 38 min", "As Claude Code said at", "in “Publish the 2.4 release”."]) expect(text).toContain(part);
  expect(screen.getAllByRole("meter").map((meter) => meter.getAttribute("aria-valuenow"))).toEqual(["78", "41"]);
  const items = within(screen.getByRole("list", { name: "5 hours, by estimate" })).getAllByRole("listitem").map((item) => item.textContent!.replace(/\s+/g, " ").trim());
  expect(items[0]).toMatch(/ last hour 12 % ≈ 31 %$/);
  expect(items.slice(-2)).toEqual([expect.stringMatching(/≈ 12 %$/), "Others, or not on this machine ≈ 19 %"]);
  fireEvent.click(screen.getAllByRole("button")[0]!);
  expect(onsession).toHaveBeenCalledWith(limitUse(planLimits())[0]!.shares[0]!.sessionId);
  cleanup();
  const onsetup = vi.fn();
  render(PlanLimits, { limits: [], uses: [], onsession, now: ENGINE_START, titleOf: () => undefined, onsetup });
  await fireEvent.click(screen.getByRole("button", { name: "Settings…" }));
  expect(onsetup).toHaveBeenCalledOnce();
});

test("a row names its agent where there are several", () => {
  const codex = row({ sessionId: "a", agent: "codex" });
  expect(showRow(codex).button.textContent).not.toContain("Codex");
  cleanup();
  expect(showRow(codex, true).button.textContent).toContain("Codex");
});

test("refused calls stand after the activity, amber where the session is stuck", () => {
  const [stuck, goesOn] = refusedRows();
  for (const [session, words, amber] of [[stuck!, "4 refused, last: git push origin main", true], [goesOn!, "2 refused, last: git branch -D", false]] as const) {
    const { button } = showRow(session);
    expect(button.textContent!.replace(/\s+/g, " ")).toContain(words);
    expect(button.querySelector(".refused")!.classList.contains("stuck")).toBe(amber);
    cleanup();
  }
});

test("a call that the reviewer refused says so with its reason, also while it is closed", () => {
  const item = refusedTimeline("a").at(1) as Extract<TimelineItem, { kind: "tool" }>;
  const { container } = render(ToolEntry, { item, open: false, ontoggle: () => {} });
  const text = container.textContent!.replace(/\s+/g, " ");
  expect(text).toContain("refused by its reviewer");
  expect(text).toContain("Pushes to the default branch");
  cleanup();
  const { refusal: _, ...others } = item;
  expect(render(ToolEntry, { item: others, open: false, ontoggle: () => {} }).container.textContent).toContain("denied");
});

test("a session without any details still has a row", () => {
  const { button } = showRow(row({ sessionId: "abcdef123456", stateSince: "?" }));
  expect(button.textContent).toContain("Session abcdef12");
});

test("the age of a session that has waited for five minutes is coloured; that of a working one is not", () => {
  const asks = (seconds: number) => row({ sessionId: "a", state: "waiting_for_approval", stateSince: iso(ENGINE_START - seconds * 1000) });
  const isLong = (session = asks(0)): boolean => {
    const { button } = showRow(session);
    const long = button.querySelector(".age")!.classList.contains("long");
    cleanup();
    return long;
  };
  expect([isLong(asks(299)), isLong(asks(300))]).toEqual([false, true]);
  expect(isLong(row({ sessionId: "a", state: "working", stateSince: iso(ENGINE_START - 900_000) }))).toBe(false);
});

test("a click opens", async () => {
  const { button, onopen } = showRow();
  await fireEvent.click(button);
  expect(onopen).toHaveBeenCalledOnce();
});

const entry = { open: false, headsRun: false, runOpen: true, ontoggle: () => undefined, ontogglerun: () => undefined };

test("a tool call is one line until it is opened, then an edit is a diff", async () => {
  const item = { index: 0, key: "0", sessionId: "s", kind: "tool", id: "t", tool: "Edit", target: "a.txt", outcome: "ok", durationMs: 100, input: '{"file_path":"a.txt","old_string":"x","new_string":"y"}' } as const;
  const { rerender, container } = render(Entry, { ...entry, item });
  expect(screen.getByRole("button").textContent!.replace(/\s+/g, " ")).toContain("Edit a.txt +1 −1 0.1 s");
  expect(container.querySelector("pre")).toBeNull();
  await rerender({ open: true });
  expect([...container.querySelectorAll("pre span")].map((line) => `${line.className.split(" ")[0]} ${line.textContent}`)).toEqual(["removed −x\n", "added +y\n"]);
});

test("boundaries and links are shown in words", () => {
  const boundary = { index: 0, key: "0", sessionId: "s", kind: "boundary", trigger: "auto", preTokens: 158_000, postTokens: 9_000 } as const;
  render(Entry, { ...entry, item: boundary });
  expect(screen.getByRole("separator").textContent).toContain("compacted automatically · 158k → 9k tokens");
  cleanup();
  render(Entry, { ...entry, item: { index: 1, key: "1", sessionId: "s", kind: "continued", to: "abcdef123456", reason: "clear" } });
  expect(screen.getByRole("separator").textContent).toContain("continued in abcdef12 after /clear");
});

test("Markdown becomes elements, HTML stays text, and nothing is fetched or followed", () => {
  const { container } = render(Markdown, {
    text: '# Head\n\n**bold** `code` &amp; [web](https://example.com) [js](javascript:alert(1)) ![pic](https://example.com/p.png)\n\n<img src=x onerror=alert(1)>\n\n- [x] done\n- two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n',
  });
  expect(container.querySelector("strong")?.textContent).toBe("bold");
  expect(container.querySelector("code")?.textContent).toBe("code");
  expect(container.querySelectorAll("td")).toHaveLength(2);
  expect(container.querySelectorAll("li")).toHaveLength(2);
  expect(container.querySelectorAll("img, script, a, iframe")).toHaveLength(0);
  expect(container.textContent).toContain("bold code & web");
  expect(container.textContent).toContain("<img src=x onerror=alert(1)>");
  expect(container.textContent).toContain("[js](javascript:alert(1))");
  expect(container.textContent).toContain("[image: pic]");
});

test.each([">".repeat(5000), "[".repeat(5000), "- ".repeat(2000) + "x", "*".repeat(10_000), "x".repeat(300_000)])("hostile Markdown is still shown (%#)", (text) => {
  const { container } = render(Markdown, { text });
  expect(container.querySelector(".markdown")!.childElementCount).toBeGreaterThan(0);
});

test("the menu mutes for an hour, then shows the end and unmutes", async () => {
  const host = new MockHost({ rows: [] });
  const model = new RosterModel(host);
  await model.connect();
  const none = () => undefined;
  render(Menu, { model, onmute: (until: string | null) => void host.ask("mute", { until: until ?? undefined }), ondoctor: none, onhelp: none, onpalette: none, onsettings: none, oncompact: none, onnew: none });
  const choose = async (name: RegExp) => {
    await fireEvent.click(screen.getByRole("button", { name: "Menu" }));
    await fireEvent.click(screen.getByRole("menuitem", { name }));
  };
  await choose(/Mute alerts for an hour/);
  const left = Date.parse(model.roster.mutedUntil!) - model.clock.at();
  expect(left).toBeGreaterThan(3_590_000);
  expect(left).toBeLessThanOrEqual(3_600_000);
  await choose(/Unmute alerts \(muted until \d\d:\d\d\)/);
  expect(model.roster.mutedUntil).toBeUndefined();
});

test("`stays` is false after the timeline was left, and true while it is shown", async () => {
  for (const wanted of [false, true]) {
    const model = new TimelineModel(new MockHost({ rows: [] }), "s");
    const { unmount } = render(Timeline, { model, opened: new Opened(), head: "s", wanted });
    expect(await model.viewer.stays()).toBe(true);
    const walksOn = model.viewer.stays();
    unmount();
    expect([await walksOn, await model.viewer.stays()]).toEqual([false, false]);
  }
});

test("the card of an error repeats a cause that the line below the title cuts, and no witness", () => {
  const short = row({ sessionId: "e", stateKind: "error", group: "needs_you", error: "API Error: 529" });
  expect(render(AskCard, { session: short, onfocus: () => {} }).container.textContent).not.toContain("529");
  cleanup();
  const error = `API Error: \`529\` overloaded${", and so on".repeat(9)}`;
  const session = { ...short, error, stateReason: { source: "registry", detail: `registry says \`idle\`; ${error}`, confidence: "observed" } };
  const { container } = render(AskCard, { session, onfocus: () => {} });
  const text = container.textContent!.replace(/\s+/g, " ").trim();
  expect(text).toBe(`Failed: API Error: 529 overloaded${", and so on".repeat(9)} Go on in its terminal. Focus terminalf`);
  expect(container.querySelector("code")?.textContent).toBe("529");
});

test("the card of an own session's error offers what can be done here", () => {
  const error = row({ sessionId: "e", stateKind: "error", group: "needs_you", error: "API Error: 529", cwd: "/w" });
  for (const [more, words] of [
    [{ own: "stream" }, "Write the next prompt to go on."],
    [{ own: "stream", queueHeld: "error" }, "Let the queued prompts go on, or write another one."],
    [{ own: "stream", state: "ended", stateKind: "crashed" }, "Resume it to go on."],
    [{ own: "pty" }, "Go on in the tab Terminal."],
    [{}, "Go on in its terminal."],
    [{ attachCommand: "claude attach 43eb2880" }, "Go on after you attach to it."],
  ] as const) {
    const { container, unmount } = render(AskCard, { session: { ...error, ...more }, onfocus: () => {} });
    expect(container.querySelector(".hint")?.textContent).toBe(words);
    const way = "own" in more ? undefined : "attachCommand" in more ? "Copy attach commandf" : "Focus terminalf";
    expect(container.querySelector(".primary")?.textContent).toBe(way);
    unmount();
  }
});

test("a turn is said to work where nothing shows it, and not while the agent asks", async () => {
  const props = { items: [], working: true, asks: false, opened: new Opened() };
  const { rerender } = render(LiveTail, props);
  expect(screen.queryByText("Working…")).not.toBeNull();
  await rerender({ ...props, asks: true });
  expect(screen.queryByText("Working…")).toBeNull();
});

// @vitest-environment jsdom

// The card of a request, without a browser's layout.

import { cleanup, fireEvent, render, screen } from "@testing-library/svelte";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Request } from "../../lib/bindings/Request";
import { EngineClock } from "../../lib/clock.svelte";
import { MockHost } from "../../lib/host/mock/mock";
import { askingRows, goesOn, publishRequest, request } from "../../lib/host/mock/requests";
import { ENGINE_START, iso, row } from "../../lib/host/mock/rows";
import RequestDock from "./RequestDock.svelte";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

async function show(asked: Request, agent = "claude") {
  const session = row({ sessionId: "s", title: "Publish", state: "waiting_for_approval", request: asked, agent });
  const host = new MockHost({ rows: [session] });
  const clock = new EngineClock();
  clock.sync(iso(ENGINE_START));
  const onfocus = vi.fn();
  const props = { session, vanished: false, host, clock, inSight: true, onfocus };
  const { container, rerender, component } = render(RequestDock, props);
  await vi.advanceTimersByTimeAsync(400);
  const told = (node: Element) => node.textContent!.replace(/\s+/g, " ").trim();
  const text = () => told(container);
  /** The buttons as screen readers say them, so without their keys. */
  const buttons = () =>
    screen.queryAllByRole("button").map((button) => {
      const copy = button.cloneNode(true) as Element;
      copy.querySelector("kbd")?.remove();
      return told(copy);
    });
  return { host, container, component, text, buttons, onfocus, take: (row = session) => rerender({ ...props, session: row }), session };
}

const asked = (id: string): Request => askingRows().find((session) => session.sessionId === id)!.request!;

test("a card shows who asks for what, the whole text, the rules with their place, and the queue", async () => {
  const { text, buttons } = await show(publishRequest({ more: 1, subagent: "reviewer" }));
  for (const part of [
    "Subagent reviewer wants to run",
    "Publish to the registry under the tag latest",
    "38 s · Bash · mode: default",
    "npm publish --tag latest --access public",
    "A always allows: Bash(npm publish *) in /home/dev/api-server/.claude/settings.local.json",
    "1 of 2 asked",
  ]) {
    expect(text()).toContain(part);
  }
  expect(buttons()).toEqual(["Allow", "Always allow Bash(npm publish *)", "Deny…", "Deny and stop"]);
});

test("a hook of Codex only allows or denies", async () => {
  const { buttons } = await show(publishRequest({ always: undefined }), "codex");
  expect(buttons()).toEqual(["Allow", "Deny…"]);
});

test("without a suggested rule there is no Always", async () => {
  const { buttons } = await show(publishRequest({ always: undefined }));
  expect(buttons()).toEqual(["Allow", "Deny…", "Deny and stop"]);
});

test("several rules are all named, and none is in the button", async () => {
  const rules = [{ rule: "Bash(a)", where: "this session" }, { rule: "Bash(b)", where: "/p" }];
  const { buttons, container } = await show(publishRequest({ always: rules }));
  expect(container.querySelectorAll(".rules li")).toHaveLength(2);
  expect(buttons()[1]).toBe("Always allow");
});

test("a long description scrolls with the text", async () => {
  const description = "word ".repeat(200);
  const { container } = await show(publishRequest({ input: { command: "x", description } }));
  expect(container.querySelector(".head")!.textContent).not.toContain("word");
  expect(container.querySelector("[role=region]")!.textContent).toContain(description);
});

test("an edit is a diff with its path", async () => {
  const { container, text } = await show(asked("asks-edit"));
  expect(text()).toContain("/home/dev/api-server/src/publish/registry.ts +4 −1");
  expect(container.querySelectorAll("pre .added")).toHaveLength(4);
});

test("a plan is Markdown, and its buttons name the mode before and after", async () => {
  const { container, buttons } = await show(asked("asks-plan"));
  expect(container.querySelectorAll(".markdown li")).toHaveLength(4);
  expect(buttons()).toEqual(["Show it as plain text", "Approve, ask before edits plan → default", "Approve, accept edits plan → acceptEdits", "Reject with feedback…"]);
});

test("a plan can be read as plain text, with everything that Markdown hides", async () => {
  const { text } = await show(request({ id: "p", kind: "plan", tool: "ExitPlanMode", input: { plan: "x" }, shown: "[docs](https://example.com)", summary: "" }));
  expect(text()).not.toContain("https://example.com");
  await fireEvent.click(screen.getByRole("button", { name: "Show it as plain text" }));
  expect(text()).toContain("[docs](https://example.com)");
});

test("Escape on a button of the reason's line closes the line alone", async () => {
  const { component, buttons } = await show(publishRequest());
  component.press("deny");
  await vi.advanceTimersByTimeAsync(0);
  expect(await fireEvent.keyDown(screen.getByRole("button", { name: "Back" }), { key: "Escape" })).toBe(false);
  expect(buttons()).toContain("Deny…");
});

test("a question has options and no Allow; hidden characters are drawn", async () => {
  const question = { question: "Which\u202e?", header: "H\u200b", several: false, options: [{ label: "a\u2066", description: "b\u00ad" }] };
  const { text, buttons, component, host } = await show(request({ id: "q", kind: "question", tool: "AskUserQuestion", shown: "", summary: "", questions: [question] }));
  for (const part of ["Which⟨U+202E⟩?", "H⟨U+200B⟩", "a⟨U+2066⟩", "b⟨U+00AD⟩"]) expect(text()).toContain(part);
  expect(buttons()).toEqual(["Answer", "Decline to answer…"]);
  component.press("allow");
  component.press("always");
  await vi.runAllTimersAsync();
  expect(host.answers).toEqual([]);
  component.press(1);
  await vi.advanceTimersByTimeAsync(0);
  expect(buttons()[0]).toBe("Answer: a⟨U+2066⟩");
  component.press("send");
  await vi.advanceTimersByTimeAsync(0);
  expect(host.answers.map((call) => call.decision)).toEqual([{ do: "choose", answers: [{ options: [0] }] }]);
});

test("Allow is sent once and gives way to what was sent", async () => {
  const { host, text, buttons } = await show(publishRequest());
  await fireEvent.click(screen.getByRole("button", { name: /^Allow/ }));
  expect(buttons()).toEqual([]);
  expect(text()).toMatch(/Allowed, \d\d:\d\d:\d\d/);
  expect(host.answers).toEqual([{ session: "s", requestId: "ask-publish", seen: publishRequest().digest, decision: { do: "allow" } }]);
});

test("a reason is sent with Enter, and Escape takes it back", async () => {
  const { host, component } = await show(publishRequest());
  component.press("deny");
  await vi.advanceTimersByTimeAsync(0);
  const field = () => screen.getByRole("textbox");
  expect(document.activeElement).toBe(field());
  component.press("allow");
  await fireEvent.keyDown(field(), { key: "Escape" });
  expect(screen.queryByRole("textbox")).toBeNull();
  component.press("deny");
  await vi.advanceTimersByTimeAsync(0);
  await fireEvent.input(field(), { target: { value: " use npm pack " } });
  await fireEvent.keyDown(field(), { key: "Enter" });
  expect(host.answers.map((call) => call.decision)).toEqual([{ do: "deny", reason: "use npm pack" }]);
});

test.each([
  ["asks-failed", "No effect after 5 seconds"],
  ["asks-unknown", "This version of Watchbill does not know this kind of request."],
])("%s leads to its terminal", async (id, words) => {
  const { text, buttons, onfocus } = await show(asked(id));
  expect(text()).toContain(words);
  expect(buttons()).toEqual(["Focus terminal"]);
  await fireEvent.click(screen.getByRole("button"));
  expect(onfocus).toHaveBeenCalledOnce();
});

test("an answer in the terminal is said for a moment", async () => {
  const { text, take, session } = await show(publishRequest());
  await take(goesOn(session));
  expect(text()).toBe("Answered in its terminal");
  await vi.advanceTimersByTimeAsync(2000);
  expect(text()).toBe("");
});

test("a session that only waits keeps its short card", async () => {
  const { text, take, session } = await show(publishRequest());
  await take({ ...session, request: undefined });
  expect(text()).toContain("Answer in its terminal.");
});

test("a request that was asked again says how often, and names files that were changed since", async () => {
  const { text, take, session } = await show(publishRequest({ id: "one" }));
  expect(text()).not.toContain("Asked again");
  expect(text()).not.toContain("Changed after");
  await take({ ...session, request: publishRequest({ id: "two", digest: "two", times: 2, changedFiles: ["/srv/api/a\u202e.sh"], notCompared: ["$X", "/srv/b\u202e.sh"], refused: "an agent started it" }) });
  expect(text()).toContain("These files were not compared: $X, /srv/b");
  expect(text()).toContain("Asked again: the 2nd time with the same text.");
  expect(text()).toContain("Changed after the session asked: /srv/api/a");
  expect(text()).toContain("A program tried to answer this and was refused: an agent started it");
  expect(text()).not.toContain("\u202e");
});

test("an answer names the card that was ready, also if another comes between paint and press", async () => {
  const { host, take, session, container } = await show(publishRequest({ id: "r0", digest: "d0", shown: "echo 0" }));
  const answer = vi.spyOn(host.replies, "answer").mockImplementation(async ({ requestId }) => ({ requestId, decision: "allowed once", delivered: true, at: "" }));
  let number = 0;
  let sent = 0;
  for (let round = 0; round < 12; round++) {
    const of = round % 3;
    // The same session asks something else, another session is opened, or only the number of waiting requests changes.
    if (of !== 2) number += 1;
    const next = publishRequest({ id: `r${number}`, digest: `d${number}`, shown: `echo ${number}`, more: round % 2 });
    await take({ ...session, sessionId: of === 1 ? `s${round}` : "s", request: next });
    await fireEvent.click(container.querySelector(".answers .primary")!);
    expect(answer, `round ${round}: a card that has just come`).toHaveBeenCalledTimes(sent);
    await vi.advanceTimersByTimeAsync(400);
    // Not every card is answered: the next one takes its place.
    if (round % 5 === 0) continue;
    await fireEvent.click(container.querySelector(".answers .primary")!);
    sent += 1;
    expect(answer.mock.lastCall?.[0]).toMatchObject({ session: of === 1 ? `s${round}` : "s", requestId: `r${number}`, seen: `d${number}` });
    await take({ ...session, sessionId: "elsewhere", request: undefined });
  }
  expect(sent).toBeGreaterThan(5);
});

test("keys of an input method send nothing and close nothing", async () => {
  const { host, component } = await show(publishRequest());
  component.press("deny");
  await vi.advanceTimersByTimeAsync(0);
  const field = screen.getByRole("textbox");
  // Chromium marks each such key; WebKit gives the Enter that ends a composition the code 229 alone.
  for (const press of [{ key: "Enter", isComposing: true }, { key: "Enter", keyCode: 229 }, { key: "Escape", isComposing: true }]) await fireEvent.keyDown(field, press);
  expect(host.answers).toEqual([]);
  expect(document.activeElement).toBe(field);
  await fireEvent.keyDown(field, { key: "Enter" });
  expect(host.answers).toHaveLength(1);
});

test("where only watching is possible, the card's first button focuses the terminal", async () => {
  const { take, session, buttons, onfocus } = await show(publishRequest());
  await take({ ...session, group: "needs_you", request: undefined });
  expect(buttons()).toEqual(["Focus terminal"]);
  await fireEvent.click(screen.getByRole("button"));
  expect(onfocus).toHaveBeenCalledOnce();
});

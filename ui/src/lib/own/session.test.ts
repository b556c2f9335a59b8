// @vitest-environment jsdom

import { beforeEach, expect, test } from "vitest";

import type { OwnEvent } from "../bindings/OwnEvent";
import type { OwnNews } from "../bindings/OwnNews";
import type { OwnSpec } from "../bindings/OwnSpec";
import type { OwnSwitchCall } from "../bindings/OwnSwitchCall";
import type { Host } from "../host/host";
import { MockOwn, ownRows } from "../host/mock/own";
import { OwnFold } from "./fold";
import { OwnPane } from "./pane.svelte";
import { OwnSession } from "./session.svelte";
import { NewSession } from "./start.svelte";

beforeEach(() => localStorage.clear());

function mock() {
  let rows = ownRows();
  const own = new MockOwn(rows, (id) => rows.find(({ sessionId }) => sessionId === id), (row) => (rows = [...rows.filter(({ sessionId }) => sessionId !== row.sessionId), row]));
  return { own, row: (id: string) => rows.find(({ sessionId }) => sessionId === id)! };
}

const soon = (): Promise<void> => new Promise((done) => setTimeout(done, 0));
const attached = async (own: MockOwn, id: string, keepsAll = false): Promise<OwnSession> => {
  const session = new OwnSession(own, id, keepsAll, (done) => done());
  await session.connect();
  return session;
};

test("an attached session shows what its log says, and follows", async () => {
  const { own } = mock();
  const session = await attached(own, "own-works");
  expect([session.contact, session.caughtUp, session.facts.working, session.facts.queue.length]).toEqual(["live", true, true, 2]);
  const before = session.items.length;
  own.sessions.get("own-works")!.say("m9.0", "More");
  expect(session.items.length).toBe(before + 1);
  session.close();
  own.sessions.get("own-works")!.say("m9.1", "Unheard");
  expect(session.items.length).toBe(before + 1);
});

test("attaching again shows nothing twice", async () => {
  const { own } = mock();
  const session = await attached(own, "own-codex", true);
  const before = session.items.map(({ item }) => item.key);
  await session.connect();
  expect(session.items.map(({ item }) => item.key)).toEqual(before);
});

test("a prompt is taken back only if the host says so", async () => {
  const { own } = mock();
  const session = await attached(own, "own-works");
  const [first, second] = session.facts.queue;
  expect(await session.takeBack(first!.id)).toBe(true);
  const late = session.takeBack(second!.id);
  own.sessions.get("own-works")!.endTurn();
  expect([await late, session.facts.queue.length], "it went to the agent first").toEqual([false, 0]);
  own.refuses = "The connection was lost.";
  await expect(session.takeBack("x")).rejects.toMatchObject({ message: "The connection was lost." });
});

test("a session without a host says so, and is not started by looking at it", async () => {
  const { own } = mock();
  const session = await attached(own, "own-ended");
  expect([session.contact, session.facts.ended?.words]).toEqual(["over", "You ended it"]);
  const unknown = await attached(own, "nowhere");
  expect([unknown.contact, unknown.failure]).toEqual(["lost", "The session has no host any more."]);
  expect(own.started).toEqual([]);
});

test("an end that comes while the window follows stays, also when the rest of the log is read from the file", async () => {
  let tell: (news: OwnNews) => void = () => {};
  const own = new MockOwn([], () => undefined, () => {});
  own.attach = (_id: string, _from: number, heard: (news: OwnNews) => void) => ((tell = heard), () => {});
  const session = new OwnSession(own, "own", false, (done) => done());
  await session.connect();
  const spec = { session: "own", agent: "claude", kind: "stream", cwd: "/work" } as OwnSpec;
  tell({ own: "begin", spec, pid: 7 });
  tell({ own: "host", message: { host: "caught_up" } });
  tell({ own: "host", message: { host: "events", events: [{ n: 1, at: "2026-11-20T15:30:52.000Z", event: "session_ended", asked: true }] } });
  tell({ own: "host", message: { host: "caught_up" } });
  tell({ own: "over" });
  expect([session.contact, session.facts.ended?.words]).toEqual(["over", "You ended it"]);
});

test("the pane attaches when its row becomes an own session, and again when an ended one goes on", async () => {
  const { own, row } = mock();
  const foreign = { ...row("own-ended"), own: undefined, ownId: undefined };
  const pane = new OwnPane(own, foreign);
  expect(pane.session).toBeUndefined();
  pane.follow(row("own-ended"));
  await soon();
  expect(pane.session?.contact).toBe("over");
  await own.ask("own_resume", { call: { id: "new", sessionId: "own-ended", agent: "claude", kind: "stream", fork: false, anyBranch: false } });
  pane.follow(row("own-ended"));
  await soon();
  expect([pane.session?.contact, pane.session?.facts.ended], "its host says nothing before the next prompt").toEqual(["live", undefined]);
  pane.follow({ ...row("own-ended"), state: "ended" });
  pane.follow(row("own-ended"));
  expect(pane.session?.contact, "a row that flickers keeps the box open").toBe("live");
  pane.follow(row("own-pty"));
  expect(pane.session, "a terminal attaches by itself").toBeUndefined();
});

test("two starts are one session with one prompt, and a failure repeats only what failed", async () => {
  const { own } = mock();
  const model = new NewSession(own, undefined);
  await model.look();
  expect(model.cwd).toBe("/home/dev/api-server");
  model.text = "Go";
  own.refuses = "The disk is full.";
  expect([await model.start(), model.failure]).toEqual([false, "The disk is full."]);
  own.refuses = undefined;
  expect(await Promise.all([model.start(), model.start()])).toEqual([true, false]);
  expect(await model.start()).toBe(true);
  expect(own.started).toMatchObject([{ session: model.id, agent: "claude", kind: "stream" }]);
  expect(own.sessions.get(model.id)!.log.filter((event) => event.event === "prompt" && event.place === "queued")).toHaveLength(1);
});

test("a start needs a whole path and a program, and a shell has a terminal and no prompt", async () => {
  const { own } = mock();
  const model = new NewSession(own, "work");
  await model.look();
  expect([await model.start(), model.failure]).toEqual([false, "Name the folder with its whole path."]);
  model.cwd = "/work";
  model.agent = "gemini";
  expect([await model.start(), model.failure]).toEqual([false, "No program of an agent was found in PATH."]);
  model.agent = "shell";
  model.text = "ignored";
  model.mode = "plan";
  expect(await model.start()).toBe(true);
  expect(own.started).toEqual([{ session: model.id, agent: "shell", kind: "pty", cwd: "/work", createdAt: expect.any(String) }]);
});

test("a draft of the first prompt makes a session with prompts, whatever was chosen last", () => {
  const { own } = mock();
  localStorage.setItem("watchbill.new", JSON.stringify({ agent: "shell", kind: "pty" }));
  const model = new NewSession(own, "/work", "# Hand-over");
  expect([model.text, model.actualKind, model.agent, own.started]).toEqual(["# Hand-over", "stream", "claude", []]);
  localStorage.removeItem("watchbill.new");
});

test("another agent goes on with what was said, once its first prompt is written", async () => {
  const { own, row } = mock();
  const from = row("own-ended");
  const model = new NewSession(own, from.cwd, "", from);
  await model.look();
  expect([model.agent, model.actualKind, model.switch?.context.includes("It retries five times.")]).toEqual(["codex", "stream", true]);
  expect([await model.start(), model.failure]).toEqual([false, "Write what the agent is to do."]);
  model.text = "Go on.";
  expect(await model.start()).toBe(true);
  expect(own.started).toMatchObject([{ session: model.id, agent: "codex", kind: "stream", cwd: from.cwd, switched: { session: "own-ended", fork: false } }]);
  const sent = own.sessions.get(model.id)!.log.find((event) => event.event === "prompt");
  expect(sent).toMatchObject({ text: `${model.switch?.context}\n\nGo on.` });
  expect(localStorage.getItem("watchbill.new")).toBeNull();
  const fold = new OwnFold("s", true);
  fold.apply({ ...sent!, place: "sent" } as OwnEvent);
  expect(fold.items.map(({ item }) => "text" in item && item.text)).toEqual(["Go on."]);
});

test("what was not shown is not sent, and another branch is refused once", async () => {
  const { own, row } = mock();
  const from = row("own-ended");
  const branches: boolean[] = [];
  const ask = ((name: string, call: { call: OwnSwitchCall }) => {
    if (name !== "own_switch") return own.ask(name as never, call as never);
    branches.push(call.call.anyBranch);
    if (branches.length === 1) return Promise.reject({ code: "other_branch", message: "the branch is main by now" });
    return own.ask("own_switch", call);
  }) as Host["ask"];
  const model = new NewSession({ ask, subscribe: own.subscribe }, from.cwd, "Go on.", from);
  await model.look();
  expect([model.failure, model.switch]).toEqual(["the branch is main by now", undefined]);
  expect([await model.start(), model.failure, own.started]).toEqual([false, "", []]);
  expect([await model.start(), branches]).toEqual([true, [false, true]]);
});

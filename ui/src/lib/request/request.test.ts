// @vitest-environment jsdom

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import type { Request } from "../bindings/Request";
import type { TrackedSession } from "../bindings/TrackedSession";
import type { Host } from "../host/host";
import { askWith, type Replies } from "../host/mock/replies";
import { goesOn, publishRequest } from "../host/mock/requests";
import { ENGINE_START, row } from "../host/mock/rows";
import { DELIVERY, IN_SIGHT, RequestModel } from "./request.svelte";
import { NOT_DELIVERED } from "./words";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function asking(sketch: Partial<Request> = {}): TrackedSession {
  return row({ sessionId: "s", title: "Publish", state: "waiting_for_approval", request: publishRequest(sketch) });
}

function shown(session = asking()) {
  const answer = vi.fn<Replies["answer"]>(async ({ requestId }) => ({ requestId, decision: "allowed once", delivered: true, at: "" }));
  const said: string[] = [];
  const model = new RequestModel({ ask: askWith({ answer }) } as Host, () => ENGINE_START, (words) => said.push(words));
  model.take(session);
  model.setInSight(true);
  model.whole = true;
  return { model, answer, said };
}

const settle = () => vi.advanceTimersByTimeAsync(IN_SIGHT);

test("an answer counts only after the card was in sight for 400 ms, and names what was seen", async () => {
  const { model, answer, said } = shown();
  await vi.advanceTimersByTimeAsync(IN_SIGHT - 1);
  expect(model.refuses("allow")).toBe("soon");
  void model.send({ do: "allow" });
  expect(answer).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await model.send({ do: "allow" });
  expect(answer).toHaveBeenCalledExactlyOnceWith({ session: "s", requestId: "ask-publish", seen: model.card!.request.digest, decision: { do: "allow" } });
  expect(model.sent).toMatch(/^Allowed, \d\d:\d\d:\d\d$/);
  expect(said).toEqual(["Publish wants to run npm publish --tag latest --access public, a allows, d denies.", "Allowed."]);
});

test("a hidden window, another id and another digest each start the 400 ms again", async () => {
  const { model } = shown();
  for (const change of [
    () => (model.setInSight(false), model.setInSight(true)),
    () => model.take(asking({ id: "other" })),
    () => model.take(asking({ id: "other", digest: "changed" })),
  ]) {
    await settle();
    expect(model.ready).toBe(true);
    change();
    expect(model.ready).toBe(false);
  }
  model.setInSight(false);
  await settle();
  expect(model.ready, "out of sight").toBe(false);
});

test("progress of the same request keeps the card ready", async () => {
  const { model } = shown();
  await settle();
  model.take(asking({ more: 1 }));
  expect([model.ready, model.whole]).toEqual([true, true]);
});

test("Allow waits until the whole text was in sight; Deny does not", async () => {
  const { model, answer } = shown();
  model.whole = false;
  await settle();
  expect([model.refuses("allow"), model.refuses("allow_always"), model.refuses("deny")]).toEqual(["scroll", "scroll", undefined]);
  await model.send({ do: "allow" });
  expect(answer).not.toHaveBeenCalled();
  await model.send({ do: "deny", reason: "no" });
  expect(answer).toHaveBeenCalledOnce();
  model.take(asking({ id: "other" }));
  expect(model.whole, "another request is not read yet").toBe(false);
});

test("a decision that does not fit the request is never sent", async () => {
  const { model } = shown(asking({ always: [] }));
  await settle();
  expect([model.refuses("allow_always"), model.refuses("choose")]).toEqual(["none", "none"]);
  model.take(asking({ id: "q", kind: "question", questions: [{ question: "Which?", options: [], several: false }] }));
  model.whole = true;
  await settle();
  expect([model.refuses("allow"), model.refuses("allow_always"), model.refuses("choose")]).toEqual(["none", "none", undefined]);
  for (const sketch of [{ kind: "unknown" }, { answerable: "no" }, { kind: "question", questions: [] }, { kind: "new" }, { progress: "sending" }, { progress: "failed" }]) {
    model.take(asking({ id: JSON.stringify(sketch), ...sketch }));
    model.whole = true;
    await settle();
    expect(model.refuses("allow"), JSON.stringify(sketch)).toBe("gone");
  }
});

test("only one answer is sent, and a refusal brings the buttons back", async () => {
  const { model, answer, said } = shown();
  await settle();
  let refuse: (error: unknown) => void = () => undefined;
  answer.mockImplementationOnce(() => new Promise((_, reject) => (refuse = reject)));
  const sent = model.send({ do: "allow" });
  void model.send({ do: "deny", reason: "" });
  expect(answer).toHaveBeenCalledOnce();
  refuse({ code: "conflict", message: "the request is not the one that was shown; look at it again" });
  await sent;
  expect(model.refusal).toBe("Not sent: the request is not the one that was shown; look at it again. Try again, or answer in its terminal.");
  expect([model.sent, said.at(-1)]).toEqual(["", model.refusal]);
  await model.send({ do: "allow" });
  expect([answer.mock.calls.length, model.refusal]).toEqual([2, ""]);
});

test("an answer that is not delivered within 5 seconds is told, until its outcome comes", async () => {
  const { model, answer, said } = shown();
  await settle();
  let done: () => void = () => undefined;
  answer.mockImplementationOnce(() => new Promise((resolve) => (done = () => resolve({ requestId: "", decision: "", delivered: true, at: "" }))));
  const sent = model.send({ do: "allow" });
  await vi.advanceTimersByTimeAsync(DELIVERY - 1);
  expect(model.refusal).toBe("");
  await vi.advanceTimersByTimeAsync(1);
  expect([model.refusal, said.at(-1)]).toEqual([NOT_DELIVERED, NOT_DELIVERED]);
  expect(model.refuses("deny"), "its outcome is still to come").toBe("gone");
  done();
  await sent;
  expect([model.refusal, said.at(-1)]).toEqual(["", "Allowed."]);
  model.take(asking({ id: "second" }));
  await settle();
  await model.send({ do: "deny", reason: "" });
  await vi.advanceTimersByTimeAsync(DELIVERY);
  expect(model.refusal, "it was delivered").toBe("");
});

test("a refusal after the card has gone is still shown", async () => {
  const { model, answer } = shown();
  await settle();
  answer.mockRejectedValueOnce({ code: "conflict", message: "it was answered already" });
  const sent = model.send({ do: "allow" });
  model.take(goesOn(asking()));
  await sent;
  expect(model.card).toBeUndefined();
  expect(model.note).toMatch(/^Not sent: it was answered already\./);
});

test("an answer in the terminal is told for two seconds", async () => {
  const { model, said } = shown();
  model.take(goesOn(asking()));
  expect([model.card, model.note, said.at(-1)]).toEqual([undefined, "Answered in its terminal", "Answered in its terminal."]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(model.note).toBe("");
});

test("nothing is told after an answer from here, nor while the session still waits in its terminal", async () => {
  const { model } = shown();
  await settle();
  await model.send({ do: "allow" });
  model.take(goesOn(asking()));
  expect([model.card, model.note]).toEqual([undefined, ""]);
  model.take(asking({ id: "second" }));
  model.take({ ...asking(), request: undefined });
  expect([model.card, model.note]).toEqual([undefined, ""]);
});

test("an answer without effect is told once; a later answer in the terminal ends it", async () => {
  const { model, said } = shown();
  await settle();
  await model.send({ do: "allow" });
  model.take(asking({ progress: "failed" }));
  model.take(asking({ progress: "failed", more: 1 }));
  expect(said.filter((words) => words.startsWith("No effect"))).toHaveLength(1);
  model.take(goesOn(asking()));
  expect(model.note).toBe("Answered in its terminal");
});

test("while the user types, the card stays, and counts no more", async () => {
  const { model, answer } = shown();
  await settle();
  model.setTyping(true);
  model.take(asking({ id: "second" }));
  expect([model.over, model.card?.request.id]).toEqual([true, "ask-publish"]);
  await model.send({ do: "deny", reason: "typed for the first" });
  expect(answer).not.toHaveBeenCalled();
  model.setTyping(false);
  expect([model.over, model.card?.request.id, model.ready]).toEqual([false, "second", false]);
});

test("a thousand changes of request and session between paint and press: no answer to another card", async () => {
  const { model, answer } = shown();
  let number = 0;
  let right = 0;
  for (let round = 0; round < 1000; round++) {
    number += round % 3 === 2 ? 0 : 1;
    const session = round % 7 === 0 ? `s${round}` : "s";
    model.take({ ...asking({ id: `r${number}`, digest: `d${number}`, more: round % 2 }), sessionId: session });
    model.whole = true;
    const before = answer.mock.calls.length;
    if (!model.ready) {
      // The press that was meant for the card before.
      void model.send({ do: "allow" });
      expect(answer, `round ${round}`).toHaveBeenCalledTimes(before);
    }
    await vi.advanceTimersByTimeAsync(round % 4 === 0 ? IN_SIGHT - 1 : IN_SIGHT);
    if (round % 5 !== 1) await model.send({ do: "allow" });
    if (answer.mock.calls.length === before) continue;
    right += 1;
    expect(answer.mock.lastCall?.[0]).toMatchObject({ session, requestId: `r${number}`, seen: `d${number}` });
  }
  expect(answer).toHaveBeenCalledTimes(right);
  expect(right).toBeGreaterThan(400);
  const answered = answer.mock.calls.map(([call]) => `${call.session} ${call.requestId}`);
  expect(new Set(answered).size, "each card once").toBe(right);
});

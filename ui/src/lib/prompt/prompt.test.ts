// @vitest-environment jsdom

import { beforeEach, expect, test } from "vitest";

import { completions } from "./complete";
import { keepDraft, NO_DRAFT, readDraft } from "./draft";
import { LARGEST_PICTURE, whyNotPicture } from "./pictures";
import { PromptModel, type Receive } from "./prompt.svelte";

beforeEach(() => localStorage.clear());

type Call = { readonly id: string; readonly text: string; readonly when: string };

/** Answers each prompt when the test says so. */
function receiver() {
  const calls: Call[] = [];
  const answers: { accept: () => void; refuse: (why: string) => void }[] = [];
  const receive: Receive = (id, { text }, when) => {
    calls.push({ id, text, when });
    return new Promise((accept, refuse) => answers.push({ accept, refuse: (why) => refuse({ message: why }) }));
  };
  return { calls, answers, receive };
}

test("the draft stays until the receiver has accepted it, also over a restart", async () => {
  const { calls, answers, receive } = receiver();
  const model = new PromptModel("chain", receive);
  model.edit("Go on");
  const sent = model.send("queue");
  expect(new PromptModel("chain", receive).text, "a window that opens meanwhile").toBe("Go on");
  answers[0]!.accept();
  expect([await sent, model.text, readDraft("chain")]).toEqual([true, "", NO_DRAFT]);
  expect(calls).toMatchObject([{ text: "Go on", when: "queue" }]);
});

test("a prompt that was refused stays with the reason, and is sent again under the same id until it is edited", async () => {
  const { calls, answers, receive } = receiver();
  const model = new PromptModel("chain", receive);
  model.edit("Go on");
  for (let time = 0; time < 2; time += 1) {
    const sent = model.send("queue");
    answers[time]!.refuse("The disk is full.");
    expect([await sent, model.text, model.failure, model.sending]).toEqual([false, "Go on", "The disk is full.", false]);
  }
  model.edit("Go on, please");
  expect(model.failure).toBe("");
  void model.send("queue");
  expect([calls[0]!.id === calls[1]!.id, calls[1]!.id === calls[2]!.id]).toEqual([true, false]);
});

test("a lost acknowledgement does not leave a sent prompt in the box", async () => {
  const { calls, answers, receive } = receiver();
  const model = new PromptModel("chain", receive);
  model.edit("Go on");
  const sent = model.send("queue");
  model.known(calls[0]!.id);
  expect(model.text).toBe("");
  model.edit("Next");
  answers[0]!.refuse("The connection was lost.");
  await sent;
  expect([model.text, model.failure]).toEqual(["Next", ""]);
});

test("one press sends once, and an empty box sends nothing", async () => {
  const { calls, receive } = receiver();
  const model = new PromptModel("chain", receive);
  void model.send("queue");
  model.edit("  \n");
  void model.send("queue");
  model.edit("-x /not a command");
  void model.send("queue");
  void model.send("now");
  expect(calls.map(({ text }) => text)).toEqual(["-x /not a command"]);
});

test("each chain has its own draft, and a box with words keeps them when its chain is another one", () => {
  const { receive } = receiver();
  keepDraft("b", { text: "of b", images: [] });
  const model = new PromptModel("a", receive);
  model.moveTo("b");
  expect(model.text).toBe("of b");
  model.moveTo("c");
  expect([model.text, readDraft("c").text]).toEqual(["of b", "of b"]);
});

test("the last prompt comes back into an empty box only", async () => {
  const { answers, receive } = receiver();
  const model = new PromptModel("chain", receive);
  expect(model.recall()).toBe(false);
  model.edit("One");
  const sent = model.send("queue");
  answers[0]!.accept();
  await sent;
  expect([model.recall(), model.text, model.recall()]).toEqual([true, "One", false]);
});

test("a damaged draft is an empty one, and pictures that do not fit are not kept silently", () => {
  localStorage.setItem("watchbill.draft.x", '{"text":7,"images":[{"media":"image/png"},{"media":"image/png","data":"AA=="}]}');
  expect(readDraft("x")).toEqual({ text: "", images: [{ media: "image/png", data: "AA==" }] });
  localStorage.setItem("watchbill.draft.x", "{");
  expect(readDraft("x")).toEqual(NO_DRAFT);
  expect(keepDraft("x", { text: "with a picture", images: [{ media: "image/png", data: "A".repeat(6_000_000) }] })).toBe(false);
  expect(readDraft("x").text).toBe("with a picture");
});

test("files that are no pictures, too large or too many are refused with the reason", () => {
  const file = (type: string, size: number) => ({ type, size, name: "a" });
  expect(whyNotPicture(file("image/png", LARGEST_PICTURE), 0)).toBeUndefined();
  expect(whyNotPicture(file("image/svg+xml", 10), 0)).toMatch(/not a PNG/);
  expect(whyNotPicture(file("image/png", LARGEST_PICTURE + 1), 0)).toMatch(/may have 5 MB/);
  expect(whyNotPicture(file("image/png", 10), 8)).toMatch(/8 pictures/);
});

test("commands are completed at the beginning only, those that begin so first", () => {
  const commands = ["compact", "cost", "fast-compact", "clear"];
  expect(completions("/co", commands)).toEqual(["compact", "cost", "fast-compact"]);
  expect(completions("/", commands)).toHaveLength(4);
  for (const text of ["co", "say /co", "/compact now", "/etc/x", "/cost"]) expect(completions(text, commands), text).toEqual([]);
});

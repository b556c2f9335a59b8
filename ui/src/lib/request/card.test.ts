// The words of a card, its diff, and the answers to its questions.

import { expect, test } from "vitest";

import type { RequestQuestion } from "../bindings/RequestQuestion";
import { publishRequest, request } from "../host/mock/requests";
import { Choices } from "./choices.svelte";
import { besidePlan, descriptionOf, editOf } from "./edit";
import { cardWords, headingOf, sentWords, whyNot } from "./words";

const edit = (tool: string, input: unknown) => editOf(request({ id: "e", tool, input, shown: "", summary: "" }));

test("an edit is a diff only if the diff shows all of it", () => {
  const one = { old_string: "a\n", new_string: "b\n" };
  expect(edit("Edit", { file_path: "/p\u202e", ...one })).toEqual({
    path: "/p⟨U+202E⟩",
    lines: [
      { kind: "removed", text: "a" },
      { kind: "added", text: "b" },
    ],
    notes: [],
  });
  expect(edit("Edit", { file_path: "/p", ...one, replace_all: true })?.notes).toEqual(["It replaces every place where this text stands."]);
  expect(edit("Edit", { file_path: "/p", old_string: "a\n", new_string: "b" })?.notes).toEqual(["It removes the line feed at the end."]);
  expect(edit("MultiEdit", { file_path: "/p", edits: [one, one] })?.lines).toHaveLength(4);
  expect(edit("Write", { file_path: "/p", content: "x\ny" })?.lines).toHaveLength(2);
});

test.each([
  ["Edit", { file_path: "/p", old_string: "a", new_string: "b", sudo: true }],
  ["Edit", { file_path: "/p", old_string: "a" }],
  ["Edit", { old_string: "a", new_string: "b" }],
  ["Edit", { file_path: "/p", old_string: "a", new_string: "b", replace_all: "yes" }],
  ["MultiEdit", { file_path: "/p", edits: [] }],
  ["MultiEdit", { file_path: "/p", edits: [{ old_string: "a" }] }],
  ["MultiEdit", { file_path: "/p", edits: [], more: 1 }],
  ["Write", { file_path: "/p", content: "x", mode: "0777" }],
  ["Bash", { file_path: "/p", old_string: "a", new_string: "b" }],
  ["Edit", null],
  ["Edit", ["/p"]],
])("another shape is shown as the engine's text (%#)", (tool, input) => {
  expect(edit(tool, input)).toBeUndefined();
});

test("what a plan brings besides its text is shown", () => {
  const plan = (input: unknown) => besidePlan(request({ id: "p", tool: "ExitPlanMode", kind: "plan", input, shown: "", summary: "" }));
  expect(plan({ plan: "x" })).toBe("");
  expect(plan({ plan: "x", allowedPrompts: ["run\u200b tests"] })).toContain("run⟨U+200B⟩ tests");
});

test("headings name what is asked and who asks", () => {
  expect(headingOf(publishRequest())).toBe("Wants to run");
  expect(headingOf(publishRequest({ tool: "Edit", subagent: "rev\u202eiewer" }))).toBe("Subagent rev⟨U+202E⟩iewer wants to edit");
  expect(headingOf(publishRequest({ tool: "mcp__db__drop" }))).toBe("Wants to use mcp__db__drop");
  expect(headingOf(publishRequest({ kind: "plan" }))).toBe("Wants a verdict on its plan");
  expect(descriptionOf(publishRequest({ input: { description: "a\u200bb" } }))).toBe("a⟨U+200B⟩b");
});

test("a card without answers says why", () => {
  expect(whyNot(publishRequest())).toBeUndefined();
  expect(whyNot(publishRequest({ kind: "unknown" }))).toMatch(/does not know/);
  for (const answerable of ["hook", "stream"]) expect(whyNot(publishRequest({ answerable }))).toBeUndefined();
  expect(whyNot(publishRequest({ answerable: "a later way" }))).toBeDefined();
  expect(whyNot(publishRequest({ answerable: "no", why: "It ended." }))).toBe("It ended.");
  expect(whyNot(publishRequest({ kind: "question" })), "no questions").toMatch(/does not know/);
});

test("the announcement says what is asked, and the keys", () => {
  expect(cardWords("Publish", publishRequest({ summary: "Bash: npm publish" }))).toBe("Publish wants to run npm publish, a allows, d denies.");
  expect(cardWords("Publish", publishRequest({ kind: "plan", summary: "wants a verdict on its plan" }))).toBe("Publish wants a verdict on its plan, a approves, d rejects.");
  expect(cardWords("Publish", publishRequest({ kind: "unknown", tool: "X", summary: "X" }))).toBe("Publish wants to use X, answer in its terminal.");
});

test("sent decisions are told in the words of the request", () => {
  expect(sentWords({ do: "allow" }, "permission")).toBe("Allowed");
  expect(sentWords({ do: "allow_always" }, "plan")).toBe("Approved, accepts edits");
  expect(sentWords({ do: "deny", reason: "" }, "plan")).toBe("Rejected");
  expect(sentWords({ do: "choose", answers: [] }, "question")).toBe("Answered");
});

const QUESTIONS: RequestQuestion[] = [
  { question: "One?", several: false, options: [{ label: "a" }, { label: "b" }] },
  { question: "Several?", several: true, options: [{ label: "c" }, { label: "d\u202e" }, { label: "e" }] },
];

test("one option replaces another, several are toggled, and own words replace both", () => {
  const choices = new Choices(QUESTIONS);
  choices.pick(0);
  choices.pick(1);
  choices.pick(5);
  expect(choices.draft.options).toEqual([1]);
  expect(choices.open).toBe(1);
  choices.go(1);
  for (const place of [2, 0, 1, 0]) choices.pick(place);
  expect([choices.draft.options, choices.words]).toEqual([[1, 2], "d⟨U+202E⟩, e"]);
  expect(choices.answers()).toEqual([{ options: [1] }, { options: [1, 2] }]);
  choices.write("neither");
  expect(choices.answers()[1]).toEqual({ text: "neither" });
  choices.write("  ");
  expect(choices.isAnswered()).toBe(false);
  choices.go(9);
  expect(choices.at).toBe(1);
});

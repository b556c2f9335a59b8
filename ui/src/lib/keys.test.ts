import { expect, test } from "vitest";

import { type AnswerKey, type Asks, KEY_HELP, KeyReader, type KeyPress, MODIFIER } from "./keys";

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });

test("single keys", () => {
  const keys = new KeyReader();
  expect(keys.read(press("j"))).toEqual({ do: "move", by: 1 });
  expect(keys.read(press("ArrowUp"))).toEqual({ do: "move", by: -1 });
  expect(keys.read(press("ArrowUp", { shiftKey: true }))).toEqual({ do: "extend", by: -1 });
  expect(keys.read(press("J", { shiftKey: true }))).toEqual({ do: "extend", by: 1 });
  expect([keys.read(press("K")), keys.read(press("k", { shiftKey: true }))], "Caps Lock").toEqual([{ do: "move", by: -1 }, { do: "extend", by: -1 }]);
  expect(keys.read(press("?"))).toEqual({ do: "help" });
  expect(keys.read(press("x"))).toEqual({ do: "refused" });
  expect(keys.read(press("z"))).toBeUndefined();
});

test("g and a second key go to a group", () => {
  const keys = new KeyReader();
  expect(keys.read(press("g"))).toBeUndefined();
  expect(keys.read(press("w"))).toEqual({ do: "group", group: "working" });
  expect(keys.read(press("w")), "the g is used up").toBeUndefined();
});

test("an unknown key after g does nothing", () => {
  const keys = new KeyReader();
  keys.read(press("g"));
  expect(keys.read(press("c"))).toBeUndefined();
  expect(keys.read(press("c"))).toEqual({ do: "copy" });
});

test("only K has a meaning with a modifier, so that the system's own keys stay", () => {
  const keys = new KeyReader();
  expect(keys.read(press("k", { ctrlKey: true }))).toEqual({ do: "palette" });
  expect(keys.read(press("K", { metaKey: true }))).toEqual({ do: "palette" });
  expect(keys.read(press("c", { ctrlKey: true }))).toBeUndefined();
  expect(keys.read(press("j", { altKey: true }))).toBeUndefined();
});

test("answers count only while a card is shown, and each press answers once", () => {
  const keys = new KeyReader();
  const read = (key: string, asks?: Asks, more: Partial<KeyPress> = {}) => keys.read(press(key, more), asks);
  const answer = (key: AnswerKey) => ({ do: "answer", key });
  expect([read("a"), read("d"), read("5"), read(" ")]).toEqual([undefined, undefined, undefined, undefined]);
  expect([read("1"), read("1", "verdict")]).toEqual([{ do: "tab", tab: "timeline" }, { do: "tab", tab: "timeline" }]);
  expect(read("a", "verdict")).toEqual(answer("allow"));
  expect(read("A", "verdict", { shiftKey: true })).toEqual(answer("always"));
  expect(read("A", "verdict"), "Caps Lock alone").toEqual(answer("allow"));
  expect(read("d", "verdict")).toEqual(answer("deny"));
  expect(read("a", "verdict", { repeat: true })).toBeUndefined();
  expect(read("a", "verdict", { ctrlKey: true })).toBeUndefined();
  expect(read("Enter", "verdict")).toEqual({ do: "open" });
  expect([read("a", "choice"), read("5", "verdict")], "a question has no Allow, an approval no options").toEqual([undefined, undefined]);
  expect([read("3", "choice"), read(" ", "choice"), read("Enter", "choice")]).toEqual([answer(3), answer("toggle"), answer("send")]);
  read("g", "verdict");
  expect(read("a", "verdict"), "the second key after g").toBeUndefined();
  expect(read("j", "verdict"), "the other keys stay").toEqual({ do: "move", by: 1 });
});

test("the help names every key with a meaning, and no other", () => {
  const names: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc", " ": "Space" };
  const known = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/?,.-+ ", "Enter", "Escape", "Home", "End", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Tab", "Delete"];
  const means = (...keys: KeyPress[]): boolean => {
    const reader = new KeyReader();
    return keys.map((key) => reader.read(key)).at(-1) !== undefined;
  };
  const named = (key: string): string => names[key] ?? key;
  const answers = (key: string): boolean =>
    (["verdict", "choice"] as const).some((asks) => new KeyReader().read(press(key, { shiftKey: key !== key.toLowerCase() }), asks)?.do === "answer");
  const read = [
    ...known.filter((key) => key !== "D" && (means(press(key)) || answers(key))).map(named),
    ...known.filter((key) => means(press("g"), press(key))).map((key) => `g ${named(key)}`),
    ...known.filter((key) => key === key.toLowerCase() && means(press(key, { ctrlKey: true }))).map((key) => `${MODIFIER} ${key.toUpperCase()}`),
  ];
  // Three spaces separate keys with the same meaning. Single keys that all mean a move need only two.
  const told = KEY_HELP.flatMap(([keys]) => (/^\S {2}\S/.test(keys) ? keys.split("  ") : keys === "1 … 9" ? [..."56789"] : keys.split("   ")));
  expect(told.toSorted()).toEqual(read.toSorted());
});

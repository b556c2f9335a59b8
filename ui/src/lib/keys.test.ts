import { expect, test } from "vitest";

import { KEY_HELP, KeyReader, type KeyPress, MODIFIER } from "./keys";

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({ key, ctrlKey: false, metaKey: false, altKey: false, ...more });

test("single keys", () => {
  const keys = new KeyReader();
  expect(keys.read(press("j"))).toEqual({ do: "move", by: 1 });
  expect(keys.read(press("ArrowUp"))).toEqual({ do: "move", by: -1 });
  expect(keys.read(press("?"))).toEqual({ do: "help" });
  expect(keys.read(press("x"))).toBeUndefined();
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

test("the help names every key with a meaning, and no other", () => {
  const names: Record<string, string> = { ArrowDown: "↓", ArrowUp: "↑", Escape: "Esc" };
  const known = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/?,.-+ ", "Enter", "Escape", "Home", "End", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Tab", "Delete"];
  const means = (...keys: KeyPress[]): boolean => {
    const reader = new KeyReader();
    return keys.map((key) => reader.read(key)).at(-1) !== undefined;
  };
  const named = (key: string): string => names[key] ?? key;
  const read = [
    ...known.filter((key) => means(press(key))).map(named),
    ...known.filter((key) => means(press("g"), press(key))).map((key) => `g ${named(key)}`),
    ...known.filter((key) => key === key.toLowerCase() && means(press(key, { ctrlKey: true }))).map((key) => `${MODIFIER} ${key.toUpperCase()}`),
  ];
  // Three spaces separate keys with the same meaning. Single keys that all mean a move need only two.
  const told = KEY_HELP.flatMap(([keys]) => (/^\S {2}\S/.test(keys) ? keys.split("  ") : keys.split("   ")));
  expect(told.toSorted()).toEqual(read.toSorted());
});

import { expect, test } from "vitest";

import { KeyReader, type KeyPress } from "./keys";

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

test("a second key that means nothing after g is not taken for itself", () => {
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

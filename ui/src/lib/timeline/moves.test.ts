import { expect, test } from "vitest";

import type { TimelineItem } from "../bindings/TimelineItem";
import { Moves } from "./moves";

/** Items with these keys, from this index on. */
function items(keys: string, from = 0): TimelineItem[] {
  return [...keys].map((key, i) => ({ index: from + i, key, sessionId: "s", kind: "note", text: key }));
}

function places(before: string, now: readonly TimelineItem[]) {
  const moves = new Moves(items(before), now);
  return [...before].map((_, index) => moves.to(index));
}

test("items shown from the end get the last indexes of the whole", () => {
  expect(places("abc", items("abc", 97))).toEqual([97, 98, 99]);
});

test("items that newer ones push out of the answer move with their neighbours", () => {
  expect(places("abcd", items("cdef", 500))).toEqual([498, 499, 500, 501]);
});

test("items after an answer move with their neighbours, unless the answer goes on without them", () => {
  expect(places("abcd", items("bc", 11))).toEqual([10, 11, 12, 13]);
  expect(places("abcd", items("bcx", 11))).toEqual([10, 11, 12, undefined]);
});

test("a removed item has no index, and its neighbours keep theirs", () => {
  expect(places("abcde", items("abde"))).toEqual([0, 1, undefined, 2, 3]);
  expect(places("abcde", items("cabde"))).toEqual([1, 2, 0, 3, 4]);
});

test("after the beginning was removed, no item is before the first", () => {
  expect(places("abcd", items("cd"))).toEqual([undefined, undefined, 0, 1]);
});

test("without recognized items no item has an index", () => {
  expect(places("abc", items("xyz"))).toEqual([undefined, undefined, undefined]);
  expect(places("abc", [])).toEqual([undefined, undefined, undefined]);
  expect(places("", items("abc"))).toEqual([]);
});

test("items between two known ranges move with the items before them", () => {
  const moves = new Moves(items("abcdefgh"), items("bc", 1), items("xgh", 8));
  expect([..."abcdefgh"].map((_, index) => moves.to(index))).toEqual([0, 1, 2, 3, 4, 5, 9, 10]);
  expect([..."abcdefgh"].map((_, index) => moves.knows(index))).toEqual([false, true, true, false, false, false, true, true]);
});

test("two items never get the same index", () => {
  const moves = new Moves(items("abcdefgh"), items("ab"), items("gh", 4));
  expect([..."abcdefgh"].map((_, index) => moves.to(index))).toEqual([0, 1, 2, 3, undefined, undefined, 4, 5]);
});

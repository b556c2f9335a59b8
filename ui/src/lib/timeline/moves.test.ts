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

test("what was shown of the end stands at the end of the whole", () => {
  expect(places("abc", items("abc", 97))).toEqual([97, 98, 99]);
});

test("what is pushed out of the answer by what came meanwhile has moved with its neighbours", () => {
  expect(places("abcd", items("cdef", 500))).toEqual([498, 499, 500, 501]);
});

test("what comes after an answer has moved with its neighbours, unless the answer goes on without it", () => {
  expect(places("abcd", items("bc", 11))).toEqual([10, 11, 12, 13]);
  expect(places("abcd", items("bcx", 11))).toEqual([10, 11, 12, undefined]);
});

test("what is gone is nowhere, and what stood around it is where it is now", () => {
  expect(places("abcde", items("abde"))).toEqual([0, 1, undefined, 2, 3]);
  expect(places("abcde", items("cabde"))).toEqual([1, 2, 0, 3, 4]);
});

test("where a beginning was removed, nothing stands before the first", () => {
  expect(places("abcd", items("cd"))).toEqual([undefined, undefined, 0, 1]);
});

test("where nothing is known again, nothing is anywhere", () => {
  expect(places("abc", items("xyz"))).toEqual([undefined, undefined, undefined]);
  expect(places("abc", [])).toEqual([undefined, undefined, undefined]);
  expect(places("", items("abc"))).toEqual([]);
});

test("where two stretches are known, what lies between them has moved with what stood before it", () => {
  const moves = new Moves(items("abcdefgh"), items("bc", 1), items("xgh", 8));
  expect([..."abcdefgh"].map((_, index) => moves.to(index))).toEqual([0, 1, 2, 3, 4, 5, 9, 10]);
  expect([..."abcdefgh"].map((_, index) => moves.knows(index))).toEqual([false, true, true, false, false, false, true, true]);
});

test("two items never come to stand at one place", () => {
  const moves = new Moves(items("abcdefgh"), items("ab"), items("gh", 4));
  expect([..."abcdefgh"].map((_, index) => moves.to(index))).toEqual([0, 1, 2, 3, undefined, undefined, 4, 5]);
});

import { expect, test } from "vitest";

import { Heights } from "./heights";

test("agrees with plain sums over a thousand items of uneven height", () => {
  const heights = new Heights(30);
  const plain: number[] = [];
  heights.resize(1000);
  for (let i = 0; i < 1000; i += 1) plain.push(30);
  for (let i = 0; i < 1000; i += 3) {
    const height = (i * 37) % 400;
    plain[i] = height;
    heights.set(i, height);
  }
  let top = 0;
  plain.forEach((height, i) => {
    expect(heights.offsetOf(i)).toBe(top);
    if (height > 0) {
      expect(heights.indexAt(top)).toBe(i);
      expect(heights.indexAt(top + height - 1)).toBe(i);
    }
    top += height;
  });
  expect(heights.total()).toBe(top);
});

test("grows with the estimate, and shrinking leaves no old heights", () => {
  const heights = new Heights(10);
  heights.resize(600);
  heights.set(599, 100);
  expect(heights.total()).toBe(6090);
  heights.resize(300);
  expect(heights.total()).toBe(3000);
  expect(heights.length).toBe(300);
  heights.resize(301);
  expect(heights.total()).toBe(3010);
  expect(heights.get(599)).toBe(0);
});

test("returns the change of an item, and ignores items beyond the end", () => {
  const heights = new Heights(10);
  heights.resize(2);
  expect(heights.set(1, 25)).toBe(15);
  expect(heights.set(1, 25)).toBe(0);
  expect(heights.set(7, 25)).toBe(0);
});

test("offsets outside are the first and the last item", () => {
  const heights = new Heights(10);
  heights.resize(3);
  expect(heights.indexAt(-50)).toBe(0);
  expect(heights.indexAt(5000)).toBe(2);
  expect(new Heights(10).indexAt(5)).toBe(0);
});

test("measured heights move to the new indexes, and the sums are correct", () => {
  const heights = new Heights(30);
  heights.resize(300);
  for (let i = 0; i < 300; i += 3) heights.set(i, i);
  heights.move(1000, (index) => (index === 150 ? undefined : index + 690));
  const plain = new Heights(30);
  plain.resize(1000);
  for (let i = 0; i < 300; i += 3) if (i !== 150) plain.set(i + 690, i);
  for (const index of [0, 500, 690, 693, 839, 840, 841, 999, 1000]) expect([heights.get(index), heights.offsetOf(index)]).toEqual([plain.get(index), plain.offsetOf(index)]);
  expect(heights.total()).toBe(plain.total());
});

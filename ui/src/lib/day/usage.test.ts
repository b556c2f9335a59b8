import { describe, expect, test } from "vitest";

import type { Host } from "../host/host";
import { everydayUsage } from "../host/mock/usage";
import { costWords, countWords, marks, newTokens, usdWords, valueOf } from "./usage";
import { UsageModel } from "./usage.svelte";

describe("words of the usage", () => {
  test("money has cents where it has some, below a hundred dollars, and is never zero when it is not", () => {
    expect([0, 0.004, 0.04, 28.6, 1_080.4].map(usdWords)).toEqual(["$0", "< $0.01", "$0.04", "$28.60", "$1,080"]);
  });

  test("counts are short", () => {
    expect([0, 999, 1_000, 12_345, 999_999, 5_160_000, 412_000_000, 2e9].map(countWords)).toEqual(["0", "999", "1 k", "12.3 k", "999 k", "5.1 M", "412 M", "2 G"]);
  });

  test("a model without a price has no cost", () => {
    const { models } = everydayUsage(30);
    expect(models.map(({ sum }) => costWords(sum)).at(-1)).toBe("no price");
    expect(models.map(({ sum }) => newTokens(sum)).at(-1)).toBe(49_000);
  });

  test("a chart has two to four round lines", () => {
    for (const most of [0.003, 1, 7.2, 62, 99, 1_204, 5_000_000]) {
      const found = marks(most);
      expect(found.length, String(most)).toBeGreaterThanOrEqual(1);
      expect(found.length, String(most)).toBeLessThanOrEqual(4);
      expect(found.every((mark) => mark <= most)).toBe(true);
    }
    expect(marks(0)).toEqual([]);
  });
});

test("the columns add up to the sum, and the chosen day goes along", async () => {
  const one = new UsageModel({ ask: (what: string, { days } = { days: 0 }) => Promise.resolve(what === "usage" ? everydayUsage(days) : []) } as unknown as Host);
  await one.load();
  const { page } = one;
  const sums = page?.days.map((day) => day.byKind.reduce((sum, kind) => sum + valueOf(kind, "cost"), 0)) ?? [];
  page?.days.forEach((day, number) => expect(sums[number]).toBeCloseTo(day.total.cost.usd));
  one.move(1);
  expect(one.day?.date).toBe("2026-03-14");
  one.move(-1);
  expect(one.day?.date).toBe("2026-03-13");
  await one.load(7);
  expect([one.page?.days.length, one.day?.date]).toEqual([7, "2026-03-13"]);
});

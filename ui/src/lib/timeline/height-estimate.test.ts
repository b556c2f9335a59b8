import { expect, test } from "vitest";

import { estimatedHeight } from "./height-estimate";

const prompt = (text: string) => ({ index: 0, key: "0", sessionId: "s", kind: "prompt", origin: "human", text }) as const;

test("a text is as high as its lines", () => {
  expect(estimatedHeight(prompt("short"), 420)).toBe(30);
  expect(estimatedHeight(prompt("one\ntwo\n\nfour"), 420)).toBe(86);
  expect(estimatedHeight(prompt("word ".repeat(60)), 420)).toBeGreaterThan(estimatedHeight(prompt("word ".repeat(60)), 1200));
});

test("a missing or closed item is one line, and the height of a text has a limit", () => {
  expect(estimatedHeight(undefined, 420)).toBe(30);
  expect(estimatedHeight({ index: 0, key: "0", sessionId: "s", kind: "thinking", text: "word ".repeat(60) }, 420)).toBe(30);
  expect(estimatedHeight(prompt("x".repeat(1e6)), 420)).toBeLessThan(2000);
  expect(estimatedHeight(prompt("x"), 0)).toBe(30);
});

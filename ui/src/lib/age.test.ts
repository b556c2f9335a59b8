import { expect, test } from "vitest";

import { ageWords, durationWords, localDay, timeWords, untilNextWord } from "./age";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test.each([
  [-5000, "0 s"],
  [0, "0 s"],
  [59_999, "59 s"],
  [MINUTE, "1 min"],
  [HOUR - 1, "59 min"],
  [HOUR, "1 h"],
  [24 * HOUR - 1, "23 h"],
  [24 * HOUR, "1 d"],
  [800 * 24 * HOUR, "800 d"],
  [NaN, ""],
])("an age of %d ms is %j", (ms, words) => expect(ageWords(ms)).toBe(words));

test("the age text changes exactly after `untilNextWord`", () => {
  for (const ms of [0, 1, 999, 30_500, 59_999, MINUTE, MINUTE + 1, 5 * MINUTE + 123, HOUR, 3 * HOUR + 7, 24 * HOUR, 50 * HOUR]) {
    const wait = untilNextWord(ms);
    expect(ageWords(ms + wait), `${ms} after ${wait}`).not.toBe(ageWords(ms));
    expect(ageWords(ms + wait - 1), `${ms} just before`).toBe(ageWords(ms));
  }
});

test("an age that begins in the future changes when its first second is over", () => {
  expect(untilNextWord(-2000)).toBe(3000);
  expect(untilNextWord(NaN)).toBe(Infinity);
});

test.each([
  [40, "40 ms"],
  [100, "0.1 s"],
  [48_000, "48 s"],
  [72_000, "1 min 12 s"],
  [2 * HOUR + 5 * MINUTE, "2 h 5 min"],
])("%d ms lasted %j", (ms, words) => expect(durationWords(ms)).toBe(words));

test("a time of another day bears its date", () => {
  const now = Date.parse("2026-03-14T12:00:00");
  expect(timeWords("2026-03-14T09:05:00", now)).toBe("09:05");
  expect(timeWords("2026-03-13T09:05:00", now)).toBe("2026-03-13 09:05");
  expect(timeWords("nonsense", now)).toBe("");
});

test("a day is the one of the person, not the one of UTC", () => {
  const at = (day: number, hour: number): string => localDay(new Date(2026, 10, day, hour, 30).toISOString());
  expect([at(9, 0), at(9, 23), at(10, 0)]).toEqual(["2026-11-09", "2026-11-09", "2026-11-10"]);
  expect(localDay("no time")).toBe("");
});

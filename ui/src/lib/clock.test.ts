// @vitest-environment jsdom

import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { ageWords } from "./age";
import { EngineClock } from "./clock.svelte";

const ENGINE = "2020-01-01T00:00:00.000Z";
const before = (seconds: number): string => new Date(Date.parse(ENGINE) - seconds * 1000).toISOString();

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test("ages follow the engine's clock, not the machine's", () => {
  const clock = new EngineClock();
  clock.sync(ENGINE);
  clock.show([before(10)]);
  expect(ageWords(clock.now - Date.parse(before(10)))).toBe("10 s");
  vi.advanceTimersByTime(5000);
  expect(ageWords(clock.now - Date.parse(before(10)))).toBe("15 s");
});

test("`at` gives the engine's time even if no age is shown", () => {
  const clock = new EngineClock();
  clock.sync(ENGINE);
  clock.show([]);
  vi.advanceTimersByTime(5000);
  expect(new Date(clock.at()).toISOString()).toBe("2020-01-01T00:00:05.000Z");
});

test("there is one timer, and it fires only when an age text changes", () => {
  const clock = new EngineClock();
  clock.sync(ENGINE);
  clock.show([before(7200), before(90)]);
  const moves: number[] = [];
  const timers = vi.spyOn(globalThis, "setTimeout");
  for (let second = 0; second < 600; second += 1) {
    const was = clock.now;
    vi.advanceTimersByTime(1000);
    if (clock.now !== was) moves.push(second);
  }
  expect(vi.getTimerCount()).toBe(1);
  expect(timers.mock.calls.length).toBe(10);
  expect(moves).toHaveLength(10);
});

test("without visible ages there is no timer", () => {
  const clock = new EngineClock();
  clock.sync(ENGINE);
  clock.show([]);
  expect(vi.getTimerCount()).toBe(0);
});

test("a hidden window has no timer, and is right again when shown", () => {
  const clock = new EngineClock();
  clock.sync(ENGINE);
  clock.show([before(0)]);
  const hidden = vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(vi.getTimerCount()).toBe(0);
  vi.advanceTimersByTime(30_000);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event("visibilitychange"));
  expect(ageWords(clock.now - Date.parse(ENGINE))).toBe("30 s");
});

test("a session with an invalid time causes no timer", () => {
  const clock = new EngineClock();
  clock.sync(ENGINE);
  clock.show(["not a time"]);
  expect(vi.getTimerCount()).toBe(0);
});

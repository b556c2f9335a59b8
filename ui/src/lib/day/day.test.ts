import { describe, expect, test } from "vitest";

import type { Day } from "../bindings/Day";
import type { Host } from "../host/host";
import { emptyDay, everydayDay } from "../host/mock/day";
import { DayModel } from "./day.svelte";
import { fitting, percent, showing, ticks, whole, zoomed } from "./view";
import { dayBeside, doingWords, spanWords, whenWords } from "./words";

const HOUR = 3_600_000;

function model(days: (date: string | undefined) => Day = () => everydayDay()): { model: DayModel; asked: unknown[] } {
  const asked: unknown[] = [];
  const ask = (name: string, fields: { date?: string }): Promise<unknown> => {
    asked.push({ name, ...fields });
    return Promise.resolve(name === "day" ? days(fields.date) : 77);
  };
  return { model: new DayModel({ ask } as unknown as Host), asked };
}

const titles = (one: DayModel): string | undefined => one.picked && `${one.picked.chain.title}: ${doingWords(one.picked.stretch)}`;

describe("the view of a day", () => {
  const day = everydayDay();
  const all = whole(day);

  test("shows the hours in which something was done, and a part of what comes", () => {
    const view = fitting(day);
    expect((view.from - all.from) / HOUR).toBe(7);
    expect(view.to).toBeGreaterThan(Date.parse(day.now ?? ""));
    expect(percent(view, view.from)).toBe(0);
    expect(percent(view, view.to + HOUR)).toBe(100);
  });

  test("stays within the day, and no nearer than a quarter of an hour", () => {
    const near = Array.from({ length: 20 }).reduce<typeof all>((view) => zoomed(view, 0.5, all.from, all), all);
    expect([near.from, near.to - near.from]).toEqual([all.from, HOUR / 4]);
    const far = Array.from({ length: 20 }).reduce<typeof all>((view) => zoomed(view, 2, near.to, all), near);
    expect(far).toEqual(all);
    const moved = showing(near, all.to - 1, all);
    expect([moved.to, moved.to - moved.from]).toEqual([all.to, HOUR / 4]);
  });

  test("has round times, at most nine", () => {
    for (const span of [0.25, 1, 3, 7, 12, 24]) {
      const found = ticks({ from: all.from + HOUR / 7, to: all.from + HOUR / 7 + span * HOUR }, day);
      expect(found.length).toBeGreaterThan(0);
      expect(found.length).toBeLessThanOrEqual(9);
      expect(found.every((tick) => (tick - all.from) % 300_000 === 0)).toBe(true);
    }
  });
});

describe("the keys of a day", () => {
  test("go along a lane, across lanes, and from wait to wait", async () => {
    const { model: one } = model();
    await one.load();
    one.along(1);
    expect(titles(one)).toBe("Publish the 2.4 release: worked");
    one.along(1);
    expect(titles(one)).toBe("Publish the 2.4 release: waited for your permission");
    one.across(1);
    expect(titles(one)).toBe("Rate limits per key: your turn");
    one.across(-9);
    expect(titles(one)).toBe("Publish the 2.4 release: worked");
    one.wait(-1);
    expect(titles(one)).toBe("Rate limits per key: waited for your permission");
    one.wait(-1);
    one.wait(-1);
    one.wait(-1);
    expect(titles(one)).toBe("Set up the devcontainer: waited for your permission");
    one.wait(1);
    expect(whenWords(one.picked!.stretch, everydayDay())).toMatch(/^\d\d:\d\d to \d\d:\d\d, 1 min$/);
  });

  test("keep the chosen stretch when the day is read again", async () => {
    const { model: one } = model();
    await one.load();
    one.wait(1);
    const before = titles(one);
    await one.load();
    expect(titles(one)).toBe(before);
    expect(await one.place()).toMatchObject({ offset: 77 });
  });

  test("go to the day before and back, but not beyond today", async () => {
    const { model: one, asked } = model((date) => (date === undefined || date === "2026-03-14" ? everydayDay() : emptyDay(date)));
    await one.load();
    one.step(1);
    one.step(-1);
    await Promise.resolve();
    await Promise.resolve();
    one.step(1);
    expect(asked).toEqual([{ name: "day" }, { name: "day", date: "2026-03-13" }, { name: "day", date: "2026-03-14" }]);
  });

  test("an answer that comes late does not replace a later day", async () => {
    let late: (day: Day) => void = () => undefined;
    const answers = [new Promise<Day>((done) => (late = done)), Promise.resolve(emptyDay("2026-03-13"))];
    const one = new DayModel({ ask: () => answers.shift() } as unknown as Host);
    const first = one.load();
    await one.load();
    late(everydayDay());
    await first;
    expect(one.day?.date).toBe("2026-03-13");
  });
});

test("spans and days in words", () => {
  expect([0.4, 59, 60, 3_599, 3_600, 8_520].map(spanWords)).toEqual(["0 s", "59 s", "1 min", "59 min", "1 h 0 min", "2 h 22 min"]);
  expect([dayBeside("2026-03-01", -1), dayBeside("2026-12-31", 1)]).toEqual(["2026-02-28", "2027-01-01"]);
});

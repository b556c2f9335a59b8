import { expect, test } from "vitest";

import { nextAt, snoozeChoices } from "./snooze";

const NOW = new Date(2026, 10, 21, 15, 30, 20).getTime();
const local = (at: string | undefined) => new Date(at ?? "").toLocaleString("sv");

test("the menu's times are in the user's time zone", () => {
  expect(snoozeChoices(NOW).map((choice) => [choice.name, local(choice.until)])).toEqual([
    ["15 minutes", "2026-11-21 15:45:20"],
    ["1 hour", "2026-11-21 16:30:20"],
    ["Until tomorrow, 9:00", "2026-11-22 09:00:00"],
  ]);
});

test("a clock time means its next occurrence", () => {
  expect(local(nextAt("15:31", NOW))).toBe("2026-11-21 15:31:00");
  expect(local(nextAt(" 9:05 ", NOW))).toBe("2026-11-22 09:05:00");
  for (const wrong of ["", "25:00", "9", "09:60", "soon", "9:5"]) expect(nextAt(wrong, NOW)).toBeUndefined();
});

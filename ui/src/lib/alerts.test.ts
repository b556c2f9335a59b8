import { expect, test } from "vitest";

import { endWords, wantedOf } from "./alerts";
import { pastAlerts } from "./host/mock/day";
import { ENGINE_START } from "./host/mock/rows";

test("a past alert says what the session wanted and what became of it", () => {
  const words = pastAlerts().map((alert) => `${wantedOf(alert)[1]}: ${endWords(alert, ENGINE_START)}`);
  expect(words).toEqual([
    "wanted permission: still open, 1 min",
    "asked: answered after 19 min",
    "wanted permission: allowed once (window) after 3 min",
    "failed: went on after 18 min",
    "showed a plan: stopped there after 3 min",
    "had a dialog open: session ended after 41 min",
  ]);
});

test("an end that was not seen has no time that grows, and an answer that was sent has none either", () => {
  const [open, , answered] = pastAlerts();
  if (open === undefined || answered === undefined) throw new Error("the mock has both");
  const { until: _, ...sent } = { ...answered, became: "unseen" as const };
  const ends = [{ ...open, became: "unseen" as const }, sent, { ...sent, became: "open" as const }];
  expect(ends.map((alert) => endWords(alert, ENGINE_START))).toEqual(["its end was not seen", "allowed once (window)", "allowed once (window)"]);
});

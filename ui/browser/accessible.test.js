// Nothing serious stands between the window and those who do not see it or cannot point.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import axe from "axe-core";

import { startBrowser } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

async function violations(page) {
  await page.evaluate(axe.source);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found
    .filter((violation) => ["serious", "critical"].includes(violation.impact))
    .map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

const places = {
  roster: { mock: "30", steps: [] },
  "empty roster": { mock: "empty", steps: [] },
  failure: { mock: "failing", steps: [] },
  detail: { mock: "30", width: 1200, steps: ["j", "Enter", "click:text=Why?", "click:.tool .line"] },
  "narrow detail": { mock: "30", steps: ["j", "Enter"] },
  "error in detail": { mock: "hostile", width: 1200, steps: ["j", "Enter"] },
  menu: { mock: "30", steps: ["click:[aria-label=Menu]"] },
  palette: { mock: "30", steps: ["Control+k"] },
  help: { mock: "30", steps: ["?"] },
  doctor: { mock: "30", steps: ["click:[aria-label^=Health]"] },
};

for (const scheme of ["light", "dark"]) {
  for (const [name, { mock, width, steps }] of Object.entries(places)) {
    test(`${name}, ${scheme}`, async () => {
      await browser.withWindow({ mock, width, scheme, motion: "reduce" }, async (page) => {
        await page.locator("[data-session], .empty button").first().waitFor();
        for (const step of steps) {
          if (step.startsWith("click:")) await page.locator(step.slice(6)).first().click();
          else await page.keyboard.press(step);
        }
        if (steps.includes("Enter")) await page.locator("[role=listitem][data-index]").first().waitFor();
        assert.deepEqual(await violations(page), []);
      });
    });
  }
}

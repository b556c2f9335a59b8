// axe finds no serious problem for users who cannot see the window or cannot point.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import axe from "axe-core";

import { perform, startBrowser } from "./window.js";

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
  "long names": { mock: "long", width: 320, steps: [] },
  "writing from right to left": { mock: "writing", width: 1200, steps: ["j", "Enter"] },
  "a filter that finds nothing": { mock: "30", steps: ["/", "type:zzzz"] },
  "a chip pressed": { mock: "30", steps: ["click:.chip"] },
  "a filter in the palette": { mock: "30", steps: ["Control+k", "type:publish role:t"] },
  "what is not watched": { mock: "unwell", steps: ["click:[title^=Health]"] },
  "2,000 sessions": { mock: "2000", width: 760, steps: ["End"] },
  approval: { mock: "asking", width: 1000, steps: ["click:[data-session='asks-run']", "click:.request"] },
  "a long approval": { mock: "asking", width: 1000, steps: ["click:[data-session='asks-long']", "click:.request"] },
  "a reason": { mock: "asking", width: 1000, steps: ["click:[data-session='asks-edit']", "click:.request:not([aria-busy=true])", "d"] },
  question: { mock: "asking", steps: ["click:[data-session='asks-two']", "click:.request", "1"] },
  plan: { mock: "asking", width: 1000, steps: ["click:[data-session='asks-plan']", "click:.request"] },
  "an answer without effect": { mock: "asking", width: 1000, steps: ["click:[data-session='asks-failed']", "click:.request"] },
  "an own session": { mock: "own", width: 1000, steps: ["click:[data-session='own-works']", "wait:[data-live=tool]", "i", "type:/c"] },
  "an own terminal": { mock: "own", width: 1000, steps: ["click:[data-session='own-pty']", "wait:[data-terminal=live] .xterm-rows", "click:[data-terminal]"] },
  "an ended session": { mock: "own", steps: ["click:[data-session='own-ended']", "wait:[data-live]"] },
  "a new session": { mock: "own", steps: ["N"] },
  "a terminal elsewhere": { mock: "30", steps: ["click:[data-session]", "wait:[role=listitem][data-index]", "3", "wait:.elsewhere"] },
  "past alerts": { mock: "30", steps: ["l", "wait:dialog li"] },
  "marked rows": { mock: "30", steps: ["j", "Shift+ArrowDown", "Shift+ArrowDown"] },
  "refused calls": { mock: "refused", width: 1000, steps: ["x", "click:[data-session='refused-stuck']", "wait:[role=listitem][data-index]"] },
  "sessions of programs": { mock: "programs", steps: [] },
  "the day": { mock: "30", width: 1200, steps: ["t", "wait:.chart .seg", "w"] },
  "the narrow day": { mock: "30", width: 320, steps: ["t", "wait:.chart .seg"] },
  "the day as a table": { mock: "30", width: 1200, steps: ["t", "wait:.chart .seg", "v"] },
  "the usage": { mock: "30", width: 1200, steps: ["u", "wait:.column", "ArrowLeft"] },
  "the limits of the plan": { mock: "plan", width: 1200, steps: ["u", "wait:[role=meter]"] },
  "the narrow usage": { mock: "30", width: 320, steps: ["u", "wait:.column"] },
  "a day without sessions": { mock: "30", steps: ["t", "wait:.chart .seg", "[", "wait:.nothing"] },
  doctor: { mock: "30", steps: ["click:[title^=Health]"] },
};

for (const scheme of ["light", "dark"]) {
  for (const [name, { mock, width, steps }] of Object.entries(places)) {
    test(`${name}, ${scheme}`, async () => {
      await browser.withWindow({ mock, width, scheme, motion: "reduce" }, async (page) => {
        await page.locator("[data-session], .empty button, .empty h2").first().waitFor();
        await perform(page, steps);
        if (steps.includes("Enter")) await page.locator("[role=listitem][data-index]").first().waitFor();
        assert.deepEqual(await violations(page), []);
      });
    });
  }
}

test("in the system's own colours chosen, pressed and full elements are visible", async () => {
  await browser.withWindow({ mock: "30", width: 1200, forced: "active" }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("j");
    await page.click(".chip");
    const look = (selector) => page.evaluate((which) => getComputedStyle(document.querySelector(which)).backgroundColor, selector);
    const canvas = await look("body");
    for (const selector of ["[data-session][aria-current=true]", ".chip[aria-pressed=true]", ".context i", ".dot"]) {
      assert.notEqual(await look(selector), canvas, selector);
    }
  });
});

test("every focused element shows its focus", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.locator("[role=listitem][data-index]").first().waitFor();
    const seen = new Set();
    for (let step = 0; step < 40; step += 1) {
      await page.keyboard.press("Tab");
      const focus = await page.evaluate(() => {
        const at = document.activeElement;
        if (at === document.body) return undefined;
        const style = getComputedStyle(at);
        const field = at.closest("label");
        const marked = style.outlineStyle !== "none" || (field !== null && getComputedStyle(field).boxShadow !== "none");
        return { name: at.getAttribute("aria-label") ?? at.textContent.trim().slice(0, 40), marked };
      });
      if (focus === undefined) continue;
      assert.ok(focus.marked, `${focus.name} has the focus and does not show it`);
      seen.add(focus.name);
    }
    assert.ok(seen.size > 8, [...seen].join(" | "));
  });
});

// The settings window in a real browser: usable by keyboard, without serious findings by axe, and in the chosen
// colours.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import axe from "axe-core";

import { becomes, listening, startBrowser } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

const SETTINGS = "unhooked#settings";

async function violations(page) {
  await page.evaluate(axe.source);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

for (const scheme of ["light", "dark"]) {
  for (const width of [360, 640]) {
    test(`axe finds nothing serious, ${scheme}, ${width} px`, async () => {
      await browser.withWindow({ mock: SETTINGS, width, scheme, motion: "reduce" }, async (page) => {
        await page.locator("#section-hooks").getByRole("button", { name: "Install…", exact: true }).click();
        await page.getByRole("region", { name: /^Change of/ }).waitFor();
        await page.evaluate(() =>
          window.mockHost.config.edit({ "alerts.muted": ["scratch"] }, [{ key: "timeouts.idle", line: 3, column: 8, message: "expected a time" }]),
        );
        await page.getByText("Line 3: expected a time").waitFor();
        assert.deepEqual(await violations(page), []);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, "nothing is cut off");
      });
    });
  }
}

test("by keyboard only: from the sections to a field, saved with Enter", async () => {
  await browser.withWindow({ mock: SETTINGS, width: 640 }, async (page) => {
    await page.getByRole("button", { name: "Timeouts" }).focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement?.id), "set-timeouts.approval");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("7s");
    const heard = await listening(page, "Saved");
    await page.keyboard.press("Enter");
    await heard();
    await becomes(page, () => window.mockHost.config.view().settings.find((s) => s.key === "timeouts.approval").value, "7s");
  });
});

test("a search leaves the settings with its words, and a section takes it back", async () => {
  await browser.withWindow({ mock: SETTINGS, width: 640 }, async (page) => {
    const shown = () => [...document.querySelectorAll("section .row label")].filter((label) => label.checkVisibility()).map((label) => label.textContent);
    await page.getByRole("searchbox", { name: "Search the settings" }).fill("quiet hours");
    await becomes(page, shown, ["Quiet hours"]);
    assert.equal(await page.getByRole("heading", { name: "Timeouts" }).isVisible(), false);
    await page.getByRole("button", { name: "Timeouts" }).click();
    await becomes(page, () => document.activeElement?.id, "section-timeouts");
    assert.equal(await page.getByRole("heading", { name: "Alerts" }).isVisible(), true);
  });
});

test("the chosen colours apply at once on any desktop", async () => {
  await browser.withWindow({ mock: SETTINGS, scheme: "light" }, async (page) => {
    const background = () => getComputedStyle(document.body).backgroundColor;
    await becomes(page, background, "rgb(250, 250, 249)");
    await page.getByLabel("Colours").selectOption("dark");
    await becomes(page, background, "rgb(23, 24, 26)");
    await page.getByLabel("Colours").selectOption("system");
    await becomes(page, background, "rgb(250, 250, 249)");
  });
});

test("first run: the hooks are offered with the exact change", async () => {
  await browser.withWindow({ mock: "first" }, async (page) => {
    await page.getByText("Show the change…").click();
    await page.getByRole("region", { name: /^Change of/ }).waitFor();
    assert.deepEqual(await violations(page), []);
    await page.getByRole("button", { name: "Install", exact: true }).click();
    await becomes(page, () => document.querySelector("aside[aria-label=Hooks]") === null, true);
    assert.deepEqual(await page.evaluate(() => window.mockHost.hooks.done), ["install"]);
  });
});

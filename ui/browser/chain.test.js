// User commands about a chain and a session, in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { becomes, startBrowser, title } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

async function openFirst(page) {
  await page.locator("[data-session]").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator(".strip").waitFor();
}

async function more(page, item) {
  await page.click("button[aria-label=More]");
  await page.locator(`[role=menuitem]:has-text("${item}")`).click();
}

const firstRow = () => document.querySelector("[data-session] .title").textContent;
const strip = () => [...document.querySelectorAll(".strip .column")].map((column) => column.classList.contains("suggested"));

test("a chain is renamed in its place, by mouse and by keyboard, and gets its own title back", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    const own = await title(page);
    await more(page, "Rename");
    await page.keyboard.type("Ship 2.4");
    await page.keyboard.press("Escape");
    assert.equal(await title(page), own, "Escape leaves it");
    await page.dblclick("h1");
    await page.keyboard.type("Ship 2.4 j/k n");
    await page.keyboard.press("Enter");
    await page.locator("h1:text-is('Ship 2.4 j/k n')").waitFor();
    await becomes(page, firstRow, "Ship 2.4 j/k n", "the roster says the same");
    assert.equal(await page.evaluate(() => document.activeElement.tagName), "H1", "the focus is not lost");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("ship 2.4");
    await page.locator("[role=option]:has-text('Ship 2.4')").first().waitFor();
    await page.keyboard.press("Escape");
    await more(page, "Rename");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Enter");
    await page.locator(`h1:text-is('${own}')`).waitFor();
  });
});

test("a suggested link is joined, or split for good, and either can be undone", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, strip, [false, true, false]);
    await page.click(".column.suggested >> text=Join");
    await becomes(page, strip, [false, false, false]);
    await page.click(".said >> text=Undo");
    await becomes(page, strip, [false, true, false]);
    await page.click(".column.suggested >> text=Split");
    await becomes(page, strip, [false, false], "the earlier sessions are another chain");
    await page.click(".said >> text=Undo");
    await becomes(page, strip, [false, true, false]);
    await page.click(".column.suggested >> text=Split");
    await becomes(page, strip, [false, false]);
    await page.locator(".said").waitFor({ state: "detached" });
    await more(page, "Undo the last split");
    await becomes(page, strip, [false, true, false], "also when the word at the lower edge is gone");
  });
});

test("a chain is joined by choosing it", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    await more(page, "Join with another");
    await page.keyboard.type("redis");
    await page.click("dialog li button:has-text('Migrate sessions to Redis')");
    await becomes(page, () => document.querySelectorAll(".strip .column").length, 4);
    await more(page, "Undo the last");
    await becomes(page, () => document.querySelectorAll(".strip .column").length, 3);
  });
});

test("a snoozed session shows its time, and comes back when the snooze is ended", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    const session = await page.locator("[data-session][aria-current=true]").getAttribute("data-session");
    const line = page.locator(`[data-session="${session}"] .now`);
    await more(page, "1 hour");
    await page.locator(".aside:has-text('Snoozed until')").waitFor();
    assert.match(await line.textContent(), /^until \d\d:\d\d$/);
    assert.equal(await page.locator(`[data-session="${session}"] .glyph.snoozed`).count(), 1);
    assert.equal(await page.evaluate((id) => document.querySelector("[data-session]").dataset.session === id, session), false, "it is in the idle group");
    await page.click(".aside >> text=End it");
    await page.locator(".aside").waitFor({ state: "detached" });
    await page.click("button[aria-label=More]");
    // The menu focuses its first item in the frame after it opens.
    await becomes(page, () => document.activeElement.matches("[role=menuitem]"), true);
    await page.fill("input[aria-label='Snooze until, a clock time']", "noon");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("input[aria-invalid=true]").count(), 1);
    await page.fill("input[aria-label='Snooze until, a clock time']", "23:59");
    await page.keyboard.press("Enter");
    await page.locator(".aside:has-text('23:59')").waitFor();
  });
});

test("a session that is put away leaves the roster, and comes back by undo", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    const session = await page.locator("[data-session][aria-current=true]").getAttribute("data-session");
    await more(page, "Put away");
    await page.locator(`[data-session="${session}"]`).waitFor({ state: "detached" });
    await page.click(".said >> text=Undo");
    await page.locator(`[data-session="${session}"]`).waitFor();
  });
});

for (const width of [320, 420, 1200]) {
  test(`actions, strip and menu fit ${width} px`, async () => {
    await browser.withWindow({ mock: 30, width }, async (page) => {
      await openFirst(page);
      const spread = () => {
        const drawn = [...document.querySelectorAll(".detail header .top > *")].map((action) => action.getBoundingClientRect()).filter(({ height }) => height > 0);
        const middles = drawn.map(({ top, bottom }) => (top + bottom) / 2);
        return drawn.length > 2 && Math.max(...middles) - Math.min(...middles) <= 1;
      };
      await becomes(page, spread, true, "title and actions stand in one line");
      await page.click("button[aria-label=More]");
      const box = await page.locator(".menu").boundingBox();
      assert.ok(box.x >= 0 && box.x + box.width <= width, `the menu is in sight: ${JSON.stringify(box)}`);
      assert.equal(await page.evaluate(() => document.scrollingElement.scrollWidth - innerWidth), 0);
    });
  });
}

test("labels stand under their boundaries and do not meet", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    const off = await page.evaluate(() =>
      [...document.querySelectorAll(".column")].map((column) => {
        const [tie, label] = [column.querySelector(".tie"), column.querySelector(".label")].map((part) => part?.getBoundingClientRect());
        return tie === undefined ? 0 : Math.abs(tie.left - label.left) + Math.max(0, label.right - column.getBoundingClientRect().right);
      }),
    );
    assert.deepEqual(off, [0, 0, 0]);
    const [strip, last] = await page.evaluate(() => [".strip", ".strip .column:last-child"].map((part) => document.querySelector(part).getBoundingClientRect().right));
    assert.ok(Math.abs(strip - last) < 1, "the strip is filled");
  });
});

// The day beside the roster: by keyboard, read only while it is in sight, and as a table.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { becomes, startBrowser, title } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

const SEGMENTS = ".chart .seg";
const said = (page) => page.locator(".said p").textContent();

/** From now on, the readings of a day are counted. */
function counting() {
  window.days = [];
  const { day } = window.mockHost.replies;
  window.mockHost.replies.day = (call) => (window.days.push(call.date ?? "today"), day(call));
}

/** Opens the day by its key, with the focus in it. */
async function openDay(page) {
  await page.locator("[data-session]").first().waitFor();
  await page.keyboard.press("t");
  await page.locator(SEGMENTS).first().waitFor();
  await becomes(page, () => document.activeElement?.closest("[aria-label='The day']") !== null, true);
}

test("by keyboard alone: next wait, lanes, and the timeline at that place", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await openDay(page);
    await page.keyboard.press("w");
    assert.match(await said(page), /^Set up the devcontainer waited for your permission, \d\d:22 to \d\d:48, 26 min$/);
    await page.keyboard.press("ArrowRight");
    assert.match(await said(page), /^Set up the devcontainer worked/);
    await page.keyboard.press("W");
    await page.keyboard.press("ArrowUp");
    assert.match(await said(page), /^Nightly dependency review /);
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-current")), "true", "the focus goes along");
    const before = await page.locator(SEGMENTS).count();
    for (let time = 0; time < 3; time += 1) await page.keyboard.press("+");
    assert.ok((await page.locator(SEGMENTS).count()) < before, "nearer");
    await page.keyboard.press("0");
    assert.equal(await page.locator(SEGMENTS).count(), before, "the whole day");
    await page.keyboard.press("Enter");
    await page.locator("section.detail h1").waitFor();
    assert.equal(await title(page), "Nightly dependency review");
    await page.keyboard.press("Escape");
    await page.locator(SEGMENTS).first().waitFor();
  });
});

test("the day before, one without sessions, and back", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await openDay(page);
    await page.keyboard.press("[");
    await page.locator("text=Nothing ran on this day").waitFor();
    assert.ok(await page.locator("text=/The last day with sessions was Thursday,? 12 March/").isVisible());
    await page.keyboard.press("]");
    await page.locator(SEGMENTS).first().waitFor();
    assert.equal(await page.locator("[aria-label='The day after']").isDisabled(), true);
    await page.keyboard.press("[");
    await page.locator("text=Nothing ran on this day").waitFor();
    await page.keyboard.press("Home");
    await page.locator(SEGMENTS).first().waitFor();
  });
});

test("it is read while it is in sight, and never while a session is", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await page.locator(SEGMENTS).first().waitFor();
    await page.evaluate(counting);
    await page.locator("[data-session]").first().click();
    await page.locator("section.detail h1").waitFor();
    await page.evaluate(() => (window.mockHost.change({}), new Promise((done) => requestAnimationFrame(done))));
    assert.deepEqual(await page.evaluate(() => window.days), []);
    await page.keyboard.press("t");
    await becomes(page, () => window.days, ["today"]);
  });
});

test("below 760 pixels it covers the roster, and goes with Escape", async () => {
  await browser.withWindow({ mock: "30" }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.evaluate(counting);
    assert.equal(await page.locator(SEGMENTS).count(), 0);
    await page.keyboard.press("t");
    await page.locator(SEGMENTS).first().waitFor();
    assert.equal(await page.locator("main.roster").getAttribute("inert"), "");
    await page.keyboard.press("Escape");
    await becomes(page, () => document.querySelectorAll(".chart").length, 0);
    assert.equal(await page.locator("main.roster").getAttribute("inert"), null);
    assert.deepEqual(await page.evaluate(() => window.days), ["today"]);
    await page.keyboard.press("t");
    await page.locator(SEGMENTS).first().waitFor();
    await page.keyboard.press("/");
    await becomes(page, () => document.activeElement.matches("input") && document.querySelectorAll(".chart").length === 0, true, "the filter has the focus");
  });
});

test("a table has every stretch of the picture", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await openDay(page);
    const drawn = await page.locator(SEGMENTS).count();
    await page.keyboard.press("v");
    assert.equal(await page.locator("table tbody td:nth-last-child(2)").count(), drawn);
    await page.keyboard.press("v");
    await page.locator(SEGMENTS).first().waitFor();
  });
});

test("a day that cannot be read says why", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await openDay(page);
    await page.evaluate(() => {
      window.mockHost.replies.day = () => Promise.reject(new Error("the store is being repaired"));
    });
    await page.keyboard.press("[");
    await page.locator("text=the store is being repaired").waitFor();
  });
});

test("of 200 chains those in sight are drawn, and each is reached by wheel and by keyboard", async () => {
  await browser.withWindow({ mock: "full-day", width: 1200 }, async (page) => {
    await openDay(page);
    const drawn = await page.locator(SEGMENTS).count();
    assert.ok(drawn > 100 && drawn < 700, `${drawn}`);
    assert.equal(await page.locator(".chart ol > li").count(), 200);
    const empty = () => {
      const box = document.querySelector(".chart").getBoundingClientRect();
      const lanes = [...document.querySelectorAll(".lane")].filter((lane) => lane.getBoundingClientRect().top < box.bottom && lane.getBoundingClientRect().bottom > box.top);
      return lanes.length < 10 ? "few lanes" : lanes.filter((lane) => lane.querySelector(".seg") === null).length;
    };
    for (const share of [0.3, 0.7, 1]) {
      await page.evaluate((part) => ((chart) => (chart.scrollTop = chart.scrollHeight * part))(document.querySelector(".chart")), share);
      await becomes(page, empty, 0, "no lane in sight is empty");
    }
    for (let time = 0; time < 199; time += 1) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.match(await said(page), /^Piece of work 200 /);
  });
});

test("the usage by keyboard: a day's numbers, and the way to that day", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("u");
    await page.locator(".column").first().waitFor();
    assert.match(await page.locator(".sums").textContent(), /^\$[\d,]+ by list prices in 30 days; \$[\d.]+ today$/);
    assert.match(await page.locator(".note").last().textContent(), /List prices of 2026-03-01 \(prices\.example\).*49 k tokens have no price and are in no cost: claude-next-1\./s);
    for (let time = 0; time < 3; time += 1) await page.keyboard.press("ArrowLeft");
    await becomes(page, () => document.activeElement.getAttribute("aria-current"), "date");
    assert.match(await page.locator(".read").textContent(), /Wed,? 11 Mar/);
    await page.evaluate(counting);
    await page.keyboard.press("Enter");
    await becomes(page, () => window.days, ["2026-03-11"], "the day of the column");
    await page.keyboard.press("u");
    await page.locator("text=Tokens").first().click();
    assert.match(await page.locator(".sums").textContent(), /tokens without cache reads/);
    await page.locator("text=7 days").click();
    await becomes(page, () => document.querySelectorAll(".column").length, 7);
  });
});

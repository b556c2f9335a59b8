// Helpers for tests of the timeline in a real browser.

import assert from "node:assert/strict";

import { becomes } from "./window.js";

export const view = () => document.querySelector("[role=region][aria-label=Timeline]");
export const atEnd = `(() => { const v = (${view})(); return Math.abs(v.scrollHeight - v.scrollTop - v.clientHeight) < 3 })()`;

const frame = () => new Promise((done) => requestAnimationFrame(done));

/** No drawn item of the timeline is a placeholder. */
export const isWhole = () => [...document.querySelectorAll("[data-index]")].every((item) => item.querySelector(".entry") !== null);

/** Waits until all drawn items are complete and have not moved for ten frames, so that every scroll has come to rest. */
export async function still(page) {
  const drawn = () => [...document.querySelectorAll("[data-index]")].map((item) => `${item.dataset.index} ${item.getBoundingClientRect().top}`).join();
  let before;
  for (let same = 0; same < 10; ) {
    await becomes(page, isWhole, true);
    const now = await page.evaluate(drawn);
    same = now === before ? same + 1 : 0;
    before = now;
    await page.evaluate(frame);
  }
}

/**
 * Clicks on an element of the timeline when the view is at rest, as a user does. Before a click the browser scrolls
 * the element into view by itself, and while a view moves farther than its height, nothing is drawn to click on.
 */
export async function clickAtRest(page, found) {
  await still(page);
  await found.scrollIntoViewIfNeeded();
  await still(page);
  await found.click();
}

/** The item 200 pixels below the upper edge, and where it begins. */
export const place = `(() => { const box = (${view})().getBoundingClientRect(); const el = document.elementFromPoint(box.x + 200, box.y + 200)?.closest("[data-index]"); return [el?.dataset.index, el?.getBoundingClientRect().top - box.top] })()`;

/** Three million pixels down, the browser's own precision is a quarter of a pixel, so less than one pixel does not count. */
export function assertStays(now, before, what) {
  assert.ok(Math.abs(now - before) < 1, `${what}: it is at ${now}, and was at ${before}`);
}

export async function openFirst(page) {
  await page.locator("[data-session]").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator("[role=listitem][data-index]").first().waitFor();
}

/**
 * Opens a session of 100,000 items. Only the newest are shown until `countAll` is called. With a `prefix`, they have
 * other keys until then, so that they are not recognized afterwards.
 */
export async function openUncounted(page, prefix = "") {
  await page.locator("[data-session]").first().waitFor();
  await page.evaluate((prefix) => {
    const { timeline } = window.mockHost.replies;
    const counted = new Promise((done) => (window.countAll = done));
    window.mockHost.replies.timeline = async (asked) => {
      await counted;
      return timeline(asked);
    };
    window.mockHost.replies.newest_items = ({ session, limit }) => {
      const { items, ...answer } = timeline({ session, limit });
      return { counted: false, timeline: { ...answer, from: 0, total: items.length, items: items.map((item, index) => ({ ...item, index, key: prefix + item.key })) } };
    };
  }, prefix);
  await openFirst(page);
  await becomes(page, atEnd, true);
}

/** Waits until the timeline is known to have this many items. */
export const setSize = (page, size) => page.locator(`[aria-setsize='${size}']`).first().waitFor();

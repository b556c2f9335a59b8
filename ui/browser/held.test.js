// A timeline changes while the user holds the thumb of its scrollbar.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { assertStays, openUncounted, place, setSize, still, view } from "./timeline.js";
import { startBrowser } from "./window.js";

let browser;
// Scrollbars are hidden in tests by default.
before(async () => (browser = await startBrowser({ context: { ignoreDefaultArgs: ["--hide-scrollbars"] } })));
after(() => browser.stop());

/** Grips the thumb, which is at the end, and drags it up this far. Returns where the pointer is then. */
async function dragUp(page, by) {
  const [x, y] = await page.evaluate(() => {
    const bar = document.querySelector("[role=region][aria-label=Timeline]").getBoundingClientRect();
    return [bar.right - 7, bar.bottom - 30];
  });
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y - by, { steps: 10 });
  return [x, y - by];
}

const far = `(() => { const v = (${view})(); return v.scrollHeight - v.scrollTop - v.clientHeight })()`;

test("dragging the thumb while a long timeline is counted stays among the items in view", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openUncounted(page);
    await still(page);
    const [x, y] = await dragUp(page, 150);
    await still(page);
    const below = await page.evaluate(far);
    assert.ok(below > 500, `the thumb was taken: ${below} pixels are below`);
    await page.evaluate(() => window.countAll());
    // While the thumb is held, one pixel of the thumb scrolls as far as before.
    for (let n = 1; n <= 5; n += 1) {
      await page.mouse.move(x, y - n);
      await still(page);
    }
    const further = (await page.evaluate(far)) - below;
    assert.ok(further > 20 && further < 600, `five pixels of the thumb are ${further}`);
    const [, top] = await page.evaluate(place);
    await page.evaluate(() => {
      const box = document.querySelector("[role=region][aria-label=Timeline]").getBoundingClientRect();
      window.item = document.elementFromPoint(box.x + 200, box.y + 200).closest("[data-index]");
    });
    await page.mouse.up();
    await setSize(page, 100_000);
    await still(page);
    assertStays(await page.evaluate(() => window.item.getBoundingClientRect().top - document.querySelector("[role=region][aria-label=Timeline]").getBoundingClientRect().top), top, "the item");
    assert.equal(await page.evaluate(() => window.item.dataset.index > 99_700), true);
  });
});

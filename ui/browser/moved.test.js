// Timelines whose items move while the user looks: counted at last, joined to others, rewritten.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { assertStays, atEnd, clickAtRest, openFirst, openUncounted, setSize, still, view } from "./timeline.js";
import { becomes, startBrowser } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

/** Opens a call in the middle of the view, selects its output, and focuses its line, which is kept as `window.line`. */
async function openOne(page) {
  await page.evaluate(() => {
    const { top, bottom } = document.querySelector("[role=region][aria-label=Timeline]").getBoundingClientRect();
    const inSight = (line) => line.getBoundingClientRect().top > top + 100 && line.getBoundingClientRect().bottom < bottom - 200;
    window.line = [...document.querySelectorAll(".tool .line")].find(inSight);
    window.line.click();
    window.line.focus();
  });
  await page.locator(".line[aria-expanded=true]").waitFor();
  await still(page);
  await page.evaluate(() => getSelection().selectAllChildren(window.line.closest(".tool").querySelector("pre")));
}

/** The state of that call: whether it is open, focused and selected. */
const kept = () => ({
  open: window.line.isConnected && window.line.ariaExpanded === "true" && window.line.closest(".tool").querySelector("pre") !== null,
  focused: document.activeElement === window.line,
  selected: getSelection().toString(),
});

/** The position of its line in each of this many frames, after a call of `window.go`. */
const tops = (frames) =>
  (async () => {
    const found = [window.line.getBoundingClientRect().top];
    window.go();
    for (let n = 0; n < frames; n += 1) {
      await new Promise((done) => requestAnimationFrame(done));
      found.push(window.line.isConnected ? window.line.getBoundingClientRect().top : NaN);
    }
    return found;
  })();

/** Whether only items far above the end are drawn, how many do not begin where the one before ends, and how many are open. */
const laid = () => {
  const items = [...document.querySelectorAll("[data-index]")].map((item) => ({ index: Number(item.dataset.index), box: item.getBoundingClientRect() })).sort((a, b) => a.index - b.index);
  return { drawn: items.length > 20, above: items.every(({ index }) => index < 99_800), apart: items.slice(1).filter(({ box }, i) => Math.abs(box.top - items[i].box.bottom) > 1).length, open: document.querySelectorAll(".line[aria-expanded=true]").length };
};

test("after the count of a long timeline, the opened, focused, selected and visible items stay, to the pixel and in every frame", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openUncounted(page);
    await page.evaluate(`(${view})().scrollTop -= 1500`);
    await still(page);
    await openOne(page);
    const before = await page.evaluate(kept);
    assert.deepEqual([before.open, before.focused], [true, true]);
    assert.match(before.selected, /step/);
    // It has grown meanwhile: the newest items that were shown are no longer the last ones.
    await page.evaluate(() => {
      window.mockHost.grow(3);
      window.go = window.countAll;
    });
    const seen = await page.evaluate(tops, 60);
    await setSize(page, 100_003);
    await still(page);
    for (const top of seen) assertStays(top, seen[0], "the line");
    assertStays(await page.evaluate(() => window.line.getBoundingClientRect().top), seen[0], "the line at rest");
    assert.deepEqual(await page.evaluate(kept), before);
    await page.locator(".end:has-text('3 new below')").waitFor();
    // The same item is at its final index: the engine has this item there.
    assert.equal(await page.evaluate(() => window.line.querySelector("code").textContent === `step ${window.line.closest("[data-index]").dataset.index}`), true);
  });
});

test("a view at the end does not change when a long timeline has been counted", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openUncounted(page);
    await still(page);
    await page.evaluate(() => {
      window.items = [...document.querySelectorAll("[data-index]")].map((item) => ({ item, top: item.getBoundingClientRect().top }));
      window.countAll();
    });
    await setSize(page, 100_000);
    await still(page);
    assert.equal(await page.evaluate(atEnd), true);
    const moved = await page.evaluate(() => window.items.filter(({ item, top }) => !item.isConnected || Math.abs(item.getBoundingClientRect().top - top) >= 1).length);
    assert.equal(moved, 0);
  });
});

test("the count does not interrupt a scroll, and does not move the view", async () => {
  await browser.withWindow({ mock: "endless", width: 1200, height: 751 }, async (page) => {
    await openUncounted(page);
    await page.evaluate(`(${view})().scrollTop -= 2500`);
    await still(page);
    await openOne(page);
    const before = await page.evaluate(() => window.line.getBoundingClientRect().top);
    await page.mouse.move(800, 400);
    await page.mouse.wheel(0, -60);
    await page.mouse.wheel(0, -40);
    await page.evaluate(() => window.countAll());
    await setSize(page, 100_000);
    await still(page);
    assertStays(await page.evaluate(() => window.line.getBoundingClientRect().top), before + 100, "the line went as far as the wheel");
  });
});

test("Home during the count goes to the beginning as soon as it is known", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openUncounted(page);
    await page.locator("[role=region][aria-label=Timeline]").focus();
    await page.keyboard.press("Home");
    await page.locator("text=What came before is being read").waitFor();
    await page.evaluate(() => window.countAll());
    await page.locator("[data-index='0']:has-text('Prompt 0')").waitFor();
    await becomes(page, `(${view})().scrollTop`, 0);
  });
});

test("scrolling on after Home cancels the way to the beginning", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openUncounted(page);
    await page.locator("[role=region][aria-label=Timeline]").focus();
    await page.keyboard.press("Home");
    await still(page);
    await page.mouse.move(800, 400);
    await page.mouse.wheel(0, 400);
    await still(page);
    await page.evaluate(() => window.countAll());
    await setSize(page, 100_000);
    await still(page);
    const lowest = await page.evaluate(() => Math.min(...[...document.querySelectorAll("[data-index]")].map((item) => Number(item.dataset.index))));
    assert.ok(lowest > 99_700, `item ${lowest} is drawn`);
  });
});

test("opened entries stay open when another chain is joined before them, at any scroll position", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    // Far from the end: the answers that reveal the join hold none of these items.
    await page.evaluate(`(${view})().scrollTop -= 60000`);
    await still(page);
    await openOne(page);
    const before = await page.evaluate(kept);
    await page.evaluate(() => {
      const { timeline } = window.mockHost.replies;
      // The items are the same ones, further down by the number of items joined before them.
      window.mockHost.replies.timeline = ({ session, from, limit }) => {
        const answer = timeline({ session, from: from === undefined ? undefined : Math.max(0, from - 2), limit });
        return { ...answer, workChainId: "joined", from: from ?? answer.from + 2, total: answer.total + 2, items: answer.items.map((item) => ({ ...item, index: item.index + 2 })) };
      };
      window.go = () => window.mockHost.grow(0);
    });
    const seen = await page.evaluate(tops, 60);
    await setSize(page, 100_002);
    await still(page);
    for (const top of seen) assertStays(top, seen[0], "the line");
    assert.deepEqual(await page.evaluate(kept), before);
    await becomes(page, laid, { drawn: true, above: true, apart: 0, open: 1 });
  });
});

/**
 * A session in the middle of the chain goes on: this many items are inserted at `grown`, and the answer that reveals
 * them does not hold them.
 */
const growInTheMiddle = ({ grown, by }) => {
  const { timeline } = window.mockHost.replies;
  window.mockHost.replies.timeline = ({ session, from, limit }) => {
    const answer = timeline({ session, from, limit });
    const all = (index) => {
      if (index >= grown && index < grown + by) return { ...answer.items[0], key: `late ${index}` };
      return timeline({ session, from: index < grown ? index : index - by, limit: 1 }).items[0];
    };
    const first = from ?? answer.from + by;
    const count = Math.min(limit, answer.total + by - first);
    const items = Array.from({ length: count }, (_, i) => ({ ...all(first + i), index: first + i }));
    return { ...answer, from: first, total: answer.total + by, items };
  };
  window.mockHost.grow(0);
};

test("items get their own heights if others were assumed at their indexes", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    await page.evaluate(`(${view})().scrollTop -= 30000`);
    await still(page);
    await page.evaluate(growInTheMiddle, { grown: 99_850, by: 1 });
    await setSize(page, 100_001);
    await still(page);
    await becomes(page, laid, { drawn: true, above: true, apart: 0, open: 0 });
  });
});

test("a view above or below a session that goes on in the middle of the chain stays, to the pixel and in every frame", async () => {
  for (const { grown, by } of [{ grown: 99_850, by: 3 }, { grown: 99_850, by: 250 }, { grown: 90_000, by: 3 }, { grown: 90_000, by: 250 }]) {
    await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
      await openFirst(page);
      await becomes(page, atEnd, true);
      await page.evaluate(`(${view})().scrollTop -= 30000`);
      await still(page);
      await openOne(page);
      const before = await page.evaluate(kept);
      await page.evaluate(`window.go = () => (${growInTheMiddle})({ grown: ${grown}, by: ${by} })`);
      const seen = await page.evaluate(tops, 60);
      await setSize(page, 100_000 + by);
      await still(page);
      for (const top of seen) assertStays(top, seen[0], "the line");
      assertStays(await page.evaluate(() => window.line.getBoundingClientRect().top), seen[0], "the line at rest");
      assert.deepEqual(await page.evaluate(kept), before);
      await becomes(page, laid, { drawn: true, above: true, apart: 0, open: 1 });
    });
  }
});

test("scrolling to where a session in the middle of the chain went on shows every item once, without jumps", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    await page.evaluate(`(${view})().scrollTop -= 7000`);
    await still(page);
    await page.evaluate(growInTheMiddle, { grown: 99_850, by: 3 });
    await setSize(page, 100_003);
    await still(page);
    // By half a view: the item in the middle is still in view afterwards, moved by the scrolled distance.
    for (let lowest = 0; lowest < 99_900; ) {
      const middle = await page.evaluate(() => {
        const { top, bottom } = document.querySelector("[role=region][aria-label=Timeline]").getBoundingClientRect();
        window.item = [...document.querySelectorAll("[data-index]")].findLast((item) => item.getBoundingClientRect().bottom < (top + bottom) / 2 + 100);
        return window.item.getBoundingClientRect().top;
      });
      await page.evaluate(`(${view})().scrollTop += 250`);
      await still(page);
      assertStays(await page.evaluate(() => window.item.getBoundingClientRect().top), middle - 250, "the item");
      const keys = await page.evaluate(() => [...document.querySelectorAll("[data-index] .entry")].map((entry) => Number(/step (\d+)/.exec(entry.textContent)?.[1])));
      const steps = keys.filter((key) => key > 0);
      assert.deepEqual(steps, [...new Set(steps)].sort((a, b) => a - b));
      lowest = await page.evaluate(() => Math.max(...[...document.querySelectorAll("[data-index]")].map((item) => Number(item.dataset.index))));
    }
  });
});

test("while a long timeline is counted, its end has no set size", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openUncounted(page);
    const said = () => page.evaluate(() => ({ sizes: [...new Set([...document.querySelectorAll("[data-index]")].map((item) => item.ariaSetSize))], places: document.querySelectorAll("[data-index][aria-posinset]").length > 0, more: document.querySelectorAll(".before").length }));
    assert.deepEqual(await said(), { sizes: ["-1"], places: false, more: 0 });
    await page.evaluate(`(${view})().scrollTop = 0`);
    await page.locator("text=What came before is being read").waitFor();
    await page.evaluate(() => window.countAll());
    await setSize(page, 100_000);
    await still(page);
    assert.deepEqual(await said(), { sizes: ["100000"], places: true, more: 0 });
  });
});

test("if no item is recognized, the same moment is shown", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openUncounted(page, "another ");
    await page.evaluate(`(${view})().scrollTop = 900`);
    await still(page);
    const words = () => [...document.querySelectorAll("[data-index] .entry")].map((entry) => entry.textContent);
    const upper = await page.evaluate(() => {
      const { top } = document.querySelector("[role=region][aria-label=Timeline]").getBoundingClientRect();
      return [...document.querySelectorAll("[data-index]")].find((item) => item.getBoundingClientRect().bottom > top + 8).textContent;
    });
    await page.evaluate(() => window.countAll());
    await setSize(page, 100_000);
    await still(page);
    assert.ok((await page.evaluate(words)).some((text) => text.trim() === upper.trim()), "the same item is drawn");
  });
});

test("opened and closed entries stay so after scrolling away and back", async () => {
  await browser.withWindow({ mock: "30", width: 1200, height: 520 }, async (page) => {
    await openFirst(page);
    await page.locator("text=Continued in").or(page.locator(".tool .line:has-text('npm publish')")).first().waitFor();
    await page.evaluate(() => {
      // So long that the subagent's call is scrolled out of the drawn range.
      window.mockHost.grow(300);
    });
    await page.evaluate(`(${view})().scrollTop = 0`);
    await clickAtRest(page, page.locator("button.head:has-text('Subagent')"));
    await page.locator("button.head:has-text('3 entries')").waitFor();
    // A failed call stands open until it is closed.
    const output = page.locator("pre:has-text('2 dead links')");
    await output.waitFor();
    await clickAtRest(page, page.locator(".line:has-text('lychee')"));
    await output.waitFor({ state: "detached" });
    await page.evaluate(`(${view})().scrollTop = (${view})().scrollHeight`);
    await page.locator("button.head:has-text('Subagent')").waitFor({ state: "detached" });
    await page.evaluate(`(${view})().scrollTop = 0`);
    await page.locator("button.head:has-text('3 entries')").waitFor();
    assert.equal(await output.count(), 0);
  });
});

test("opening an entry when items were measured lower than estimated leaves the end", async () => {
  await browser.withWindow({ mock: "endless", width: 1200, height: 775 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    await still(page);
    const opened = await page.evaluate(async () => {
      const view = document.querySelector("[role=region][aria-label=Timeline]");
      const before = view.scrollTop;
      const { top } = view.getBoundingClientRect();
      const above = [...document.querySelectorAll("[data-index]")].filter((item) => item.getBoundingClientRect().bottom < top);
      for (const item of above) Object.assign(item.firstElementChild.style, { height: "12px", overflow: "hidden" });
      // The view moves because it became shorter, in the frame that measures this. A message posted in a frame's
      // callback arrives after that, and before the next frame, which brings the scroll event.
      while (view.scrollTop === before) {
        await new Promise((done) => requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = done;
          port2.postMessage(0);
        }));
      }
      window.line = [...document.querySelectorAll(".tool .line")].findLast((one) => one.getBoundingClientRect().top < view.getBoundingClientRect().bottom - 200);
      const there = window.line.getBoundingClientRect().top;
      window.line.click();
      return { shorter: above.length, top: there };
    });
    assert.ok(opened.shorter > 3, `${opened.shorter} items are drawn above`);
    await page.locator(".line[aria-expanded=true]").waitFor();
    await page.locator("button.end:has-text('Jump to the end')").waitFor();
    await still(page);
    assertStays(await page.evaluate(() => window.line.getBoundingClientRect().top), opened.top, "the opened entry stays under the pointer");
  });
});

// The detail pane and its timeline in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { assertStays, atEnd, isWhole, openFirst, place, still, view } from "./timeline.js";
import { becomes, listening, startBrowser, title } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

test("state, reason, witnesses, chain and actions are there", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    const head = await page.locator(".state").textContent();
    assert.match(head, /Waits for your permission since \d\d:\d\d: npm publish --tag latest/);
    assert.doesNotMatch(head, /registry|observed|permission prompt/i, "witnesses stand behind Why");
    await page.click("text=Why?");
    await becomes(page, () => document.querySelectorAll(".why li").length, 4);
    assert.match(await page.locator(".why li.winner").textContent(), /Registry.*decides/s);
    assert.deepEqual(await page.locator(".segment").count(), 3);
    assert.equal(await page.locator(".column.suggested .segment").count(), 1);
    assert.match((await page.locator(".strip .label").allTextContents()).join(" "), /suggested: manual 96k → 7k.*auto 158k → 9k/s);
    await page.locator("text=Forked into 9e8d7c6b").waitFor();
    await page.locator(".ask:has-text('Wants to run:')").waitFor();
    await becomes(page, atEnd, true, "it opens at the end");
  });
});

test("tools open to their input and output, an edit to its diff, subagents to their steps", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    await page.evaluate(`(${view})().scrollTop = 0`);
    const line = page.locator(".tool .line:has-text('CHANGELOG.md')");
    await line.click();
    const { y } = await line.boundingBox();
    await becomes(page, () => [document.querySelectorAll("pre .added").length, document.querySelectorAll("pre .removed").length], [5, 0]);
    await page.locator("pre:has-text('The file has been updated.')").waitFor();
    assert.equal((await line.boundingBox()).y, y, "the opened entry stays under the pointer");
    assert.equal(await page.locator("text=export function").count(), 0);
    await page.click(".run:has-text('Subagent')");
    await page.locator("text=export function").waitFor();
  });
});

test("thoughts and calls that only read are one line until it is opened", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    await page.evaluate(`(${view})().scrollTop = 0`);
    const line = page.locator("button:has-text('read 1 file, thought once')");
    await line.waitFor();
    assert.equal(await page.locator(".thought").count(), 0);
    await line.click();
    await page.locator(".thought:has-text('First the changelog')").waitFor();
    await page.locator(".tool .line:has-text('Read')").waitFor();
    assert.equal(await line.getAttribute("aria-expanded"), "true");
  });
});

test("when the session is superseded, selection, place and opened entries stay", async () => {
  await browser.withWindow({ mock: 30, width: 1200, height: 600 }, async (page) => {
    await openFirst(page);
    await page.click("text=Why?");
    await page.evaluate(`(${view})().scrollTop = 40`);
    await becomes(page, `(${view})().scrollTop`, 40);
    await page.evaluate(() => {
      window.seen = document.querySelector("[role=region][aria-label=Timeline]");
      const base = { source: "watcher", agent: "claude", hasPendingToolUse: false, compactionCount: 3, segmentCount: 4, stateReason: { source: "registry", detail: "busy", confidence: "observed" }, workChainId: "chain-3f6a1c52-0b7e-4a55-9d1e-6a2f4c1b8e90", lastActivityAt: "2026-03-14T13:02:20.000Z", stateSince: "2026-03-14T13:02:20.000Z" };
      window.mockHost.change({
        upserts: [
          { ...base, sessionId: "3f6a1c52-0b7e-4a55-9d1e-6a2f4c1b8e90", state: "idle", status: "idle", group: "idle", superseded: true, supersededBy: "successor-1" },
          { ...base, sessionId: "successor-1", title: "Publish the 2.4 release", state: "working", status: "working", group: "working" },
        ],
      });
    });
    await becomes(page, () => document.querySelector("[aria-current=true]")?.dataset.session, "successor-1");
    assert.equal(await title(page), "Publish the 2.4 release");
    await page.locator(".state:has-text('Working')").waitFor();
    await becomes(page, `window.seen === (${view})() && (${view})().scrollTop`, 40);
    await page.locator("text=Hide why").waitFor();
    await page.locator("text=jump to head").or(page.locator("text=Jump to the end")).waitFor();
    await page.keyboard.press("c");
    await becomes(page, () => window.mockHost.copied, ["claude --resume successor-1"]);
  });
});

test("100,000 items: few are drawn, any place is reached, the items in view stay put", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.locator("[data-session]").first().click();
    await page.locator("[data-index='99999'] .entry").waitFor();
    await becomes(page, atEnd, true);
    const drawn = () => document.querySelectorAll("[data-index]").length;
    assert.ok((await page.evaluate(drawn)) < 120);

    await page.evaluate(`(${view})().scrollTop = (${view})().scrollHeight / 2`);
    const middle = `(() => { const box = (${view})().getBoundingClientRect(); const el = document.elementFromPoint(box.x + 200, box.y + 200)?.closest("[data-index]"); return el?.querySelector(".entry") ? Number(el.dataset.index) : 0 })()`;
    await becomes(page, `(() => { const i = ${middle}; return i > 40000 && i < 60000 })()`, true);
    assert.ok((await page.evaluate(drawn)) < 120);

    // Scrolling up over items that were never measured must not make the text jump: it moves exactly as far as the
    // wheel.
    await page.mouse.move(800, 400);
    await still(page);
    for (let turn = 0; turn < 15; turn += 1) {
      const [index, top] = await page.evaluate(place);
      const way = `document.querySelector("[data-index='${index}']")?.getBoundingClientRect().top - (${view})().getBoundingClientRect().top - ${top}`;
      await page.mouse.wheel(0, -120);
      await becomes(page, `Math.abs(${way} - 120) < 1`, true);
      await still(page);
      assert.ok(Math.abs((await page.evaluate(way)) - 120) < 1, "and no further when it has come to rest");
    }

    await page.click(".end");
    await becomes(page, atEnd, true);
    await page.locator("[data-index='99999']").waitFor();
  });
});

test("a segment of the strip leads to its place, and the way back to the head is offered", async () => {
  await browser.withWindow({ mock: 30, width: 1200, height: 520 }, async (page) => {
    await openFirst(page);
    await page.locator(".segment").first().click();
    await becomes(page, `(() => { const v = (${view})().getBoundingClientRect(); const e = document.querySelector("[data-index='0']")?.getBoundingClientRect(); return e !== undefined && e.top >= v.top && e.top < v.top + 40 })()`, true);
    await page.click("text=Continued in 3f6a1c52 · jump to head");
    await becomes(page, atEnd, true);
    assert.equal(await page.locator(".end").count(), 0);
    await page.locator(".segment").nth(2).click();
    await page.locator("text=compacted automatically · 158k → 9k tokens").waitFor();
  });
});

test("a fork that the roster does not show is searched for, and reported if it is unknown", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    const heard = await listening(page, "That session is not known here.");
    await page.click("text=Forked into 9e8d7c6b");
    await heard();
  });
});

test("a selection from outside opens the session and brings its row into sight", async () => {
  await browser.withWindow({ mock: 2000 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.setViewportSize({ width: 1200, height: 720 });
    await page.evaluate(() => window.mockHost.send({ type: "select", sessionId: "100007cd-0000-4000-8000-000000000000" }));
    await page.locator("[data-session='100007cd-0000-4000-8000-000000000000']").waitFor();
    assert.ok(await title(page));
  });
});

/** The longest text node and the longest attribute of the page, and its elements that load or run something. */
const carried = () => {
  let text = 0;
  for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode(); ) text = Math.max(text, walk.currentNode.length);
  const attributes = [...document.querySelectorAll("#app *")].flatMap((one) => [...one.attributes]);
  return {
    text,
    attribute: Math.max(...attributes.map((one) => one.value.length)),
    handlers: attributes.filter((one) => one.name.startsWith("on") || /^(javascript|data|file|blob):/i.test(one.value)).length,
    active: document.querySelectorAll("#app :is(img, iframe, script, style, a, object, embed, form, base, meta, link, video, audio)").length,
  };
};

test("nothing in a hostile transcript runs or is fetched, and no megabyte of it reaches the page", async () => {
  await browser.withWindow({ mock: "hostile", width: 1200, height: 900 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    const rows = await page.locator("[data-session]").evaluateAll((all) => all.map((row) => row.dataset.session));
    for (const id of rows) {
      await page.locator(`[data-session='${id}']`).click();
      await page.locator("[data-index] .entry").first().waitFor();
      await page.evaluate(`(${view})().scrollTop = 0`);
      for (let at = 0; ; at += 500) {
        await page.evaluate(`(${view})().scrollTop = ${at}`);
        // The scroll event comes with the next frame. Items passed this fast are drawn when the view is at rest.
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        await becomes(page, isWhole, true);
        await page.evaluate(async () => {
          for (const line of document.querySelectorAll("[data-index] :is(.tool .line, .thought)[aria-expanded=false]")) line.click();
          await new Promise((done) => requestAnimationFrame(done));
        });
        const found = await page.evaluate(carried);
        assert.ok(found.text <= 22_000, `a text of ${found.text}`);
        assert.ok(found.attribute <= 4_000, `an attribute of ${found.attribute}`);
        assert.deepEqual([found.handlers, found.active], [0, 0]);
        if (await page.evaluate(`(() => { const v = (${view})(); return v.scrollTop + v.clientHeight >= v.scrollHeight - 2 })()`)) break;
      }
      if (id !== rows[0]) break;
    }
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.getElementById("app").textContent)), false, "nothing turns the text around");
  });
});

test("only web and mail addresses are offered, and copied only by a click", async () => {
  await browser.withWindow({ mock: "hostile", width: 1200, height: 2400 }, async (page) => {
    await openFirst(page);
    await page.evaluate(`(${view})().scrollTop = 0`);
    const addresses = page.locator("[data-index] .markdown button[title*='click to copy']");
    await addresses.first().waitFor();
    const titles = await addresses.evaluateAll((all) => all.map((one) => one.title));
    assert.ok(titles.length >= 2 && titles.every((title) => /^(https:|mailto:)/.test(title)), titles.join(" | "));
    assert.deepEqual(await page.evaluate(() => window.mockHost.copied), []);
    await page.locator("[title^='mailto:']").click();
    await becomes(page, () => window.mockHost.copied, ["mailto:a@example.com"]);
  });
});

test("items that come while the user reads older ones are counted and wait", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    await page.evaluate(() => window.mockHost.grow(3));
    await page.locator("[data-index='100002']").waitFor();
    await becomes(page, atEnd, true, "at the end it goes along");
    await page.evaluate(`(${view})().scrollTop -= 3000`);
    await page.locator(".end:has-text('Jump to the end')").waitFor();
    await still(page);
    const before = await page.evaluate(place);
    await page.evaluate(() => window.mockHost.grow(5));
    await page.locator(".end:has-text('5 new below')").waitFor();
    const after = await page.evaluate(place);
    assert.equal(after[0], before[0]);
    assertStays(after[1], before[1], "the visible items stay");
    await page.click(".end");
    await becomes(page, atEnd, true);
    await page.locator("[data-index='100007']").waitFor();
  });
});

test("a view at the end stays there, even if items come between a scroll and its event", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    // In a frame's callback, the event of the scroll before is still to come. Every third time it comes first.
    await page.evaluate(async () => {
      const frame = () => new Promise((done) => requestAnimationFrame(done));
      for (let n = 0; n < 40; n += 1) {
        window.mockHost.grow(1 + (n % 4));
        if (n % 3 === 0) await frame();
        await new Promise((done) => setTimeout(done, n % 20));
      }
    });
    await page.locator("[data-index='100099']").waitFor();
    await becomes(page, atEnd, true, "after many new items");
    for (const height of [500, 900, 640, 720]) {
      await page.setViewportSize({ width: 1200, height });
      // Reading the extent makes the browser lay the view out again before it gets its new height.
      await page.evaluate(atEnd);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await becomes(page, atEnd, true, `in a window ${height} high`);
    }
    assert.equal(await page.locator("button.end").count(), 0, "no button leads to the end while the view is there");
  });
});

test("opening an entry between a scroll to the end and its event leaves the end", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    const opened = await page.evaluate(async () => {
      const view = document.querySelector("[role=region][aria-label=Timeline]");
      const before = view.scrollTop;
      window.mockHost.grow(1);
      // The view moves along when the new item is measured. A message posted in a frame's callback arrives after that,
      // and before the next frame, which brings the scroll event.
      while (view.scrollTop === before) {
        await new Promise((done) => requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = done;
          port2.postMessage(0);
        }));
      }
      const line = [...document.querySelectorAll(".tool .line")].findLast((one) => one.getBoundingClientRect().top < view.getBoundingClientRect().bottom - 200);
      const opened = { index: line.closest("[data-index]").dataset.index, top: line.getBoundingClientRect().top };
      line.click();
      return opened;
    });
    const line = page.locator(`[data-index='${opened.index}'] .line`);
    await page.locator(`[data-index='${opened.index}'] pre`).first().waitFor();
    await page.locator(".end:has-text('Jump to the end')").waitFor();
    await still(page);
    assertStays((await line.boundingBox()).y, opened.top, "the opened entry stays under the pointer");
  });
});

test("the items in view stay within a fraction of a pixel while items above grow by fractions", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    // Near the beginning: three million pixels further down, the browser's own precision is a quarter of a pixel.
    await page.evaluate(`(${view})().scrollTop = 9000`);
    await still(page);
    const read = await page.evaluate(() => {
      const { top } = document.querySelector("[role=region][aria-label=Timeline]").getBoundingClientRect();
      const items = [...document.querySelectorAll("[data-index]")].map((item) => ({ item, box: item.getBoundingClientRect() })).sort((a, b) => a.box.top - b.box.top);
      const { item, box } = items.find(({ box }) => box.top > top + 100);
      // All drawn items above the view grow by less than a pixel, as they may when they are measured.
      items.filter(({ box }) => box.bottom < top).forEach(({ item }) => item.setAttribute("data-grows", ""));
      return { index: item.dataset.index, top: box.top, above: document.querySelectorAll("[data-grows]").length };
    });
    assert.ok(read.above > 2, `${read.above} items are drawn above`);
    for (let step = 1; step <= 12; step += 1) {
      await page.evaluate((by) => {
        document.querySelector("[data-grows]").firstElementChild.style.paddingBottom = `${by}px`;
      }, step * 0.3);
      await still(page);
    }
    const { y } = await page.locator(`[data-index='${read.index}']`).boundingBox();
    assert.ok(Math.abs(y - read.top) < 1 / 16, `${y} is where ${read.top} was`);
  });
});

test("the end can be left in steps of any size", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    await still(page);
    const moved = await page.evaluate(async (view) => {
      const { bottom } = document.querySelector(view).getBoundingClientRect();
      const item = [...document.querySelectorAll("[data-index]")].findLast((one) => one.getBoundingClientRect().bottom < bottom - 200);
      const before = item.getBoundingClientRect().top;
      for (let n = 0; n < 12; n += 1) {
        document.querySelector(view).scrollTop -= 8;
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      }
      return item.getBoundingClientRect().top - before;
    }, "[role=region][aria-label=Timeline]");
    assertStays(moved, 96, "the visible items moved by the steps");
    await page.locator("button.end:has-text('Jump to the end')").waitFor();
  });
});

test("scrolling away before a place is found cancels it, and its failure is not shown", async () => {
  await browser.withWindow({ mock: 30, width: 1200, height: 420 }, async (page) => {
    await openFirst(page);
    await page.evaluate(() => {
      window.places = [];
      window.mockHost.replies.timeline_place = () => new Promise((give, refuse) => window.places.push({ give, refuse }));
    });
    const find = async (n) => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type("version minor");
      await page.locator("[role=option]:has(mark)").first().click();
      await becomes(page, () => window.places.length, n);
    };
    await find(1);
    await page.locator(".segment").first().click();
    await becomes(page, `(${view})().scrollTop < 40`, true);
    await page.evaluate(() => window.places[0].give({ index: 15, within: [] }));
    await still(page);
    assert.equal(await page.evaluate(`(${view})().scrollTop < 40`), true);
    assert.equal(await page.locator("[data-found]").count(), 0);
    await find(2);
    await page.click(".end");
    await becomes(page, atEnd, true);
    await page.evaluate(() => window.places[1].refuse({ code: "internal", message: "The transcript cannot be read." }));
    await still(page);
    assert.equal(await page.evaluate(atEnd), true);
    assert.equal(await page.locator("text=cannot be read").count(), 0);
    // When the palette closes, the focus returns to its old place. That is no scroll by the user.
    await page.locator(".tool .line").last().focus();
    await find(3);
    await page.evaluate(() => window.places[2].give({ index: 3, within: [] }));
    await page.locator("[data-index='3'] [data-found]").waitFor();
  });
});

test("scrolling by keys from a found place is not undone by new items", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("step 499");
    await page.locator("[role=option]:has(mark)").first().click();
    await page.locator("[data-found]").waitFor();
    await still(page);
    const found = await page.evaluate(`(${view})().scrollTop`);
    await page.locator("[data-found] .line").focus();
    await page.keyboard.press("PageDown");
    await becomes(page, `(${view})().scrollTop > ${found} + 100`, true);
    await still(page);
    const there = await page.evaluate(`(${view})().scrollTop`);
    await page.evaluate(() => window.mockHost.grow(3));
    await page.locator("[aria-setsize='100003']").first().waitFor();
    await still(page);
    assert.equal(await page.evaluate(`(${view})().scrollTop`), there);
  });
});

test("hostile text is shown as text", async () => {
  await browser.withWindow({ mock: "hostile", width: 1200, height: 2400 }, async (page) => {
    await openFirst(page);
    await page.evaluate(`(${view})().scrollTop = 0`);
    await page.locator("[data-index='0'] .entry").waitFor();
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    assert.equal(await page.locator("#app :is(img, iframe, script, a, object, embed)").count(), 0);
    assert.match(await page.locator("[data-index='0']").textContent(), /<script>window\.pwned=1<\/script>/);
    assert.match(await page.locator(".ask").textContent(), /⟨202E⟩/, "characters that reverse a command are shown");
    for (const row of await page.locator("[data-session]").all()) await row.click();
    assert.equal(await page.evaluate(() => window.pwned), undefined);
  });
});

test("keys in the timeline scroll it, and do not move the selection", async () => {
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await openFirst(page);
    await becomes(page, atEnd, true);
    await page.locator("[role=region][aria-label=Timeline]").focus();
    await page.keyboard.press("Home");
    await becomes(page, `(${view})().scrollTop`, 0);
    assert.equal(await title(page), "Publish the 2.4 release");
  });
});

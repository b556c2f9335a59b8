// Rules for sizes and colours: targets, lines of prose, the system's own colours, cut text.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { becomes, startBrowser } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

async function openFirst(page) {
  await page.locator("[data-session]").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("Enter");
  await page.locator(".strip .segment").first().waitFor();
}

/** From now on every chain has this many segments of the selected session. */
function withSegments(count) {
  const at = (n) => new Date(Date.parse("2026-03-14T10:00:00.000Z") + n * 60_000).toISOString();
  window.mockHost.replies.chain = ({ session: sessionId }) => ({
    workChainId: "w",
    head: sessionId,
    links: [],
    segments: Array.from({ length: count }, (_, index) => ({ sessionId, index, startedAt: at(index), endedAt: at(index + 1), transcriptPath: "/x", superseded: false, boundary: { trigger: "auto" } })),
  });
}

test("in the system's own colours the segments of a chain and their ties are visible", async () => {
  await browser.withWindow({ mock: "30", width: 1200, forced: "active" }, async (page) => {
    await openFirst(page);
    const unlike = await page.evaluate(() => {
      const canvas = getComputedStyle(document.body).backgroundColor;
      const seen = (part) => {
        const style = getComputedStyle(part);
        const drawn = style.backgroundImage !== "none" || style.borderStyle === "dashed";
        return drawn || (style.backgroundColor !== canvas && style.backgroundColor !== "rgba(0, 0, 0, 0)");
      };
      return [...document.querySelectorAll(".segment i, .strip .tie")].filter((part) => !seen(part)).length;
    });
    assert.equal(unlike, 0);
    const colours = await page.evaluate(() => [".segment:not(.current) i", ".segment.current i"].map((which) => getComputedStyle(document.querySelector(which)).backgroundColor));
    assert.notEqual(colours[0], colours[1], "the current segment looks different");
  });
});

test("each segment and each word below it is at least 24 pixels wide and high, and none lies over another", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await openFirst(page);
    for (const count of [0, 60]) {
      if (count > 0) {
        await page.evaluate(withSegments, count);
        await page.keyboard.press("j");
        await becomes(page, () => document.querySelectorAll(".strip .segment").length, count);
      }
      const boxes = await page.evaluate(() => [...document.querySelectorAll(".chain .strip button, .chain .branch")].map((button) => button.getBoundingClientRect()).map(({ left, top, width, height }) => ({ left, top, width, height })));
      assert.ok(boxes.length > 0);
      for (const { width, height } of boxes) assert.ok(height >= 24 && width >= 24, `${width} by ${height}`);
      for (const [i, a] of boxes.entries()) {
        for (const b of boxes.slice(i + 1)) {
          const over = Math.min(a.left + a.width, b.left + b.width) - Math.max(a.left, b.left) > 0.5 && Math.min(a.top + a.height, b.top + b.height) - Math.max(a.top, b.top) > 0.5;
          assert.ok(!over, JSON.stringify([a, b]));
        }
      }
    }
  });
});

test("a strip that is longer than the pane shows its newest segment", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.evaluate(withSegments, 60);
    await openFirst(page);
    const inSight = () => {
      const strip = document.querySelector(".strip").getBoundingClientRect();
      const current = document.querySelector(".segment.current").getBoundingClientRect();
      return strip.width < document.querySelector(".strip").scrollWidth && current.right <= strip.right + 1 && current.left >= strip.left;
    };
    await becomes(page, inSight, true);
  });
});

test("prose is at most about 76 letters wide, and code takes the full width", async () => {
  await browser.withWindow({ mock: "30", width: 1600, height: 900 }, async (page) => {
    await openFirst(page);
    await page.locator("[role=listitem] pre").first().waitFor({ state: "attached" });
    const { letters, code } = await page.evaluate(() => {
      const item = [...document.querySelectorAll("[role=listitem]")].find((one) => one.querySelector("pre"));
      const text = item.querySelector("p");
      text.textContent = "The third of these calls is never reached, since the first one has given up by then. ".repeat(6);
      const range = document.createRange();
      const top = text.getBoundingClientRect().top;
      let letters = 0;
      for (let i = 0; i < text.firstChild.length; i += 1) {
        range.setStart(text.firstChild, i);
        range.setEnd(text.firstChild, i + 1);
        if (range.getBoundingClientRect().top < top + 12) letters += 1;
      }
      return { letters, code: item.querySelector("pre").getBoundingClientRect().width };
    });
    assert.ok(letters > 60 && letters <= 80, `${letters} letters`);
    assert.ok(code > 900, `${code} pixels`);
  });
});

test("at 320 pixels every chip is in sight with its whole number, also with the counts of a filter", async () => {
  for (const [mock, text] of [["30", ""], ["2000", ""], ["2000", "project:shop"]]) {
    await browser.withWindow({ mock, width: 320, height: 560 }, async (page) => {
      await page.locator("[data-session]").first().waitFor();
      await page.fill("input", text);
      await becomes(page, () => [...document.querySelectorAll(".chip")].every((chip) => chip.getBoundingClientRect().right <= innerWidth - 8), true, `${mock} ${text}`);
      const cut = await page.evaluate(() => [...document.querySelectorAll(".chip .count")].filter((count) => count.scrollWidth > count.clientWidth + 1 || count.getBoundingClientRect().right > count.closest(".chip").getBoundingClientRect().right).length);
      assert.equal(cut, 0);
      const scrolls = await page.evaluate(() => document.querySelector(".chips").scrollWidth > document.querySelector(".chips").clientWidth);
      assert.equal(scrolls, false);
    });
  }
});

test("a full context is coloured only where the user may act, and only errors are red", async () => {
  await browser.withWindow({ mock: "failed" }, async (page) => {
    await page.locator("[data-session=failed-4]").waitFor();
    const [grey, amber, red] = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement("i"));
      return ["--idle", "--need", "--error"].map((name) => ((probe.style.color = `var(${name})`), getComputedStyle(probe).color));
    });
    const bar = (id) => page.evaluate((which) => getComputedStyle(document.querySelector(`[data-session=${which}] .context i`)).backgroundColor, id);
    assert.deepEqual([await bar("failed-3"), await bar("failed-4"), await bar("failed-2")], [amber, grey, grey]);
    assert.notEqual(amber, red);
    await page.click("[data-session=failed-4]");
    await page.keyboard.press("Escape");
    assert.equal(await bar("failed-4"), amber, "the selected one");
  });
});

test("rows of superseded sessions have enough contrast", async () => {
  for (const scheme of ["light", "dark"]) {
    await browser.withWindow({ mock: "failed", scheme }, async (page) => {
      await page.click("[aria-label=Menu]");
      await page.click("[role=menuitemcheckbox]");
      await page.locator("[data-session=failed-5]").waitFor();
      const least = await page.evaluate(() => {
        const light = (colour) => {
          const [r, g, b] = colour.match(/[\d.]+/g).map((part) => Number(part) / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = light(getComputedStyle(document.body).backgroundColor);
        const row = document.querySelector("[data-session=failed-5]");
        const dimmed = (part) => (part === null || part === document.body ? 1 : Number(getComputedStyle(part).opacity) * dimmed(part.parentElement));
        const parts = [...row.querySelectorAll(".title, .age, .place, .now")];
        return Math.min(...parts.map((part) => {
          const own = light(getComputedStyle(part).color) * dimmed(part) + ground * (1 - dimmed(part));
          return (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
        }));
      });
      assert.ok(least >= 4.5, `${scheme}: ${least.toFixed(2)}`);
    });
  }
});

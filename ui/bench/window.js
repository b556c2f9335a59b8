// What the window costs in Chromium, with the mock host: frames while scrolling, time to paint, memory under a flood.
// `npm run bench` prints the figures; nothing is asserted. THROTTLE=4 slows the processor down by that factor.

import { becomes, startBrowser } from "../browser/window.js";

const THROTTLE = Number(process.env.THROTTLE ?? 1);
const SECONDS = Number(process.env.SECONDS ?? 5);

const nearest = (values, share) => values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))];
const shown = (values) => `median ${nearest(values, 0.5).toFixed(1)}, 95 of 100 ${nearest(values, 0.95).toFixed(1)}, 99 of 100 ${nearest(values, 0.99).toFixed(1)}, most ${Math.max(...values).toFixed(1)} ms (${values.length})`;
const say = (what, words) => process.stdout.write(`${what.padEnd(58)} ${words}\n`);

/** Scrolls an element by so many pixels a frame, up and down, and gives the time between frames. */
const scrolling = ({ selector, by, seconds }) =>
  new Promise((done) => {
    const view = document.querySelector(selector);
    const gaps = [];
    const began = performance.now();
    let last = began;
    let way = by;
    const step = (now) => {
      if (gaps.length > 0 || now > began) gaps.push(now - last);
      last = now;
      if (now - began > seconds * 1000) return done(gaps.slice(1));
      if (view.scrollTop + way < 0 || view.scrollTop + way > view.scrollHeight - view.clientHeight) way = -way;
      view.scrollTop += way;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });

/** From a key to the frame after the one that shows its work. */
const keys = ({ key, times }) =>
  (async () => {
    const spans = [];
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    for (let i = 0; i < times; i += 1) {
      // Keys come at any moment of a frame.
      await new Promise((done) => setTimeout(done, 20 + ((i * 7) % 16)));
      const began = performance.now();
      (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      await frame();
      await new Promise((done) => setTimeout(done));
      spans.push(performance.now() - began);
    }
    return spans;
  })();

const heap = async (page) => {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize / 1e6;
};

async function slowed(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: THROTTLE });
}

const browser = await startBrowser();
try {
  say("processor slowed down by", String(THROTTLE));
  await browser.withWindow({ mock: "flood", width: 1200 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await slowed(page);
    say("flood: frames while the roster scrolls", shown(await page.evaluate(scrolling, { selector: ".list", by: 40, seconds: SECONDS })));
    say("flood: key to paint", shown(await page.evaluate(keys, { key: "j", times: 60 })));
    const before = await heap(page);
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable");
    const busy = async () => Object.fromEntries((await session.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
    const first = await busy();
    await page.waitForTimeout(SECONDS * 1000);
    const then = await busy();
    say("flood: main thread at work", `${(((then.TaskDuration - first.TaskDuration) / (then.Timestamp - first.Timestamp)) * 100).toFixed(1)} %, script ${(((then.ScriptDuration - first.ScriptDuration) / (then.Timestamp - first.Timestamp)) * 100).toFixed(1)} %`);
    say("flood: memory before and after", `${before.toFixed(1)}, ${(await heap(page)).toFixed(1)} MB; nodes ${then.Nodes}, listeners ${then.JSEventListeners}`);
    await becomes(page, () => document.querySelectorAll("[data-session]").length < 60, true);
  });
  await browser.withWindow({ mock: "endless", width: 1200 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await slowed(page);
    const opening = await page.evaluate(async () => {
      const began = performance.now();
      document.querySelector("[data-session]").click();
      while (!document.querySelector("[data-index='99999'] .entry")) await new Promise((done) => requestAnimationFrame(done));
      return performance.now() - began;
    });
    say("100,000 items: opened after", `${opening.toFixed(0)} ms`);
    for (const by of [-40, -2000]) {
      say(`100,000 items: frames, ${-by} px a frame`, shown(await page.evaluate(scrolling, { selector: "[role=region][aria-label=Timeline]", by, seconds: SECONDS })));
    }
  });
} finally {
  await browser.stop();
}

// The cost of the window in Chromium with the mock host: frames while scrolling, time to paint, memory under a flood.
// `npm run bench` prints the figures and asserts nothing. THROTTLE=4 slows the CPU down by that factor.

import { becomes, startBrowser } from "../browser/window.js";
import { keys, opening, say, scrolling, shown } from "./probes.js";

const THROTTLE = Number(process.env.THROTTLE ?? 1);
const FRAMES = Number(process.env.FRAMES ?? 240);
const SECONDS = Number(process.env.SECONDS ?? 5);

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
    say("flood: frames while the roster scrolls", shown(await page.evaluate(scrolling, { selector: ".list", by: 40, frames: FRAMES })));
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
    say("100,000 items: opened after", `${(await page.evaluate(opening, 100_000)).toFixed(0)} ms`);
    for (const by of [-40, -2000]) {
      say(`100,000 items: frames, ${-by} px a frame`, shown(await page.evaluate(scrolling, { selector: "[role=region][aria-label=Timeline]", by, frames: FRAMES })));
    }
  });
} finally {
  await browser.stop();
}

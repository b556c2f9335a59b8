// A real browser on the built window, with the content security policy of the shell.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";
import { preview } from "vite";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome", "/snap/bin/chromium"];

/** Longest wait for an expected state, in milliseconds. Machines are slow and loaded; the bench measures speed. */
const PATIENCE = 30_000;

function browserProgram() {
  const found = process.env.CHROMIUM ?? PLACES.find((path) => existsSync(path));
  if (found === undefined) throw new Error("Chromium is needed: install the package `chromium`, or name the program in CHROMIUM.");
  return found;
}

/**
 * Starts the browser and a server for the built window. The parameters add to a plain browser: arguments, a whole
 * environment, context options, and what is done to each page before it loads.
 */
export async function startBrowser({ args = [], env, context: options = {}, prepare = async () => {} } = {}) {
  if (!existsSync(join(ROOT, "dist/index.html"))) throw new Error("The window is not built: run `npm run build` in ui/ first.");
  const server = await preview({
    root: ROOT,
    logLevel: "error",
    preview: { host: "127.0.0.1", port: 0, headers: { "Content-Security-Policy": POLICY } },
  });
  const base = server.resolvedUrls.local[0];
  const profile = mkdtempSync(join(tmpdir(), "watchbill-ui-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: browserProgram(),
    viewport: null,
    ...options,
    ...(env === undefined ? {} : { env }),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...args,
    ],
  });
  context.setDefaultTimeout(PATIENCE);

  return {
    /** Opens the window with a preset and runs `check` on it. Afterwards the console must hold no error. */
    async withWindow({ mock, width = 420, height = 720, scheme = "light", motion = "no-preference", forced = "none", place = "" }, check) {
      const page = await context.newPage();
      const wrongs = [];
      page.on("console", (message) => {
        if (["error", "warning"].includes(message.type())) wrongs.push(message.text());
      });
      page.on("pageerror", (error) => wrongs.push(String(error.stack ?? error)));
      page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(base) && !url.startsWith("data:")) wrongs.push(`asked for ${url}`);
      });
      try {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: motion, forcedColors: forced });
        await page.addInitScript(() => {
          window.violations = [];
          document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
        });
        await prepare(page);
        await page.goto(`${base}?mock=${mock}${place}`);
        await page.locator("main").waitFor();
        await check(page);
        assert.deepEqual(await page.evaluate(() => window.violations), [], "nothing is tried that the policy forbids");
        assert.deepEqual(wrongs, [], "nothing goes wrong in the console");
      } finally {
        await page.close();
      }
    },
    async stop() {
      await context.close();
      await server.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** Presses, types, clicks and waits: `j`, `type:words`, `click:selector`, `hover:selector`, `wait:selector`. */
export async function perform(page, steps) {
  for (const step of steps) {
    if (step.startsWith("type:")) await page.keyboard.type(step.slice(5));
    else if (step.startsWith("click:")) await page.locator(step.slice(6)).first().click();
    else if (step.startsWith("wait:")) await page.locator(step.slice(5)).first().waitFor();
    else if (step.startsWith("hover:")) await page.locator(step.slice(6)).first().hover();
    else await page.keyboard.press(step);
  }
}

/** Waits until the probe, run in the page, returns the wanted value. */
export async function becomes(page, probe, wanted, why) {
  const deadline = Date.now() + PATIENCE;
  let got;
  for (;;) {
    got = await page.evaluate(probe);
    try {
      assert.deepEqual(got, wanted, why);
      return;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  }
}

/** Listens from now on for words that are shown only for a moment. The returned function waits until they were shown. */
export async function listening(page, words) {
  await page.evaluate((wanted) => {
    window.heard = false;
    const listen = () => (window.heard ||= document.body.textContent.includes(wanted));
    new MutationObserver(listen).observe(document.body, { childList: true, characterData: true, subtree: true });
  }, words);
  return () => becomes(page, () => window.heard, true, `"${words}" was never said`);
}

export const title = (page) => page.locator("section.detail h1").textContent();

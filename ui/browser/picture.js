// Pictures of the window, compared pixel by pixel with those that are checked in.
//
// What differs between machines is held fast: fonts (DejaVu alone, without hints), time, time zone, language, scale,
// colour profile, motion. What is left is the browser's version: a new one may draw an edge a little differently.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

import { indexed } from "./indexed.js";
import { startBrowser } from "./window.js";

const HERE = fileURLToPath(new URL("pictures", import.meta.url));
const FONTS = join(HERE, "fonts.conf");
/** Where the actual picture and the differences are left when a picture has changed. */
export const LEFT = join(dirname(dirname(dirname(HERE))), "target/pictures");

/**
 * How far a pixel's colour may be off, as a share of the way from black to white: seven steps of 255, less than between
 * the tint of a chosen row and the ground, which is the faintest difference that says something.
 */
const SHADE = 0.03;
/**
 * How many pixels may be off. Two runs of one browser differ by none; the smallest thing that says something, the
 * check of a switch or one digit of a badge, is made of more than these.
 */
const PIXELS = 8;

/** A browser that draws the same picture on every machine. */
export async function startPainter() {
  const env = { ...process.env, FONTCONFIG_FILE: FONTS, TZ: "UTC", LANG: "C.UTF-8", LC_ALL: "C.UTF-8" };
  const families = execFileSync("fc-list", [":", "family"], { env, encoding: "utf8" });
  if (!families.includes("DejaVu Sans Mono")) throw new Error("The fonts of the pictures are needed: install the package `fonts-dejavu-core`.");
  return startBrowser({
    env,
    args: ["--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb", "--disable-skia-runtime-opts"],
    context: { deviceScaleFactor: 1, locale: "en-GB", timezoneId: "UTC", viewport: { width: 420, height: 720 } },
    // The engine of the mock host says 13:02:11, and time stands still.
    prepare: async (page) => {
      await page.clock.setFixedTime(new Date("2026-03-14T13:02:11Z"));
      // What was folded or chosen on another page.
      await page.addInitScript(() => localStorage.clear());
    },
  });
}

/** What the page looks like now. */
export async function taken(page) {
  await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });
  return PNG.sync.read(await page.screenshot({ animations: "disabled", caret: "hide", scale: "css" }));
}

/** Whether two pictures are the same to the eye: the number of pixels that are off, and those pixels in red. */
export function compared(wanted, actual) {
  if (wanted.width !== actual.width || wanted.height !== actual.height) {
    return { same: false, off: Infinity, why: `${actual.width} x ${actual.height} instead of ${wanted.width} x ${wanted.height} pixels` };
  }
  const red = new PNG({ width: wanted.width, height: wanted.height });
  // Edges count as any other pixel: what looks like smoothing to a comparer may be a badge.
  const off = pixelmatch(wanted.data, actual.data, red.data, wanted.width, wanted.height, { threshold: SHADE, includeAA: true });
  return { same: off <= PIXELS, off, why: `${off} pixels are off`, red };
}

/** Compares with the picture of this name; with VISUAL=write a changed one takes its place. */
export function check(name, actual) {
  const place = join(HERE, `${name}.png`);
  const wanted = existsSync(place) ? PNG.sync.read(readFileSync(place)) : undefined;
  const found = wanted === undefined ? { same: false, why: "there is no such picture yet" } : compared(wanted, actual);
  const left = (kind) => join(LEFT, `${name}.${kind}.png`);
  for (const kind of ["actual", "difference"]) rmSync(left(kind), { force: true });
  if (found.same) return;
  if (process.env.VISUAL === "write") {
    writeFileSync(place, small(actual));
    return;
  }
  mkdirSync(LEFT, { recursive: true });
  writeFileSync(left("actual"), PNG.sync.write(actual));
  if (found.red) writeFileSync(left("difference"), PNG.sync.write(found.red));
  throw new Error(`${name}: ${found.why}. Look at ${left("actual")}${found.red ? ` and ${left("difference")}` : ""}; if it ought to look so, run with VISUAL=write.`);
}

/** As a file: with a palette where that looks the same, which takes a third of the room. */
function small(picture) {
  const file = indexed(picture);
  return compared(PNG.sync.read(file), picture).off === 0 ? file : PNG.sync.write(picture, { colorType: 2, inputHasAlpha: true, deflateLevel: 9, filterType: -1 });
}

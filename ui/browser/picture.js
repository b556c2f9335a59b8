// Pictures of the window, compared pixel by pixel with those that are checked in.
//
// Everything that differs between machines is fixed: fonts (only DejaVu, without hints), time, time zone, language,
// scale, colour profile, motion. Only the browser's version is not: a new one may draw an edge a little differently.

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
/** Where the actual picture and the differences are stored when a picture has changed. */
export const LEFT = join(dirname(dirname(dirname(HERE))), "target/pictures");

/**
 * How far a pixel's colour may be off, as a share of the way from black to white: seven steps of 255. The faintest
 * difference with a meaning, between the tint of a chosen row and the ground, is larger.
 */
const SHADE = 0.03;
/**
 * How many pixels may be off. Two runs of one browser differ by none. The smallest detail with a meaning, the check of
 * a switch or one digit of a badge, has more pixels than this.
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
    // The mock host's engine clock stands at 13:02:11.
    prepare: async (page) => {
      await page.clock.setFixedTime(new Date("2026-03-14T13:02:11Z"));
      // Removes folded groups and recent choices of other pages.
      await page.addInitScript(() => localStorage.clear());
    },
  });
}

/** A picture of the page as it is now. */
export async function taken(page) {
  await page.evaluate(async () => {
    await document.fonts.ready;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  });
  return PNG.sync.read(await page.screenshot({ animations: "disabled", caret: "hide", scale: "css" }));
}

/** Whether two pictures look the same: the number of pixels that are off, and those pixels in red. */
export function compared(wanted, actual) {
  if (wanted.width !== actual.width || wanted.height !== actual.height) {
    return { same: false, off: Infinity, why: `${actual.width} x ${actual.height} instead of ${wanted.width} x ${wanted.height} pixels` };
  }
  const red = new PNG({ width: wanted.width, height: wanted.height });
  // Edges count like any other pixel: a badge may look like smoothing to the comparison.
  const off = pixelmatch(wanted.data, actual.data, red.data, wanted.width, wanted.height, { threshold: SHADE, includeAA: true });
  return { same: off <= PIXELS, off, why: `${off} pixels are off`, red };
}

/** Compares with the picture of this name. With VISUAL=write, a changed picture replaces it. */
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

/** The picture as a file. It has a palette if that looks the same, since that takes a third of the space. */
function small(picture) {
  const file = indexed(picture);
  return compared(PNG.sync.read(file), picture).off === 0 ? file : PNG.sync.write(picture, { colorType: 2, inputHasAlpha: true, deflateLevel: 9, filterType: -1 });
}

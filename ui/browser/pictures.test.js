// Every state of the window, as a picture. VISUAL=write makes the pictures anew: look at each before you check it in.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { check, compared, startPainter, taken } from "./picture.js";
import { still } from "./timeline.js";
import { perform } from "./window.js";

// Other systems have other fonts and draw them differently.
const skip = process.platform === "linux" ? false : "the pictures are Linux's";

let painter;
before(async () => {
  if (!skip) painter = await startPainter();
});
after(() => painter?.stop());

const OPEN = ["j", "Enter"];
/** Opens a session that asks, and waits until its card counts. */
const asks = (id) => [`click:[data-session='asks-${id}']`, "card"];
/** Opens an own session, and waits until it is attached. */
const own = (id) => [`click:[data-session='own-${id}']`, id === "pty" ? "wait:[data-terminal=live]" : "wait:[data-live]"];
const TIMELINE = "[role=region][aria-label=Timeline]";

/** A settings file with two wrong lines. */
const WRONG = () =>
  window.mockHost.config.edit({ "window.theme": "dark" }, [
    { key: "timeouts.approval", line: 4, column: 12, message: 'expected a time above zero: seconds, or a number with a unit, such as "10m"; found "soon"' },
    { line: 9, column: 1, message: "unknown setting `colour`" },
  ]);

/** Name, size, and the steps before the picture is taken. Both colour schemes, unless one is named. */
const PICTURES = {
  "roster-320": { width: 320, height: 560 },
  "roster-420": {},
  "roster-1200": { width: 1200 },
  "roster-0": { mock: "empty", height: 420, scheme: "light" },
  "roster-0-wide": { mock: "empty", width: 1200, height: 420, scheme: "dark" },
  "roster-1": { mock: "1", height: 240, scheme: "light" },
  "roster-reading": { mock: "reading", height: 300, scheme: "light" },
  "roster-2000": { mock: "2000", scheme: "light" },
  "roster-2000-end": { mock: "2000", width: 320, height: 560, scheme: "dark", steps: ["End"] },
  "long-320": { mock: "long", width: 320, height: 560, scheme: "light" },
  "long-420": { mock: "long", scheme: "dark" },
  "long-detail": { mock: "long", width: 1200, scheme: "light", steps: OPEN },
  "writing-320": { mock: "writing", width: 320, height: 480, scheme: "dark" },
  "writing-detail": { mock: "writing", width: 1200, scheme: "light", steps: OPEN },
  "hostile-detail": { mock: "hostile", width: 1200, scheme: "dark", steps: OPEN },
  "row-hover": { height: 260, scheme: "light", steps: ["hover:[data-session] >> nth=2"] },
  "row-focus": { height: 260, scheme: "dark", steps: ["j", "j"] },
  "by-project": { scheme: "light", steps: ["g", "p"] },
  folded: { height: 360, scheme: "light", steps: ["click:.list button[aria-expanded] >> nth=0"] },
  "chip-pressed": { height: 300, scheme: "light", steps: ["click:.chip"] },
  "filter-nothing": { height: 300, scheme: "dark", steps: ["/", "type:zzzz"] },
  menu: { height: 360, steps: ["click:[aria-label=Menu]"] },
  failing: { mock: "failing", height: 420 },
  unwell: { mock: "unwell", height: 240, scheme: "light" },
  compact: { mock: "compact", width: 320, height: 220 },
  detail: { width: 1200, steps: OPEN },
  "detail-narrow": { scheme: "light", steps: OPEN },
  "detail-320": { width: 320, height: 560, scheme: "dark", steps: OPEN },
  memory: { width: 1200, height: 900, steps: [...OPEN, "4", "click:[aria-label=Proposals] [data-memory]", "wait:[aria-label=Evidence]", "click:h2 button"] },
  "memory-marks": { width: 900, height: 1500, scheme: "light", steps: [...OPEN, "wait:[data-mark]"] },
  "detail-why": { width: 900, height: 480, scheme: "light", steps: [...OPEN, "click:text=Why?"] },
  "detail-menu": { width: 1200, height: 560, scheme: "dark", steps: [...OPEN, "click:button[aria-label=More]"] },
  "detail-rename": { width: 900, height: 300, scheme: "light", steps: [...OPEN, "click:button[aria-label=More]", "click:[role=menuitem]:has-text('Rename')"] },
  "detail-terminal": { width: 900, height: 480, scheme: "light", steps: [...OPEN, "f"] },
  timeline: { width: 900, height: 1000, steps: [...OPEN, "top", "click:.tool .line:has-text('CHANGELOG.md')", "click:.run:has-text('Subagent')"] },
  "timeline-end": { width: 900, height: 900, scheme: "light", steps: [...OPEN, "click:.tool .line:has-text('npm test') >> nth=0"] },
  changes: { width: 900, height: 760, steps: [...OPEN, "2", "wait:.added", "click:button:has-text('CHANGELOG.md')"] },
  "changes-notes": { width: 900, height: 600, scheme: "light", steps: [...OPEN, "2", "wait:.added", "click:[data-note] >> nth=2", "type:Why not 3.0?"] },
  "changes-320": { width: 320, height: 560, scheme: "light", steps: [...OPEN, "2", "wait:.added"] },
  "request-approval": { mock: "asking", width: 1200, steps: asks("run") },
  "request-edit": { mock: "asking", width: 1200, steps: asks("edit") },
  "request-question": { mock: "asking", width: 1200, steps: [...asks("two"), "2"] },
  "request-several": { mock: "asking", width: 900, height: 480, scheme: "dark", steps: [...asks("several"), "1", "3"] },
  "request-plan": { mock: "asking", width: 1200, steps: asks("plan") },
  "request-failed": { mock: "asking", width: 1200, steps: asks("failed") },
  "request-unknown": { mock: "asking", width: 900, height: 480, scheme: "light", steps: asks("unknown") },
  "request-long": { mock: "asking", width: 900, scheme: "light", steps: asks("long") },
  "request-320": { mock: "asking", width: 320, height: 560, scheme: "light", steps: asks("run") },
  "request-reason": { mock: "asking", scheme: "dark", steps: [...asks("edit"), "d", "type:Keep the variable as it is"] },
  "own-works": { mock: "own", width: 1200, steps: [...own("works"), "wait:[data-live=tool]"] },
  "own-works-narrow": { mock: "own", scheme: "dark", steps: [...own("works"), "wait:[data-live=tool]"] },
  "own-held": { mock: "own", width: 900, height: 480, scheme: "light", steps: [...own("held"), "i", "type:/co", "wait:[role=listbox]"] },
  "own-draft": { mock: "own", scheme: "light", steps: [...own("codex"), "i", "type:Now write the announcement: two paragraphs, no adjectives"] },
  "own-terminal": { mock: "own", width: 1200, steps: [...own("pty"), "wait:.xterm-rows > div:has-text('npm publish')", "wait:.bar:has-text('99 × 32')"] },
  "own-terminal-keys": { mock: "own", scheme: "dark", steps: [...own("pty"), "wait:.xterm-rows > div:has-text('npm publish')", "wait:.bar:has-text(' × 3')", "click:[data-terminal]"] },
  "own-ended": { mock: "own", width: 900, height: 480, scheme: "dark", steps: own("ended") },
  "own-stop": { mock: "own", width: 900, height: 480, scheme: "light", steps: [...own("works"), "click:text=Stop…"] },
  "own-new": { mock: "own", width: 900, height: 560, steps: ["N", "wait:dialog label:has(:disabled)"] },
  "own-elsewhere": { width: 900, height: 480, scheme: "dark", steps: ["j", "Enter", "3"] },
  background: { mock: "background", width: 1200, steps: OPEN },
  "background-320": { mock: "background", width: 320, height: 560, scheme: "light" },
  "background-terminal": { mock: "background", width: 900, height: 480, scheme: "light", steps: [...OPEN, "3"] },
  alerts: { width: 760, height: 480, steps: ["l", "wait:dialog li"] },
  "alerts-320": { width: 320, height: 560, scheme: "light", steps: ["l", "wait:dialog li"] },
  marked: { height: 560, steps: ["j", "v", "j", "Shift+ArrowDown", "Shift+ArrowDown"] },
  "marked-320": { width: 320, height: 480, scheme: "dark", steps: ["j", "Shift+ArrowDown"] },
  "marked-1200": { width: 1200, height: 480, scheme: "light", steps: [...OPEN, "j", "Shift+ArrowDown"] },
  join: { height: 480, scheme: "light", steps: [...OPEN, "click:button[aria-label=More]", "click:[role=menuitem]:has-text('Join with another')"] },
  palette: { height: 480, scheme: "light", steps: ["Control+k"] },
  "palette-found": { width: 1200, steps: ["Control+k", "type:publish"] },
  "palette-views": { height: 360, scheme: "light", steps: ["/", "type:project:shop", "Control+k", "type:view"] },
  help: { height: 1200, scheme: "light", steps: ["?"] },
  doctor: { height: 560, scheme: "light", steps: ["click:[title^=Health]"] },
  "doctor-unwell": { mock: "unwell", height: 640, scheme: "dark", steps: ["click:[title^=Health]"] },
  failed: { mock: "failed", height: 420, steps: ["j"] },
  "failed-detail": { mock: "failed", width: 1600, height: 480, scheme: "light", steps: OPEN },
  "failed-320": { mock: "failed", width: 320, height: 560, scheme: "dark", steps: OPEN },
  refused: { mock: "refused", height: 560 },
  "refused-320": { mock: "refused", width: 320, height: 480, scheme: "dark", steps: ["x"] },
  "refused-detail": { mock: "refused", width: 1200, steps: ["x", "click:[data-session='refused-stuck']", "wait:[data-index]"] },
  programs: { mock: "programs", height: 860, scheme: "light" },
  "programs-all": { mock: "programs", height: 860, scheme: "dark", steps: ["p", "End"] },
  superseded: { mock: "failed", height: 500, steps: ["click:[aria-label=Menu]", "click:[role=menuitemcheckbox]"] },
  "filter-counts": { width: 320, height: 300, scheme: "light", steps: ["/", "type:project:shop role:prompt"] },
  "palette-commands": { height: 360, scheme: "dark", steps: ["j", "Control+k", "type:snooze"] },
  wide: { width: 1600, height: 900, scheme: "light", steps: [...OPEN, "top"] },
  day: { width: 1200, steps: ["t", "wait:.chart .seg", "w", "w"] },
  "day-320": { width: 320, height: 560, steps: ["t", "wait:.chart .seg"] },
  "day-420": { scheme: "light", steps: ["t", "wait:.chart .seg"] },
  "day-760": { width: 760, scheme: "dark", steps: ["wait:.chart .seg"] },
  "day-1600": { width: 1600, height: 900, scheme: "light", steps: ["wait:.chart .seg"] },
  "day-near": { width: 1200, height: 560, scheme: "dark", steps: ["t", "wait:.chart .seg", "W", "+", "+", "+"] },
  "day-empty": { width: 900, height: 480, scheme: "light", steps: ["t", "wait:.chart .seg", "[", "wait:.nothing"] },
  "day-table": { width: 1200, height: 560, steps: ["t", "wait:.chart .seg", "v"] },
  "day-full": { mock: "full-day", width: 1200, scheme: "light", steps: ["wait:.chart .seg"] },
  "system-colours-day": { width: 1200, height: 560, scheme: "dark", forced: "active", steps: ["t", "wait:.chart .seg", "w"] },
  plan: { mock: "plan", width: 1200, height: 560, scheme: "light", steps: ["u", "wait:.column"] },
  "plan-320": { mock: "plan", width: 320, height: 560, scheme: "dark" },
  usage: { width: 1200, height: 900, steps: ["u", "wait:.column", "ArrowLeft", "ArrowLeft", "ArrowLeft"] },
  "usage-320": { width: 320, height: 560, scheme: "light", steps: ["u", "wait:.column"] },
  "usage-420": { scheme: "dark", steps: ["u", "wait:.column"] },
  "usage-760": { width: 760, scheme: "light", steps: ["u", "wait:.column"] },
  "usage-1600": { width: 1600, height: 900, scheme: "dark", steps: ["u", "wait:.column", "click:text=90 days", "click:text=Requests"] },
  "usage-nothing": { mock: "empty", width: 900, height: 320, scheme: "light", steps: ["u", "wait:.nothing"] },
  "system-colours-usage": { width: 1200, height: 560, scheme: "dark", forced: "active", steps: ["u", "wait:.column"] },
  unseen: { mock: "unseen", height: 420 },
  "system-colours-unseen": { mock: "unseen", height: 420, scheme: "dark", forced: "active", steps: ["j"] },
  "first-run": { mock: "first", height: 520 },
  demo: { mock: "first", height: 360, scheme: "light", steps: ["click:text=Show me a demo", "wait:[aria-label=Demo]", "wait:[data-session]"] },
  "hooks-offer": { mock: "unhooked", height: 320, scheme: "dark" },
  "hooks-change": { mock: "unhooked", height: 560, scheme: "light", steps: ["click:text=Show the change"] },
  settings: { place: "#settings", width: 640, height: 2640 },
  "settings-narrow": { place: "#settings", width: 320, height: 640, scheme: "light" },
  "settings-wrong": { place: "#settings", width: 640, height: 480, scheme: "dark", steps: ["wrong"] },
  "system-colours-detail": { width: 1200, height: 480, scheme: "dark", forced: "active", steps: OPEN },
  "system-colours": { height: 300, scheme: "dark", forced: "active", steps: ["j", "click:.chip"] },
};

for (const [name, picture] of Object.entries(PICTURES)) {
  for (const scheme of picture.scheme ? [picture.scheme] : ["light", "dark"]) {
    const file = picture.scheme ? name : `${name}-${scheme}`;
    test(file, { skip }, () => shown({ ...picture, scheme }, async (page) => check(file, await taken(page))));
  }
}

async function shown({ mock = "30", width = 420, height = 720, scheme, forced, place, steps = [] }, then) {
  await painter.withWindow({ mock, width, height, scheme, forced, place, motion: "reduce" }, async (page) => {
    await page.locator("[data-session], .empty :is(button, h2, p), .strip li, [aria-labelledby=h-timeouts] input").first().waitFor();
    for (const step of steps) {
      if (step === "top") await page.evaluate((view) => (document.querySelector(view).scrollTop = 0), TIMELINE);
      else if (step === "wrong") await page.evaluate(WRONG);
      else if (step === "card") await page.locator(".request:not([aria-busy=true])").waitFor();
      else await perform(page, [step]);
      if (!["Enter", "card"].includes(step)) continue;
      await page.locator("[role=listitem][data-index]").first().waitFor();
      // A timeline opens at its end. A click while it still moves there would miss.
      await still(page);
    }
    await then(page);
  });
}

test("no picture is left over from a state that is gone", { skip }, () => {
  const wanted = Object.entries(PICTURES).flatMap(([name, { scheme }]) => (scheme ? [name] : [`${name}-light`, `${name}-dark`]));
  const there = readdirSync(fileURLToPath(new URL("pictures", import.meta.url))).filter((file) => file.endsWith(".png"));
  assert.deepEqual(there.sort(), wanted.map((name) => `${name}.png`).sort());
});

test("the same page gives the same picture", { skip }, async () => {
  const pictures = [];
  for (let time = 0; time < 2; time += 1) await shown({ scheme: "light" }, async (page) => pictures.push(await taken(page)));
  assert.equal(compared(...pictures).off, 0);
});

/** The smallest faults that must be noticed, one at a time. */
const HARMS = {
  "a badge is gone": () => document.querySelector("[data-session] .badges > *").remove(),
  "one figure is another": () => {
    const count = document.querySelector(".chip b");
    count.textContent = String(Number(count.textContent) + 1);
  },
  "a glyph has another colour": () => (document.querySelector("[data-session] .glyph .glyph").style.color = "var(--work)"),
  "a line is one grey fainter": () => (document.querySelector("[data-session] .now").style.color = "var(--faint)"),
  "a row stands a pixel lower": () => (document.querySelector("[data-session]").style.marginTop = "1px"),
  "the mark of the chosen row is gone": () => document.querySelector("[aria-current=true]").classList.remove("selected"),
  "the health dot is gone": () => document.querySelector("[title^=Health] .dot").remove(),
};

for (const [name, harm] of Object.entries(HARMS)) {
  for (const scheme of ["light", "dark"]) {
    test(`it is noticed when ${name}, ${scheme}`, { skip }, () =>
      shown({ scheme, steps: ["j"] }, async (page) => {
        const before = await taken(page);
        await page.evaluate(harm);
        const found = compared(before, await taken(page));
        assert.equal(found.same, false, `only ${found.off} pixels are off`);
      }));
  }
}

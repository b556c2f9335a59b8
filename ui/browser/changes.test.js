// The tab Changes: which files, whose edits, which lines; read only while it is in sight.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openFirst } from "./timeline.js";
import { becomes, startBrowser } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

const lines = (page) => page.locator("pre code > span").allTextContents();

/** From now on, the looks at the repository are counted. */
function counting() {
  window.looks = 0;
  const { changes } = window.mockHost.replies;
  window.mockHost.replies.changes = (call) => ((window.looks += 1), changes(call));
}

test("by keyboard: the files of the work with their lines, then the others", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    await page.evaluate(`(${counting})()`);
    assert.equal(await page.evaluate(() => window.looks), 0, "nothing is read before the tab is opened");
    await page.keyboard.press("Control+2");
    await page.locator("section[aria-label=Changes] .line").first().waitFor();
    assert.match(await page.locator("[role=tab][aria-selected=true]").textContent(), /^Changes\s*3 files \+7 −1$/);
    assert.deepEqual(await page.locator("section[aria-label=Changes] .line code").allTextContents(), ["package.json", "CHANGELOG.md", "assets/logo.png", "src/legacy.ts"]);
    assert.match(await page.locator("h2:has-text('Changed by something else')").textContent(), /1 file$/);
    await page.locator("code:has-text('.config/api-server/settings.json')").waitFor();
    const shown = await lines(page);
    assert.deepEqual(shown.slice(0, 5), ['22   "name": "api-server",\n', '3−  "version": "2.3.4",\n', '3+  "version": "2.4.0",\n', '44   "type": "module",\n', "⋯\n"]);
    assert.deepEqual(await page.locator("pre mark").allTextContents(), ["3.4", "4.0"], "what differs in a line");
    await page.locator(".line:has-text('logo.png')").focus();
    await page.keyboard.press("Enter");
    await page.locator("text=It is no text.").waitFor();
    assert.equal(await page.evaluate(() => window.looks), 1);
    await page.click("text=Look again");
    await becomes(page, () => window.looks, 2);
    await page.keyboard.press("Control+1");
    await page.locator("[role=region][aria-label=Timeline]").waitFor();
    assert.equal(await page.evaluate(() => window.looks), 2, "nothing is read while another tab is shown");
    await page.keyboard.press("Control+2");
    await becomes(page, () => window.looks, 3);
  });
});

test("a folder without a repository says so, and is tried again", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    await page.evaluate(() => {
      window.fine = window.mockHost.replies.changes;
      window.mockHost.replies.changes = () => {
        throw { code: "not_found", message: "the folder of this session is in no git repository" };
      };
    });
    await page.keyboard.press("Control+2");
    await page.locator("text=the folder of this session is in no git repository").waitFor();
    await page.evaluate(() => (window.mockHost.replies.changes = window.fine));
    await page.click("text=Try again");
    await page.locator(".line:has-text('package.json')").waitFor();
  });
});

test("notes on lines go to the clipboard, or as one prompt to an own session", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    await openFirst(page);
    await page.keyboard.press("Control+2");
    await page.locator("[data-note]").first().focus();
    for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
    await page.locator("textarea[aria-label='Note on this line']").waitFor();
    assert.equal(await page.locator("[aria-label=Notes]").count(), 0, "an empty note is none");
    await page.keyboard.type("Why not 3.0?");
    await page.keyboard.press("Enter");
    await becomes(page, () => document.activeElement?.getAttribute("aria-label"), "Note on line 3", "the focus is back at the line");
    assert.equal(await page.locator("[aria-label=Notes] b").textContent(), "1 note");
    assert.equal(await page.locator("[aria-label=Notes] >> text=Send to the session").count(), 0, "not its own session");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.keyboard.type("taken back");
    await page.keyboard.press("Escape");
    assert.equal(await page.locator("textarea").count(), 1);
    await page.click("[aria-label=Notes] >> text=Copy");
    await becomes(page, () => window.mockHost.copied.at(-1), 'package.json:3\n> "version": "2.4.0",\nWhy not 3.0?');
    await page.keyboard.press("Control+1");
    await page.keyboard.press("Control+2");
    await page.locator("[aria-label=Notes]").waitFor();
    await page.click("[aria-label=Notes] >> text=Discard");
    await becomes(page, () => document.querySelectorAll("textarea, [aria-label=Notes]").length, 0);
  });
  await browser.withWindow({ mock: "own", width: 1200 }, async (page) => {
    await page.click("[data-session='own-works']");
    await page.locator("[data-live]").first().waitFor();
    await page.keyboard.press("Control+2");
    await page.locator("[data-note]").first().focus();
    await page.keyboard.press("Enter");
    await page.keyboard.type("Rename it.");
    await page.click("[aria-label=Notes] >> text=Send to the session");
    await becomes(page, () => window.mockHost.own.sessions.get("own-works").commands.at(-1).text, 'package.json:2\n> "name": "api-server",\nRename it.');
  });
});

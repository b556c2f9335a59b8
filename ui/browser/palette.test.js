// The palette in a real browser: sessions, commands, and the history.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import axe from "axe-core";

import { becomes, startBrowser, title } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

const WIDE = { mock: "30", width: 1200, height: 640 };

async function openPalette(page, words = "") {
  await page.locator("[data-session]").first().waitFor();
  await page.keyboard.press("Control+k");
  await page.locator("[role=combobox]").waitFor();
  if (words !== "") await page.keyboard.type(words);
}

const options = (page) => page.locator("[role=option]");
const active = () => {
  const id = document.querySelector("[role=combobox]").getAttribute("aria-activedescendant");
  const option = document.getElementById(id);
  return option?.getAttribute("aria-selected") === "true" && option.getAttribute("role") === "option";
};

/** Whether the mark is in view in the timeline. */
const foundInSight = () => {
  const view = document.querySelector("[role=region][aria-label=Timeline]")?.getBoundingClientRect();
  const mark = document.querySelector("[data-found]")?.getBoundingClientRect();
  return view !== undefined && mark !== undefined && mark.top >= view.top && mark.top < view.bottom - 20;
};

test("a work chain is forgotten only after what would be removed was shown", async () => {
  await browser.withWindow(WIDE, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("j");
    const id = await page.locator("[data-session][aria-current=true]").getAttribute("data-session");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("forget");
    await page.keyboard.press("Enter");
    const dialog = page.locator("dialog[aria-label='Forget the history']");
    await dialog.locator("text=4 prompts, 31 tool calls").waitFor();
    assert.deepEqual(await page.evaluate(() => window.mockHost.forgotten), []);
    await dialog.locator("button:has-text('Forget it')").click();
    await becomes(page, () => window.mockHost.forgotten, [id]);
    await page.locator("text=Forgotten: 1 session").first().waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("exports");
    await page.keyboard.press("Enter");
    await becomes(page, () => window.mockHost.copied, [`watchbill export ${id} --format md`]);
  });
});

test("hits appear while typing, with marked words, place and time", async () => {
  await browser.withWindow(WIDE, async (page) => {
    await openPalette(page, "snapshot");
    await options(page).filter({ has: page.locator("mark") }).first().waitFor();
    assert.deepEqual(await page.locator("dialog [role=group]").evaluateAll((groups) => groups.map((group) => document.getElementById(group.getAttribute("aria-labelledby")).textContent)), ["History"]);
    const first = options(page).first();
    assert.equal((await first.locator("mark").first().textContent()).toLowerCase(), "snapshot");
    assert.match(await first.textContent(), /Answer.*api-server.*\d\d:\d\d/s);
    await becomes(page, () => /\d+ places in the history/.test(document.querySelector("dialog [role=status]").textContent), true);
  });
});

test("the keys reach every choice, group by group too, and the field names the active one", async () => {
  await browser.withWindow(WIDE, async (page) => {
    await openPalette(page, "publish");
    await options(page).filter({ has: page.locator("mark") }).first().waitFor();
    const count = await options(page).count();
    const chosen = () => [...document.querySelectorAll("[role=option]")].findIndex((option) => option.getAttribute("aria-selected") === "true");
    assert.equal(await page.evaluate(chosen), 0);
    await page.keyboard.press("ArrowUp");
    assert.equal(await page.evaluate(chosen), count - 1, "before the first comes the last");
    await page.keyboard.press("ArrowDown");
    assert.equal(await page.evaluate(chosen), 0);
    await page.keyboard.press("PageDown");
    const second = await page.evaluate(chosen);
    assert.equal(await page.locator("dialog [role=group]").nth(1).locator("[role=option]").first().getAttribute("id"), `choice-${second}`);
    assert.equal(await page.evaluate(active), true);
    await becomes(page, () => {
      const box = document.querySelector("[role=option][aria-selected=true]").getBoundingClientRect();
      const list = document.querySelector("[role=listbox]").getBoundingClientRect();
      return box.top >= list.top - 1 && box.bottom <= list.bottom + 1;
    }, true, "the chosen one is in sight");
  });
});

test("Enter on a hit opens its session there, marked, with the focus in the timeline", async () => {
  await browser.withWindow({ ...WIDE, height: 420 }, async (page) => {
    await openPalette(page, "version minor");
    await options(page).filter({ has: page.locator("mark") }).first().waitFor();
    await page.keyboard.press("Enter");
    await becomes(page, foundInSight, true);
    assert.match(await page.locator("[data-found]").textContent(), /npm version minor/);
    assert.equal(await page.locator("[data-found] .line[aria-expanded=true]").count(), 1, "a tool is open, for the words may be inside");
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Timeline");
    assert.ok(await title(page));
  });
});

test("something that a subagent said opens at the call that started it", async () => {
  await browser.withWindow({ ...WIDE, height: 420 }, async (page) => {
    await openPalette(page, "old pager guide");
    const first = options(page).filter({ has: page.locator("mark") }).first();
    await first.waitFor();
    assert.match(await first.textContent(), /Answer, subagent/);
    await page.keyboard.press("Enter");
    await becomes(page, foundInSight, true);
    assert.match(await page.locator("[data-found]").textContent(), /old pager guide/);
    const call = page.locator("[data-index]:has([data-found])");
    assert.match(await call.textContent(), /Check the migration notes.*Subagent b2d4f6a8.*3 entries/s);
  });
});

test("a hit in the open session scrolls there as well", async () => {
  await browser.withWindow({ ...WIDE, height: 420 }, async (page) => {
    for (const [words, said] of [["version minor", /npm version minor/], ["publish --tag", /npm publish --tag latest/]]) {
      await openPalette(page, words);
      await options(page).filter({ has: page.locator("mark") }).first().click();
      await becomes(page, foundInSight, true);
      assert.match(await page.locator("[data-found]").textContent(), said);
      assert.equal(await page.locator("[data-found]").count(), 1);
    }
  });
});

test("far inside a session of 100,000 items the place is reached", async () => {
  await browser.withWindow({ ...WIDE, mock: "endless" }, async (page) => {
    await openPalette(page, "step 499");
    await options(page).filter({ has: page.locator("mark") }).first().waitFor();
    await page.keyboard.press("Enter");
    await becomes(page, foundInSight, true);
    assert.equal(await page.locator("[data-found]").locator("xpath=ancestor::*[@data-index]").getAttribute("data-index"), "499");
  });
});

test("a session that goes on keeps the found place in view", async () => {
  await browser.withWindow({ ...WIDE, height: 420 }, async (page) => {
    await openPalette(page, "version minor");
    await options(page).filter({ has: page.locator("mark") }).first().waitFor();
    await page.keyboard.press("Enter");
    await becomes(page, foundInSight, true);
    const row = await page.evaluate(() => document.querySelector("[aria-current=true]")?.dataset.session);
    await page.evaluate((sessionId) => {
      const base = { source: "watcher", agent: "claude", hasPendingToolUse: false, compactionCount: 2, segmentCount: 3, stateReason: { source: "registry", detail: "busy", confidence: "observed" }, workChainId: `chain-${sessionId}`, lastActivityAt: "2026-03-14T13:02:20.000Z", stateSince: "2026-03-14T13:02:20.000Z" };
      window.mockHost.change({ upserts: [{ ...base, sessionId, title: "Publish the 2.4 release", state: "working", status: "working", group: "working" }] });
    }, row);
    await page.locator(".state:has-text('Working')").waitFor();
    await becomes(page, foundInSight, true);
  });
});

test("filters narrow the history, and their names and values complete by keyboard", async () => {
  await browser.withWindow(WIDE, async (page) => {
    await openPalette(page, "publish ro");
    await page.locator("[role=option]:has-text('role:')").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("tool_i");
    await page.locator("[role=option]:has-text('role:tool_input')").waitFor();
    await page.keyboard.press("Enter");
    assert.equal(await page.locator("[role=combobox]").inputValue(), "publish role:tool_input ");
    await options(page).filter({ has: page.locator("mark") }).first().waitFor();
    await becomes(page, () => [...new Set([...document.querySelectorAll("[role=option] .place > :first-child")].map((one) => one.textContent))], ["Bash"]);
    assert.equal(await page.locator("dialog .filters").textContent(), "role: tool_input");
    await page.keyboard.type("since:soon");
    await page.locator("dialog p[aria-hidden]:has-text('since:soon is not a time')").waitFor();
    await page.keyboard.press("Escape");
  });
});

test("recent choices are offered first", async () => {
  await browser.withWindow(WIDE, async (page) => {
    await openPalette(page, "webhook");
    await page.keyboard.press("Enter");
    await page.locator("h1:text-is('Explain the billing webhook')").waitFor();
    await openPalette(page);
    await page.locator("[role=group]:has(:text-is('Recent')) >> text=Explain the billing webhook").waitFor();
    await page.evaluate(() => localStorage.clear());
  });
});

test("a command that opens a dialog leaves it open, and the focus comes back after it", async () => {
  await browser.withWindow(WIDE, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("j");
    const before = await page.evaluate(() => document.activeElement?.dataset?.session);
    await openPalette(page, "keyboard");
    await page.locator("[role=option][aria-selected=true]:has-text('Keyboard')").waitFor();
    await page.evaluate(() => document.querySelector("dialog").addEventListener("close", () => (window.paletteClosed = true)));
    await page.keyboard.press("Enter");
    await page.locator("dialog[aria-label=Keyboard]").waitFor();
    // The palette closes after it was removed, and must not close the dialog that replaced it.
    await becomes(page, () => window.paletteClosed, true);
    assert.equal(await page.locator("dialog[aria-label=Keyboard]").count(), 1);
    await page.keyboard.press("Escape");
    await becomes(page, () => document.activeElement?.dataset?.session, before);
    // The palette remembers recent choices.
    await page.evaluate(() => localStorage.clear());
  });
});

test("Escape closes it and gives the focus back", async () => {
  await browser.withWindow(WIDE, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("j");
    const before = await page.evaluate(() => document.activeElement?.dataset?.session);
    assert.ok(before);
    await openPalette(page, "snapshot");
    await page.keyboard.press("Escape");
    await page.locator("[role=combobox]").waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement?.dataset?.session), before);
  });
});

test("hostile text in a hit is shown as text", async () => {
  await browser.withWindow({ ...WIDE, mock: "hostile" }, async (page) => {
    await openPalette(page, "pwned");
    await options(page).filter({ has: page.locator("mark") }).first().waitFor();
    assert.equal(await page.locator("dialog :is(img, iframe, script, a)").count(), 0);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
  });
});

for (const scheme of ["light", "dark"]) {
  for (const [name, words] of [["found", "snapshot"], ["nothing found", "zzzz"]]) {
    test(`${name}, ${scheme}: axe finds nothing serious`, async () => {
      await browser.withWindow({ ...WIDE, scheme, motion: "reduce" }, async (page) => {
        await openPalette(page, words);
        await becomes(page, () => document.querySelector("dialog [role=status]").textContent !== "", true);
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        const serious = violations.filter((violation) => ["serious", "critical"].includes(violation.impact));
        assert.deepEqual(serious.map((violation) => `${violation.id}: ${violation.nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`), []);
        if (words === "zzzz") return;
        await page.keyboard.press("Enter");
        await becomes(page, foundInSight, true);
        const opened = (await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }))).violations;
        assert.deepEqual(opened.filter((violation) => ["serious", "critical"].includes(violation.impact)).map((violation) => violation.id), []);
      });
    });
  }
}

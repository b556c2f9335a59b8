// The Memory tab in a real browser: by keyboard and read aloud, and its marks in the timeline.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import axe from "axe-core";

import { becomes, startBrowser } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

const changes = "window.mockHost.memory.changes";

async function opened(check, options = {}) {
  await browser.withWindow({ mock: "everyday", width: 1100, height: 800, motion: "reduce", ...options }, async (page) => {
    await page.locator("[data-session]").first().click();
    await page.locator("[role=listitem][data-index]").first().waitFor();
    await check(page);
  });
}

async function violations(page) {
  await page.evaluate(axe.source);
  const { violations: found } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.filter(({ impact }) => ["serious", "critical"].includes(impact)).map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 160)).join(" | ")}`);
}

test("a proposal is looked at, edited and decided by keyboard; the focus stays in the list", async () => {
  await opened(async (page) => {
    await page.keyboard.press("4");
    const proposal = page.getByRole("list", { name: "Proposals" }).locator("[data-memory]");
    await proposal.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("list", { name: "Evidence" }).getByRole("button").waitFor();
    await page.keyboard.press("e");
    const line = page.getByRole("textbox", { name: "The memory in your words" });
    await line.fill("the vendor folder has lint rules of its own");
    await line.press("Enter");
    await page.getByRole("list", { name: "vendor/lint.json" }).getByText("lint rules of its own").waitFor();
    await becomes(page, `${changes}.map(({ do: what, text }) => [what, text])`, [["edit", "the vendor folder has lint rules of its own"]]);
    // Two of one list: a rejected one leaves, and its neighbour is next.
    await page.evaluate(() => window.mockHost.memory.change({ do: "add", cwd: "/x", text: "a second note" }));
    await page.keyboard.press("1");
    await page.keyboard.press("4");
    const notes = page.getByRole("list", { name: "About no file" }).locator("[data-memory]");
    await notes.nth(1).waitFor();
    await notes.nth(0).focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("r");
    await becomes(page, `${changes}.at(-1).do`, "reject");
    await becomes(page, () => document.querySelectorAll("[aria-label='About no file'] [data-memory]").length, 1);
    await becomes(page, () => document.activeElement?.closest("ul")?.getAttribute("aria-label"), "About no file", "the focus stays in the list");
  });
});

test("evidence leads to its record in the timeline", async () => {
  await opened(async (page) => {
    await page.getByRole("tab", { name: "Memory" }).click();
    const row = page.getByRole("list", { name: "CHANGELOG.md" }).locator("[data-memory]");
    await page.evaluate(() => {
      const host = window.mockHost;
      const detail = host.memory.detail.bind(host.memory);
      const id = host.rows[0].sessionId;
      host.memory.detail = async (memory) => ({ ...(await detail(memory)), evidence: [{ sessionId: id, batch: "b", byte: 9, at: "2026-03-14T12:40:00Z", times: 1, text: "here" }] });
    });
    await row.click();
    await page.getByRole("list", { name: "Evidence" }).getByRole("button").press("Enter");
    await page.locator("[data-index='9'] [data-found]").waitFor();
    assert.equal(await page.getByRole("tab", { name: "Timeline" }).getAttribute("aria-selected"), "true");
  });
});

test("the timeline shows where a memory came from and where one was said, and a mark leads to the memory", async () => {
  await opened(async (page) => {
    const said = page.locator("[data-mark=said]");
    await said.first().waitFor();
    assert.equal(await said.count(), 1, "what came too late was not said");
    assert.match(await said.textContent(), /Said to the agent: CHANGELOG.md: the user said/);
    await page.locator("[data-mark=learned]").waitFor();
    await page.locator("[data-mark=learned]").press("Enter");
    await page.getByRole("region", { name: "Memory" }).getByText("came too late").waitFor();
  }, { height: 1600 });
});

test("“Remember this” on a row takes its first words, refuses a secret, and saves what the user leaves", async () => {
  await opened(async (page) => {
    const buttons = page.getByRole("button", { name: "Remember this…" });
    await buttons.first().waitFor();
    assert.equal(await page.locator(".remember[tabindex='0']").count(), 1, "one stop for the tabulator key");
    await page.locator(".remember[tabindex='0']").focus();
    for (let left = await buttons.count(); left > 1; left -= 1) await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    const line = page.getByRole("textbox", { name: "What shall be remembered" });
    assert.match(await line.inputValue(), /^Prepare the 2.4 release/);
    await line.fill("the key is ghp_0123");
    await line.press("Enter");
    await page.getByRole("alert").getByText("secret").waitFor();
    await line.fill("a release needs a changelog");
    await line.press("Enter");
    await line.waitFor({ state: "detached" });
    await becomes(page, `${changes}.filter(({ text }) => !text.includes("ghp_")).map(({ text }) => text)`, ["a release needs a changelog"]);
  }, { height: 1600 });
});

test("what would be told is shown before it is turned on; a pause begins and ends", async () => {
  await opened(async (page) => {
    await page.keyboard.press("4");
    await page.getByText("Agents are told nothing.").waitFor();
    await page.getByRole("button", { name: "What would be told here, if it were on" }).click();
    await page.getByText("When the agent reads or changes src/version.ts").waitFor();
    assert.equal(await page.getByText("When a session starts").count(), 0, "files alone is offered first");
    await page.getByRole("button", { name: "Tell agents what is known of files…" }).click();
    await page.getByText("An agent is told what is known of the files").waitFor();
    await page.getByRole("button", { name: "Pause for an hour" }).click();
    await page.getByText("Agents are told nothing until").waitFor();
    await page.getByRole("button", { name: "End the pause" }).click();
    await page.getByRole("button", { name: "Pause for an hour" }).waitFor();
  });
});

for (const scheme of ["light", "dark"]) {
  for (const width of [360, 1100]) {
    test(`axe finds nothing serious in the memory and its marks, ${scheme}, ${width} px`, async () => {
      await opened(
        async (page) => {
          await page.locator("[data-mark]").first().waitFor();
          assert.deepEqual(await violations(page), []);
          await page.getByRole("tab", { name: "Memory" }).click();
          await page.getByRole("list", { name: "Proposals" }).locator("[data-memory]").click();
          await page.getByRole("list", { name: "Evidence" }).waitFor();
          assert.deepEqual(await violations(page), []);
          assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true, "nothing is cut off");
        },
        { scheme, width },
      );
    });
  }
}

test("the work has a summary; its hand-over is copied, or becomes the draft of a new session that only the user starts", async () => {
  await opened(async (page) => {
    await page.keyboard.press("4");
    const work = page.getByRole("region", { name: "This work" });
    await work.getByText("changed src/version.ts, CHANGELOG.md").waitFor();
    assert.deepEqual(await work.locator("dt").allTextContents(), ["Request", "Investigated", "Learned", "Completed", "Next steps"]);
    await work.getByRole("button", { name: "Hand-over", exact: true }).click();
    await page.getByRole("region", { name: "Hand-over" }).getByText("## Open ends").waitFor();
    await work.getByRole("button", { name: "Copy hand-over" }).click();
    await page.getByText("Hand-over copied").waitFor();
    await work.getByRole("button", { name: "New session with it…" }).click();
    const dialog = page.getByRole("dialog", { name: "New session" });
    assert.match(await dialog.getByRole("textbox", { name: "First prompt" }).inputValue(), /^# Hand-over\n/);
    assert.equal(await dialog.getByRole("combobox", { name: "Folder" }).inputValue(), "/home/dev/api-server");
    assert.equal(await page.evaluate(() => window.mockHost.own.started.length), 0, "nothing starts by itself");
    await dialog.getByRole("button", { name: "Start" }).click();
    await becomes(page, () => window.mockHost.own.started.map(({ cwd }) => cwd), ["/home/dev/api-server"]);
    await dialog.waitFor({ state: "detached" });
  });
});

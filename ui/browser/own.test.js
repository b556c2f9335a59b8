// Own sessions in a real browser: the live text, the box, the queue, the terminal, the start of a session.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { becomes, startBrowser } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

const own = (id) => `window.mockHost.own.sessions.get("${id}")`;
/** The commands that the host of a session got, without those that only size its terminal. */
const becomeCommands = (page, id, wanted) => becomes(page, `${own(id)}.commands.filter(({ do: what }) => what !== "resize").slice(-${wanted.length}).map(({ id, images, ...rest }) => ({ ...rest, ...(images ? { images: images.length } : {}) }))`, wanted);
const count = (page, id) => page.evaluate(`${own(id)}.commands.filter(({ do: what }) => what !== "resize").length`);
const live = () => [...document.querySelectorAll("[data-live] .what")].map((entry) => entry.innerText.replace(/\s+/g, " ").trim());
const box = (page) => page.getByRole("textbox", { name: "Prompt" });
const chips = () => [...document.querySelectorAll(".chip .text")].map((chip) => chip.textContent);

async function opened(id, check, options = {}) {
  await browser.withWindow({ mock: "own", width: 1000, height: 700, ...options }, async (page) => {
    // Drafts of other tests are not this one's.
    await page.evaluate(() => localStorage.clear());
    await page.locator(`[data-session='${id}']`).click();
    await check(page);
  });
}

test("text grows in place, and the transcript's records take its place without doubling", async () => {
  await opened("own-works", async (page) => {
    await page.locator("[data-live=tool]").first().waitFor();
    await page.evaluate(`${own("own-works")}.say("m2.0", " comes out. The end.")`);
    await page.locator("[data-live=response]:has-text('read what comes out. The end.')").waitFor();
    const before = await page.evaluate(live);
    assert.equal(before[0], "Go on: run the checks, and then publish.");
    // The agent writes its records: the prompt and the call.
    await page.evaluate(() => {
      const host = window.mockHost;
      const { timeline } = host.replies;
      const at = new Date(Date.parse("2026-03-14T13:02:11Z") + 500).toISOString();
      const more = [
        { kind: "prompt", key: "11111111000040008000000000000001.0", origin: "human", text: "Go on: run the checks, and then publish." },
        { kind: "tool", key: "b.0", id: "call-1", tool: "Read", target: "CHANGELOG.md", input: "{}", outcome: "ok", output: "## 2.4.0" },
      ];
      host.replies.timeline = ({ session: id, from, limit }) => {
        const stretch = timeline({ session: id, from, limit });
        const total = stretch.total + more.length;
        const items = more.map((item, i) => ({ ...item, at, sessionId: id, index: stretch.total + i })).filter(({ index }) => index >= stretch.from && index < stretch.from + limit);
        return { ...stretch, total, items: [...stretch.items, ...items] };
      };
      host.change({ upserts: [{ ...host.rows.find(({ sessionId }) => sessionId === "own-works") }] });
    });
    await becomes(page, live, before.slice(3), "what came after the call is still live");
    await page.locator("[data-index] :text('Go on: run the checks')").waitFor();
    assert.equal(await page.locator(":text-is('Go on: run the checks, and then publish.')").count(), 1);
  });
});

test("a prompt is sent by Enter, breaks its line by Shift-Enter, and is not sent while an input method composes", async () => {
  await opened("own-codex", async (page) => {
    await box(page).waitFor();
    await page.keyboard.press("i");
    await page.keyboard.type("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    const sent = await count(page, "own-codex");
    await box(page).evaluate((field) => {
      for (const init of [{ isComposing: true }, { keyCode: 229 }]) field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true, ...init }));
    });
    assert.equal(await count(page, "own-codex"), sent);
    await page.keyboard.press("Enter");
    await becomeCommands(page, "own-codex", [{ do: "prompt", text: "one\ntwo", when: "queue" }]);
    await becomes(page, () => document.querySelector("textarea").value, "");
    await page.locator("[data-live=prompt]:has-text('two')").waitFor();
  });
});

test("a draft outlives the window, and a refused prompt stays with the reason", async () => {
  await opened("own-codex", async (page) => {
    await box(page).fill("Port the rest");
    await page.reload();
    await page.locator("[data-session='own-codex']").click();
    await becomes(page, () => document.querySelector("textarea")?.value, "Port the rest");
    await page.evaluate(() => (window.mockHost.own.refuses = "The disk is full."));
    await box(page).press("Enter");
    await page.locator("[role=alert]:has-text('The disk is full.')").waitFor();
    assert.equal(await box(page).inputValue(), "Port the rest");
    await page.evaluate(() => (window.mockHost.own.refuses = undefined));
    await box(page).press("Enter");
    await becomes(page, () => document.querySelector("textarea").value, "");
  });
});

test("queued prompts are edited, sent now and taken out", async () => {
  await opened("own-works", async (page) => {
    await becomes(page, chips, ["Then tag it, and push the tag", "Write the announcement, two paragraphs"]);
    await page.getByRole("button", { name: "Edit the queued prompt: Then tag it" }).click();
    await becomes(page, chips, ["Write the announcement, two paragraphs"]);
    assert.equal(await box(page).inputValue(), "Then tag it, and push the tag");
    await page.getByRole("button", { name: "Edit the queued prompt: Write" }).click();
    await page.locator("[role=alert]:has-text('The box holds a draft')").waitFor();
    await box(page).press("Control+Enter");
    await becomeCommands(page, "own-works", [{ do: "unqueue" }, { do: "prompt", text: "Then tag it, and push the tag", when: "steer" }]);
    await page.getByRole("button", { name: "Send now: Write the announcement" }).click();
    await becomeCommands(page, "own-works", [{ do: "unqueue" }, { do: "prompt", text: "Write the announcement, two paragraphs", when: "now" }]);
    await page.locator("[data-live=prompt]:has-text('Write the announcement')").waitFor();
    await box(page).fill("Later");
    await box(page).press("Enter");
    await becomes(page, chips, ["Later"]);
    await page.getByRole("button", { name: "Take out of the queue: Later" }).click();
    await becomes(page, chips, []);
  });
});

test("two Escapes in the box interrupt the turn and hold the queue; Go on lets it go", async () => {
  await opened("own-works", async (page) => {
    await becomes(page, chips, ["Then tag it, and push the tag", "Write the announcement, two paragraphs"]);
    await page.keyboard.press("i");
    await page.keyboard.press("Escape");
    assert.equal(await box(page).evaluate((field) => field === document.activeElement), false);
    await page.keyboard.press("Escape");
    await becomeCommands(page, "own-works", [{ do: "interrupt" }]);
    await page.locator(".queue:has-text('Waiting, because you interrupted the turn')").waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await becomes(page, chips, ["Write the announcement, two paragraphs"]);
    await page.locator("[data-live=prompt]:has-text('Then tag it')").waitFor();
  });
});

test("a single Escape leaves the box, and the next one later closes the pane without an interrupt", async () => {
  await opened("own-held", async (page) => {
    await box(page).waitFor();
    const sent = await count(page, "own-held");
    await page.keyboard.press("i");
    for (const key of ["Escape", "Escape"]) await page.keyboard.press(key);
    await page.locator("section.detail .close").waitFor({ state: "detached" });
    assert.equal(await count(page, "own-held"), sent);
  });
});

test("a session that stopped at a limit goes on at its reset, or another agent does", async () => {
  await opened("own-codex", async (page) => {
    const until = await page.evaluate(() => {
      const host = window.mockHost;
      const row = host.rows.find(({ sessionId }) => sessionId === "own-codex");
      const limitResetsAt = new Date(Date.parse(row.stateSince) + 3_600_000).toISOString();
      host.change({ upserts: [{ ...row, stateKind: "limit", group: "needs_you", needs: "error", error: "usage limit reached", limitResetsAt }] });
      return limitResetsAt;
    });
    await page.getByRole("button", { name: "Let another agent go on…" }).click();
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".resets").getByRole("button", { name: "Go on then" }).click();
    await becomeCommands(page, "own-codex", [{ do: "go_on_at", until, text: "Go on" }]);
    await becomes(page, chips, ["Go on"]);
    assert.match(await page.locator(".queue").textContent(), /^Goes on at \d\d:\d\d:/);
    assert.equal(await page.locator(".resets").count(), 0);
    await page.getByRole("button", { name: "Go on now" }).click();
    await becomeCommands(page, "own-codex", [{ do: "release_queue" }]);
    await becomes(page, chips, []);
  });
});

test("commands are completed, mode and model are chosen", async () => {
  await opened("own-held", async (page) => {
    await box(page).fill("/co");
    const offered = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
    await offered.first().waitFor();
    assert.deepEqual(await offered.allTextContents(), ["/compact", "/context", "/cost"]);
    for (const key of ["ArrowDown", "Tab"]) await page.keyboard.press(key);
    assert.equal(await box(page).inputValue(), "/context ");
    await page.getByRole("combobox", { name: "mode", exact: true }).selectOption("plan");
    await page.getByRole("combobox", { name: "model" }).selectOption("claude-sonnet-4-5");
    await becomeCommands(page, "own-held", [{ do: "set_mode", mode: "plan" }, { do: "set_model", model: "claude-sonnet-4-5" }]);
    await becomes(page, () => [...document.querySelectorAll(".under select")].map(({ value }) => value), ["plan", "claude-sonnet-4-5"]);
  });
});

test("a picture is pasted, shown and sent; another file is refused", async () => {
  await opened("own-held", async (page) => {
    await box(page).waitFor();
    const paste = (name, type) =>
      box(page).evaluate(
        (field, { name, type }) => {
          const data = new DataTransfer();
          data.items.add(new File([Uint8Array.from(atob("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="), (c) => c.charCodeAt(0))], name, { type }));
          field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        },
        { name, type },
      );
    await paste("notes.pdf", "application/pdf");
    await page.locator("[role=alert]:has-text('notes.pdf is not a PNG')").waitFor();
    await paste("dot.png", "image/png");
    await page.getByRole("img", { name: "Picture 1" }).waitFor();
    await box(page).press("Enter");
    await becomeCommands(page, "own-held", [{ do: "prompt", text: "", when: "queue", images: 1 }]);
  });
});

test("a terminal gets keys after Enter only, all of them, and gives them back", async () => {
  await opened("own-pty", async (page) => {
    await page.locator("[data-terminal=live] .xterm-rows:has-text('npm publish')").waitFor();
    const frame = page.getByRole("region", { name: "Terminal" });
    await frame.focus();
    await page.keyboard.type("x");
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Terminal, it has the keys" }).waitFor();
    await page.keyboard.type("jn?1");
    await page.keyboard.press("Escape");
    await page.keyboard.press("ArrowUp");
    await becomes(
      page,
      `${own("own-pty")}.commands.filter(({ do: what }) => what === "type").map(({ bytes }) => atob(bytes)).join("")`,
      "jn?1\u001b\u001b[A",
    );
    await page.keyboard.press("Control+Shift+Escape");
    await becomes(page, () => document.activeElement?.getAttribute("aria-label"), "Terminal");
    await page.keyboard.type("z");
    await page.keyboard.press("1");
    await page.locator("[data-terminal]").waitFor({ state: "detached" });
    const typed = await page.evaluate(`${own("own-pty")}.commands.filter(({ do: what }) => what === "type").map(({ bytes }) => atob(bytes)).join("")`);
    assert.equal(typed, "jn?1\u001b\u001b[A", "what came after that is not typed");
  });
});

test("attaching fifty times types nothing into the terminal", async () => {
  await opened("own-pty", async (page) => {
    await page.locator("[data-terminal=live] .xterm-rows").waitFor();
    await page.evaluate(`${own("own-pty")}.screen = "\\x1b[c\\x1b[6n\\x1b[>q\\x1b]11;?\\x07\\x1b[?1004h" + ${own("own-pty")}.screen`);
    for (let time = 0; time < 50; time += 1) {
      await page.keyboard.press("Control+1");
      await page.keyboard.press("Control+3");
      await page.locator("[data-terminal=live] .xterm-rows:has-text('npm publish')").waitFor();
    }
    await page.locator("[data-terminal]").click();
    await page.getByRole("region", { name: "Terminal, it has the keys" }).waitFor();
    await page.evaluate(`${own("own-pty")}.output("\\x1b[c\\x1b[6nlast")`);
    await page.locator(".xterm-rows:has-text('last')").waitFor();
    const typed = await page.evaluate(`${own("own-pty")}.commands.filter(({ do: what }) => what === "type").map(({ bytes }) => atob(bytes)).join("")`);
    // A program that asked for it is told that its terminal has the focus.
    assert.equal(typed.replaceAll("\u001b[I", ""), "");
  });
});

test("a paste of several lines is shown first; one line goes at once", async () => {
  await opened("own-pty", async (page) => {
    await page.locator("[data-terminal=live] .xterm-rows:has-text('npm publish')").waitFor();
    await page.locator("[data-terminal]").click();
    const paste = (text) =>
      page.evaluate((text) => {
        const data = new DataTransfer();
        data.setData("text/plain", text);
        document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
      }, text);
    await page.getByRole("region", { name: "Terminal, it has the keys" }).waitFor();
    await paste("ls -la");
    await becomeCommands(page, "own-pty", [{ do: "paste", text: "ls -la", enter: false }]);
    await paste("ls\u001b[201~id\nrm x");
    await page.getByRole("dialog").waitFor();
    assert.match(await page.getByRole("dialog").textContent(), /Paste 2 lines.*ls⟨U\+001B⟩\[201~id/);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await count(page, "own-pty"), 1);
    await page.getByRole("region", { name: "Terminal, it has the keys" }).waitFor();
    await paste("a\nb");
    await page.getByRole("button", { name: "Paste" }).click();
    await becomeCommands(page, "own-pty", [{ do: "paste", text: "ls -la", enter: false }, { do: "paste", text: "a\nb", enter: false }]);
  });
});

test("the terminal takes the colours of another theme at once", async () => {
  await opened("own-pty", async (page) => {
    await page.locator("[data-terminal=live] .xterm-rows:has-text('npm publish')").waitFor();
    const dark = () => getComputedStyle(document.querySelector(".xterm-rows")).color.match(/\d+/g).slice(0, 3).every((part) => Number(part) > 150);
    for (const [theme, is] of [["dark", true], ["light", false], ["dark", true]]) {
      await page.evaluate((theme) => (document.documentElement.dataset.theme = theme), theme);
      await becomes(page, dark, is);
    }
  });
});

test("the size of the pane becomes the terminal's, once", async () => {
  await opened("own-pty", async (page) => {
    await page.locator("[data-terminal=live] .xterm-rows:has-text('npm publish')").waitFor();
    const sizes = `${own("own-pty")}.commands.filter(({ do: what }) => what === "resize").map(({ size }) => size.cols)`;
    await becomes(page, `${sizes}.length`, 1);
    await page.setViewportSize({ width: 1200, height: 700 });
    await becomes(page, `${sizes}.length`, 2);
    const [first, second] = await page.evaluate(sizes);
    assert.ok(second > first, `${first} columns, then ${second}`);
  });
});

test("a link shows its target, opens with Ctrl alone, and only as a web address", async () => {
  await opened("own-pty", async (page) => {
    await page.locator("[data-terminal=live] .xterm-rows:has-text('npm publish')").waitFor();
    await becomes(page, `${own("own-pty")}.commands.filter(({ do: what }) => what === "resize").length`, 1);
    const line = page.locator(".xterm-rows > div", { hasText: "see https" });
    const { x, y, height } = await line.boundingBox();
    const at = [x + 130, y + height / 2];
    await page.mouse.move(...at);
    await page.locator(".bar:has-text('Ctrl-click opens https://example.com/releases')").waitFor();
    await page.mouse.click(...at);
    assert.deepEqual(await page.evaluate(() => window.mockHost.own.links), []);
    await page.keyboard.down("Control");
    await page.mouse.click(...at);
    await page.keyboard.up("Control");
    await becomes(page, () => window.mockHost.own.links, ["https://example.com/releases"]);
  });
});

test("a double click starts one session, which opens with its first prompt", async () => {
  await browser.withWindow({ mock: "own", width: 1000, height: 700 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("Shift+N");
    await page.getByRole("dialog", { name: "New session" }).waitFor();
    await becomes(page, () => document.querySelector("dialog input[type=text]").value, "/home/dev/api-server");
    await page.getByRole("textbox", { name: "First prompt" }).fill("Explain the build");
    await page.getByRole("button", { name: "Start" }).dblclick();
    await page.locator("h1:has-text('New session')").waitFor();
    await page.locator("[data-live=prompt]:has-text('Explain the build')").waitFor();
    assert.deepEqual(await page.evaluate(() => window.mockHost.own.started.map(({ agent, kind, cwd }) => [agent, kind, cwd])), [["claude", "stream", "/home/dev/api-server"]]);
  });
});

test("another agent goes on with a session, after the user has seen what it is told", async () => {
  await opened("own-held", async (page) => {
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Go on with…" }).click();
    const dialog = page.getByRole("dialog", { name: "Go on with another agent" });
    await dialog.getByText("The agent is told what was said, 1 kB").click();
    await dialog.locator("pre:has-text('It retries five times.')").waitFor();
    await dialog.getByText("The session is stopped first").waitFor();
    assert.equal(await dialog.getByRole("radio", { name: "Codex" }).isChecked(), true);
    await dialog.getByRole("textbox", { name: "First prompt" }).fill("Go on in Rust");
    await dialog.getByRole("button", { name: "Start" }).dblclick();
    await page.locator("[data-live=prompt]:has-text('Go on in Rust')").waitFor();
    assert.equal(await page.locator("[data-live=prompt]:has-text('retries')").count(), 0);
    assert.deepEqual(await page.evaluate(() => window.mockHost.own.started.map(({ agent, switched }) => [agent, switched.session])), [["codex", "own-held"]]);
    await page.locator("[data-session=own-held]").waitFor({ state: "detached" });
  });
});

test("a start that fails stays in the dialog with the reason, and the next try is the same session", async () => {
  await browser.withWindow({ mock: "own", width: 1000, height: 700 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("Shift+N");
    await page.getByLabel("Folder").fill("here");
    await page.keyboard.press("Enter");
    await page.locator("dialog [role=alert]:has-text('whole path')").waitFor();
    await page.getByLabel("Folder").fill("/home/dev/shop");
    await page.evaluate(() => (window.mockHost.own.refuses = "The program claude was not found."));
    await page.keyboard.press("Enter");
    await page.locator("dialog [role=alert]:has-text('was not found')").waitFor();
    await page.evaluate(() => (window.mockHost.own.refuses = undefined));
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => window.mockHost.own.started.length), 1);
  });
});

test("Stop asks first, says what goes, and then the session says how it ended and can go on", async () => {
  await opened("own-works", async (page) => {
    await becomes(page, chips, ["Then tag it, and push the tag", "Write the announcement, two paragraphs"]);
    await page.getByRole("button", { name: "Stop…" }).click();
    await page.getByRole("dialog", { name: "Stop the session" }).waitFor();
    assert.match(await page.getByRole("dialog").textContent(), /the running turn, 2 queued prompts/);
    await page.getByRole("button", { name: "Stop it" }).click();
    await page.locator(".state:has-text('You ended it, at 13:02')").waitFor();
    assert.equal(await box(page).count(), 0);
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await becomes(page, () => window.mockHost.own.resumed.map(({ sessionId, fork }) => [sessionId, fork]), [["own-works", false]]);
    await box(page).waitFor();
  });
});

test("a host that dies without a word ends the session, and a lost connection is tried again on demand", async () => {
  await opened("own-held", async (page) => {
    await box(page).waitFor();
    await page.evaluate(`${own("own-held")}.die("the connection was reset")`);
    await page.locator(".state.bad:has-text('the connection was reset')").waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.locator(".state:has-text('It ended unexpectedly, at 13:02 or later')").waitFor();
  });
});

test("a session that was started elsewhere says where its terminal is", async () => {
  await browser.withWindow({ mock: "30", width: 1000, height: 700 }, async (page) => {
    await page.locator("[data-session]").first().click();
    await page.keyboard.press("3");
    await page.locator(".elsewhere h2").waitFor();
    await page.keyboard.press("1");
    await page.locator(".elsewhere").waitFor({ state: "detached" });
    await page.keyboard.press("i");
    await page.locator("text=This session takes no prompts here").waitFor();
  });
});

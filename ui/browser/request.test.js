// The card of a request in a real browser: when its keys count, what scrolls, and where the focus stays.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { becomes, startBrowser } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

const READY = ".request:not([aria-busy=true])";
const body = () => document.querySelector("[role=region][aria-label='What is asked']");
const answers = (page) => page.evaluate(() => window.mockHost.answers.map(({ requestId, decision }) => ({ requestId, ...decision })));
const becomeAnswers = (page, wanted) => becomes(page, () => window.mockHost.answers.map(({ decision }) => decision), wanted);

async function withCard(id, check, size = { width: 1000, height: 700 }) {
  await browser.withWindow({ mock: "asking", ...size }, async (page) => {
    await page.locator(`[data-session='${id}']`).click();
    await page.locator(READY).waitFor();
    await check(page);
  });
}

/** Gives the open session another request, and presses keys in the same moment. */
function replaced(page, id, keys) {
  return page.evaluate(
    async ({ id, keys }) => {
      const { mockHost } = window;
      const session = mockHost.rows.find((row) => row.sessionId === "asks-run");
      const begun = performance.now();
      mockHost.change({ upserts: [{ ...session, request: { ...session.request, id, digest: id, shown: `echo ${id}` } }] });
      await new Promise((done) => setTimeout(done, 0));
      for (const key of keys) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
      for (const button of document.querySelectorAll(".request .button.primary")) button.click();
      while (document.querySelector(".request").getAttribute("aria-busy") === "true") await new Promise((done) => requestAnimationFrame(done));
      return performance.now() - begun;
    },
    { id, keys },
  );
}

test("keys and buttons do not count until the card was in sight for 400 ms, and then answer that card", async () => {
  await withCard("asks-run", async (page) => {
    const took = await replaced(page, "second", ["a"]);
    assert.ok(took >= 399, `it was ready after ${took} ms`);
    assert.deepEqual(await answers(page), []);
    await page.keyboard.press("a");
    await becomes(page, () => window.mockHost.answers.map(({ requestId, seen }) => `${requestId} ${seen}`), ["second second"]);
  });
});

test("after Allow the buttons give way to the time, and the card goes when the session goes on", async () => {
  await withCard("asks-run", async (page) => {
    await page.evaluate(() => (window.mockHost.effectAfter = 1500));
    await page.keyboard.press("a");
    await page.locator(".request .sent").waitFor();
    assert.match(await page.locator(".request .sent").textContent(), /^Allowed, \d\d:\d\d:\d\d$/);
    assert.equal(await page.locator(".request button").count(), 0);
    await page.keyboard.press("a");
    await page.locator(".request").waitFor({ state: "detached" });
    assert.equal((await answers(page)).length, 1);
  });
});

test("Shift-A allows always; a held key does nothing", async () => {
  await withCard("asks-run", async (page) => {
    await page.evaluate(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", repeat: true, bubbles: true })));
    await page.keyboard.press("Shift+A");
    await becomeAnswers(page, [{ do: "allow_always" }]);
  });
});

test("Allow waits for the end of a long text; Deny does not", async () => {
  await withCard("asks-long", async (page) => {
    await page.locator("text=Scroll to the end first").waitFor();
    await page.keyboard.press("a");
    await page.locator(".request .button.primary").dispatchEvent("click");
    assert.deepEqual(await answers(page), []);
    await page.evaluate(`(${body})().scrollTop = 1e6`);
    await page.locator("text=Scroll to the end first").waitFor({ state: "detached" });
    await page.evaluate(`(${body})().scrollTop = 0`);
    await page.keyboard.press("a");
    await becomeAnswers(page, [{ do: "allow" }]);
  });
});

test("the end of a very long text is not in sight until all of it is shown", async () => {
  await withCard("asks-run", async (page) => {
    await page.evaluate(() => {
      const session = window.mockHost.rows.find((row) => row.sessionId === "asks-run");
      window.mockHost.change({ upserts: [{ ...session, request: { ...session.request, id: "long", digest: "long", shown: "x ".repeat(15_000) } }] });
    });
    await page.locator("[data-more]").waitFor();
    await page.evaluate(`(${body})().scrollTop = 1e6`);
    await page.locator(READY).waitFor();
    await page.keyboard.press("a");
    await page.locator("[data-more]").click();
    await page.evaluate(`(${body})().scrollTop = 1e6`);
    await page.locator("text=Scroll to the end first").waitFor({ state: "detached" });
    assert.deepEqual(await answers(page), []);
  });
});

test("letters in a text field are no answers; Escape takes the line back, Enter sends it", async () => {
  await withCard("asks-run", async (page) => {
    await page.keyboard.press("d");
    await page.keyboard.type("a and d");
    await page.keyboard.press("Escape");
    await page.locator(".request input").waitFor({ state: "detached" });
    await page.locator("section.detail h1").waitFor();
    assert.deepEqual(await answers(page), []);
    await page.keyboard.press("d");
    await page.keyboard.type("use npm pack");
    await page.keyboard.press("Enter");
    await becomeAnswers(page, [{ do: "deny", reason: "use npm pack" }]);
  });
});

test("while the user types a reason, the next request waits, and the reason does not go to it", async () => {
  await withCard("asks-run", async (page) => {
    await page.keyboard.press("d");
    await page.keyboard.type("bad");
    await page.evaluate(() => {
      const session = window.mockHost.rows.find((row) => row.sessionId === "asks-run");
      window.mockHost.change({ upserts: [{ ...session, request: { ...session.request, id: "second", digest: "second", shown: "echo second" } }] });
    });
    await page.locator("text=Answered in its terminal. Esc leaves this line.").waitFor();
    await page.keyboard.type(" idea");
    await page.keyboard.press("Enter");
    assert.equal(await page.locator(".request input").inputValue(), "bad idea");
    await page.keyboard.press("Escape");
    await page.locator(".request pre:has-text('echo second')").waitFor();
    assert.deepEqual(await answers(page), []);
  });
});

test("keys mean nothing to the card in the filter, below a dialog, and for a session that is not open", async () => {
  await withCard("asks-run", async (page) => {
    await page.keyboard.press("/");
    await page.keyboard.type("ad1");
    await page.keyboard.press("Escape");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("a");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.locator(READY).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.locator("section.detail .close").click();
    await page.locator(".request").waitFor({ state: "detached" });
    await page.keyboard.press("a");
    assert.deepEqual(await answers(page), []);
  });
});

test("a number chooses, another replaces it, and Enter answers", async () => {
  await withCard("asks-one", async (page) => {
    await page.keyboard.press("a");
    await page.keyboard.press("Enter");
    await page.keyboard.press("3");
    await page.keyboard.press("2");
    await page.locator("label:has(:checked):has-text('volatile-ttl')").waitFor();
    assert.deepEqual(await answers(page), []);
    await page.keyboard.press("Enter");
    await becomeAnswers(page, [{ do: "choose", answers: [{ options: [1] }] }]);
  });
});

test("several options are toggled by numbers and Space, also with the focus on one", async () => {
  await withCard("asks-several", async (page) => {
    for (const key of ["1", "3", "Space", "2"]) await page.keyboard.press(key);
    await becomes(page, () => [...document.querySelectorAll(".options label")].map((label) => label.querySelector("input").checked), [true, true, false]);
    await page.locator(".options [type=checkbox]").nth(2).focus();
    await page.keyboard.press("Space");
    await page.keyboard.press("1");
    await page.keyboard.press("Enter");
    await becomeAnswers(page, [{ do: "choose", answers: [{ options: [1, 2] }] }]);
  });
});

test("each of several questions is answered, one in the user's own words", async () => {
  await withCard("asks-two", async (page) => {
    await page.locator(".when:has-text('question 1 of 2')").waitFor();
    await page.locator(".own").fill("use two caches");
    await page.keyboard.press("Enter");
    await page.locator(".when:has-text('question 2 of 2')").waitFor();
    await page.keyboard.press("1");
    await page.keyboard.press("Enter");
    await becomeAnswers(page, [{ do: "choose", answers: [{ text: "use two caches" }, { options: [0] }] }]);
  });
});

test("a plan is approved with or without edits, and a request of unknown shape only leads to its terminal", async () => {
  await withCard("asks-plan", async (page) => {
    await page.keyboard.press("Shift+A");
    await becomeAnswers(page, [{ do: "allow_always" }]);
  });
  await withCard("asks-unknown", async (page) => {
    for (const key of ["a", "A", "d", "1", "Enter"]) await page.keyboard.press(key);
    await page.locator(".request .button.primary:has-text('Focus terminal')").click();
    await becomes(page, () => window.mockHost.focused, ["asks-unknown"]);
    assert.deepEqual(await answers(page), []);
  });
});

test("a refusal stays on the card, with its buttons", async () => {
  await withCard("asks-run", async (page) => {
    await page.evaluate(() => (window.mockHost.replies.answer = () => Promise.reject({ code: "conflict", message: "it was answered already" })));
    await page.keyboard.press("a");
    await page.locator(".request .said:has-text('Not sent: it was answered already. Try again, or answer in its terminal.')").waitFor();
    await page.locator(".request .button.primary:has-text('Allow')").waitFor();
  });
});

test("an answer in the terminal is said, then the card is gone; the focus stays where it was", async () => {
  await withCard("asks-run", async (page) => {
    await page.locator("[data-session='asks-edit']").focus();
    await page.evaluate(() => {
      const { request, stateKind, needs, ...session } = window.mockHost.rows.find((row) => row.sessionId === "asks-run");
      window.mockHost.change({ upserts: [{ ...session, state: "working", group: "working", status: "working" }] });
    });
    await page.locator("section.detail >> text=Answered in its terminal").waitFor();
    await page.locator("section.detail >> text=Answered in its terminal").waitFor({ state: "detached" });
    assert.equal(await page.evaluate(() => document.activeElement.dataset.session), "asks-edit");
  });
});

test("the card and its outcome are announced once", async () => {
  await browser.withWindow({ mock: "asking", width: 1000 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.evaluate(() => {
      window.spoken = [];
      const listen = (changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach((node) => node.textContent && window.spoken.push(node.textContent)));
      for (const region of document.querySelectorAll("[role=status]")) new MutationObserver(listen).observe(region, { childList: true, subtree: true });
    });
    await page.locator("[data-session='asks-run']").click();
    await page.locator(READY).waitFor();
    await page.evaluate(() => window.mockHost.change({ upserts: [{ ...window.mockHost.rows.find((row) => row.sessionId === "asks-run") }] }));
    await page.keyboard.press("a");
    await becomes(page, () => window.spoken, ["Publish the 2.4 release wants to run npm publish --tag latest --access public, a allows, d denies.", "Allowed."]);
  });
});

test("the card takes at most 55 % of the pane, its buttons are in sight, and no text is cut at its side", async () => {
  for (const size of [{ width: 1000, height: 700 }, { width: 420, height: 720 }, { width: 320, height: 560 }]) {
    for (const id of ["asks-long", "asks-edit", "asks-two"]) {
      await withCard(
        id,
        async (page) => {
          const found = await page.evaluate(() => {
            const pane = document.querySelector("section.detail").getBoundingClientRect();
            const card = document.querySelector(".request").getBoundingClientRect();
            const buttons = [...document.querySelectorAll(".request .answers button")].map((button) => button.getBoundingClientRect());
            const wide = [...document.querySelectorAll(".request, .request *")].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline");
            return { share: card.height / pane.height, below: buttons.filter(({ bottom }) => bottom > card.bottom || bottom > innerHeight).length, wide: wide.map((one) => one.className) };
          });
          assert.ok(found.share <= 0.551, `${id} at ${size.width}: ${found.share}`);
          assert.deepEqual([found.below, found.wide], [0, []], `${id} at ${size.width}`);
        },
        size,
      );
    }
  }
});

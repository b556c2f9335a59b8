// The roster in a real browser.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { becomes, listening, startBrowser, title } from "./window.js";

let browser;
before(async () => (browser = await startBrowser()));
after(() => browser.stop());

const rows = () => document.querySelectorAll("[data-session]").length;

for (const [count, drawn] of [
  [0, 0],
  [1, 1],
  [30, 30],
]) {
  test(`${count} sessions are shown`, async () => {
    await browser.withWindow({ mock: count, height: 2200 }, async (page) => {
      await becomes(page, rows, drawn, "every row is drawn in a tall window");
      assert.equal(await page.locator("text=Nothing is going on").count(), count === 0 ? 1 : 0);
    });
  });
}

test("the first run explains itself in steps, installs hooks after their change was shown, and leads into the demo and back", async () => {
  await browser.withWindow({ mock: "first" }, async (page) => {
    const steps = page.locator(".empty li");
    await becomes(page, () => document.querySelectorAll(".empty li").length, 3);
    assert.equal(await page.locator(".empty .primary").count(), 1, "one button is the primary one");
    await page.locator(".empty .primary").click();
    await page.locator("dialog [aria-label^='Change of']").waitFor();
    assert.deepEqual(await page.evaluate(() => window.mockHost.hooks.done), []);
    await page.locator("dialog button:has-text('Install')").last().click();
    await becomes(page, () => window.mockHost.hooks.done, ["install"]);
    await steps.locator("text=They are installed.").waitFor();
    await page.locator("text=Show me a demo").click();
    await page.locator("[data-session]").first().waitFor();
    await page.locator("aside[aria-label=Demo] button").click();
    await steps.first().waitFor();
    assert.equal(await page.locator("aside[aria-label=Demo]").count(), 0);
  });
});

test("2,000 sessions draw only what is in sight, and the last is a key away", async () => {
  await browser.withWindow({ mock: 2000 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    assert.ok((await page.evaluate(rows)) < 40, "rows out of sight are not drawn");
    await page.keyboard.press("End");
    const last = page.locator("[data-session][aria-current=true]");
    await last.waitFor();
    const box = await last.boundingBox();
    assert.ok(box.y + box.height <= 720, "the last row is in sight");
    assert.ok((await page.evaluate(rows)) < 40);
  });
});

test("memory does not grow with the number of changes", async () => {
  await browser.withWindow({ mock: 2000, width: 1200 }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await title(page);
    const session = await page.context().newCDPSession(page);
    const held = async () => {
      for (let i = 0; i < 3; i += 1) await session.send("HeapProfiler.collectGarbage");
      const { nodes, jsEventListeners: listeners } = await session.send("Memory.getDOMCounters");
      return { bytes: (await session.send("Runtime.getHeapUsage")).usedSize, nodes, listeners };
    };
    // One row after the other, in view and out of view: changed in place, and moved to the top of the list.
    const pour = (changes) =>
      page.evaluate(async (changes) => {
        const { rows } = window.mockHost;
        window.base ??= window.mockHost.revision;
        for (let i = 0; i < changes; i += 1) {
          const at = (window.base * 7919) % rows.length;
          const row = { ...rows[at], hasPendingToolUse: true, pendingTool: { tool: "Bash", target: `make check-${window.base}` } };
          const upserts = [{ index: i % 4 === 0 ? 0 : at, session: row }];
          window.mockHost.send({ type: "delta", base: window.base, revision: ++window.base, generatedAt: new Date().toISOString(), upserts, removals: [], reading: false });
          if (i % 25 === 24) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        }
      }, changes);
    // After these, everything that is compiled and cached on the way is there. On a busy machine it is later; what leaks grows each time.
    await pour(5000);
    let [before, after] = [await held(), await held()];
    for (let round = 0; round === 0 || (round < 3 && after.bytes - before.bytes >= 500_000); round += 1) {
      before = await held();
      await pour(10_000);
      after = await held();
    }
    assert.ok(after.bytes - before.bytes < 500_000, `${after.bytes - before.bytes} bytes stay of 10,000 changes; one row of each would be ten times as much`);
    assert.ok(after.nodes - before.nodes < 500 && after.listeners - before.listeners < 20, JSON.stringify({ before, after }));
    await becomes(page, () => performance.getEntriesByName("roster gap").length, 0);
  });
});

test("refused calls are a list of their own, and a key copies the rule", async () => {
  await browser.withWindow({ mock: "refused", width: 1200, height: 1200 }, async (page) => {
    const all = 12;
    await becomes(page, rows, all);
    await page.keyboard.press("x");
    await becomes(page, rows, 2);
    await page.keyboard.press("j");
    await page.keyboard.press("r");
    await becomes(page, () => window.mockHost.copied, ["Bash(git push origin main)"]);
    await page.getByText(/^Copied: Bash\(git push origin main\)\. It belongs in permissions\.allow in /).waitFor();
    await page.keyboard.press("Escape");
    await becomes(page, rows, all, "Escape ends the view as it ends a filter");
  });
});

test("the runs of a program are one row until they are asked for", async () => {
  await browser.withWindow({ mock: "programs", height: 2200 }, async (page) => {
    const reviews = () => [...document.querySelectorAll("[data-session]")].filter((row) => row.textContent.includes("Review the staged changes")).length;
    await becomes(page, reviews, 1);
    await page.getByText("9 runs, 2 failed · sdk-cli").click();
    await becomes(page, reviews, 9, "a click shows each");
    await page.keyboard.press("p");
    await becomes(page, reviews, 1);
  });
});

test("the empty window offers the demo, and the demo fills it", async () => {
  await browser.withWindow({ mock: "empty" }, async (page) => {
    await page.click("text=Show me a demo");
    await becomes(page, rows, 10);
  });
});

test("a failure says what happened and offers another try", async () => {
  await browser.withWindow({ mock: "failing" }, async (page) => {
    await page.locator("text=could not be read: permission denied").waitFor();
    await page.click("text=Try again");
    await page.locator("text=could not be read: permission denied").waitFor();
  });
});

test("the end of the engine is shown above the old rows, and another try finds it again", async () => {
  await browser.withWindow({ mock: 30, height: 2200 }, async (page) => {
    await becomes(page, rows, 30);
    await page.evaluate(() => window.mockHost.send({ type: "stopped" }));
    const told = page.locator("[role=alert]", { hasText: "has stopped watching" });
    await told.waitFor();
    assert.equal(await page.evaluate(rows), 30, "the old rows stay readable");
    await told.locator("text=Try again").click();
    await told.waitFor({ state: "detached" });
    await becomes(page, rows, 30);
  });
});

test("without active sessions the older ones are one click away", async () => {
  await browser.withWindow({ mock: "empty" }, async (page) => {
    const older = page.locator("text=Show older sessions");
    await older.waitFor();
    assert.equal(await page.locator("text=No sessions yet").count(), 0, "older ones have not been asked for yet");
    await older.click();
    await older.waitFor({ state: "detached" });
    await page.locator("text=No sessions yet").waitFor();
  });
});

test("a row shows the session's request even with long names and many badges", async () => {
  for (const width of [320, 420]) {
    await browser.withWindow({ mock: "long", width }, async (page) => {
      const narrowest = await page.locator("[data-session] .now.need").evaluateAll((all) => Math.min(...all.map((now) => now.clientWidth)));
      assert.ok(narrowest >= 80, `${narrowest} px at ${width}`);
    });
  }
});

for (const mock of ["30", "long", "writing", "hostile", "2000", "empty"]) {
  for (const width of [320, 420, 760, 1200]) {
    test(`${mock} fits ${width} px`, async () => {
      await browser.withWindow({ mock, width }, async (page) => {
        await page.locator("main").waitFor();
        const layout = () => ({
          overflow: document.scrollingElement.scrollWidth - innerWidth,
          heights: [...new Set([...document.querySelectorAll("[data-session]")].map((row) => row.getBoundingClientRect().height))],
          spilled: [...document.querySelectorAll("[data-session]")].filter((row) => row.scrollWidth > row.clientWidth + 1).length,
          chipLines: new Set([...document.querySelectorAll(".chip")].map((chip) => Math.round(chip.getBoundingClientRect().top))).size,
        });
        await becomes(page, layout, { overflow: 0, heights: mock === "empty" ? [] : [52], spilled: 0, chipLines: 1 });
      });
    });
  }
}

test("everything works by keyboard", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    const { keyboard } = page;
    await page.locator("[data-session]").first().waitFor();
    await keyboard.press("j");
    await keyboard.press("Enter");
    assert.equal(await title(page), "Publish the 2.4 release");
    await keyboard.press("ArrowDown");
    await page.locator("h1:text-is('Migrate sessions to Redis')").waitFor();
    await keyboard.press("n");
    await page.locator("h1:text-is('Split the billing module')").waitFor();
    await keyboard.press("n");
    await page.locator("h1:text-is('Publish the 2.4 release')").waitFor();
    await keyboard.press("c");
    await becomes(page, () => window.mockHost.copied, ["cd /home/dev/api-server && claude --resume 3f6a1c52-0b7e-4a55-9d1e-6a2f4c1b8e90"]);
    await keyboard.press("o");
    await becomes(page, () => window.mockHost.opened.length, 1);
    await keyboard.press("g");
    await keyboard.press("w");
    await page.locator("h1:text-is('Fix flaky scheduler tests')").waitFor();
    await keyboard.press("g");
    await keyboard.press("i");
    await page.locator("h1:text-is('Set up the devcontainer')").waitFor();
    await keyboard.press("Escape");
    await becomes(page, () => document.querySelectorAll("section.detail h1").length, 0);
    await keyboard.press("/");
    await keyboard.type("redis");
    await becomes(page, rows, 1);
    await keyboard.press("Enter");
    await page.locator("h1:text-is('Migrate sessions to Redis')").waitFor();
    await keyboard.press("Escape");
    await keyboard.press("Escape");
    await page.locator("main >> text=Publish the 2.4 release").waitFor();
    await keyboard.press("Control+k");
    await keyboard.type("webhook");
    await keyboard.press("Enter");
    await page.locator("h1:text-is('Explain the billing webhook')").waitFor();
    await keyboard.press("?");
    await page.locator("dialog[aria-label=Keyboard]").waitFor();
    await keyboard.press("Escape");
    await becomes(page, () => document.querySelectorAll("dialog").length, 0);
    assert.equal(await title(page), "Explain the billing webhook", "Escape closed the help alone");
  });
});

test("a pending resume command reaches the clipboard; a failed one is reported", async () => {
  await browser.withWindow({ mock: 30 }, async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.locator("[data-session]").first().waitFor();
    await page.evaluate(() => {
      window.mockHost.replies.resume_command = () => new Promise((done) => (window.answer = done));
    });
    await page.keyboard.press("j");
    await page.keyboard.press("c");
    const copied = await listening(page, "Resume command copied");
    await page.evaluate(() => window.answer("claude --resume of-late"));
    await copied();
    await becomes(page, () => navigator.clipboard.readText(), "claude --resume of-late");

    await page.evaluate(() => {
      window.mockHost.replies.resume_command = () => Promise.reject({ code: "not_found", message: "No session has this id." });
    });
    const refused = await listening(page, "No session has this id.");
    await page.keyboard.press("j");
    await page.keyboard.press("c");
    await refused();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "claude --resume of-late");
  });
});

test("below 760 px the pane covers the roster, and Escape gives the focus back to the row", async () => {
  await browser.withWindow({ mock: 30 }, async (page) => {
    await page.click("text=Migrate sessions to Redis");
    await becomes(page, () => document.activeElement.tagName, "H1");
    assert.equal(await page.locator("main").getAttribute("inert"), "");
    await page.keyboard.press("Escape");
    await becomes(page, () => document.activeElement.textContent.includes("Migrate sessions"), true);
    await page.click("text=Migrate sessions to Redis");
    await page.click("[aria-label='Back to the roster']");
    await becomes(page, () => document.querySelectorAll("section.detail").length, 0);
  });
});

test("chips narrow the list, and folding a group stays over a restart", async () => {
  await browser.withWindow({ mock: 30, height: 2200 }, async (page) => {
    await page.click(".chip:has-text('Working')");
    await becomes(page, rows, 3);
    await page.click(".chip:has-text('Working')");
    await page.click("h2 button:has-text('Idle')");
    await becomes(page, rows, 14);
    await page.reload();
    await becomes(page, rows, 14);
    await page.click("h2 button:has-text('Idle')");
    await becomes(page, rows, 30);
  });
});

test("superseded sessions come with the switch in the menu", async () => {
  await browser.withWindow({ mock: 30, height: 2200 }, async (page) => {
    await page.evaluate(() => {
      const any = { sessionId: "gone-1", title: "Gone before", group: "idle", state: "idle", status: "idle", superseded: true, supersededBy: "3f6a1c52-0b7e-4a55-9d1e-6a2f4c1b8e90" };
      const rest = { source: "watcher", agent: "claude", stateSince: "2026-03-14T10:00:00.000Z", lastActivityAt: "2026-03-14T10:00:00.000Z", hasPendingToolUse: false, workChainId: "w", compactionCount: 0, segmentCount: 1 };
      window.mockHost.change({ upserts: [{ ...rest, ...any, stateReason: { source: "transcript", detail: "", confidence: "observed" } }] });
    });
    await becomes(page, rows, 30);
    await page.click("[aria-label=Menu]");
    await page.click("text=Show superseded and old sessions");
    await becomes(page, rows, 31);
    await page.click("text=Gone before");
    assert.equal(await title(page), "Publish the 2.4 release", "it leads to where the work goes on");
  });
});

const redisAsks = (state) => {
  const shared = { sessionId: "b81d7f34-5a0c-4a3e-8f4b-0d5c7e2a9b13", title: "Migrate sessions to Redis", source: "watcher", agent: "claude", stateSince: "2026-03-14T13:02:12.000Z", lastActivityAt: "2026-03-14T13:02:12.000Z", hasPendingToolUse: false, workChainId: "chain-r", compactionCount: 0, segmentCount: 1, stateReason: { source: "registry", detail: "", confidence: "observed" } };
  window.mockHost.change({ upserts: [{ ...shared, ...state }] });
};

test("a row does not jump while the pointer is on the list", async () => {
  await browser.withWindow({ mock: 30 }, async (page) => {
    const row = page.locator("[data-session='b81d7f34-5a0c-4a3e-8f4b-0d5c7e2a9b13']");
    await row.hover();
    const before = await row.boundingBox();
    await page.evaluate(redisAsks, { state: "idle", status: "idle", group: "idle" });
    await page.locator("text=The order has changed").waitFor();
    assert.deepEqual(await row.boundingBox(), before);
    assert.equal(await row.locator("[role=img]").getAttribute("aria-label"), "Idle", "its content is new nevertheless");
    await page.mouse.move(200, 20);
    await becomes(page, () => document.querySelector("[data-session]").closest("section").textContent.includes("Migrate"), false);
  });
});

test("while the order is held, a session that begins to need the user is counted", async () => {
  await browser.withWindow({ mock: 30 }, async (page) => {
    await page.locator("[data-session='b81d7f34-5a0c-4a3e-8f4b-0d5c7e2a9b13']").hover();
    await page.evaluate(() => {
      const { rows } = window.mockHost;
      const works = rows.find((row) => row.group === "working");
      window.mockHost.change({ upserts: [{ ...works, group: "needs_you", state: "waiting_for_approval", needs: "approval" }] });
    });
    await page.click("text=1 more needs you");
    await page.locator("text=1 more needs you").waitFor({ state: "detached" });
  });
});

test("a filter shows what it finds in a folded group too, and Escape ends it", async () => {
  await browser.withWindow({ mock: 30, height: 2200 }, async (page) => {
    await page.click("h2 button:has-text('Working')");
    await becomes(page, rows, 27);
    await page.click(".chip:has-text('Working')");
    await becomes(page, rows, 3);
    await page.click(".chip:has-text('Needs you')");
    await becomes(page, rows, 6, "chips add up");
    await page.keyboard.press("Escape");
    await becomes(page, rows, 27);
    await page.click("h2 button:has-text('Working')");
    await becomes(page, rows, 30);
  });
});

test("2,000 sessions and 50 changes a second: the rows equal the engine's", async () => {
  await browser.withWindow({ mock: "flood" }, async (page) => {
    await page.locator("[data-session]").first().waitFor();
    const begun = await page.evaluate(() => window.mockHost.revision);
    await becomes(page, `window.mockHost.revision > ${begun + 100}`, true);
    for (let look = 0; look < 5; look += 1) {
      const [seen, had] = await page.evaluate(async () => {
        await new Promise((done) => setTimeout(done, 50));
        // In one call, so that nothing changes in between.
        const first = [...document.querySelectorAll("[data-session]")].slice(0, 8).map((row) => `${row.dataset.session} ${row.querySelector(".now").textContent.trim()}`);
        const rows = window.mockHost.rows.slice(0, 8).map((row) => `${row.sessionId} ${row.pendingTool ? row.pendingTool.target : ""}`);
        return [first, rows];
      });
      had.forEach((row, i) => {
        const [id, ...target] = row.split(" ");
        assert.ok(seen[i].startsWith(id) && seen[i].includes(target.join(" ")), `${seen[i]} is not ${row}`);
      });
    }
    assert.ok((await page.evaluate(rows)) < 40);
  });
});

test("only a session that newly needs the user is announced", async () => {
  await browser.withWindow({ mock: 30 }, async (page) => {
    const spoken = () => document.querySelector("[role=status]").textContent;
    await page.locator("[data-session]").first().waitFor();
    assert.equal(await page.evaluate(spoken), "");
    await page.evaluate(redisAsks, { state: "idle", status: "idle", group: "idle" });
    assert.equal(await page.evaluate(spoken), "");
    await page.evaluate(redisAsks, { state: "waiting_for_approval", status: "waiting", group: "needs_you", stateKind: "plan" });
    assert.equal(await page.evaluate(spoken), "", "the engine has not reported it as lasting");
    await page.evaluate(redisAsks, { state: "waiting_for_approval", status: "waiting", group: "needs_you", stateKind: "plan", needs: "plan" });
    await becomes(page, spoken, "Migrate sessions to Redis needs you: wants a verdict on its plan.");
  });
});

test("ages tick by the second under a minute", async () => {
  await browser.withWindow({ mock: 30 }, async (page) => {
    const age = () => document.querySelector("[data-session='a1f3c5e7-2b4d-4f60-8a9c-3d5e7f9b1c2d'] .age").textContent;
    await page.locator("[data-session]").first().waitFor();
    const first = await page.evaluate(age);
    assert.match(first, /^\d+ (s|min)$/, "it follows the engine's clock, not this machine's");
    assert.ok(first.endsWith("min") || parseInt(first, 10) >= 12, first);
    // On a slow machine a second may be skipped, or the minute may be over.
    for (let tick = 0, last = first; tick < 2 && last.endsWith(" s"); tick += 1) {
      await becomes(page, `(${age})() !== ${JSON.stringify(last)}`, true);
      const now = await page.evaluate(age);
      assert.ok(now.endsWith("min") || parseInt(now, 10) > parseInt(last, 10), `${now} after ${last}`);
      last = now;
    }
  });
});

test("a working glyph changes only its opacity, in steps, and not at all with reduced motion", async () => {
  const animation = () => {
    const running = document.querySelector(".working i").getAnimations();
    return running.flatMap((one) => one.effect.getKeyframes().flatMap((frame) => Object.keys(frame))).filter((key) => !["offset", "computedOffset", "easing", "composite"].includes(key));
  };
  await browser.withWindow({ mock: 30 }, async (page) => {
    await page.locator(".working i").first().waitFor();
    assert.deepEqual([...new Set(await page.evaluate(animation))], ["opacity"]);
    // A smooth animation is drawn at every frame: a tenth of a core in WebKit without a graphics card. Steps take a
    // hundredth.
    assert.match(await page.locator(".working i").first().evaluate((glyph) => getComputedStyle(glyph).animationTimingFunction), /^steps/);
  });
  await browser.withWindow({ mock: 30, motion: "reduce" }, async (page) => {
    await page.locator(".working i").first().waitFor();
    assert.deepEqual(await page.evaluate(animation), []);
  });
});

test("the health is asked for again when something may have changed it", async () => {
  await browser.withWindow({ mock: "first", height: 900 }, async (page) => {
    const health = () => document.querySelector("[title^=Health]").title;
    await becomes(page, health, "Health: All is watched");
    const tellUnwatched = async (count) => {
      await page.evaluate(async (unwatched) => {
        const was = await window.mockHost.ask("doctor");
        const gone = Array.from({ length: unwatched }, () => ({ ...was.roots[0], exists: false }));
        window.mockHost.replies.doctor = async () => ({ ...was, roots: [{ ...was.roots[0], exists: true }, ...gone] });
      }, count);
    };
    await tellUnwatched(1);
    await page.evaluate(() => {
      const base = window.mockHost.revision;
      window.mockHost.send({ type: "delta", base, revision: base + 1, generatedAt: "2026-03-14T13:02:20.000Z", upserts: [], removals: [], problems: [] });
    });
    await becomes(page, health, "Health: 1 folder not watched", "a problem came or went");
    await tellUnwatched(2);
    await page.getByText("Show the change…").click();
    await page.getByRole("button", { name: "Install", exact: true }).click();
    await becomes(page, health, "Health: 2 folders not watched", "the hooks are there");
  });
});

test("a strip shows no session in full, so that all of them raise alerts", async () => {
  await browser.withWindow({ mock: 30, width: 1200 }, async (page) => {
    const lookedAt = () => window.mockHost.lookedAt.at(-1);
    await page.locator("[data-session]").first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    const open = await page.locator("[aria-current=true]").getAttribute("data-session");
    await becomes(page, lookedAt, open);
    await page.keyboard.press("m");
    await becomes(page, lookedAt, null);
    await page.keyboard.press("m");
    await becomes(page, lookedAt, open);
  });
});

test("the held order ends with the list", async () => {
  await browser.withWindow({ mock: 30 }, async (page) => {
    await page.locator("[data-session='b81d7f34-5a0c-4a3e-8f4b-0d5c7e2a9b13']").hover();
    await page.keyboard.press("m");
    await page.locator("[data-session]").first().waitFor({ state: "detached" });
    await page.mouse.move(200, 5);
    await page.evaluate(redisAsks, { state: "idle", status: "idle", group: "idle" });
    await page.keyboard.press("m");
    await page.locator("[data-session]").first().waitFor();
    assert.equal(await page.evaluate(() => document.querySelector("[data-session]").closest("section").textContent.includes("Migrate")), false);
  });
});

test("a past alert opens its session at the time of the alert", async () => {
  await browser.withWindow({ mock: "30", width: 1200 }, async (page) => {
    await page.keyboard.press("l");
    await page.locator("dialog li:has-text('allowed once (window)')").waitFor();
    await page.evaluate(() => {
      const { byte_at: at } = window.mockHost.replies;
      window.mockHost.replies.byte_at = (call) => ((window.asked = call), at(call));
    });
    for (const key of ["Tab", "Tab", "Tab", "Tab", "Enter"]) await page.keyboard.press(key);
    await becomes(page, () => window.asked?.at, "2026-03-14T12:21:11.000Z");
    await becomes(page, () => document.querySelector("dialog"), null);
    await page.locator("section[aria-label=Session] h1:has-text('Publish the 2.4 release'), section[aria-label=Session] h2:has-text('Publish the 2.4 release')").waitFor();
  });
});

test("rows are marked by keys and clicks, one command acts on all, and Undo takes it back", async () => {
  await browser.withWindow({ mock: "30" }, async (page) => {
    const marked = () => [...document.querySelectorAll("[data-session].marked")].map((row) => row.dataset.session);
    const ids = await page.evaluate(() => [...document.querySelectorAll("[data-session]")].slice(0, 6).map((row) => row.dataset.session));
    for (const key of ["j", "Shift+ArrowDown", "Shift+ArrowDown"]) await page.keyboard.press(key);
    await becomes(page, marked, ids.slice(0, 3), "Shift and an arrow mark the rows on the way");
    await page.locator(".unseen[role=status]:has-text('3 marked')").waitFor({ state: "attached" });
    assert.match(await page.locator(`[data-session="${ids[0]}"]`).ariaSnapshot(), /Marked,/, "the name of the row says it");
    await page.locator(`[data-session="${ids[5]}"]`).click({ modifiers: ["Control"] });
    await page.locator(`[data-session="${ids[4]}"]`).click({ modifiers: ["Shift"] });
    await becomes(page, marked, ids.filter((id) => id !== ids[3]), "a click with Ctrl marks one row, one with Shift all from that one");
    await page.keyboard.press("Escape");
    await becomes(page, marked, [], "Esc takes all marks away");
    await page.evaluate(() => {
      window.sent = [];
      const { command } = window.mockHost.replies;
      window.mockHost.replies.command = (call) => (window.sent.push(`${call.command.do} ${call.command.session} ${call.command.away}`), command(call));
    });
    for (const key of ["v", "Shift+ArrowUp", "Control+k"]) await page.keyboard.press(key);
    await page.keyboard.type("put away the marked 2");
    await page.keyboard.press("Enter");
    await page.locator("text=Put away: 2 sessions").waitFor();
    const away = (is) => [ids[1], ids[2]].map((id) => `put_away ${id} ${is}`);
    await becomes(page, () => window.sent, away(true));
    await page.locator("button:has-text('Undo')").click();
    await becomes(page, () => window.sent, [...away(true), ...away(false)]);
    await page.keyboard.press("v");
    await page.locator("button[aria-label='Unmark all']").press("Enter");
    await becomes(page, () => document.activeElement?.dataset.session, ids[1], "the button is gone, and the focus is back in the list");
  });
});

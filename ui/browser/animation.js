// The animation of the README: a session begins to need the user, the user answers it, and searches all sessions.
// `npm run animation` writes `docs/animation.gif`. It needs Chromium, DejaVu's fonts and ImageMagick, as the tests do.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { PNG } from "pngjs";

import { startPainter, taken } from "./picture.js";
import { still } from "./timeline.js";

const TARGET = fileURLToPath(new URL("../../docs/animation.gif", import.meta.url));
const SIZE = { width: 960, height: 540 };
/** The README promises that the file is small. In bytes. */
const LARGEST = 1_000_000;
const SEARCHED = "publish";

/** Runs in the page: all sessions work or rest. Returns the session that will ask. */
function work() {
  const waiting = window.mockHost.rows.filter((row) => row.group === "needs_you");
  const working = waiting.map(({ pendingTool: _, pendingTools: __, request: ___, needs: ____, stateKind: _____, ...row }, n) => ({
    ...row, state: "working", group: "working", status: "working", hasPendingToolUse: false, stateSince: `2026-03-14T13:02:0${n}.000Z`,
  }));
  window.mockHost.change({ upserts: working });
  return working.find((row) => row.title === "Publish the 2.4 release").sessionId;
}

/** Runs in the page: the session asks to run a command. */
function ask(sessionId) {
  const session = window.mockHost.rows.find((row) => row.sessionId === sessionId);
  const command = "npm publish --tag latest --access public";
  const at = "2026-03-14T13:02:10.000Z";
  const request = {
    id: "ask-publish",
    digest: "ask-publish-0000",
    kind: "permission",
    tool: "Bash",
    mode: "default",
    openedAt: at,
    input: { command, description: "Publish to the registry under the tag latest" },
    shown: command,
    summary: `Bash: ${command}`,
    always: [{ rule: "Bash(npm publish *)", where: "/home/dev/api-server/.claude/settings.local.json" }],
    answerable: "hook",
    progress: "open",
  };
  const asking = {
    ...session,
    state: "waiting_for_approval",
    status: "waiting",
    group: "needs_you",
    needs: "approval",
    stateKind: "permission",
    stateSince: at,
    stateReason: { source: "hook", detail: "asks to use Bash", confidence: "observed" },
    hasPendingToolUse: true,
    pendingTool: { tool: "Bash", target: command },
    request,
  };
  window.mockHost.change({ upserts: [asking] });
}

/** The pictures in order, each with the time that it is shown, in milliseconds. */
async function record(page) {
  const frames = [];
  const take = async (milliseconds) => frames.push({ picture: await taken(page), milliseconds });
  const session = await page.evaluate(work);
  await page.locator(`[data-session='${session}']`).waitFor();
  await take(1600);
  await page.evaluate(ask, session);
  await page.getByText("wants to run").first().waitFor();
  await take(1800);
  await page.keyboard.press("n");
  await page.keyboard.press("Enter");
  await page.locator(".request:not([aria-busy=true])").waitFor();
  await page.locator("[role=listitem][data-index]").first().waitFor();
  await still(page);
  await take(2600);
  await page.keyboard.press("a");
  await page.locator(".request").waitFor({ state: "detached" });
  await still(page);
  await take(1800);
  await page.keyboard.press("Control+k");
  await page.locator("[role=combobox]").waitFor();
  await take(700);
  for (const letter of SEARCHED) {
    await page.keyboard.type(letter);
    await take(110);
  }
  await page.locator(".choices mark").first().waitFor();
  await take(2800);
  return frames;
}

function write(frames) {
  const folder = mkdtempSync(join(tmpdir(), "watchbill-animation-"));
  try {
    const pictures = frames.flatMap(({ picture, milliseconds }, n) => {
      const file = join(folder, `${n}.png`);
      writeFileSync(file, PNG.sync.write(picture));
      // In hundredths of a second.
      return ["-delay", String(Math.round(milliseconds / 10)), file];
    });
    execFileSync("convert", ["-loop", "0", ...pictures, "+dither", "-layers", "optimize", TARGET]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const { size } = statSync(TARGET);
  if (size > LARGEST) throw new Error(`${TARGET} has ${size} bytes, more than ${LARGEST}: record fewer or smaller pictures.`);
  console.log(`${TARGET}: ${frames.length} pictures, ${size} bytes`);
}

const painter = await startPainter();
try {
  await painter.withWindow({ mock: "everyday", ...SIZE, motion: "reduce" }, async (page) => write(await record(page)));
} finally {
  await painter.stop();
}

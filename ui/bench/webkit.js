// The same in WebKitGTK, the web view of Linux: its own small browser on a display of its own, driven by WebKitWebDriver.
// `npm run bench:webkit`; needs Xvfb and the driver, which `cargo xtask test` installs.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

import { preview } from "vite";

import { keys, opening, say, scrolling, shown } from "./probes.js";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PORT = 20_000 + (process.pid % 20_000);
const FRAMES = Number(process.env.FRAMES ?? 120);
const BROWSER = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/libexec", "/usr/lib"].map((place) => `${place}/webkit2gtk-4.1/MiniBrowser`).find((path) => existsSync(path));
if (BROWSER === undefined) throw new Error("WebKitGTK's MiniBrowser is needed: the package webkit2gtk-driver brings it.");

const started = [];
function start(program, args, options = {}) {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore"], ...options });
  started.push(child);
  return child;
}

async function display() {
  const x = start("Xvfb", ["-displayfd", "3", "-screen", "0", "1280x800x24", "-nolisten", "tcp"], { stdio: ["ignore", "ignore", "ignore", "pipe"] });
  const number = await new Promise((done) => x.stdio[3].once("data", (data) => done(String(data).trim())));
  return `:${number}`;
}

/**
 * Milliseconds of CPU time of the web process, without other programs. It has two parts: its main thread, which runs scripts and layout,
 * and all its other threads, which paint (here without a graphics card).
 */
function used() {
  const spent = { main: 0, others: 0 };
  for (const pid of numbers("/proc")) {
    const stat = statOf(pid);
    if (stat?.name !== "WebKitWebProces" || !descends(stat.parent)) continue;
    for (const thread of numbers(`/proc/${pid}/task`)) spent[thread === pid ? "main" : "others"] += (statOf(`${pid}/task/${thread}`)?.ticks ?? 0) * 10;
  }
  return spent;
}

function numbers(folder) {
  return readdirSync(folder).filter((name) => /^\d+$/.test(name));
}

function statOf(pid) {
  try {
    const line = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = line.slice(line.lastIndexOf(") ") + 2).split(" ");
    return { name: line.slice(line.indexOf("(") + 1, line.lastIndexOf(")")), parent: fields[1], ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}

function descends(pid) {
  for (let at = pid; at !== undefined && Number(at) > 1; at = statOf(at)?.parent) if (started.some((child) => String(child.pid) === at)) return true;
  return false;
}

async function ask(method, path, body) {
  const response = await fetch(`http://127.0.0.1:${PORT}${path}`, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const { value } = await response.json();
  if (value?.error) throw new Error(`${path}: ${value.message}`);
  return value;
}

async function session() {
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask("POST", "/session", { capabilities: { alwaysMatch: { "webkitgtk:browserOptions": { binary: BROWSER, args: ["--automation"] } } } });
    } catch (error) {
      if (tries > 40) throw error;
      await new Promise((done) => setTimeout(done, 250));
    }
  }
}

const server = await preview({ root: ROOT, logLevel: "error", preview: { host: "127.0.0.1", port: 0 } });
const base = server.resolvedUrls.local[0];
try {
  const env = { ...process.env, DISPLAY: await display(), GDK_BACKEND: "x11" };
  start("WebKitWebDriver", [`--port=${PORT}`, "--host=127.0.0.1"], { env });
  const { sessionId } = await session();
  const at = `/session/${sessionId}`;
  const run = (probe, argument) =>
    ask("POST", `${at}/execute/async`, { script: `const done = arguments[arguments.length - 1]; Promise.resolve((${probe})(arguments[0])).then(done, (error) => done(String(error)));`, args: [argument ?? null] });
  const open = async (mock) => {
    await ask("POST", `${at}/url`, { url: `${base}?mock=${mock}` });
    await run(() => new Promise((done) => { const look = () => (document.querySelector("[data-session]") ? done(true) : requestAnimationFrame(look)); look(); }));
  };
  await ask("POST", `${at}/timeouts`, { script: 120_000 });
  await ask("POST", `${at}/window/rect`, { width: 1200, height: 720 });
  await open("flood");
  const measured = async (what, probe, argument, times) => {
    const before = used();
    const spans = await run(probe, argument);
    const after = used();
    const each = (thread) => ((after[thread] - before[thread]) / times).toFixed(1);
    say(`WebKit, ${what}`, `processor each: main thread ${each("main")} ms, others ${each("others")} ms; ${Array.isArray(spans) ? shown(spans) : `${spans.toFixed(0)} ms`}`);
  };
  await measured("flood: frames while the roster scrolls", scrolling, { selector: ".list", by: 40, frames: FRAMES }, FRAMES);
  await measured("flood: key to paint", keys, { key: "j", times: 60 }, 60);
  await open("endless");
  await measured("100,000 items: opened", opening, 100_000, 1);
  for (const by of [-40, -200, -2000]) {
    await measured(`100,000 items: frames, ${-by} px a frame`, scrolling, { selector: "[role=region][aria-label=Timeline]", by, frames: FRAMES }, FRAMES);
  }
  await ask("DELETE", at);
} finally {
  await server.close();
  for (const child of started.reverse()) child.kill();
}

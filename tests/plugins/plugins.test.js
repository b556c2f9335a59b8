// What the plugins tell of the events that the real clients had. `WRITE=1` writes tests/fixtures/*/payloads anew.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

const root = path.resolve(import.meta.dirname, "../..");

// A process that takes a payload and ends. One that waits for an answer gives `answer`.
const SPAWN = `const spawn = (line) => {
  const waits = line.includes("--answer");
  const on = (name, then) => name === "close" && setImmediate(then);
  const stdin = { on() {}, end: (text) => waits || globalThis.told.push(JSON.parse(text)) };
  const stdout = { on: (_, then) => waits && then(JSON.stringify({ hookSpecificOutput: { decision: globalThis.answer } })) };
  return { on, stdin, stdout, kill() {} };
};`;
// Settings with a handler for each event.
const HANDLERS = `[{ hooks: [{ command: "watchbill hook" }] }, { hooks: [{ command: "watchbill hook --answer" }] }]`;
const SETTINGS = `{ hooks: new Proxy({}, { get: () => ${HANDLERS} }) }\n`;

/** The plugin as it is installed, without its processes. */
async function plugin(folder, own) {
  const read = (name) => readFileSync(path.join(root, "crates/agents/src", name), "utf8");
  const file = path.join(folder, `${Math.random()}.mjs`);
  writeFileSync(file, (read("plugin.js") + read(own)).replace(/^import .*$/m, SPAWN).replace("{}\n", SETTINGS));
  return import(pathToFileURL(file));
}

/** pi's events: gives what hears them. */
async function pi(folder) {
  const start = (await plugin(folder, "pi/extension.js")).default;
  let handlers = {};
  return async (arg, { _sessionFile, _sessionId, _cwd, ...event }) => {
    // A new process.
    if (arg === "session_start" && event.reason === "startup") {
      handlers = {};
      start({ on: (name, handler) => (handlers[name] ??= []).push(handler) });
    }
    const sessionManager = { getSessionFile: () => _sessionFile, getSessionId: () => _sessionId };
    for (const handler of handlers[arg] ?? []) handler(event, { cwd: _cwd, sessionManager });
  };
}

/** opencode's events. */
async function opencode(folder) {
  const { Watchbill } = await plugin(folder, "opencode/plugin.js");
  let handlers = {};
  return async (arg, payload) => {
    if (arg === "init") handlers = await Watchbill({ client: {}, directory: payload.directory });
    else if (arg === "event") await handlers.event({ event: payload });
    else await handlers[arg]?.(payload, payload);
  };
}

async function told(recording, agent) {
  const folder = mkdtempSync(path.join(tmpdir(), "watchbill-"));
  const hear = await agent(folder);
  const lines = [];
  for (const line of readFileSync(recording, "utf8").trim().split("\n")) {
    const { t, op, arg, payload } = JSON.parse(line);
    if (op !== "hook") continue;
    globalThis.told = [];
    await hear(arg, payload);
    for (let turn = 0; turn < 9; turn++) await new Promise(setImmediate);
    lines.push(...globalThis.told.map((payload) => JSON.stringify({ t, payload }) + "\n"));
  }
  rmSync(folder, { recursive: true });
  return lines.join("");
}

const RECORDINGS = [
  ["pi", pi, ["01-gate-approve-deny", "03-compact-resume-new-fork", "04-kill9-while-tool"]],
  ["opencode", opencode, ["01-approve-deny", "02-escapes-fail", "03-compact-resume-fork", "05-kill9-while-tool"]],
];
for (const [name, agent, recordings] of RECORDINGS) {
  for (const recording of recordings) {
    test(`the plugin of ${name} tells ${recording}`, async () => {
      const fixtures = path.join(root, "tests/fixtures", name);
      const file = path.join(fixtures, `payloads/${recording}.ndjson`);
      const lines = await told(path.join(fixtures, `recordings/${recording}.ndjson`), agent);
      if (process.env.WRITE) {
        mkdirSync(path.dirname(file), { recursive: true });
        writeFileSync(file, lines);
      }
      assert.equal(lines, readFileSync(file, "utf8"));
    });
  }
}

test("opencode gets answers to its questions, and to no question of a subagent", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "watchbill-"));
  const { Watchbill } = await plugin(folder, "opencode/plugin.js");
  const posted = [];
  const client = { _client: { post: async ({ url, path, body }) => (posted.push([url, path.requestID, body]), { data: true }) } };
  const { event } = await Watchbill({ client, directory: "/w" });
  const options = [{ label: "Red" }, { label: "Blue" }];
  const questions = [{ question: "One?", options }, { question: "Many?", options, multiple: true }, { question: "Own?", options, multiple: true }];
  const asked = async (id, sessionID, answer) => {
    globalThis.told = [];
    globalThis.answer = answer;
    await event({ event: { type: "question.asked", properties: { id, sessionID, questions } } });
    for (let turn = 0; turn < 9; turn++) await new Promise(setImmediate);
  };
  const answers = { "One?": "Blue", "Many?": "Red, Blue", "Own?": "Red, or none" };
  await asked("q1", "s", { behavior: "allow", updatedInput: { answers } });
  assert.deepEqual(globalThis.told[0].tool_input.questions.map(({ multiSelect }) => multiSelect), [false, true, true]);
  await asked("q2", "s", { behavior: "deny", message: "no" });
  // What is no answer leaves the dialog as it is.
  await asked("q3", "s", { behavior: "allow" });
  await event({ event: { type: "session.created", properties: { info: { id: "child", parentID: "s" } } } });
  await asked("q4", "child", { behavior: "deny" });
  rmSync(folder, { recursive: true });
  const reply = { answers: [["Blue"], ["Red", "Blue"], ["Red, or none"]] };
  assert.deepEqual(posted, [["/question/{requestID}/reply", "q1", reply], ["/question/{requestID}/reject", "q2", {}]]);
});

test("pi tells of a dialog within a turn alone, and its failures reach nothing", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "watchbill-"));
  const hear = await pi(folder);
  globalThis.told = [];
  const session = { _sessionFile: "/s.jsonl", _sessionId: "s", _cwd: "/w" };
  for (const [event, more] of [
    ["session_start", { reason: "startup" }],
    ["ui_prompt_start", { title: "Of a command" }],
    ["ui_prompt_end", {}],
    ["before_agent_start", {}],
    ["ui_prompt_start", { title: "Of a tool" }],
    ["ui_prompt_end", {}],
    ["turn_end", {}],
    ["agent_settled", {}],
  ]) {
    await hear(event, { ...session, ...more });
    for (let turn = 0; turn < 9; turn++) await new Promise(setImmediate);
  }
  rmSync(folder, { recursive: true });
  const events = ["SessionStart", "UserPromptSubmit", "PermissionRequest", "Notification", "PermissionReplied", "Stop"];
  assert.deepEqual(globalThis.told.map((payload) => payload.hook_event_name), events);
  assert.equal(globalThis.told[2].tool_input.questions[0].question, "Of a tool");
});

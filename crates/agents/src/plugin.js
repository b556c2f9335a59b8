// The plugin of Watchbill: it tells Watchbill what happens in this agent, and the agent never waits for it.
// `watchbill hooks uninstall --agent NAME` removes it.
import { spawn } from "node:child_process";

const settings =
// watchbill: settings begin
{}
// watchbill: settings end
;

let last = Promise.resolve();

const lines = (event) =>
  (settings.hooks?.[event] ?? []).flatMap((group) => group.hooks).map((handler) => handler.command);
const isAnswer = (line) => line.includes(" --answer");

// The shell becomes the program. Otherwise a kill would end the shell alone.
const inShell = (line) => (process.platform === "win32" ? line : `exec ${line}`);

/** Runs a command of ours with a payload on its input. Gives its output; no failure reaches the agent. */
function run(line, payload, begun) {
  return new Promise((done) => {
    let output = "";
    try {
      const child = spawn(inShell(line), { shell: true, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
      // Only a handler for answers waits for long.
      if (begun) begun(child);
      else setTimeout(() => child.kill("SIGKILL"), 10_000).unref();
      child.on("error", () => done(""));
      child.on("close", () => done(output));
      child.stdout.on("data", (part) => (output += part));
      child.stdin.on("error", () => {});
      child.stdin.end(JSON.stringify(payload));
    } catch {
      done("");
    }
  });
}

/** Passes a payload on, after all earlier ones. */
function pass(payload) {
  for (const line of lines(payload.hook_event_name)) {
    if (!isAnswer(line)) last = last.then(() => run(line, payload));
  }
}


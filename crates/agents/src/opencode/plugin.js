// The plugin of Watchbill. It passes what happens in opencode on, and the answers that a person gives there back.
// `watchbill hooks uninstall --agent opencode` removes it. Nothing in opencode waits for it.
// opencode loads it at its next start. For a folder with plugins it may fetch packages of its own first.
import { spawn } from "node:child_process";

const settings =
// watchbill: settings begin
{}
// watchbill: settings end
;

// Names of tools and of the fields of their inputs, in the words of Watchbill.
const words = {"tools":{"bash":"Bash","read":"Read","write":"Write","edit":"Edit","multiedit":"Edit","patch":"apply_patch","grep":"Grep","glob":"Glob","list":"LS","webfetch":"WebFetch","websearch":"WebSearch","task":"Task","todowrite":"TodoWrite","todoread":"TodoRead","skill":"Skill","question":"AskUserQuestion","plan_exit":"ExitPlanMode"},"fields":{"filePath":"file_path","oldString":"old_string","newString":"new_string","replaceAll":"replace_all"}};
const inWords = (tool, input) => ({
  tool_name: words.tools[tool] ?? tool,
  tool_input: Object.fromEntries(Object.entries(input ?? {}).map(([name, value]) => [words.fields[name] ?? name, value])),
});

// A subagent's session -> the session that began it. A call -> its tool and input. A request -> its waiting process.
const parents = new Map(), calls = new Map(), waiting = new Map();
// A session -> the event to tell when it is idle, if that is not the usual end of a turn; "" if the end was told.
const ends = new Map();
let last = Promise.resolve();

const lines = (event) =>
  (settings.hooks?.[event] ?? []).flatMap((group) => group.hooks).map((handler) => handler.command);
const isAnswer = (line) => line.includes(" --answer");

/** Runs a command of ours with a payload on its input. Gives its output; no failure reaches opencode. */
function run(line, payload, begun = () => {}) {
  return new Promise((done) => {
    let output = "";
    try {
      const child = spawn(line, { shell: true, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
      begun(child);
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

/** Passes an event on, after all earlier ones. */
function tell(cwd, session, event, more = {}) {
  let top = session;
  while (parents.has(top)) top = parents.get(top);
  const agent = top === session ? {} : { agent_id: session, agent_type: "task" };
  const payload = { session_id: top, cwd, hook_event_name: event, ...agent, ...more };
  for (const line of lines(event)) {
    if (!isAnswer(line)) last = last.then(() => run(line, payload));
  }
  return payload;
}

/** Waits for a person's answer in Watchbill, beside the dialog of opencode. The first answer counts. */
async function ask(id, payload, reply) {
  for (const line of lines("PermissionRequest").filter(isAnswer)) {
    const output = await run(line, payload, (child) => waiting.set(id, child));
    if (!waiting.delete(id)) return;
    try {
      const { behavior, message } = JSON.parse(output).hookSpecificOutput.decision;
      await reply(behavior === "allow" ? "once" : "reject", message);
    } catch {}
  }
}

function replied(id) {
  const child = waiting.get(id);
  waiting.delete(id);
  child?.kill();
}

export const Watchbill = async ({ client, directory }) => {
  const reply = (session, id) => (response, message) =>
    client.postSessionIdPermissionsPermissionId({ path: { id: session, permissionID: id }, body: { response, message } });
  const named = (event, more) => tell(directory, more.sessionID, event, more.fields);
  const call = (id) => calls.get(id) ?? {};
  const on = {
    "session.created": ({ info }) => {
      if (info.parentID) {
        parents.set(info.id, info.parentID);
        return named("SubagentStart", { sessionID: info.id });
      }
      named("SessionStart", { sessionID: info.id, fields: { source: "startup" } });
    },
    "permission.asked": ({ id, sessionID, permission, metadata, tool }) => {
      const asked = { ...inWords(permission, metadata), ...call(tool?.callID), tool_use_id: tool?.callID };
      const payload = named("PermissionRequest", { sessionID, fields: asked });
      if (!payload.agent_id) ask(id, payload, reply(sessionID, id));
    },
    "permission.replied": ({ requestID, sessionID, reply }) => {
      replied(requestID);
      if (reply === "reject") ends.set(sessionID, "Interrupt");
      named("PermissionReplied", { sessionID });
    },
    "question.asked": ({ sessionID, questions, tool }) =>
      named("PermissionRequest", {
        sessionID,
        fields: { ...inWords("question", { questions }), tool_use_id: tool?.callID },
      }),
    "question.replied": ({ sessionID }) => named("PermissionReplied", { sessionID }),
    "question.rejected": ({ sessionID }) => named("PermissionReplied", { sessionID }),
    "session.compacted": ({ sessionID }) => named("PostCompact", { sessionID }),
    "session.idle": ({ sessionID }) => {
      const end = ends.get(sessionID) ?? "Stop";
      if (parents.has(sessionID)) named("SubagentStop", { sessionID });
      else if (end !== "") named(end, { sessionID });
    },
    "session.error": ({ sessionID, error }) => {
      if (!sessionID) return;
      ends.set(sessionID, "");
      if (error?.name === "MessageAbortedError") return named("Interrupt", { sessionID });
      named("StopFailure", { sessionID, fields: { error: error?.name, last_assistant_message: error?.data?.message } });
    },
  };
  return {
    event: async ({ event }) => {
      try {
        on[event.type]?.(event.properties);
      } catch {}
    },
    "chat.message": async ({ sessionID }) => {
      ends.delete(sessionID);
      named("UserPromptSubmit", { sessionID });
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      ends.delete(sessionID);
      calls.set(callID, inWords(tool, args));
      named("PreToolUse", { sessionID, fields: { ...call(callID), tool_use_id: callID } });
    },
    "tool.execute.after": async ({ sessionID, callID }) => {
      named("PostToolUse", { sessionID, fields: { ...call(callID), tool_use_id: callID } });
      calls.delete(callID);
    },
  };
};

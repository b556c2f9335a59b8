// opencode's part. It also brings the answers that a person gives in Watchbill.

// Names of tools and of the fields of their inputs, in the words of Watchbill.
const words = {"tools":{"bash":"Bash","read":"Read","write":"Write","edit":"Edit","multiedit":"Edit","patch":"apply_patch","grep":"Grep","glob":"Glob","list":"LS","webfetch":"WebFetch","websearch":"WebSearch","task":"Task","todowrite":"TodoWrite","todoread":"TodoRead","skill":"Skill","question":"AskUserQuestion","plan_exit":"ExitPlanMode"},"fields":{"filePath":"file_path","oldString":"old_string","newString":"new_string","replaceAll":"replace_all"}};
const inWords = (tool, input) => ({
  tool_name: words.tools[tool] ?? tool,
  tool_input: Object.fromEntries(Object.entries(input ?? {}).map(([name, value]) => [words.fields[name] ?? name, value])),
});

// A subagent's session -> the session that began it. A call -> its session, tool and input. A request -> its session, its call, and
// the process that waits for an answer.
const parents = new Map(), calls = new Map(), requests = new Map();
// A session -> the event to tell when it is idle, if that is not the usual end of a turn; "" if the end was told.
const ends = new Map();

/** Tells an event of a session. */
function tell(cwd, session, event, more = {}) {
  let top = session;
  for (let depth = 0; parents.has(top) && depth < 32; depth++) top = parents.get(top);
  const agent = top === session ? {} : { agent_id: session, agent_type: "task" };
  const payload = { session_id: top, cwd, hook_event_name: event, ...agent, ...more };
  pass(payload);
  return payload;
}

/** Waits for a person's answer in Watchbill, beside the dialog of opencode. The first answer counts. */
async function ask(id, payload, reply) {
  if (payload.agent_id) return;
  for (const line of lines("PermissionRequest").filter(isAnswer)) {
    const output = await run(line, payload, (child) => (requests.get(id).child = child));
    if (!requests.has(id)) return;
    try {
      await reply(JSON.parse(output).hookSpecificOutput.decision);
    } catch {}
  }
}

/** The answer to a question as opencode takes it: options by their labels, or the person's own words. */
function chosen({ multiSelect, options }, answer) {
  if (typeof answer !== "string") throw new TypeError("no answer");
  // Several choices come as one text. A label with a comma cannot be told from two, so the answer is left to the terminal.
  if (multiSelect && options.some((option) => option.label.includes(", "))) throw new TypeError("unclear");
  const isLabel = (text) => options.some((option) => option.label === text);
  const labels = multiSelect ? answer.split(", ") : [answer];
  return labels.every(isLabel) ? labels : [answer];
}

/** A request is answered, or gone. Gives its call. */
function replied(id) {
  const request = requests.get(id);
  requests.delete(id);
  request?.child?.kill();
  return request?.asked ?? {};
}

export const Watchbill = async ({ client, directory }) => {
  const post = (url, id, body) =>
    client._client?.post?.({ url, path: { requestID: id }, body, headers: { "Content-Type": "application/json" } });
  const permit = (session, id) => async ({ behavior, message }) => {
    const response = { allow: "once", deny: "reject" }[behavior];
    if (response === undefined) return;
    // This way takes the words of a refusal; the older one does not.
    const sent = await post("/permission/{requestID}/reply", id, { reply: response, message });
    if (sent?.data === true) return;
    await client.postSessionIdPermissionsPermissionId({ path: { id: session, permissionID: id }, body: { response } });
  };
  const choose = (questions, id) => async ({ behavior, updatedInput }) => {
    if (behavior === "deny") return post("/question/{requestID}/reject", id, {});
    if (behavior !== "allow") return;
    const answers = questions.map((asked) => chosen(asked, updatedInput.answers[asked.question]));
    await post("/question/{requestID}/reply", id, { answers });
  };
  const named = (event, more) => tell(directory, more.sessionID, event, more.fields);
  // A dialog that is on the screen counts at once.
  const shown = (more) => {
    const payload = named("PermissionRequest", more);
    named("Notification", { sessionID: more.sessionID, fields: { notification_type: "permission_prompt" } });
    return payload;
  };
  const call = (id) => calls.get(id)?.asked ?? {};
  const known = ({ info }) => {
    if (info.parentID) parents.set(info.id, info.parentID);
  };
  const forget = (session) => {
    for (const [id, call] of calls) if (call.session === session) calls.delete(id);
    for (const [id, request] of requests) if (request.session === session) replied(id);
  };
  const on = {
    "session.created": ({ info }) => {
      known({ info });
      if (info.parentID) return named("SubagentStart", { sessionID: info.id });
      named("SessionStart", { sessionID: info.id, fields: { source: "startup" } });
    },
    // A subagent of an earlier process is known again by this.
    "session.updated": known,
    "session.deleted": ({ info }) => {
      forget(info.id);
      named(info.parentID ? "SubagentStop" : "SessionEnd", { sessionID: info.id, fields: { reason: "other" } });
    },
    "session.status": ({ sessionID, status }) => {
      // The turn goes on, after a refusal with words or a full context.
      if (status?.type === "busy") ends.delete(sessionID);
    },
    "permission.asked": ({ id, sessionID, permission, metadata, tool }) => {
      const asked = { ...inWords(permission, metadata), ...call(tool?.callID), tool_use_id: tool?.callID ?? id };
      requests.set(id, { session: sessionID, asked });
      ask(id, shown({ sessionID, fields: asked }), permit(sessionID, id));
    },
    "permission.replied": ({ requestID, sessionID, reply }) => {
      if (reply === "reject") ends.set(sessionID, "Interrupt");
      named("PermissionReplied", { sessionID, fields: replied(requestID) });
    },
    "question.asked": ({ id, sessionID, questions, tool }) => {
      const told = (questions ?? []).map(({ multiple, ...asked }) => ({ ...asked, multiSelect: multiple === true }));
      const asked = { ...inWords("question", { questions: told }), tool_use_id: tool?.callID ?? id };
      requests.set(id, { session: sessionID, asked });
      ask(id, shown({ sessionID, fields: asked }), choose(told, id));
    },
    "question.replied": ({ sessionID, requestID }) => named("PermissionReplied", { sessionID, fields: replied(requestID) }),
    "question.rejected": ({ sessionID, requestID }) => {
      ends.set(sessionID, "Interrupt");
      named("PermissionReplied", { sessionID, fields: replied(requestID) });
    },
    "session.compacted": ({ sessionID }) => named("PostCompact", { sessionID }),
    "session.idle": ({ sessionID }) => {
      const end = ends.get(sessionID) ?? "Stop";
      forget(sessionID);
      if (parents.has(sessionID)) named("SubagentStop", { sessionID });
      else if (end !== "") named(end, { sessionID });
    },
    "session.error": ({ sessionID, error }) => {
      if (!sessionID || error?.name === "ContextOverflowError") return;
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
      calls.set(callID, { session: sessionID, asked: inWords(tool, args) });
      named("PreToolUse", { sessionID, fields: { ...call(callID), tool_use_id: callID } });
    },
    "tool.execute.after": async ({ sessionID, callID }) => {
      named("PostToolUse", { sessionID, fields: { ...call(callID), tool_use_id: callID } });
      calls.delete(callID);
    },
  };
};

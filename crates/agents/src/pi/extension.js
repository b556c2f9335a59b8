// pi's part. A dialog is one of an extension: pi asks for nothing by itself.

// Its own tools never open a dialog, so one that opens while they are about to run asks whether they may.
const own = new Set(["bash", "read", "write", "edit", "grep", "find", "ls"]);

export default (pi) => {
  let calls = [], runs = false, asked, failure;
  const hear = (name, then) =>
    pi.on(name, (happened, context) => {
      try {
        then(happened, context);
      } catch {}
    });
  const on = (name, event, fields = () => ({})) =>
    hear(name, (happened, context) => {
      // A session that is kept in no file is none of Watchbill's.
      if (!context.sessionManager.getSessionFile()) return;
      const more = fields(happened);
      if (more) pass({ session_id: context.sessionManager.getSessionId(), cwd: context.cwd, hook_event_name: event, ...more });
    });
  on("session_start", "SessionStart", ({ reason }) => ({ source: { startup: reason, new: "clear" }[reason] ?? "resume" }));
  on("session_shutdown", "SessionEnd", ({ reason }) => ({ reason: { quit: "prompt_input_exit", new: "clear" }[reason] ?? "other" }));
  on("before_agent_start", "UserPromptSubmit", () => {
    runs = true;
    failure = undefined;
    return {};
  });
  on("tool_execution_start", "PreToolUse", ({ toolCallId, toolName, args }) => {
    const call = { tool_use_id: toolCallId, tool_name: toolName, tool_input: args };
    calls.push(call);
    return call;
  });
  on("tool_execution_end", "PostToolUse", ({ toolCallId }) => {
    const call = calls.find((call) => call.tool_use_id === toolCallId);
    calls = calls.filter((other) => other !== call);
    return call;
  });
  // Outside a turn the person has opened the dialog, by a command of an extension. pi tells overlapping dialogs as one.
  on("ui_prompt_start", "PermissionRequest", ({ title }) => {
    const call = calls.findLast((call) => own.has(call.tool_name));
    const question = { questions: [{ question: title, options: [] }] };
    asked = call ?? { tool_use_id: `dialog-${Date.now()}`, tool_name: "AskUserQuestion", tool_input: question };
    return runs && asked;
  });
  // A dialog that is on the screen counts at once.
  on("ui_prompt_start", "Notification", () => runs && { notification_type: "permission_prompt" });
  on("ui_prompt_end", "PermissionReplied", () => runs && asked);
  on("session_before_compact", "PreCompact");
  on("session_compact", "PostCompact");
  hear("turn_end", ({ message }) => {
    failure = message.stopReason === "error" ? message.errorMessage ?? "" : undefined;
  });
  on("agent_settled", "Stop", ({ aborted }) => {
    runs = false;
    calls = [];
    if (aborted) return { hook_event_name: "Interrupt" };
    return failure === undefined ? {} : { hook_event_name: "StopFailure", error: "error", last_assistant_message: failure };
  });
};

// pi's part. A dialog is one of an extension: pi asks for nothing by itself.

// Its own tools never open a dialog, so one that opens while they are about to run asks whether they may.
const own = new Set(["bash", "read", "write", "edit", "grep", "find", "ls"]);

export default (pi) => {
  let calls = [], asked, failure;
  const on = (name, event, fields = () => ({})) =>
    pi.on(name, (happened, context) => {
      try {
        // A session that is kept in no file is none of Watchbill's.
        if (!context.sessionManager.getSessionFile()) return;
        const more = fields(happened);
        if (more) pass({ session_id: context.sessionManager.getSessionId(), cwd: context.cwd, hook_event_name: event, ...more });
      } catch {}
    });
  on("session_start", "SessionStart", ({ reason }) => ({ source: { startup: reason, new: "clear" }[reason] ?? "resume" }));
  on("session_shutdown", "SessionEnd", ({ reason }) => ({ reason: { quit: "prompt_input_exit", new: "clear" }[reason] ?? "other" }));
  on("before_agent_start", "UserPromptSubmit", () => ((calls = []), (failure = undefined), {}));
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
  on("ui_prompt_start", "PermissionRequest", ({ title }) => {
    const call = calls.findLast((call) => own.has(call.tool_name));
    const question = { questions: [{ question: title, options: [] }] };
    asked = call ?? { tool_use_id: `dialog-${Date.now()}`, tool_name: "AskUserQuestion", tool_input: question };
    return asked;
  });
  // A dialog that is on the screen counts at once.
  on("ui_prompt_start", "Notification", () => ({ notification_type: "permission_prompt" }));
  on("ui_prompt_end", "PermissionReplied", () => asked);
  on("session_before_compact", "PreCompact");
  on("session_compact", "PostCompact");
  pi.on("turn_end", ({ message }) => {
    failure = message.stopReason === "error" ? message.errorMessage ?? "" : undefined;
  });
  on("agent_settled", "Stop", ({ aborted }) => {
    if (aborted) return { hook_event_name: "Interrupt" };
    return failure === undefined ? {} : { hook_event_name: "StopFailure", error: "error", last_assistant_message: failure };
  });
};

//! The raw fields of one line, gathered in a single pass.
//!
//! Keys come in any order, so every field that some type needs is noted, undecoded. What is large (instructions, outputs,
//! replaced history) is stepped over.

use watchbill_core::transcript::json::Cursor;

use crate::raw_fields::raw_fields;

raw_fields! {
    /// All fields that some record type needs, undecoded.
    pub(super) struct Fields {
        kind: "type",
        timestamp: "timestamp",
        ordinal: "ordinal",
    }
    with {
        payload: Payload<'a>,
    }
}

raw_fields! {
    /// The fields of `payload`.
    pub(super) struct Payload {
        kind: "type",
        id: "id",

        forked_from: "forked_from_id",
        parent: "parent_thread_id",
        source: "source",
        originator: "originator",
        version: "cli_version",
        own_from: "subagent_history_start_ordinal",
        git: "git",
        cwd: "cwd",

        model: "model",
        approval_policy: "approval_policy",
        sandbox_policy: "sandbox_policy",

        name: "name",
        namespace: "namespace",
        call_id: "call_id",
        arguments: "arguments",
        input: "input",
        output: "output",
        action: "action",
        status: "status",

        content: "content",
        message: "message",
        summary: "summary",
        images: "images",
        local_images: "local_images",
        client_id: "client_id",
        item: "item",

        info: "info",
        limits: "rate_limits",
        error: "error",
        error_kind: "codex_error_info",
        reason: "reason",
        duration_ms: "duration_ms",
        num_turns: "num_turns",
        thread_name: "thread_name",
    }
}

impl<'a> Fields<'a> {
    /// Reads one object.
    pub fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        cursor.object(|cursor, key| match key {
            "payload" if cursor.peek()? == b'{' => {
                cursor.object(|cursor, key| self.payload.take(cursor, key))
            }
            _ => self.take(cursor, key),
        })
    }
}

//! The raw fields of one line, gathered in a single pass.
//!
//! Keys come in any order, so every field that some type needs is noted, undecoded. What is large (instructions, outputs,
//! replaced history) is stepped over.

use watchbill_core::transcript::json::{Cursor, Raw};

/// All fields that some record type needs, undecoded.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    pub kind: Raw<'a>,
    pub timestamp: Raw<'a>,
    pub ordinal: Raw<'a>,
    pub payload: Payload<'a>,
}

/// The fields of `payload`.
#[derive(Debug, Default)]
pub(super) struct Payload<'a> {
    pub kind: Raw<'a>,
    pub id: Raw<'a>,

    pub forked_from: Raw<'a>,
    pub parent: Raw<'a>,
    pub source: Raw<'a>,
    pub originator: Raw<'a>,
    pub version: Raw<'a>,
    pub own_from: Raw<'a>,
    pub git: Raw<'a>,
    pub cwd: Raw<'a>,

    pub model: Raw<'a>,
    pub approval_policy: Raw<'a>,
    pub sandbox_policy: Raw<'a>,

    pub name: Raw<'a>,
    pub namespace: Raw<'a>,
    pub call_id: Raw<'a>,
    pub arguments: Raw<'a>,
    pub input: Raw<'a>,
    pub output: Raw<'a>,
    pub action: Raw<'a>,
    pub status: Raw<'a>,

    pub content: Raw<'a>,
    pub message: Raw<'a>,
    pub summary: Raw<'a>,
    pub images: Raw<'a>,
    pub local_images: Raw<'a>,
    pub client_id: Raw<'a>,
    pub item: Raw<'a>,

    pub info: Raw<'a>,
    pub error: Raw<'a>,
    pub error_kind: Raw<'a>,
    pub reason: Raw<'a>,
    pub duration_ms: Raw<'a>,
    pub num_turns: Raw<'a>,
    pub thread_name: Raw<'a>,
}

impl<'a> Fields<'a> {
    /// Reads one object.
    pub fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        cursor.object(|cursor, key| {
            let slot = match key {
                "payload" if cursor.peek()? == b'{' => return self.payload.read(cursor),
                "type" => &mut self.kind,
                "timestamp" => &mut self.timestamp,
                "ordinal" => &mut self.ordinal,
                _ => return cursor.value().map(|_| ()),
            };
            *slot = cursor.value()?;
            Some(())
        })
    }
}

impl<'a> Payload<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        cursor.object(|cursor, key| {
            let value = cursor.value()?;
            if let Some(slot) = self.slot(key) {
                *slot = value;
            }
            Some(())
        })
    }

    fn slot(&mut self, key: &str) -> Option<&mut Raw<'a>> {
        Some(match key {
            "type" => &mut self.kind,
            "id" => &mut self.id,
            "forked_from_id" => &mut self.forked_from,
            "parent_thread_id" => &mut self.parent,
            "source" => &mut self.source,
            "originator" => &mut self.originator,
            "cli_version" => &mut self.version,
            "subagent_history_start_ordinal" => &mut self.own_from,
            "git" => &mut self.git,
            "cwd" => &mut self.cwd,
            "model" => &mut self.model,
            "approval_policy" => &mut self.approval_policy,
            "sandbox_policy" => &mut self.sandbox_policy,
            "name" => &mut self.name,
            "namespace" => &mut self.namespace,
            "call_id" => &mut self.call_id,
            "arguments" => &mut self.arguments,
            "input" => &mut self.input,
            "output" => &mut self.output,
            "action" => &mut self.action,
            "status" => &mut self.status,
            "content" => &mut self.content,
            "message" => &mut self.message,
            "summary" => &mut self.summary,
            "images" => &mut self.images,
            "local_images" => &mut self.local_images,
            "client_id" => &mut self.client_id,
            "item" => &mut self.item,
            "info" => &mut self.info,
            "error" => &mut self.error,
            "codex_error_info" => &mut self.error_kind,
            "reason" => &mut self.reason,
            "duration_ms" => &mut self.duration_ms,
            "num_turns" => &mut self.num_turns,
            "thread_name" => &mut self.thread_name,
            _ => return None,
        })
    }
}

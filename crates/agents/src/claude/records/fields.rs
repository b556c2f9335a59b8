//! The raw fields of one record, gathered in a single pass over its object.
//!
//! Keys come in any order and `type` is rarely first, so every field that some type needs is noted, undecoded. The
//! same pass enters the objects that hold most of the bytes, because a second pass over them would double the cost.

use watchbill_core::transcript::json::{Cursor, Raw};
use watchbill_core::transcript::payloads::{Content, RawBlock};

use crate::raw_fields::raw_fields;

raw_fields! {
    /// All fields that some record type needs, undecoded.
    pub(super) struct Fields {
        kind: "type",
        subtype: "subtype",

        uuid: "uuid",
        parent_uuid: "parentUuid",
        timestamp: "timestamp",
        session_id: "sessionId",
        process_session_id: "session_id",
        forked_from: "forkedFrom",
        cwd: "cwd",
        branch: "gitBranch",
        version: "version",
        entrypoint: "entrypoint",
        agent_id: "agentId",
        sidechain: "isSidechain",
        meta: "isMeta",

        compact_summary: "isCompactSummary",
        transcript_only: "isVisibleInTranscriptOnly",
        permission_mode: "permissionMode",
        prompt_source: "promptSource",
        prompt_id: "promptId",
        plan_content: "planContent",
        origin: "origin",
        interrupted_message: "interruptedMessageId",
        denial_kind: "toolDenialKind",
        denied_before_run: "toolDenialBeforeRun",
        permission_decision: "permissionDecision",

        request_id: "requestId",
        api_error: "isApiErrorMessage",
        error: "error",
        aborted: "isAbortedMidStream",

        compact_metadata: "compactMetadata",
        duration_ms: "durationMs",
        pending_agents: "pendingBackgroundAgentCount",
        prevented: "preventedContinuation",
        retry_attempt: "retryAttempt",
        max_retries: "maxRetries",
        retry_in_ms: "retryInMs",

        operation: "operation",
        content: "content",
        last_prompt: "lastPrompt",
        summary: "summary",
        ai_title: "aiTitle",
        agent_name: "agentName",
        custom_title: "customTitle",
        pr_number: "prNumber",
        pr_url: "prUrl",
        relocated_cwd: "relocatedCwd",
        worktree: "worktreeSession",
        continued_in: "continuedInSessionId",
    }
    with {
        message: Message<'a>,
        tool_use_result: ToolUseResult<'a>,
        /// `attachment`, or `data` of the older `progress`.
        attached: RawAttachment<'a>,
    }
}

raw_fields! {
    /// `message`.
    pub(super) struct Message {
        id: "id",
        model: "model",
        stop: "stop_reason",
        usage: "usage",
    }
    with {
        content: Content<'a>,
    }
}

raw_fields! {
    /// `toolUseResult`: the fields that are used.
    pub(super) struct ToolUseResult {
        background_task: "backgroundTaskId",
        status: "status",
        agent_id: "agentId",
        interrupted: "interrupted",
    }
    with {
        /// If it is an object: all of it, for callers that need more than the fields above.
        whole: Raw<'a>,
        /// If it is a string: `User rejected tool use`, an error's text, ….
        text: Raw<'a>,
    }
}

raw_fields! {
    /// An attachment of the agent: a queued prompt, the outcome of a hook, ….
    pub(super) struct RawAttachment {
        kind: "type",
        prompt: "prompt",
        origin: "origin",
        mode: "commandMode",
        hook_name: "hookName",
        plan_path: "planFilePath",
    }
}

impl<'a> Fields<'a> {
    /// Reads one object at the cursor; `None` if it is malformed.
    ///
    /// It reads in place, because moving a kilobyte per line shows in the cost of a cold start.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        cursor.object(|cursor, key| match key {
            "message" => self.message.read(cursor),
            "toolUseResult" => self.tool_use_result.read(cursor),
            "attachment" | "data" => self.attached.read(cursor),
            _ => self.take(cursor, key),
        })
    }
}

impl<'a> Message<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        if cursor.peek()? != b'{' {
            return cursor.value().map(|_| ());
        }
        cursor.object(|cursor, key| {
            if key == "content" { read_content(&mut self.content, cursor) } else { self.take(cursor, key) }
        })
    }
}

fn read_content<'a>(content: &mut Content<'a>, cursor: &mut Cursor<'a>) -> Option<()> {
    match cursor.peek()? {
        b'"' => {
            *content = Content::Text(cursor.value()?);
            return Some(());
        }
        b'[' => *content = Content::Empty,
        _ => return cursor.value().map(|_| ()),
    }
    cursor.array(|cursor| match content {
        Content::Blocks(_, more) => {
            more.push(RawBlock::default());
            read_block(more.last_mut()?, cursor)
        }
        _ => {
            let mut first = RawBlock::default();
            read_block(&mut first, cursor)?;
            *content = Content::Blocks(first, Vec::new());
            Some(())
        }
    })
}

fn read_block<'a>(block: &mut RawBlock<'a>, cursor: &mut Cursor<'a>) -> Option<()> {
    match cursor.peek()? {
        b'{' => {}
        b'"' => {
            // A bare string among the blocks counts as a text block.
            block.kind = Raw::Str("text");
            block.text = cursor.value()?;
            return Some(());
        }
        _ => return cursor.value().map(|_| ()),
    }
    cursor.object(|cursor, key| {
        let slot = match key {
            "type" => Some(&mut block.kind),
            "text" => Some(&mut block.text),
            "thinking" => Some(&mut block.thinking),
            "id" => Some(&mut block.id),
            "name" => Some(&mut block.name),
            "input" => Some(&mut block.input),
            "tool_use_id" => Some(&mut block.tool_use_id),
            "is_error" => Some(&mut block.is_error),
            "content" => Some(&mut block.content),
            _ => None,
        };
        let value = cursor.value()?;
        if let Some(slot) = slot {
            *slot = value;
        }
        Some(())
    })
}

impl<'a> ToolUseResult<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        if cursor.peek()? != b'{' {
            self.text = cursor.value()?;
            return Some(());
        }
        let start = cursor.clone();
        cursor.object(|cursor, key| self.take(cursor, key))?;
        self.whole = Raw::Nested(start.until(cursor));
        Some(())
    }
}

impl<'a> RawAttachment<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        if cursor.peek()? != b'{' {
            return cursor.value().map(|_| ());
        }
        cursor.object(|cursor, key| self.take(cursor, key))
    }
}

//! The raw fields of one record, gathered in a single pass over its object.
//!
//! Keys come in any order and `type` is rarely first, so every field that some type needs is noted, undecoded. The
//! same pass enters the objects that hold most of the bytes, because a second pass over them would double the cost.

use watchbill_core::transcript::json::{Cursor, Raw};
use watchbill_core::transcript::payloads::{Content, RawBlock};

/// All fields that some record type needs, undecoded.
#[derive(Debug, Default)]
pub(super) struct Fields<'a> {
    pub kind: Raw<'a>,
    pub subtype: Raw<'a>,

    pub uuid: Raw<'a>,
    pub parent_uuid: Raw<'a>,
    pub timestamp: Raw<'a>,
    pub session_id: Raw<'a>,
    pub process_session_id: Raw<'a>,
    pub forked_from: Raw<'a>,
    pub cwd: Raw<'a>,
    pub branch: Raw<'a>,
    pub version: Raw<'a>,
    pub entrypoint: Raw<'a>,
    pub agent_id: Raw<'a>,
    pub sidechain: Raw<'a>,
    pub meta: Raw<'a>,

    pub message: Message<'a>,
    pub tool_use_result: ToolUseResult<'a>,

    pub compact_summary: Raw<'a>,
    pub transcript_only: Raw<'a>,
    pub permission_mode: Raw<'a>,
    pub prompt_source: Raw<'a>,
    pub prompt_id: Raw<'a>,
    pub plan_content: Raw<'a>,
    pub origin: Raw<'a>,
    pub interrupted_message: Raw<'a>,
    pub denial_kind: Raw<'a>,
    pub denied_before_run: Raw<'a>,
    pub permission_decision: Raw<'a>,

    pub request_id: Raw<'a>,
    pub api_error: Raw<'a>,
    pub error: Raw<'a>,
    pub aborted: Raw<'a>,

    pub compact_metadata: Raw<'a>,
    pub duration_ms: Raw<'a>,
    pub pending_agents: Raw<'a>,
    pub prevented: Raw<'a>,
    pub retry_attempt: Raw<'a>,
    pub max_retries: Raw<'a>,
    pub retry_in_ms: Raw<'a>,

    /// `attachment`, or `data` of the older `progress`.
    pub attached: RawAttachment<'a>,
    pub operation: Raw<'a>,
    pub content: Raw<'a>,
    pub last_prompt: Raw<'a>,
    pub summary: Raw<'a>,
    pub ai_title: Raw<'a>,
    pub agent_name: Raw<'a>,
    pub custom_title: Raw<'a>,
    pub pr_number: Raw<'a>,
    pub pr_url: Raw<'a>,
    pub relocated_cwd: Raw<'a>,
    pub worktree: Raw<'a>,
    pub continued_in: Raw<'a>,
}

/// `message`.
#[derive(Debug, Default)]
pub(super) struct Message<'a> {
    pub id: Raw<'a>,
    pub model: Raw<'a>,
    pub stop: Raw<'a>,
    pub usage: Raw<'a>,
    pub content: Content<'a>,
}

/// `toolUseResult`: the fields that are used.
#[derive(Debug, Default)]
pub(super) struct ToolUseResult<'a> {
    /// If it is an object: all of it, for callers that need more than the fields below.
    pub whole: Raw<'a>,
    /// If it is a string: `User rejected tool use`, an error's text, ….
    pub text: Raw<'a>,
    pub background_task: Raw<'a>,
    pub status: Raw<'a>,
    pub agent_id: Raw<'a>,
}

/// An attachment of the agent: a queued prompt, the outcome of a hook, ….
#[derive(Debug, Default)]
pub(super) struct RawAttachment<'a> {
    pub kind: Raw<'a>,
    pub prompt: Raw<'a>,
    pub origin: Raw<'a>,
    pub mode: Raw<'a>,
    pub hook_name: Raw<'a>,
    pub plan_path: Raw<'a>,
}

impl<'a> Fields<'a> {
    /// Reads one object at the cursor; `None` if it is malformed.
    ///
    /// It reads in place, because moving a kilobyte per line shows in the cost of a cold start.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        cursor.object(|cursor, key| {
            let slot = match key {
                "message" => return self.message.read(cursor),
                "toolUseResult" => return self.tool_use_result.read(cursor),
                "attachment" | "data" => return self.attached.read(cursor),
                _ => self.slot(key),
            };
            let value = cursor.value()?;
            if let Some(slot) = slot {
                *slot = value;
            }
            Some(())
        })
    }

    /// The field for the value of a key; `None` for a key that no type needs.
    fn slot(&mut self, key: &str) -> Option<&mut Raw<'a>> {
        Some(match key {
            "type" => &mut self.kind,
            "subtype" => &mut self.subtype,
            "uuid" => &mut self.uuid,
            "parentUuid" => &mut self.parent_uuid,
            "timestamp" => &mut self.timestamp,
            "sessionId" => &mut self.session_id,
            "session_id" => &mut self.process_session_id,
            "forkedFrom" => &mut self.forked_from,
            "cwd" => &mut self.cwd,
            "gitBranch" => &mut self.branch,
            "version" => &mut self.version,
            "entrypoint" => &mut self.entrypoint,
            "agentId" => &mut self.agent_id,
            "isSidechain" => &mut self.sidechain,
            "isMeta" => &mut self.meta,
            "isCompactSummary" => &mut self.compact_summary,
            "isVisibleInTranscriptOnly" => &mut self.transcript_only,
            "permissionMode" => &mut self.permission_mode,
            "promptSource" => &mut self.prompt_source,
            "promptId" => &mut self.prompt_id,
            "planContent" => &mut self.plan_content,
            "origin" => &mut self.origin,
            "interruptedMessageId" => &mut self.interrupted_message,
            "toolDenialKind" => &mut self.denial_kind,
            "toolDenialBeforeRun" => &mut self.denied_before_run,
            "permissionDecision" => &mut self.permission_decision,
            "requestId" => &mut self.request_id,
            "isApiErrorMessage" => &mut self.api_error,
            "error" => &mut self.error,
            "isAbortedMidStream" => &mut self.aborted,
            "compactMetadata" => &mut self.compact_metadata,
            "durationMs" => &mut self.duration_ms,
            "pendingBackgroundAgentCount" => &mut self.pending_agents,
            "preventedContinuation" => &mut self.prevented,
            "retryAttempt" => &mut self.retry_attempt,
            "maxRetries" => &mut self.max_retries,
            "retryInMs" => &mut self.retry_in_ms,
            "operation" => &mut self.operation,
            "content" => &mut self.content,
            "lastPrompt" => &mut self.last_prompt,
            "summary" => &mut self.summary,
            "aiTitle" => &mut self.ai_title,
            "agentName" => &mut self.agent_name,
            "customTitle" => &mut self.custom_title,
            "prNumber" => &mut self.pr_number,
            "prUrl" => &mut self.pr_url,
            "relocatedCwd" => &mut self.relocated_cwd,
            "worktreeSession" => &mut self.worktree,
            "continuedInSessionId" => &mut self.continued_in,
            _ => return None,
        })
    }
}

impl<'a> Message<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        if cursor.peek()? != b'{' {
            return cursor.value().map(|_| ());
        }
        cursor.object(|cursor, key| {
            let slot = match key {
                "content" => return read_content(&mut self.content, cursor),
                "id" => Some(&mut self.id),
                "model" => Some(&mut self.model),
                "stop_reason" => Some(&mut self.stop),
                "usage" => Some(&mut self.usage),
                _ => None,
            };
            let value = cursor.value()?;
            if let Some(slot) = slot {
                *slot = value;
            }
            Some(())
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
        cursor.object(|cursor, key| {
            let value = cursor.value()?;
            match key {
                "backgroundTaskId" => self.background_task = value,
                "status" => self.status = value,
                "agentId" => self.agent_id = value,
                _ => {}
            }
            Some(())
        })?;
        self.whole = Raw::Nested(start.until(cursor));
        Some(())
    }
}

impl<'a> RawAttachment<'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        if cursor.peek()? != b'{' {
            return cursor.value().map(|_| ());
        }
        cursor.object(|cursor, key| {
            let value = cursor.value()?;
            match key {
                "type" => self.kind = value,
                "prompt" => self.prompt = value,
                "origin" => self.origin = value,
                "commandMode" => self.mode = value,
                "hookName" => self.hook_name = value,
                "planFilePath" => self.plan_path = value,
                _ => {}
            }
            Some(())
        })
    }
}

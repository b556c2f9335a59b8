//! Parses one hook payload, as the agent wrote it to the hook's standard input, into the fields that decide a
//! session's state.

use std::sync::Arc;

use super::event::{Background, EndReason, HookEvent, HookToolCall, NotificationKind, StartSource, Trigger};
use crate::history::boilerplate::without_quotes;
use crate::ids::{SessionId, stable_hash};
use crate::nesting::{Nesting, nesting};
use crate::session::facts::{first_line, one_line};
use crate::transcript::json::{Cursor, Raw};
use crate::transcript::target;

/// Longest payload that is read, in bytes. A `PostToolUse` carries the whole output of its tool. The sender shortens
/// the texts of a longer payload.
pub const PAYLOAD_LIMIT: usize = 4 * 1024 * 1024;
/// How many bytes of a text are searched for its first line.
const LOOK_AT: usize = 4096;
/// How a prompt begins that the agent submits by itself when background work has ended.
const TASK_NOTIFICATION: &str = "<task-notification>";

/// One hook event: the fields that every event has, and the event itself.
///
/// Source of the shapes: 63 payloads of 22 events recorded from agent 2.1.329, and the agent's hooks reference of
/// 2.1.240 for those that were not recorded (PermissionDenied, Elicitation). Fields that are absent, empty or of
/// another type are unknown, never an error. The payload's long texts are not kept; [`super::HookTexts`] reads them
/// from the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookPayload {
    /// `session_id`: the session that the process is on now.
    pub session: SessionId,
    /// `transcript_path`: where the session's main transcript lies or will lie, also for events of subagents.
    pub transcript_path: Option<Arc<str>>,
    /// `cwd`: the agent's folder at that moment. It changes during a session, so it identifies nothing.
    pub cwd: Option<Arc<str>>,
    /// `permission_mode`.
    pub permission_mode: Option<Arc<str>>,
    /// `prompt_id` (since 2.1.196): which prompt the event belongs to.
    pub prompt_id: Option<Arc<str>>,
    /// `agent_id`: the subagent that the event is about; `None` for the session's own turn.
    pub agent_id: Option<Arc<str>>,
    /// `agent_type`; empty for the worker of a compaction.
    pub agent_type: Option<Arc<str>>,
    /// What happened.
    pub event: HookEvent,
}

/// Why the bytes gave no payload. No retry helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// More than [`PAYLOAD_LIMIT`] bytes.
    #[error("the hook's payload is longer than {} MB and was not read", PAYLOAD_LIMIT / 1024 / 1024)]
    TooLarge,
    /// Nested too deeply: a recursive parser could overflow the stack.
    #[error("the hook's payload is nested too deep and was not read")]
    TooDeep,
    /// No JSON object, or one that was cut.
    #[error("the hook's payload is no complete JSON object")]
    Malformed,
    /// An object that names no session or no event.
    #[error("the hook's payload names no session or no event: it is not one of Claude Code's")]
    NotAnEvent,
}

/// Reads one payload.
///
/// Invalid UTF-8 is replaced. Only `session_id` and `hook_event_name` are needed.
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    let text = checked(bytes)?;
    let fields = Fields::read(&text)?;
    let line = |raw: Raw<'_>| raw.whole().map(|text| one_line(&text)).filter(|text| !text.is_empty());
    let word = |raw: Raw<'_>| line(raw).map(Arc::from);
    let session = line(fields.session).ok_or(HookError::NotAnEvent)?;
    let name = line(fields.event).ok_or(HookError::NotAnEvent)?;
    Ok(HookPayload {
        session: SessionId::new(&session),
        transcript_path: path(fields.transcript_path),
        cwd: path(fields.cwd),
        permission_mode: word(fields.permission_mode),
        prompt_id: word(fields.prompt_id),
        agent_id: word(fields.agent_id),
        agent_type: fields.agent_type.whole().map(|text| Arc::from(one_line(&text))),
        event: fields.event(&name),
    })
}

/// The bytes as text, within the limits.
fn checked(bytes: &[u8]) -> Result<std::borrow::Cow<'_, str>, HookError> {
    if bytes.len() > PAYLOAD_LIMIT {
        return Err(HookError::TooLarge);
    }
    match nesting(bytes) {
        Nesting::TooDeep => Err(HookError::TooDeep),
        Nesting::Open => Err(HookError::Malformed),
        Nesting::Closed => Ok(String::from_utf8_lossy(bytes)),
    }
}

/// A path in full: `one_line` would cut it to 200 characters, which name another file.
fn path(raw: Raw<'_>) -> Option<Arc<str>> {
    raw.whole().filter(|text| !text.is_empty()).map(Arc::from)
}

/// The raw values of all fields that some event needs.
#[derive(Debug, Default)]
struct Fields<'a> {
    session: Raw<'a>,
    transcript_path: Raw<'a>,
    cwd: Raw<'a>,
    permission_mode: Raw<'a>,
    prompt_id: Raw<'a>,
    agent_id: Raw<'a>,
    agent_type: Raw<'a>,
    event: Raw<'a>,
    /// `source`, `reason`, `trigger`, `notification_type` or `error`.
    word: Raw<'a>,
    model: Raw<'a>,
    title: Raw<'a>,
    prompt: Raw<'a>,
    message: Raw<'a>,
    last_message: Raw<'a>,
    tool: Raw<'a>,
    input: Raw<'a>,
    id: Raw<'a>,
    interrupt: Raw<'a>,
    calls: Raw<'a>,
    background: Raw<'a>,
}

impl<'a> Fields<'a> {
    fn read(text: &'a str) -> Result<Self, HookError> {
        let mut fields = Self::default();
        let mut cursor = Cursor::new(text);
        let read = cursor.object(|cursor, key| {
            let value = cursor.value()?;
            match key {
                "session_id" => fields.session = value,
                "transcript_path" => fields.transcript_path = value,
                "cwd" => fields.cwd = value,
                "permission_mode" => fields.permission_mode = value,
                "prompt_id" => fields.prompt_id = value,
                "agent_id" => fields.agent_id = value,
                "agent_type" => fields.agent_type = value,
                "hook_event_name" => fields.event = value,
                "source" | "reason" | "trigger" | "notification_type" | "error" => fields.word = value,
                "model" => fields.model = value,
                "session_title" => fields.title = value,
                "prompt" => fields.prompt = value,
                "message" => fields.message = value,
                "last_assistant_message" => fields.last_message = value,
                "tool_name" => fields.tool = value,
                "tool_input" => fields.input = value,
                "tool_use_id" => fields.id = value,
                "is_interrupt" => fields.interrupt = value,
                "tool_calls" => fields.calls = value,
                "background_tasks" => fields.background = value,
                _ => {}
            }
            Some(())
        });
        let complete = read.is_some() && cursor.peek().is_none();
        if complete { Ok(fields) } else { Err(HookError::Malformed) }
    }

    fn event(&self, name: &str) -> HookEvent {
        let word = self.word.word().unwrap_or("");
        match name {
            "SessionStart" => HookEvent::SessionStart {
                source: StartSource::of(word),
                model: self.model.whole().map(|model| Arc::from(one_line(&model))),
                title: self
                    .title
                    .whole()
                    .map(|title| Arc::from(one_line(&title)))
                    .filter(|t: &Arc<str>| !t.is_empty()),
            },
            "SessionEnd" => HookEvent::SessionEnd { reason: EndReason::of(word) },
            "UserPromptSubmit" => {
                let text = self.prompt.head(LOOK_AT).unwrap_or_default();
                let task_notification = text.trim_start().starts_with(TASK_NOTIFICATION);
                HookEvent::UserPromptSubmit {
                    prompt: Arc::from(first_line(&without_quotes(&text))),
                    task_notification,
                }
            }
            "PreToolUse" => HookEvent::PreToolUse(self.call()),
            "PostToolUse" => HookEvent::PostToolUse(self.call()),
            "PostToolUseFailure" => {
                HookEvent::PostToolUseFailure { call: self.call(), interrupted: self.interrupt.is_true() }
            }
            "PermissionRequest" => HookEvent::PermissionRequest(self.call()),
            "PermissionDenied" => HookEvent::PermissionDenied(self.call()),
            "PostToolBatch" => HookEvent::PostToolBatch { ids: self.batch() },
            "Notification" => HookEvent::Notification { kind: NotificationKind::of(word) },
            "Stop" => {
                HookEvent::Stop { last_message: line(self.last_message), background: self.background() }
            }
            "StopFailure" => {
                HookEvent::StopFailure { error: Arc::from(one_line(word)), message: line(self.last_message) }
            }
            "SubagentStart" => HookEvent::SubagentStart,
            "SubagentStop" => HookEvent::SubagentStop,
            "PreCompact" => HookEvent::PreCompact { trigger: Trigger::of(word) },
            "PostCompact" => HookEvent::PostCompact { trigger: Trigger::of(word) },
            "Elicitation" => HookEvent::Elicitation { message: line(self.message) },
            "ElicitationResult" => HookEvent::ElicitationResult,
            other => HookEvent::Other(Arc::from(other)),
        }
    }

    fn call(&self) -> HookToolCall {
        let tool = self.tool.whole().map(|tool| one_line(&tool)).unwrap_or_default();
        let input = match self.input {
            Raw::Absent => "",
            Raw::Str(raw) | Raw::Nested(raw) | Raw::Plain(raw) => raw,
        };
        HookToolCall {
            target: Arc::from(one_line(&target::of(&tool, self.input))),
            tool: Arc::from(tool),
            id: self.id.whole().filter(|id| !id.is_empty()).map(|id| Arc::from(&*id)),
            input: stable_hash(input.as_bytes()),
        }
    }

    fn batch(&self) -> Vec<Arc<str>> {
        let mut ids = Vec::new();
        self.calls.elements(|cursor| {
            ids.extend(cursor.value()?.get("tool_use_id").whole().map(|id| Arc::from(&*id)));
            Some(())
        });
        ids
    }

    fn background(&self) -> Background {
        let mut background = Background::default();
        self.background.elements(|cursor| {
            let task = cursor.value()?;
            // `status` is an open set; only `running` was observed. Tasks that are over are usually not listed at
            // all.
            let over = matches!(
                task.get("status").word(),
                Some("completed" | "failed" | "killed" | "stopped" | "cancelled")
            );
            match task.get("type").word() {
                _ if over => {}
                Some("subagent") => {
                    background
                        .agents
                        .push(task.get("id").whole().map(|id| Arc::from(&*id)).unwrap_or_default());
                }
                _ => background.shells += 1,
            }
            Some(())
        });
        background
    }
}

fn line(raw: Raw<'_>) -> Arc<str> {
    Arc::from(first_line(&raw.head(LOOK_AT).unwrap_or_default()))
}

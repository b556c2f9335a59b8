//! The hooks of Claude Code: a payload, as the agent wrote it to the hook's standard input, into the fields that decide a
//! session's state. Codex's payloads have the same form.

use std::borrow::Cow;
use std::sync::Arc;

use watchbill_core::hook::event::{
    Background, EndReason, HookEvent, HookToolCall, NotificationKind, StartSource,
};
use watchbill_core::hook::{HookError, HookPayload, HookTexts, PAYLOAD_LIMIT, STATUS_LINE};
use watchbill_core::ids::{Agent, SessionId, stable_hash};
use watchbill_core::nesting::{Nesting, nesting};
use watchbill_core::session::facts::{first_line, one_line};
use watchbill_core::transcript::json::{Cursor, Raw};
use watchbill_core::transcript::record::PromptOrigin;

use super::records::prompt_source::origin_of_text;
use super::records::target;
use super::records::user::tagged;
use super::status_line;
use crate::raw_fields::raw_fields;
use crate::traits;

/// How many bytes of a text are searched for its first line.
const LOOK_AT: usize = 4096;
/// How a prompt begins that the agent submits by itself when background work has ended.
const TASK_NOTIFICATION: &str = "<task-notification>";

/// What differs between the agents whose payloads have this form.
pub(crate) struct Form {
    /// Whose payloads they are.
    pub agent: Agent,
    /// An event in our words.
    pub name: fn(&str) -> &str,
    /// A tool in our words.
    pub tool: fn(&str) -> &str,
    /// What a call acts on, in one line.
    pub target: for<'a> fn(&str, Raw<'a>) -> Cow<'a, str>,
    /// The beginning of some tools' names that the transcript does not have.
    pub prefix: &'static str,
    /// The field of a call's input that all its events repeat unchanged; `None`: the whole input.
    pub repeats: Option<&'static str>,
    /// `SessionStart` comes with a prompt, so that the turn runs already.
    pub starts_in_turn: bool,
}

impl Form {
    /// The form with Claude Code's own words.
    pub(crate) const OF_CLAUDE: Self = Self {
        agent: Agent::Claude,
        name: |name| name,
        tool: |tool| tool,
        target: target::of,
        prefix: "",
        repeats: None,
        starts_in_turn: false,
    };
}

/// Reads one payload.
///
/// Invalid UTF-8 is replaced. Only `session_id` and `hook_event_name` are needed.
///
/// # Errors
/// When the bytes are too long, nested too deeply, no object, or no event.
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    read(bytes, &Form::OF_CLAUDE)
}

/// Reads one payload of an agent.
pub(crate) fn read(bytes: &[u8], form: &Form) -> Result<HookPayload, HookError> {
    let text = checked(bytes)?;
    let fields = Fields::read(&text)?;
    let line = |raw: Raw<'_>| raw.whole().map(|text| one_line(&text)).filter(|text| !text.is_empty());
    let word = |raw: Raw<'_>| line(raw).map(Arc::from);
    let none = HookError::NotAnEvent(traits(form.agent).title);
    let (session, name) = (line(fields.session).ok_or(none)?, line(fields.event).ok_or(none)?);
    Ok(HookPayload {
        session: SessionId::new(&session),
        transcript_path: path(fields.transcript_path),
        cwd: path(fields.cwd),
        permission_mode: word(fields.permission_mode),
        prompt_id: word(fields.prompt_id),
        agent_id: word(fields.agent_id),
        agent_type: fields.agent_type.whole().map(|text| Arc::from(one_line(&text))),
        event: fields.event(&name, form),
    })
}

/// The bytes as text, within the limits.
fn checked(bytes: &[u8]) -> Result<Cow<'_, str>, HookError> {
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

raw_fields! {
    /// The raw values of all fields that some event needs.
    pub(super) struct Fields {
        session: "session_id",
        transcript_path: "transcript_path",
        cwd: "cwd",
        permission_mode: "permission_mode",
        prompt_id: "prompt_id",
        agent_id: "agent_id",
        agent_type: "agent_type",
        event: "hook_event_name",
        word: "source" | "reason" | "trigger" | "notification_type" | "error",
        model: "model",
        title: "session_title",
        prompt: "prompt",
        message: "message",
        last_message: "last_assistant_message" | "prompt_response",
        tool: "tool_name",
        input: "tool_input",
        id: "tool_use_id",
        interrupt: "is_interrupt",
        background: "background_tasks",
        context: "context_window",
        cost: "cost",
        effort: "effort",
        limits: "rate_limits",
        pr: "pr",
    }
}

impl<'a> Fields<'a> {
    fn read(text: &'a str) -> Result<Self, HookError> {
        let mut fields = Self::default();
        let mut cursor = Cursor::new(text);
        let read = cursor.object(|cursor, key| fields.take(cursor, key));
        let complete = read.is_some() && cursor.peek().is_none();
        if complete { Ok(fields) } else { Err(HookError::Malformed) }
    }

    fn event(&self, name: &str, form: &Form) -> HookEvent {
        let call = || self.call(form);
        let word = self.word.word().unwrap_or("");
        match (form.name)(name) {
            "SessionStart" => HookEvent::SessionStart {
                source: if form.starts_in_turn { StartSource::Unknown } else { start_source(word) },
                model: self.model.whole().map(|model| Arc::from(one_line(&model))),
                title: self
                    .title
                    .whole()
                    .map(|title| Arc::from(one_line(&title)))
                    .filter(|t: &Arc<str>| !t.is_empty()),
            },
            "SessionEnd" => HookEvent::SessionEnd { reason: end_reason(word) },
            "UserPromptSubmit" => {
                let text = self.prompt.head(LOOK_AT).unwrap_or_default();
                HookEvent::UserPromptSubmit {
                    task_notification: text.trim_start().starts_with(TASK_NOTIFICATION),
                }
            }
            "PreToolUse" => HookEvent::PreToolUse(call()),
            "PostToolUse" => HookEvent::PostToolUse(call()),
            "PostToolUseFailure" => {
                HookEvent::PostToolUseFailure { call: call(), interrupted: self.interrupt.is_true() }
            }
            "PermissionRequest" => HookEvent::PermissionRequest(call()),
            "PermissionDenied" => HookEvent::PermissionDenied(call()),
            "PostToolBatch" => HookEvent::PostToolBatch,
            "Notification" => HookEvent::Notification { kind: notification_kind(word) },
            "Stop" => {
                HookEvent::Stop { last_message: line(self.last_message), background: self.background() }
            }
            "Interrupt" => HookEvent::Interrupted,
            "PermissionReplied" => HookEvent::PermissionReplied(call()),
            "StopFailure" => {
                HookEvent::StopFailure { error: Arc::from(one_line(word)), message: line(self.last_message) }
            }
            "SubagentStart" => HookEvent::SubagentStart,
            "SubagentStop" => HookEvent::SubagentStop,
            "PreCompact" => HookEvent::PreCompact,
            "PostCompact" => HookEvent::PostCompact,
            "Elicitation" => HookEvent::Elicitation { message: line(self.message) },
            "ElicitationResult" => HookEvent::ElicitationResult,
            STATUS_LINE => HookEvent::StatusLine(Arc::new(status_line::read(self))),
            other => HookEvent::Other(Arc::from(other)),
        }
    }

    fn call(&self, form: &Form) -> HookToolCall {
        let tool = self.tool.whole().map(|tool| one_line(&tool)).unwrap_or_default();
        let tool = (form.tool)(tool.strip_prefix(form.prefix).unwrap_or(&tool));
        let repeated = form.repeats.map(|field| self.input.get(field)).filter(|part| part.is_there());
        let input = match repeated.unwrap_or(self.input) {
            Raw::Absent => "",
            Raw::Str(raw) | Raw::Nested(raw) | Raw::Plain(raw) => raw,
        };
        HookToolCall {
            target: Arc::from(one_line(&(form.target)(tool, self.input))),
            tool: Arc::from(tool),
            id: self.id.whole().filter(|id| !id.is_empty()).map(|id| Arc::from(&*id)),
            input: stable_hash(input.as_bytes()),
        }
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

fn start_source(word: &str) -> StartSource {
    match word {
        "startup" => StartSource::Startup,
        "resume" => StartSource::Resume,
        "clear" => StartSource::Clear,
        "compact" => StartSource::Compact,
        "fork" => StartSource::Fork,
        _ => StartSource::Unknown,
    }
}

fn end_reason(word: &str) -> EndReason {
    match word {
        "clear" => EndReason::Clear,
        "resume" => EndReason::Resume,
        "prompt_input_exit" | "exit" => EndReason::Exit,
        "logout" => EndReason::Logout,
        _ => EndReason::Other,
    }
}

fn notification_kind(word: &str) -> NotificationKind {
    match word {
        "permission_prompt" | "ToolPermission" => NotificationKind::PermissionPrompt,
        "idle_prompt" => NotificationKind::IdlePrompt,
        "agent_needs_input" => NotificationKind::NeedsInput,
        "elicitation_dialog" | "elicitation_url_dialog" => NotificationKind::Elicitation,
        _ => NotificationKind::Other,
    }
}

/// The full texts of a payload that [`parse_payload`] accepts, given as text.
///
/// # Errors
/// When the text is no JSON object.
pub fn read_texts(text: &str) -> Result<HookTexts<'_>, HookError> {
    let mut texts = HookTexts::default();
    Cursor::new(text)
        .object(|cursor, key| {
            let value = cursor.value()?;
            match key {
                "prompt" => texts.prompt = value.whole(),
                "tool_input" => texts.tool_input = json(value),
                "tool_response" => {
                    texts.tool_response = value.whole().or_else(|| json(value).map(Cow::Borrowed));
                }
                "last_assistant_message" | "prompt_response" => texts.last_assistant_message = value.whole(),
                "compact_summary" => texts.compact_summary = value.whole(),
                "custom_instructions" => texts.custom_instructions = value.whole(),
                "error" => texts.error = value.whole(),
                "error_details" => texts.error_details = value.whole(),
                "message" => texts.message = value.whole(),
                "agent_transcript_path" => texts.agent_transcript_path = value.whole(),
                "duration_ms" => texts.duration_ms = value.number(),
                _ => {}
            }
            Some(())
        })
        .ok_or(HookError::Malformed)?;
    let prompt = texts.prompt.as_deref().unwrap_or_default();
    texts.prompt_origin = origin_of_text(prompt);
    let is_notice = texts.prompt_origin == Some(PromptOrigin::TaskNotification);
    let summary = is_notice.then(|| tagged(prompt, "summary")).flatten();
    texts.notice = summary.map(|summary| Cow::Owned(summary.trim().to_owned()));
    Ok(texts)
}

/// The raw JSON of a value. A string has lost its quotes, so it gives `None`.
fn json(value: Raw<'_>) -> Option<&str> {
    match value {
        Raw::Nested(raw) => Some(raw),
        Raw::Plain(raw) if raw != "null" => Some(raw),
        _ => None,
    }
}

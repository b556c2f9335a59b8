//! Parses one line of a transcript into records. Unreadable parts become counted problems.

mod attached;
mod commands;
mod fields;
mod payloads;
pub(super) mod prompt_source;
pub mod target;
pub(crate) mod user;

use watchbill_core::ids::RecordId;
use watchbill_core::time::Timestamp;
use watchbill_core::tool::Ask;
use watchbill_core::transcript::json::Raw;
use watchbill_core::transcript::payloads::{Content, Payloads, RawBlock};
use watchbill_core::transcript::record::{
    Assistant, Attachment, Block, Body, CompactBoundary, CompactTrigger, Envelope, QueueOperation, Record,
    StopReason, System, TEXT_LIMIT, TitleKind, Usage,
};
use watchbill_core::transcript::report::LineReport;

use crate::lines::{TYPE_NAME_LIMIT, each_object};
use crate::words;

use self::attached::{attachment, session_start};
use self::fields::Fields;

/// Reads one line, without its newline. Never fails: records and their payloads go to `sink`, problems into the report.
///
/// Two objects on one line are two records; this happens when two writers miss a newline. A blank line gives no
/// record. A field of the wrong type counts as absent.
pub fn parse_line(line: &[u8], sink: &mut dyn FnMut(Record<'_>, &dyn Payloads<'_>)) -> LineReport {
    each_object(line, &mut |cursor, report| {
        let mut fields = Fields::default();
        fields.read(cursor)?;
        report.records += 1;
        if report.unknown_type.is_none() && !is_known(fields.kind) {
            report.unknown_type = Some(fields.kind.text(TYPE_NAME_LIMIT).unwrap_or_default().into());
        }
        let record = record(&fields);
        report.absurd_tokens |= has_absurd_tokens(&record);
        sink(record, &fields);
        Some(())
    })
}

fn has_absurd_tokens(record: &Record<'_>) -> bool {
    matches!(&record.body, Body::Assistant(answer) if answer.usage.is_some_and(|usage| usage.was_cut()))
}

fn is_known(kind: Raw<'_>) -> bool {
    kind.word().is_some_and(|word| RecordKind::of(word).is_some())
}

/// Record types, by the word in `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RecordKind {
    User,
    Assistant,
    System,
    Progress,
    Attachment,
    Queue,
    Title(TitleKind),
    PermissionMode,
    LastPrompt,
    PullRequest,
    Relocated,
    Worktree,
    ContinuedIn,
    Irrelevant,
}

impl RecordKind {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "system" => Self::System,
            "progress" => Self::Progress,
            "attachment" => Self::Attachment,
            "queue-operation" => Self::Queue,
            "summary" => Self::Title(TitleKind::Summary),
            "ai-title" => Self::Title(TitleKind::Ai),
            "agent-name" => Self::Title(TitleKind::AgentName),
            "custom-title" => Self::Title(TitleKind::Custom),
            "permission-mode" => Self::PermissionMode,
            "last-prompt" => Self::LastPrompt,
            "pr-link" => Self::PullRequest,
            "relocated" => Self::Relocated,
            "worktree-state" => Self::Worktree,
            "continued-in" => Self::ContinuedIn,
            // `api-request-blob` has a `message` and is no turn.
            "file-history-snapshot"
            | "file-history-delta"
            | "api-request"
            | "api-request-shape"
            | "api-request-blob"
            | "atis-latch"
            | "cost-state"
            | "tools-used"
            | "mode"
            | "bridge-session"
            | "frame-link"
            | "fork-context-ref"
            | "agent-color"
            | "agent-setting"
            | "artifact-comment-monitor"
            | "artifact-autoreact-ledger" => Self::Irrelevant,
            _ => return None,
        })
    }
}

/// Decodes the fields of one object.
fn record<'a>(f: &Fields<'a>) -> Record<'a> {
    Record { envelope: envelope(f), body: body(f) }
}

fn envelope<'a>(f: &Fields<'a>) -> Envelope<'a> {
    Envelope {
        uuid: f.uuid.whole().map(|text| RecordId::parse(&text)),
        ordinal: None,
        at: f.timestamp.word().and_then(Timestamp::parse),
        session_id: f.session_id.whole(),
        process_session_id: f.process_session_id.whole(),
        forked_from: f.forked_from.get("sessionId").whole(),
        cwd: f.cwd.whole(),
        branch: f.branch.whole(),
        version: f.version.whole(),
        entrypoint: f.entrypoint.whole(),
        agent_name: f.agent_name.whole(),
        agent_id: f.agent_id.whole(),
        sidechain: f.sidechain.is_true(),
        meta: f.meta.is_true(),
    }
}

fn body<'a>(f: &Fields<'a>) -> Body<'a> {
    let Some(kind) = f.kind.word().and_then(RecordKind::of) else {
        return Body::Unknown(f.kind.text(TYPE_NAME_LIMIT).unwrap_or_default());
    };
    match kind {
        RecordKind::User => user::body(f),
        RecordKind::Assistant if f.api_error.is_true() => api_error(f),
        RecordKind::Assistant => Body::Assistant(assistant(f)),
        RecordKind::System => Body::System(system(f)),
        RecordKind::Progress => match session_start(&f.attached) {
            Some(source) => Body::Attachment(Attachment::SessionStart { source }),
            None => Body::Progress,
        },
        RecordKind::Attachment => Body::Attachment(attachment(&f.attached)),
        RecordKind::Queue => Body::Queue(queue(f)),
        RecordKind::Title(kind) => title(f, kind),
        RecordKind::PermissionMode => match f.permission_mode.whole() {
            Some(mode) => Body::PermissionMode(mode),
            None => Body::Irrelevant,
        },
        RecordKind::LastPrompt => match f.last_prompt.head(TEXT_LIMIT) {
            Some(text) => Body::LastPrompt(text),
            None => Body::Irrelevant,
        },
        RecordKind::PullRequest => match (f.pr_number.number(), f.pr_url.whole()) {
            (Some(number), Some(url)) => Body::PullRequest { number, url },
            _ => Body::Irrelevant,
        },
        RecordKind::Relocated => moved(f.relocated_cwd, Raw::Absent).unwrap_or(Body::Irrelevant),
        RecordKind::Worktree => {
            let worktree = |key| f.worktree.get(key);
            moved(worktree("worktreePath"), worktree("worktreeBranch")).unwrap_or(Body::LeftWorktree)
        }
        RecordKind::ContinuedIn => match f.continued_in.whole().filter(|id| !id.is_empty()) {
            Some(session) => Body::ContinuedIn(session),
            None => Body::Irrelevant,
        },
        RecordKind::Irrelevant => Body::Irrelevant,
    }
}

fn moved<'a>(cwd: Raw<'a>, branch: Raw<'a>) -> Option<Body<'a>> {
    let cwd = cwd.whole().filter(|cwd| !cwd.is_empty())?;
    Some(Body::Moved { cwd, branch: branch.whole() })
}

fn api_error<'a>(f: &Fields<'a>) -> Body<'a> {
    Body::ApiError { kind: f.error.whole(), text: words::content_text(&f.message.content, TEXT_LIMIT) }
}

/// An HTTP status, as a number or as text.
fn status(raw: Raw<'_>) -> Option<u16> {
    let number = raw.number().and_then(|n| n.try_into().ok());
    number.or_else(|| raw.word().and_then(|word| word.parse().ok()))
}

fn assistant<'a>(f: &Fields<'a>) -> Assistant<'a> {
    let m = &f.message;
    Assistant {
        message_id: m.id.whole(),
        request_id: f.request_id.whole(),
        model: m.model.whole(),
        stop: m.stop.word().map(stop_reason),
        usage: usage(m.usage),
        blocks: match m.content {
            Content::Text(raw) => raw.head(TEXT_LIMIT).map(Block::Text).into_iter().collect(),
            _ => m.content.blocks().map(block).collect(),
        },
        aborted: f.aborted.is_true(),
    }
}

fn stop_reason(word: &str) -> StopReason {
    match word {
        "end_turn" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "stop_sequence" => StopReason::StopSequence,
        "max_tokens" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        _ => StopReason::Other,
    }
}

fn usage(raw: Raw<'_>) -> Option<Usage> {
    let Raw::Nested(_) = raw else { return None };
    let mut usage = Usage::default();
    let mut wanted = 4;
    raw.entries(|cursor, key| {
        let value = cursor.value()?;
        let slot = match key {
            "input_tokens" => &mut usage.input,
            "output_tokens" => &mut usage.output,
            "cache_read_input_tokens" => &mut usage.cache_read,
            "cache_creation_input_tokens" => &mut usage.cache_write,
            _ => return Some(()),
        };
        *slot = value.number().unwrap_or(0).min(Usage::MAX_TOKENS);
        wanted -= 1;
        // The rest is longer than these four: tiers, iterations, and the same counts by kind.
        (wanted > 0).then_some(())
    });
    Some(usage)
}

fn block<'a>(b: &RawBlock<'a>) -> Block<'a> {
    match b.kind.word() {
        Some("thinking" | "redacted_thinking") => Block::Thinking,
        Some("text") => Block::Text(b.text.head(TEXT_LIMIT).unwrap_or_default()),
        Some("tool_use") => {
            let tool = b.name.whole().unwrap_or_default();
            Block::ToolUse {
                id: b.id.whole().unwrap_or_default(),
                target: target::of(&tool, b.input),
                is_test: tool == "Bash" && is_test_run(b.input.get("command")),
                // Only these tools run in the background. The input of others may be a whole file.
                ask: Ask::of(
                    &tool,
                    matches!(tool.as_ref(), "Bash" | "PowerShell" | "Agent" | "Task")
                        && b.input.get("run_in_background").is_true(),
                ),
                tool,
            }
        }
        _ => Block::Other,
    }
}

/// Whether a command is a test run. A long one is not looked at.
fn is_test_run(command: Raw<'_>) -> bool {
    const LONGEST: usize = 512;
    command.head(LONGEST).is_some_and(|text| text.len() < LONGEST && watchbill_core::tool::is_test_run(&text))
}

fn system<'a>(f: &Fields<'a>) -> System<'a> {
    match f.subtype.word() {
        Some("turn_duration") => {
            System::TurnDuration { pending_agents: small(f.pending_agents).unwrap_or(0) }
        }
        Some("stop_hook_summary") => System::StopHookSummary { prevented: f.prevented.is_true() },
        Some("away_summary") => System::AwaySummary,
        Some("compact_boundary") => System::CompactBoundary(compact_boundary(f.compact_metadata)),
        Some("api_error") => System::Retry {
            attempt: small(f.retry_attempt),
            max: small(f.max_retries),
            in_ms: f.retry_in_ms.number(),
            status: status(f.error.get("status")),
        },
        _ => System::Other(f.subtype.text(TYPE_NAME_LIMIT).unwrap_or_default()),
    }
}

fn small(raw: Raw<'_>) -> Option<u32> {
    raw.number().and_then(|n| n.try_into().ok())
}

fn compact_boundary(metadata: Raw<'_>) -> CompactBoundary {
    let mut boundary =
        CompactBoundary { trigger: CompactTrigger::Unknown, pre_tokens: None, post_tokens: None };
    metadata.entries(|cursor, key| {
        let value = cursor.value()?;
        match key {
            "trigger" => {
                boundary.trigger = match value.word() {
                    Some("auto") => CompactTrigger::Auto,
                    Some("manual") => CompactTrigger::Manual,
                    _ => CompactTrigger::Unknown,
                }
            }
            "preTokens" => boundary.pre_tokens = value.number(),
            "postTokens" => boundary.post_tokens = value.number(),
            _ => {}
        }
        Some(())
    });
    boundary
}

fn queue<'a>(f: &Fields<'a>) -> QueueOperation<'a> {
    match f.operation.word() {
        Some("enqueue") => QueueOperation::Enqueue { text: words::joined_text(f.content, TEXT_LIMIT) },
        Some("dequeue") => QueueOperation::Dequeue,
        Some("remove") => QueueOperation::Remove,
        Some("popAll") => QueueOperation::PopAll,
        _ => QueueOperation::Other,
    }
}

fn title<'a>(f: &Fields<'a>, kind: TitleKind) -> Body<'a> {
    let raw = match kind {
        TitleKind::Summary => f.summary,
        TitleKind::Ai => f.ai_title,
        TitleKind::AgentName => f.agent_name,
        TitleKind::Custom => f.custom_title,
    };
    match raw.head(TEXT_LIMIT) {
        Some(text) => Body::Title { kind, text },
        None => Body::Irrelevant,
    }
}

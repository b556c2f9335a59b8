//! `user` records: separates the user's prompts from all other records of this type.

use std::borrow::Cow;

use super::fields::Fields;
use super::prompt_source::{other_origin, typed_by_a_person};
use crate::words::{content_text, is_private, joined_text};
use watchbill_core::session::refusals::RefusalKind;
use watchbill_core::transcript::payloads::{Content, RawBlock};
use watchbill_core::transcript::record::{Body, Denial, Prompt, PromptOrigin, TEXT_LIMIT, ToolResult};

const INTERRUPTED: &str = "[Request interrupted by user]";
const INTERRUPTED_FOR_TOOL_USE: &str = "[Request interrupted by user for tool use]";

/// Bytes of a text that are enough to classify it.
const HEAD: usize = 512;

pub(super) fn body<'a>(f: &Fields<'a>) -> Body<'a> {
    let content = &f.message.content;
    if matches!(content, Content::Absent | Content::Empty) {
        return Body::Irrelevant;
    }
    if is_compact_summary(f) {
        return Body::CompactSummary;
    }
    if content.blocks().any(is_tool_result) {
        return Body::ToolResults(
            content.blocks().filter(|b| is_tool_result(b)).map(|b| tool_result(f, b)).collect(),
        );
    }
    if is_interrupt(f) == Some(true) {
        return Body::Interrupt;
    }
    let prompt = |text: Cow<'a, str>, origin, task_id| {
        let (permission_mode, plan_of) = (f.permission_mode.whole(), plan_of(f));
        let private = is_private(&text, || content_text(content, usize::MAX));
        Body::Prompt(Prompt { text, private, origin, permission_mode, task_id, plan_of })
    };
    let text = content_text(content, TEXT_LIMIT);
    if let Some(origin) = other_origin(f, &text) {
        let task_id = (origin == PromptOrigin::TaskNotification).then(|| task_id(&text)).flatten();
        return prompt(text, origin, task_id);
    }
    match local(f, &text) {
        Some(Local::Command { name }) => return Body::LocalCommand { name: name.map(Cow::Owned) },
        Some(Local::Prompt { text }) => return prompt(Cow::Owned(text), PromptOrigin::Human, None),
        None => {}
    }
    // A text that only the transcript shows never reaches the model.
    if f.meta.is_true() || f.transcript_only.is_true() {
        return Body::Meta;
    }
    let has_picture = || content.blocks().any(|b| matches!(b.kind.word(), Some("image" | "document")));
    if text.is_empty() && !has_picture() {
        return Body::Irrelevant;
    }
    prompt(text, PromptOrigin::Human, None)
}

fn is_compact_summary(f: &Fields<'_>) -> bool {
    if f.compact_summary.is_true() {
        return true;
    }
    // Agents of 1.0.x did not always flag it. Then it is shown in the transcript only, or is the first record of a
    // transcript.
    let unflagged = f.transcript_only.is_true()
        || (!f.parent_uuid.is_there() && !f.prompt_source.is_there() && !f.permission_mode.is_there());
    unflagged
        && content_text(&f.message.content, HEAD)
            .starts_with("This session is being continued from a previous conversation")
}

fn is_tool_result(block: &RawBlock<'_>) -> bool {
    block.kind.word() == Some("tool_result")
}

/// The interrupt as the agent writes it: blocks, without the marks of a typed prompt.
///
/// If the user pastes these words, the record holds a string with `promptSource` and `permissionMode`. If an SDK
/// sends them, it holds blocks with `promptSource`.
fn is_interrupt(f: &Fields<'_>) -> Option<bool> {
    let typed = match &f.message.content {
        Content::Text(_) => f.prompt_source.is_there() || f.permission_mode.is_there() || f.origin.is_there(),
        _ => f.prompt_source.is_there(),
    };
    if typed && !f.interrupted_message.is_there() {
        return None;
    }
    let text = match &f.message.content {
        Content::Text(raw) => raw.word()?,
        Content::Blocks(only, more) if more.is_empty() => only.text.word()?,
        _ => return None,
    };
    Some(matches!(text.trim(), INTERRUPTED | INTERRUPTED_FOR_TOOL_USE))
}

/// What the agent writes for slash commands and `!` lines.
enum Local {
    /// It starts no turn.
    Command { name: Option<String> },
    /// A command whose text is a prompt, as the user typed it.
    Prompt { text: String },
}

fn local(f: &Fields<'_>, text: &str) -> Option<Local> {
    if typed_by_a_person(f) {
        return None;
    }
    let text = text.trim_start();
    if text.starts_with("<command-name>") {
        return Some(Local::Command { name: command_name(text) });
    }
    if text.starts_with("<command-message>") {
        // For its own commands, which run without the model, the agent writes the name first. For commands that
        // are prompts (a skill, a file in `commands/`) it writes the message first.
        let Some(name) = command_name(text) else { return Some(Local::Command { name: None }) };
        if is_built_in(&name) || f.meta.is_true() {
            return Some(Local::Command { name: Some(name) });
        }
        let typed = match tagged(text, "command-args").map(str::trim) {
            Some(args) if !args.is_empty() => format!("{name} {args}"),
            _ => name,
        };
        return Some(Local::Prompt { text: typed });
    }
    if unknown_command(text).is_some() && !f.permission_mode.is_there() && !f.origin.is_there() {
        return Some(Local::Command { name: None });
    }
    let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    starts(&[
        "<local-command-stdout>",
        "<local-command-stderr>",
        "<local-command-caveat>",
        "<bash-input>",
        "<bash-stdout>",
        "<bash-stderr>",
        "<user-memory-input>",
        "Caveat: The messages below were generated by the user while running local commands.",
    ])
    .then_some(Local::Command { name: None })
}

/// The line by which the agent refuses a command that it does not know. It stands in a record without a tag.
pub(super) fn unknown_command(text: &str) -> Option<&str> {
    let line = text.trim();
    let name = ["Unknown skill: ", "Unknown slash command: ", "Unknown command: "]
        .into_iter()
        .find_map(|words| line.strip_prefix(words))?;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(line)
}

/// The session whose transcript the prompt names, if the prompt carries out that session's plan.
///
/// The agent names it behind the plan, when the plan began with an empty context. A prompt that only quotes such a
/// text has no `planContent`.
fn plan_of<'a>(f: &Fields<'a>) -> Option<Cow<'a, str>> {
    if !f.plan_content.is_there() {
        return None;
    }
    let own = f.session_id.word();
    let last = match &f.message.content {
        Content::Text(raw) => raw.word()?,
        content => content.blocks().filter_map(|block| block.text.word()).last()?,
    };
    // The plan itself may name any file.
    let plan = f.plan_content.word()?.trim_end_matches("\\n");
    let behind = last.split_once(plan).map_or(last, |(_, behind)| behind);
    let before = &behind[..behind.rfind(".jsonl")?];
    let name = &before[before.rfind(['/', '\\', ' '])? + 1..];
    let is_id = name.len() == 36 && name.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    (is_id && own != Some(name)).then_some(Cow::Borrowed(name))
}

/// The command with its slash.
pub(super) fn command_name(text: &str) -> Option<String> {
    let name = tagged(text, "command-name")?.trim().trim_start_matches('/');
    (!name.is_empty()).then(|| format!("/{name}"))
}

/// The text between `<tag>` and `</tag>`; up to the end if the closing tag was cut off.
pub fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let open = text.find(&format!("<{tag}>"))?;
    let inner = &text[open + tag.len() + 2..];
    Some(inner.find(&format!("</{tag}>")).map_or(inner, |end| &inner[..end]))
}

/// Commands that the agent runs by itself.
fn is_built_in(name: &str) -> bool {
    matches!(
        name,
        "/add-dir"
            | "/agents"
            | "/branch"
            | "/bug"
            | "/cd"
            | "/clear"
            | "/compact"
            | "/config"
            | "/context"
            | "/cost"
            | "/doctor"
            | "/effort"
            | "/exit"
            | "/export"
            | "/fast"
            | "/feedback"
            | "/fork"
            | "/help"
            | "/hooks"
            | "/ide"
            | "/login"
            | "/logout"
            | "/mcp"
            | "/memory"
            | "/model"
            | "/output-style"
            | "/permissions"
            | "/plugin"
            | "/quit"
            | "/release-notes"
            | "/remote-control"
            | "/rename"
            | "/resume"
            | "/rewind"
            | "/sandbox"
            | "/skills"
            | "/stats"
            | "/status"
            | "/statusline"
            | "/tasks"
            | "/terminal-setup"
            | "/theme"
            | "/todos"
            | "/upgrade"
            | "/usage"
            | "/vim"
    )
}

fn task_id<'a>(text: &Cow<'a, str>) -> Option<Cow<'a, str>> {
    let id = match text {
        Cow::Borrowed(text) => Cow::Borrowed(tagged(text, "task-id")?.trim()),
        Cow::Owned(text) => Cow::Owned(tagged(text, "task-id")?.trim().to_owned()),
    };
    (!id.is_empty()).then_some(id)
}

/// The text of a prompt without the agent's wrappers, cut at `limit` bytes.
pub(super) fn prompt_words(f: &Fields<'_>, prompt: &Prompt<'_>, limit: usize) -> String {
    let whole = content_text(&f.message.content, limit);
    // For a command that is a prompt, the message holds the agent's markup, not the user's words.
    if prompt.origin == PromptOrigin::Human && whole.trim_start().starts_with("<command-") {
        return prompt.text.clone().into_owned();
    }
    if prompt.origin == PromptOrigin::TaskNotification
        && let Some(summary) = tagged(&whole, "summary")
    {
        return summary.trim().to_owned();
    }
    let pictures = f.message.content.blocks().filter(|b| b.kind.word() == Some("image")).count();
    match (whole.is_empty(), pictures) {
        (true, 1) => "[image]".to_owned(),
        (true, n) if n > 1 => format!("[{n} images]"),
        _ => whole.into_owned(),
    }
}

fn tool_result<'a>(f: &Fields<'a>, block: &RawBlock<'a>) -> ToolResult<'a> {
    let is_error = block.is_error.is_true();
    let extra = &f.tool_use_result;
    let denied_by_text = !f.denial_kind.is_there();
    ToolResult {
        id: block.tool_use_id.whole().unwrap_or_default(),
        is_error,
        succeeded: match is_error {
            false => (!extra.interrupted.is_true()).then_some(true),
            // A time-out and an interrupt have other words.
            true => joined_text(block.content, HEAD).starts_with("Exit code ").then_some(false),
        },
        denied: denial(f, block, is_error),
        denied_by_text,
        background_task: extra.background_task.whole(),
        async_agent: (extra.status.word() == Some("async_launched"))
            .then(|| extra.agent_id.whole())
            .flatten(),
    }
}

/// The first client whose refusals have a field of their own, `toolDenialKind`.
const NAMES_DENIALS: [u32; 3] = [2, 1, 220];
/// The first client whose refusals say whether the call had begun to run.
const SAYS_BEFORE_RUN: [u32; 3] = [2, 1, 329];

/// Whether the client is of this version or newer. Without a version it is an old one.
fn is_at_least(f: &Fields<'_>, version: [u32; 3]) -> bool {
    let found = f.version.whole().unwrap_or_default();
    let number = |part: &str| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        part[..digits].parse().ok()
    };
    let numbers: Vec<u32> = found.split('.').map_while(number).collect();
    numbers.as_slice() >= version.as_slice()
}

/// Whether a call that the user refused was running: an interrupt is written as a refusal.
pub(super) fn was_stopped(f: &Fields<'_>) -> bool {
    f.denial_kind.word() == Some("user-rejected")
        && !f.denied_before_run.is_true()
        && f.permission_decision.get("source").word().is_none()
        && is_at_least(f, SAYS_BEFORE_RUN)
}

fn denial(f: &Fields<'_>, block: &RawBlock<'_>, is_error: bool) -> Option<Denial> {
    if let Some(kind) = f.denial_kind.word() {
        // The agent writes `interrupted` when it resumes a killed session: the call may have run.
        if kind == "interrupted" {
            return None;
        }
        // The kind names the mechanism, and the decision names its source. A user's refusal through an SDK comes as
        // `permission-rule`. A refusal without a user to ask comes as `user-rejected`.
        return Some(match (f.permission_decision.get("source").word(), kind) {
            (Some(source), _) if source.starts_with("user") => Denial::User,
            (_, "automode-blocked") => Denial::Reviewer(RefusalKind::Blocked),
            (_, "automode-unavailable") => Denial::Reviewer(RefusalKind::Unavailable),
            (Some("classifier"), _) => Denial::Reviewer(RefusalKind::Blocked),
            (Some("config" | "hook"), _) => Denial::Policy,
            (_, "user-rejected") => Denial::User,
            _ => Denial::Policy,
        });
    }
    // Newer clients name each refusal. A text that looks like one comes from a tool.
    if is_at_least(f, NAMES_DENIALS) {
        return None;
    }
    if let Some(text) = f.tool_use_result.text.word()
        && (text.starts_with("User rejected tool use") || text.starts_with("Error: User rejected tool use"))
    {
        return Some(Denial::User);
    }
    is_error.then(|| denial_by_text(&joined_text(block.content, HEAD))).flatten()
}

/// Before 2.1.220 only the text shows a denial.
fn denial_by_text(text: &str) -> Option<Denial> {
    let starts = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    if starts(&[
        "The user doesn't want to proceed with this tool use.",
        "The user doesn't want to take this action right now.",
        "Permission prompt was aborted.",
        INTERRUPTED_FOR_TOOL_USE,
    ]) {
        Some(Denial::User)
    } else if starts(&["Permission for this action was denied by the Claude Code auto mode classifier"]) {
        Some(Denial::Reviewer(RefusalKind::Blocked))
    } else if starts(&[
        "Permission for this action was denied by",
        "Permission for this action has been denied",
    ]) || (text.starts_with("Permission to use ") && text.contains("has been denied"))
    {
        Some(Denial::Policy)
    } else {
        None
    }
}

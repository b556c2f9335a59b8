//! What a line says about the session: its origin, its settings, its tokens, the end of its turns.

use std::borrow::Cow;

use watchbill_core::limits::Limit;
use watchbill_core::tool::Mode;
use watchbill_core::transcript::json::Raw;
use watchbill_core::transcript::record::{
    Body, Envelope, SUBAGENT, SessionRecord, TEXT_LIMIT, TokenTotal, Usage,
};

use super::fields::Payload;
use crate::codex::launch::CLIENT_NAME;

/// No running total of tokens is greater. A greater count was written by mistake and is cut to this.
pub(super) const MAX_TOTAL: u64 = 1 << 48;

/// `session_meta`, and the fields of its envelope.
pub(super) fn session<'a>(p: &Payload<'a>, envelope: &mut Envelope<'a>) -> Body<'a> {
    let Some(id) = id(p.id) else { return Body::Irrelevant };
    let source = p.source.word();
    let subagent = p.source.get("subagent");
    envelope.session_id = Some(id.clone());
    envelope.cwd = p.cwd.whole();
    envelope.branch = p.git.get("branch").whole();
    envelope.version = p.version.whole();
    envelope.entrypoint = match source {
        _ if subagent.is_there() => Some(Cow::Borrowed(SUBAGENT)),
        _ => p.source.whole(),
    };
    let spawned_by = subagent.get("thread_spawn").get("parent_thread_id");
    Body::Session(SessionRecord {
        forked_from: self::id(p.forked_from).filter(|from| *from != id),
        subagent_of: self::id(spawned_by)
            .or_else(|| self::id(p.parent).filter(|_| subagent.is_there()))
            .filter(|parent| *parent != id),
        own_from: p.own_from.number(),
        by_host: p.originator.word() == Some(CLIENT_NAME),
        by_program: subagent.is_there() || matches!(source, Some("exec" | "mcp")),
        id,
    })
}

fn id(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    raw.whole().filter(|id| !id.is_empty())
}

/// `turn_context`.
///
/// Within a sandbox that may write, calls run without a question unless they ask to leave it. A call that fails there for want
/// of rights may ask after all; only hooks and the agent's socket show that. In one that may not write, edits ask and commands
/// do not: a long command there is taken for a question, which is marked as a guess.
pub(super) fn settings<'a>(p: &Payload<'a>, envelope: &mut Envelope<'a>) -> Body<'a> {
    envelope.cwd = p.cwd.whole();
    let word = match p.approval_policy {
        Raw::Nested(_) => Some(Cow::Borrowed("granular")),
        policy => policy.whole(),
    };
    let mode = match (p.approval_policy.word(), p.sandbox_policy.get("type").word()) {
        (Some("never"), _) => Mode::NeverAsks,
        (Some("on-request" | "on-failure"), Some("workspace-write" | "danger-full-access")) => {
            Mode::AcceptsEdits
        }
        _ => Mode::Asks,
    };
    Body::Settings { model: p.model.whole(), mode: word.map(|word| (word, mode)) }
}

/// `token_count`. Before the first answer it has no numbers, but may have limits.
pub(super) fn tokens<'a>(p: &Payload<'a>) -> Body<'a> {
    let last = p.info.get("last_token_usage");
    let tokens = TokenTotal {
        total: usage(p.info.get("total_token_usage")),
        last: usage(last),
        context: last.get("total_tokens").number().filter(|tokens| *tokens > 0),
        // A model may have limits of its own beside the plan's. Those have another name.
        limits: ["primary", "secondary"]
            .map(|name| limit(p.limits.get(name)).filter(|_| is_of_plan(p.limits))),
    };
    let says_nothing = tokens.total.is_none() && tokens.limits == [None; 2];
    if says_nothing { Body::Irrelevant } else { Body::Tokens(tokens) }
}

/// Whether these limits are the plan's: `limit_id` is `codex`, or absent in older clients.
fn is_of_plan(limits: Raw<'_>) -> bool {
    limits.get("limit_id").whole().is_none_or(|name| name == "codex")
}

/// A limit of the plan.
fn limit(raw: Raw<'_>) -> Option<Limit> {
    let minutes = raw.get("window_minutes").number()?;
    Limit::new(minutes, raw.get("used_percent").decimal()?, raw.get("resets_at").number()?)
}

/// `input_tokens` includes the cached ones.
fn usage(raw: Raw<'_>) -> Option<Usage> {
    let Raw::Nested(_) = raw else { return None };
    let mut usage = Usage::default();
    raw.entries(|cursor, key| {
        let value = cursor.value()?;
        let slot = match key {
            "input_tokens" => &mut usage.input,
            "output_tokens" => &mut usage.output,
            "cached_input_tokens" => &mut usage.cache_read,
            "cache_write_input_tokens" => &mut usage.cache_write,
            _ => return Some(()),
        };
        *slot = value.number().unwrap_or(0).min(MAX_TOTAL);
        Some(())
    });
    usage.input = usage.input.saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
    Some(usage)
}

/// An error that ended a turn. `fields` has `message`, `kind` is `codex_error_info`: a word, or an object with one key.
pub(super) fn failure<'a>(message: Raw<'a>, kind: Raw<'a>) -> Body<'a> {
    let mut word = kind.word();
    kind.entries(|_, key| {
        word = Some(key);
        None
    });
    match word {
        // A command of the user failed, and the turn goes on.
        Some("thread_rollback_failed" | "active_turn_not_steerable") => return Body::Irrelevant,
        Some("usage_limit_exceeded") => word = Some("usage_limit"),
        _ => {}
    }
    Body::ApiError { kind: word.map(Cow::Borrowed), text: message.head(TEXT_LIMIT).unwrap_or_default() }
}

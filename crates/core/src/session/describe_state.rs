//! Why a state holds, as a text for the user.

use std::borrow::Cow;

use crate::session::shown::Shown;
use crate::session::state::{State, StateKind};
use crate::session::turn::{Retry, Turn};
use crate::time::Millis;

/// Why a state holds, as a text for the user. It formats only where a name or a number is worth it.
pub(crate) fn describe(shown: &Shown, turn: &Turn) -> Cow<'static, str> {
    match (shown.state, shown.kind) {
        (State::Idle, _) if shown.by_timeout => {
            // An open question or plan has a longer timeout.
            format!("no activity for {}", words_for(turn.idle_after(State::WaitingForApproval))).into()
        }
        (State::Idle, _) => "nothing has happened yet".into(),
        (State::Working, Some(StateKind::Retrying)) => describe_retry(turn.retry).into(),
        (State::Working, Some(StateKind::Compacting)) => "the context is being compacted".into(),
        (State::Working, Some(StateKind::Background)) => match turn.agents_running() {
            0 => "the turn ended, its subagents too: their report is on its way".into(),
            1 => "the turn ended, one subagent works on".into(),
            n => format!("the turn ended, {n} subagents work on").into(),
        },
        (State::Working, _) => match turn.pending.iter().next() {
            Some(call) if call.target.is_empty() => format!("{} is running", call.tool).into(),
            Some(call) => format!("{} is running: {}", call.tool, call.target).into(),
            None => "a turn is running".into(),
        },
        (State::WaitingForApproval, Some(StateKind::Question)) => match turn.pending.question() {
            Some(question) if !question.is_empty() => format!("asks: {question}").into(),
            _ => "asks a question".into(),
        },
        (State::WaitingForApproval, Some(StateKind::Plan)) => "a plan waits for a verdict".into(),
        (State::WaitingForApproval, _) => match turn.pending.permission_suspect() {
            // The transcript itself tells it.
            _ if turn.pending.permission().is_some() => "a request for permission is open".into(),
            Some(call) => format!(
                "{} has had no result for {}: it may be waiting for permission",
                call.tool,
                words_for(turn.timeouts.approval)
            )
            .into(),
            None => "a tool may be waiting for permission".into(),
        },
        (State::WaitingForInput, Some(StateKind::Interrupted)) => "interrupted by the user".into(),
        (State::WaitingForInput, Some(StateKind::Error | StateKind::Limit)) => match &turn.failure {
            Some(text) => text.to_string().into(),
            None => "the request failed".into(),
        },
        (State::WaitingForInput, _) if shown.by_timeout => {
            format!("silent for {}: the turn may have ended", words_for(turn.timeouts.stale)).into()
        }
        (State::WaitingForInput, _) => "the turn ended".into(),
        (State::Ended, _) => "the process is gone".into(),
    }
}

fn describe_retry(retry: Option<Retry>) -> String {
    use std::fmt::Write as _;
    let mut text = String::from("retrying");
    // Writing into a `String` cannot fail.
    if let Some(status) = retry.and_then(|retry| retry.status) {
        let _ = write!(text, ", {status}");
    }
    match retry.map(|retry| (retry.attempt, retry.max)) {
        Some((Some(attempt), Some(max))) => {
            let _ = write!(text, ", {attempt} of {max}");
        }
        Some((Some(attempt), None)) => {
            let _ = write!(text, ", attempt {attempt}");
        }
        _ => {}
    }
    text
}

fn words_for(span: Millis) -> String {
    match span.0 / 1000 {
        secs if secs >= 7200 && secs % 3600 == 0 => format!("{} h", secs / 3600),
        secs if secs >= 60 && secs % 60 == 0 => format!("{} min", secs / 60),
        secs => format!("{secs} s"),
    }
}

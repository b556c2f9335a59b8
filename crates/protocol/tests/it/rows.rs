//! Rows to test with.

use std::sync::Arc;

use watchbill_core::hook::{SaidPullRequest, StatusLine, TerminalContext};
use watchbill_core::ids::SessionId;
use watchbill_core::requests::request::SuggestedRule;
use watchbill_core::roster::row::{PendingTool, Reason, Row, Source, Subagents, Supersession};
use watchbill_core::session::refusals::{Refusal, RefusalKind, Refused, RefusedRow};
use watchbill_core::session::state::{Confidence, State, StateKind};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use crate::row;

/// A moment; every test counts from it in milliseconds.
pub fn at(offset: i64) -> Timestamp {
    Timestamp::from_millis(1_795_188_000_000 + offset)
}

/// A row without optional values.
pub fn bare(id: &str) -> Row {
    let (source, detail) = (Source::Timeout, Arc::from("nothing for 10 min"));
    let state_reason = Reason { source, detail, confidence: Confidence::Inferred };
    Row { state_since: at(0), last_activity_at: at(0), state_reason, ..row::bare(id) }
}

fn refused() -> RefusedRow {
    let (tool, target) = (Arc::from("Bash"), Arc::from("git push origin main"));
    let last = Refusal { tool, target, at: at(4_500), kind: RefusalKind::Unavailable };
    let (rule, place) = (Arc::from("Bash(git push origin main)"), Arc::from("permissions.allow"));
    RefusedRow {
        refused: Refused { count: 2, in_a_row: 1, row_since: at(4_500), last },
        allow: Some(SuggestedRule { rule, place }),
    }
}

/// A row with all optional values.
pub fn full(id: &str) -> Row {
    let text = |text: &str| Some(Arc::from(text));
    let call = |id: &str, tool: &str, target: &str, since| PendingTool {
        id: Arc::from(id),
        tool: Arc::from(tool),
        target: Arc::from(target),
        since: at(since),
    };
    Row {
        state: State::WaitingForApproval,
        state_kind: Some(StateKind::Permission),
        state_since: at(5_217),
        state_reason: Reason {
            source: Source::Registry,
            detail: Arc::from("registry says `permission prompt` for Bash: cargo test"),
            confidence: Confidence::Observed,
        },
        pending_tools: vec![
            call("toolu_1", "Read", "notes.txt", 4_000),
            call("toolu_2", "Bash", "cargo test", 5_000),
        ],
        goal: text("Make the tests pass"),
        summary: text("Two tests fail"),
        title: text("Failing tests"),
        branch: text("main"),
        repo_root: text("/home/dev/work"),
        worktree_of: None,
        project_id: text("-home-dev-work"),
        cwd: text("/home/dev/work"),
        transcript_path: text("/home/dev/.claude/projects/-home-dev-work/s.jsonl"),
        last_activity_at: at(5_000),
        created_at: Some(at(-60_000)),
        superseded: Some(Supersession { by: SessionId::new("next"), at: Some(at(9_000)) }),
        work_chain_name: text("The test job"),
        compaction_count: 1,
        segment_count: 2,
        permission_mode: text("default"),
        model: text("some-model"),
        agent_version: text("2.1.329"),
        pid: Some(17_523),
        terminal: Some(Arc::new(TerminalContext::of_tmux(&Arc::from("s1:@0.%0")))),
        needs: Some(watchbill_core::attention::Need::Approval),
        snoozed_until: Some(at(900)),
        snooze_ended_at: None,
        put_away: true,
        unseen: true,
        tokens: Some(Usage { input: 10, output: 20, cache_read: 30_000, cache_write: 400 }),
        context_used: Some(30_430),
        context_size: Some(167_000),
        context_percent: Some(1_850),
        subagents: Subagents { running: 1, total: 3 },
        background_tasks: 2,
        queued_prompts: 1,
        refused: Some(Arc::new(refused())),
        started_by: text("sdk-cli"),
        attach: text("claude attach 43eb2880"),
        pull_request: Some((42, Arc::from("https://example.invalid/pull/42"))),
        said: Some((Arc::new(said()), at(5_000))),
        live: true,
        own: None,
        ..bare(id)
    }
}

/// What a client says in its status line.
fn said() -> StatusLine {
    let text = |text: &str| Some(Arc::from(text));
    StatusLine {
        cost: Some(1_250_000),
        effort: text("high"),
        pull_request: Some(SaidPullRequest {
            number: 42,
            url: Arc::from("https://example.invalid/pull/42"),
            review: text("approved"),
        }),
        ..StatusLine::default()
    }
}

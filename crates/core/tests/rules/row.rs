//! A row to test with.

use std::sync::Arc;

use watchbill_core::ids::{Agent, ChainId, SessionId};
use watchbill_core::roster::row::{Reason, Row, Source, Subagents};
use watchbill_core::session::state::{Confidence, State};
use watchbill_core::time::Timestamp;

/// A row without any optional value.
pub fn bare(id: &str) -> Row {
    let session_id = SessionId::new(id);
    Row {
        work_chain_id: ChainId::derive(&session_id),
        session_id,
        agent: Agent::default(),
        state: State::Idle,
        state_kind: None,
        state_since: Timestamp::default(),
        limit_resets_at: None,
        outcome: None,
        state_reason: Reason {
            source: Source::Timeout,
            detail: Arc::from("nothing for 10 min"),
            confidence: Confidence::Inferred,
        },
        pending_tools: Vec::new(),
        goal: None,
        summary: None,
        title: None,
        branch: None,
        repo_root: None,
        worktree_of: None,
        project_id: None,
        cwd: None,
        transcript_path: None,
        last_activity_at: Timestamp::default(),
        created_at: None,
        superseded: None,
        work_chain_name: None,
        compaction_count: 0,
        segment_count: 1,
        permission_mode: None,
        model: None,
        agent_version: None,
        pid: None,
        terminal: None,
        needs: None,
        request: None,
        snoozed_until: None,
        snooze_ended_at: None,
        put_away: false,
        unseen: false,
        tokens: None,
        context_used: None,
        context_size: None,
        context_percent: None,
        subagents: Subagents::default(),
        background_tasks: 0,
        queued_prompts: 0,
        refused: None,
        started_by: None,
        attach: None,
        pull_request: None,
        said: None,
        live: false,
        own: None,
    }
}

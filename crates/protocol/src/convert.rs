//! Converts the core's types into the JSON's types.

use std::collections::BTreeMap;
use std::sync::Arc;

use watchbill_core::chain::{lineage, link};
use watchbill_core::evidence;
use watchbill_core::hook::TerminalContext;
use watchbill_core::ids::SessionId;
use watchbill_core::problem;
use watchbill_core::roster::row::{self, Row};
use watchbill_core::roster::{self as core_roster, pending};
use watchbill_core::session::refusals::RefusedRow;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::{CompactBoundary, CompactTrigger, Usage};

use crate::chain::{Boundary, Link, Segment};
use crate::limits::percent;
use crate::request::{Request, RequestRule};
use crate::roster::{
    Context, Group, GroupCounts, Outcome, PendingTool, Problem, PullRequest, Refused, RefusedCall,
    RosterDelta, RosterSnapshot, SessionCost, StartedBy, StateReason, Subagents, Terminal, Tokens,
    ToolTarget, TrackedSession, Upsert,
};
use crate::why::{Why, Witness};

/// A text, if it is not empty: the contract has absent values, not empty ones.
fn non_empty(text: &Option<Arc<str>>) -> Option<String> {
    text.as_deref().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The source document's coarse status.
const fn coarse(state: State) -> &'static str {
    match state {
        State::Working => "working",
        State::WaitingForApproval | State::WaitingForInput => "waiting",
        State::Idle | State::Ended => "idle",
    }
}

impl From<&Row> for TrackedSession {
    fn from(row: &Row) -> Self {
        let superseded = row.superseded.as_ref();
        let subagents = row.subagents;
        let own = row.own.as_deref();
        let said = row.said.as_ref();
        let review = said.and_then(|(said, _)| non_empty(&said.pull_request.as_ref()?.review));
        Self {
            session_id: row.session_id.to_string(),
            source: own.map_or("watcher", |own| own.way.as_str()).into(),
            own: own.map(|own| own.way.as_str().into()),
            own_id: own.map(|own| own.id.to_string()),
            started_by_agent: own.and_then(|own| own.by_agent.then_some(true)),
            agent: own.map_or(row.agent.as_str(), |own| &*own.agent).into(),
            status: coarse(row.state).into(),
            state: row.state.as_str().into(),
            group: core_roster::group_of(row).into(),
            state_kind: row.state_kind.map(|kind| kind.as_str().into()),
            state_since: row.state_since.to_string(),
            state_reason: StateReason::from(&row.state_reason),
            error: row.error().map(str::to_owned),
            outcome: row.outcome.map(|outcome| Outcome {
                files: outcome.files,
                passed: outcome.tests,
                seconds: outcome.took.and_then(|took| u64::try_from(took.0 / 1000).ok()),
            }),
            limit_resets_at: row.limit_resets_at.map(|at| at.to_string()),
            needs: row.needs.map(|need| need.as_str().into()),
            request: row.request.as_ref().map(Request::from),
            snoozed_until: row.snoozed_until.map(|at| at.to_string()),
            put_away: row.put_away.then_some(true),
            unseen: row.unseen.then_some(true),
            has_pending_tool_use: !row.pending_tools.is_empty(),
            pending_tool: pending::principal(&row.pending_tools)
                .map(|call| ToolTarget { tool: call.tool.to_string(), target: call.target.to_string() }),
            pending_tools: row.pending_tools.iter().map(PendingTool::from).collect(),
            goal: non_empty(&row.goal),
            summary: non_empty(&row.summary),
            title: non_empty(&row.title),
            branch: non_empty(&row.branch),
            repo_root: non_empty(&row.repo_root),
            worktree_of: non_empty(&row.worktree_of),
            project_id: non_empty(&row.project_id),
            cwd: non_empty(&row.cwd),
            transcript_path: non_empty(&row.transcript_path),
            last_activity_at: row.last_activity_at.to_string(),
            created_at: row.created_at.map(|at| at.to_string()),
            superseded: superseded.map(|_| true),
            superseded_by: superseded.map(|s| s.by.to_string()),
            superseded_at: superseded.and_then(|s| s.at).map(|at| at.to_string()),
            work_chain_id: row.work_chain_id.to_string(),
            work_chain_name: non_empty(&row.work_chain_name),
            compaction_count: row.compaction_count,
            segment_count: row.segment_count,
            permission_mode: non_empty(&row.permission_mode),
            model: non_empty(&row.model),
            agent_version: non_empty(&row.agent_version),
            pid: row.pid,
            terminal: row.terminal.as_deref().map(Terminal::from),
            tokens: row.tokens.map(Tokens::from),
            context: row.context_used.map(|used| {
                let context = Context::new(used, row.context_size);
                Context { percent: row.context_percent.map(percent).or(context.percent), ..context }
            }),
            cost: said
                .and_then(|(said, _)| said.cost)
                .map(|cost| SessionCost { usd: cost as f64 / 1e6, by: "client".into() }),
            effort: said.and_then(|(said, _)| non_empty(&said.effort)),
            said_at: said.map(|(_, at)| at.to_string()),
            subagents: (subagents.total > 0)
                .then_some(Subagents { running: subagents.running, total: subagents.total }),
            background_tasks: (row.background_tasks > 0).then_some(row.background_tasks),
            queued_prompts: (row.queued_prompts > 0).then_some(row.queued_prompts),
            queue_held: own.and_then(|own| non_empty(&own.held)).filter(|_| row.queued_prompts > 0),
            refused: row.refused.as_deref().map(Refused::from),
            started_by: row.started_by.as_deref().map(|entrypoint| StartedBy {
                entrypoint: entrypoint.to_owned(),
                folder: row.project_folder().map(|folder| folder.to_string()),
                failed: matches!(
                    row.state_kind,
                    Some(StateKind::Error | StateKind::Limit | StateKind::Crashed)
                ),
            }),
            attach_command: non_empty(&row.attach),
            pull_request: row.pull_request.as_ref().map(|(number, url)| PullRequest {
                number: *number,
                url: url.to_string(),
                review,
            }),
        }
    }
}

impl From<&RefusedRow> for Refused {
    fn from(RefusedRow { refused, allow }: &RefusedRow) -> Self {
        let last = &refused.last;
        Self {
            count: refused.count,
            in_a_row: refused.in_a_row,
            stuck: refused.is_stuck(),
            last: RefusedCall {
                tool: last.tool.to_string(),
                target: last.target.to_string(),
                at: last.at.to_string(),
                kind: last.kind.as_str().to_owned(),
                allow: allow.as_ref().map(RequestRule::from),
            },
        }
    }
}

impl Context {
    /// Tokens used, with the percentage if the context's size is known.
    pub fn new(used: u64, size: Option<u64>) -> Self {
        // JSON numbers beyond 2^53 are not the same everywhere; no context is near that.
        let used = used.min((1 << 53) - 1);
        let percent = size.filter(|size| *size > 0).map(|size| {
            // One decimal is enough for a reader, and keeps the JSON short.
            (used as f64 * 1000.0 / size as f64).round() / 10.0
        });
        Self { used, size, percent }
    }
}

impl From<core_roster::Group> for Group {
    fn from(group: core_roster::Group) -> Self {
        match group {
            core_roster::Group::NeedsYou => Self::NeedsYou,
            core_roster::Group::Working => Self::Working,
            core_roster::Group::YourTurn => Self::YourTurn,
            core_roster::Group::Idle => Self::Idle,
        }
    }
}

impl From<&TerminalContext> for Terminal {
    fn from(terminal: &TerminalContext) -> Self {
        let mut ids: BTreeMap<String, String> = terminal
            .ids
            .iter()
            .filter(|(_, id)| !id.is_empty())
            .map(|(name, id)| (name.to_string(), id.to_string()))
            .collect();
        // The registry names the whole target, a hook's environment only the pane.
        let target = ids.remove(TerminalContext::TMUX_TARGET);
        Self { kind: terminal.kind.to_string(), target, ids }
    }
}

impl From<&row::Reason> for StateReason {
    fn from(reason: &row::Reason) -> Self {
        Self {
            source: reason.source.as_str().into(),
            detail: reason.detail.to_string(),
            confidence: reason.confidence.as_str().into(),
        }
    }
}

impl From<&row::PendingTool> for PendingTool {
    fn from(call: &row::PendingTool) -> Self {
        Self {
            id: call.id.to_string(),
            tool: call.tool.to_string(),
            target: call.target.to_string(),
            since: call.since.to_string(),
        }
    }
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
        }
    }
}

impl From<&problem::Problem> for Problem {
    fn from(problem: &problem::Problem) -> Self {
        Self {
            path: problem.path.to_string(),
            kind: problem.kind.as_str().into(),
            count: problem.count,
            detail: problem.detail.to_string(),
        }
    }
}

/// Problems in the order in which all readers show them.
fn sorted(problems: &[problem::Problem]) -> Vec<Problem> {
    let mut problems: Vec<&problem::Problem> = problems.iter().collect();
    problems.sort();
    problems.into_iter().map(Problem::from).collect()
}

impl RosterSnapshot {
    /// A snapshot of rows that are in roster order already.
    pub fn new<'a>(
        revision: u64,
        now: Timestamp,
        rows: impl IntoIterator<Item = &'a Row>,
        problems: &[problem::Problem],
        reading: bool,
    ) -> Self {
        Self {
            revision,
            generated_at: now.to_string(),
            sessions: rows.into_iter().map(TrackedSession::from).collect(),
            problems: sorted(problems),
            reading,
            muted_until: None,
            limits: Vec::new(),
            rest: None,
        }
    }
}

impl GroupCounts {
    /// Counts rows by group.
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut counts = Self::default();
        for row in rows.into_iter().filter(|row| row.superseded.is_none()) {
            *match core_roster::group_of(row) {
                core_roster::Group::NeedsYou => &mut counts.needs_you,
                core_roster::Group::Working => &mut counts.working,
                core_roster::Group::YourTurn => &mut counts.your_turn,
                core_roster::Group::Idle => &mut counts.idle,
            } += 1;
        }
        counts
    }
}

impl RosterDelta {
    /// The change from revision `base` to `revision`; `problems` only if they changed.
    pub fn new(
        base: u64,
        revision: u64,
        now: Timestamp,
        delta: &core_roster::Delta,
        problems: Option<&[problem::Problem]>,
        reading: bool,
    ) -> Self {
        Self {
            base,
            revision,
            generated_at: now.to_string(),
            upserts: delta.upserts.iter().map(|(index, row)| Upsert::new(*index, row)).collect(),
            removals: delta.removals.iter().map(SessionId::to_string).collect(),
            problems: problems.map(sorted),
            reading,
            muted_until: None,
            limits: None,
        }
    }
}

impl Upsert {
    /// A row and its place.
    pub fn new(index: usize, row: &Row) -> Self {
        Self { index: u32::try_from(index).unwrap_or(u32::MAX), session: TrackedSession::from(row) }
    }
}

impl Why {
    /// The verdict on one session.
    pub fn new(session: &SessionId, verdict: &evidence::Verdict) -> Self {
        Self {
            session_id: session.to_string(),
            state: verdict.state.as_str().into(),
            state_kind: verdict.kind.map(|kind| kind.as_str().into()),
            state_since: verdict.since.to_string(),
            state_reason: StateReason::from(&verdict.reason),
            evidence: verdict.witnesses.iter().map(Witness::from).collect(),
            next_check_at: verdict.next.map(|at| at.to_string()),
        }
    }
}

impl From<&evidence::Witness> for Witness {
    fn from(witness: &evidence::Witness) -> Self {
        Self {
            source: witness.source.as_str().into(),
            state: witness.state.map(|state| state.as_str().into()),
            state_kind: witness.kind.map(|kind| kind.as_str().into()),
            at: witness.at.map(|at| at.to_string()),
            pid: witness.pid,
            detail: witness.detail.to_string(),
            confidence: witness.confidence.as_str().into(),
            winner: witness.winner,
        }
    }
}

impl From<&link::Link> for Link {
    fn from(link: &link::Link) -> Self {
        Self {
            from: link.from.to_string(),
            to: link.to.to_string(),
            reason: link.reason.as_str().into(),
            confidence: link.confidence.as_str().into(),
        }
    }
}

impl Segment {
    /// A segment of `session`, with its place in the whole chain.
    pub fn new(
        segment: &lineage::Segment,
        session: &SessionId,
        index: u32,
        transcript_path: &str,
        superseded: bool,
    ) -> Self {
        Self {
            session_id: session.to_string(),
            index,
            started_at: segment.started_at.map(|at| at.to_string()),
            ended_at: segment.ended_at.map(|at| at.to_string()),
            boundary: segment.boundary.as_ref().map(Boundary::from),
            transcript_path: transcript_path.to_owned(),
            superseded,
        }
    }
}

impl From<&CompactBoundary> for Boundary {
    fn from(boundary: &CompactBoundary) -> Self {
        let trigger = match boundary.trigger {
            CompactTrigger::Auto => "auto",
            CompactTrigger::Manual => "manual",
            CompactTrigger::Unknown => "unknown",
        };
        Self { trigger: trigger.into(), pre_tokens: boundary.pre_tokens, post_tokens: boundary.post_tokens }
    }
}

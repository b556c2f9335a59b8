//! The fold of one subagent's own file, `<session>/subagents/agent-*.jsonl`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{RecordId, SessionId};
use crate::roster::row::PendingTool;
use crate::session::answer::{SYNTHETIC, ends_turn};
use crate::session::id_set::IdSet;
use crate::session::pending::PendingTools;
use crate::session::record_data::RecordData;
use crate::session::refusals::Refusals;
use crate::session::usage::{RequestKey, RequestLedger};
use crate::time::{Millis, Timestamp};
use crate::tool::Ask;
use crate::transcript::record::{Attachment, Block, Body, Record, System};

/// Whether the transcript of the subagent with this id begins with nearly all records of its session, with the same
/// requests. Such a subagent makes a compaction, suggests a prompt, or answers a question by `/btw`.
pub fn copies_parent(agent: &str) -> bool {
    ["acompact", "aprompt_suggestion", SIDE_QUESTION].iter().any(|worker| agent.starts_with(worker))
}

/// How the id of a worker begins that answers `/btw`.
pub const SIDE_QUESTION: &str = "aside_question";

/// One subagent. Its records never move the parent's turn. They show whether it still runs, and its tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SubagentFold {
    #[serde(deserialize_with = "crate::shared_text::arc_str")]
    agent: Arc<str>,
    parent: Option<SessionId>,
    seen: IdSet,
    ledger: RequestLedger,
    pending: PendingTools,
    started_at: Option<Timestamp>,
    last_activity: Option<Timestamp>,
    turn_over: bool,
    finished: bool,
    refusals: Refusals,
}

impl SubagentFold {
    /// The subagent of this id, without records.
    pub fn new(agent: &str) -> Self {
        Self {
            agent: agent.into(),
            parent: None,
            seen: IdSet::default(),
            ledger: RequestLedger::default(),
            pending: PendingTools::default(),
            started_at: None,
            last_activity: None,
            turn_over: false,
            finished: false,
            refusals: Refusals::default(),
        }
    }

    /// Applies the next record of the file.
    pub fn apply(&mut self, record: &Record<'_>) {
        if matches!(record.body, Body::Irrelevant | Body::Unknown(_) | Body::Attachment(Attachment::Other))
            || record.envelope.uuid.is_some_and(|id| !self.seen.insert(id))
        {
            return;
        }
        if self.parent.is_none() {
            self.parent = record.envelope.session_id.as_deref().map(SessionId::new);
        }
        match &record.body {
            Body::Assistant(answer) => {
                if answer.model.as_deref() != Some(SYNTHETIC) {
                    let key = RequestKey::of(answer, record.envelope.uuid);
                    if let (Some(usage), Some(key)) = (answer.usage, key) {
                        self.ledger.note(key, usage);
                    }
                }
                if let Some(at) = record.envelope.at {
                    for block in &answer.blocks {
                        if let Block::ToolUse { id, tool, target, ask, .. } = block {
                            self.pending.call(id, tool, target, *ask, at);
                        }
                    }
                }
                self.turn_over = ends_turn(answer);
            }
            Body::ToolResults(results) => {
                let mut ours = false;
                for result in results {
                    if let Some(at) = record.envelope.at {
                        self.refusals.fold_result(result, self.pending.get(&result.id), at);
                    }
                    ours |= self.pending.answer(&result.id);
                }
                // The result of a call that was open when the turn ended begins no new turn.
                self.turn_over &= !ours;
            }
            // It is no activity: a file that tells only requests is of no subagent that runs.
            Body::Permission { id, tool, target, waits } => {
                match record.envelope.at.filter(|_| *waits) {
                    Some(at) => self.pending.call(id, tool, target, Ask::Permission, at),
                    None => _ = self.pending.answer(id),
                }
                return;
            }
            Body::Prompt(_) => {
                self.turn_over = false;
                self.refusals.end_row();
            }
            Body::Progress => self.turn_over = false,
            Body::Interrupt
            | Body::ApiError { .. }
            | Body::System(System::TurnDuration { .. })
            | Body::Attachment(Attachment::TurnEnd) => self.turn_over = true,
            _ => return,
        }
        if self.turn_over {
            self.pending.clear();
        }
        if let Some(at) = record.envelope.at {
            self.started_at.get_or_insert(at);
            self.last_activity = self.last_activity.max(Some(at));
        }
    }

    /// Clears the targets of open calls, as
    /// [`SessionFold::forget_targets`](crate::session::fold::SessionFold::forget_targets) does.
    pub fn forget_targets(&mut self) -> bool {
        self.pending.forget_targets() | self.refusals.forget_target()
    }

    /// The calls that the agent's reviewer refused.
    pub fn refusals(&self) -> &Refusals {
        &self.refusals
    }

    /// Sets what the meta file beside the transcript says: the subagent has finished, or was woken again.
    pub fn set_finished(&mut self, finished: bool) {
        self.finished = finished;
    }

    /// Whether it runs: it has begun, neither its records nor its meta file say that it is done, and its last
    /// activity is less than `silence` before `now`. A subagent of a killed process never reports its end.
    pub fn is_running(&self, now: Timestamp, silence: Millis) -> bool {
        !self.finished && !self.turn_over && self.last_activity.is_some_and(|at| now < at + silence)
    }

    /// When [`SubagentFold::is_running`] changes by silence alone.
    pub fn deadline(&self, silence: Millis) -> Option<Timestamp> {
        (!self.finished && !self.turn_over).then_some(self.last_activity? + silence)
    }

    /// The subagent's id.
    pub fn agent(&self) -> &Arc<str> {
        &self.agent
    }

    /// The session it works for, as its records name it. For agents since 2.1.2 the folder names it too.
    pub fn parent(&self) -> Option<&SessionId> {
        self.parent.as_ref()
    }

    /// [`copies_parent`] for its id.
    pub fn copies_parent(&self) -> bool {
        copies_parent(&self.agent)
    }

    /// Its calls without a result, oldest first. If the agent asks the user for a subagent, it is for one of
    /// these; the registry does not say which.
    pub fn pending_tools(&self) -> impl ExactSizeIterator<Item = &PendingTool> {
        self.pending.iter()
    }

    /// The request for permission that its records tell and no answer closes.
    pub fn asks(&self) -> Option<&PendingTool> {
        self.pending.permission()
    }

    /// Time of its first record.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.started_at
    }

    /// Time of its newest record that is activity.
    pub fn last_activity(&self) -> Option<Timestamp> {
        self.last_activity
    }

    /// The data of each record, for snapshots.
    pub(crate) fn memory(&mut self) -> RecordData<'_> {
        RecordData { seen: &mut self.seen, ledger: &mut self.ledger }
    }

    /// The same, read only.
    pub(crate) fn remembered(&self) -> (&IdSet, &RequestLedger) {
        (&self.seen, &self.ledger)
    }

    /// Whether a record with this id was applied. Records without facts do not count.
    pub fn has_record(&self, id: RecordId) -> bool {
        self.seen.contains(id)
    }

    /// Its requests.
    pub fn ledger(&self) -> &RequestLedger {
        &self.ledger
    }
}

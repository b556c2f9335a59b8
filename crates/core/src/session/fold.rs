//! The fold of one main transcript: records in, state, facts and lineage out.
//!
//! The state depends only on the records and on the newest known time. A deadline that the clock fired is undone if
//! a record with an earlier time arrives later. So a session that is watched live and one that is read a year later
//! give the same state.

mod outside;
mod records;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chain::lineage::Lineage;
use crate::ids::{RecordId, SessionId};
use crate::roster::row::PendingTool;
use crate::session::ancestry::Ancestry;
use crate::session::background::BackgroundWork;
use crate::session::effect::{Effect, Reading};
use crate::session::facts::TranscriptFacts;
use crate::session::id_set::IdSet;
use crate::session::machine::Machine;
use crate::session::record_data::RecordData;
use crate::session::state::{Confidence, State, StateKind, Timeouts};
use crate::session::turn::Turn;
use crate::session::usage::RequestLedger;
use crate::time::{Millis, Timestamp};
use crate::transcript::inherited::Inherited;
use crate::transcript::record::{Attachment, Body, Prompt, PromptOrigin, Record};

/// Agents write records out of order by minutes at most, never by more than this.
const SET_BACK: Millis = Millis::from_secs(600);

/// One session, folded record by record.
///
/// The fields say what a snapshot holds: see [`crate::session::snapshot`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionFold {
    seen: IdSet,
    /// The running maximum of the records' times since the clock was last set back.
    clock: Option<Timestamp>,
    /// The newest time that [`SessionFold::advance`] was given.
    #[serde(skip)]
    advanced_to: Option<Timestamp>,
    /// The machine after the records and the deadlines up to `clock`.
    machine: Machine,
    /// The same after the deadlines up to `advanced_to`, if any of them fired. The next record drops it.
    #[serde(skip)]
    ahead: Option<Box<Machine>>,
    turn: Turn,
    tasks: BackgroundWork,
    /// The queued prompts in order; `true` for a notice of the agent, which the user did not type.
    queue: Vec<bool>,
    /// The agent has reported running subagents once. From then on, no report means that none run.
    client_counts_agents: bool,
    /// Hash of the message that ended the turn. A late block of it begins no new turn.
    ended_message: Option<u64>,
    facts: TranscriptFacts,
    ancestry: Ancestry,
    inherited: Inherited,
    /// The agent marks where each turn begins and ends.
    marks_turns: bool,
    ledger: RequestLedger,
    #[serde(skip)]
    scratch: Vec<Effect>,
    /// It replaces a stored fold that cannot be read.
    #[serde(skip)]
    unreadable: bool,
}

impl SessionFold {
    /// A session without records: idle.
    pub fn new(id: SessionId, timeouts: Timeouts) -> Self {
        Self {
            seen: IdSet::default(),
            clock: None,
            advanced_to: None,
            machine: Machine::new(),
            ahead: None,
            turn: Turn::new(timeouts),
            tasks: BackgroundWork::default(),
            queue: Vec::new(),
            client_counts_agents: false,
            ended_message: None,
            facts: TranscriptFacts::default(),
            ancestry: Ancestry::new(id),
            inherited: Inherited::default(),
            marks_turns: false,
            ledger: RequestLedger::default(),
            scratch: Vec::new(),
            unreadable: false,
        }
    }

    /// Replaces a stored fold that cannot be read. It holds no facts, and the caller must read the transcript anew.
    pub(crate) fn unreadable(id: SessionId, timeouts: Timeouts) -> Self {
        Self { unreadable: true, ..Self::new(id, timeouts) }
    }

    pub(crate) fn is_unreadable(&self) -> bool {
        self.unreadable
    }

    /// Applies the next record of the file, and adds transitions to `out`.
    ///
    /// Every deadline up to the record's time fires before the record is applied. A record that was applied before
    /// changes nothing: a second compaction appends history again.
    pub fn apply(&mut self, record: &Record<'_>, out: &mut Vec<Effect>) {
        if self.inherited.takes(record) {
            return;
        }
        match record.body {
            // These records carry no facts. Not even their times count, so that an unknown record cannot move the
            // clock.
            Body::Irrelevant | Body::Unknown(_) => return,
            // The same, but its envelope may name the process that wrote it.
            Body::Attachment(Attachment::Other) => {
                if !record.envelope.sidechain {
                    self.ancestry.observe(&record.envelope, &record.body, None);
                }
                return;
            }
            _ if record.envelope.uuid.is_some_and(|id| !self.seen.insert(id)) => return,
            _ => {}
        }
        match self.set_back_to(record) {
            Some(at) => self.set_back(at),
            None => self.clock = self.clock.max(record.envelope.at),
        }
        let now = self.clock.unwrap_or_default();

        let behind = self.advanced_to.is_some_and(|advanced| advanced > now);
        // A subagent's writes only delay deadlines. Between two records of this file they do not count: the order
        // in which files are read must not change the state.
        let agents_at = self.turn.agents_at.take();
        let apart = agents_at > self.turn.last_activity;
        if !behind && !apart {
            // The deadlines that fired ahead of the records would fire now in the same way.
            if let Some(ahead) = self.ahead.take() {
                self.machine = *ahead;
            }
            self.machine.fire_until(now, &self.turn, out);
            self.fold(record, now, out);
            self.turn.agents_at = agents_at;
            return;
        }

        // The clock is ahead of the record, or a subagent's writes changed the shown state. So only the difference
        // between before and after is reported.
        let before = self.shown_key();
        let mut scratch = std::mem::take(&mut self.scratch);
        self.ahead = None;
        self.machine.fire_until(now, &self.turn, &mut scratch);
        self.fold(record, now, &mut scratch);
        self.turn.agents_at = agents_at;
        self.fire_ahead(&mut scratch);
        self.report_difference(before, scratch, out);
    }

    /// The time of a user's prompt that is older than the records before it by more than [`SET_BACK`]: the clock
    /// was set back. Copied history is older than its new file, so it does not count.
    fn set_back_to(&self, record: &Record<'_>) -> Option<Timestamp> {
        let Body::Prompt(Prompt { origin: PromptOrigin::Human, .. }) = &record.body else { return None };
        let envelope = &record.envelope;
        let (at, clock) = (envelope.at?, self.clock?);
        let own = !envelope.sidechain && envelope.forked_from.is_none();
        (own && clock.since(at) > SET_BACK).then_some(at)
    }

    /// Goes on with the earlier time `at`. Older times do not measure how long anything lasts now. Without this,
    /// every deadline would wait until the clock has caught up.
    fn set_back(&mut self, at: Timestamp) {
        self.clock = Some(at);
        self.turn.last_activity = self.turn.last_activity.min(Some(at));
        self.turn.outside_activity_at = self.turn.outside_activity_at.min(Some(at));
        self.turn.agents_at = self.turn.agents_at.min(Some(at));
        self.turn.pending.set_back(at);
        // Any record with a later time than this was written after the clock was set back, and this work began
        // before.
        self.turn.agents.set_back(at - SET_BACK);
        self.tasks.set_back(at - SET_BACK);
    }

    /// Fires the deadlines up to `now`. A time before an earlier one is ignored: a clock that goes back undoes
    /// nothing.
    ///
    /// Apply the records that a file already holds before the first call. A record behind the clock reports only
    /// the difference that it makes to the present, not the states in between.
    pub fn advance(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        self.advanced_to = self.advanced_to.max(Some(now));
        if self.ahead.is_none() && self.machine_before_silence().is_some() {
            self.fire_and_report(self.shown_key(), out);
        } else {
            self.fire_ahead(out);
        }
    }

    /// The clock was wrong and was set back to `now`. Undoes the deadlines that only the wrong time fired.
    pub fn correct_clock(&mut self, now: Timestamp) {
        if self.advanced_to.is_some_and(|advanced| advanced > now) {
            self.advanced_to = Some(now);
            self.ahead = None;
        }
    }

    /// A subagent of this session wrote into its own file. That never moves the turn. But while a turn runs, or
    /// only subagents work, the session does not become idle.
    pub fn subagent_active(&mut self, at: Timestamp, out: &mut Vec<Effect>) {
        if self.turn.agents_at >= Some(at) {
            return;
        }
        let before = self.shown_key();
        self.turn.agents_at = Some(at);
        self.ahead = None;
        self.fire_and_report(before, out);
    }

    /// When [`SessionFold::advance`] next changes something.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.current().deadline(&self.turn)
    }

    /// The turn as the transcript shows it.
    pub fn reading(&self) -> Reading {
        let machine = self.current();
        let shown = machine.shown();
        Reading {
            state: shown.state,
            kind: shown.kind,
            since: shown.since.or(self.facts.created_at).unwrap_or_default(),
            detail: machine.describe(&self.turn).into_owned(),
            by_timeout: shown.by_timeout,
            confidence: if shown.by_timeout { Confidence::Inferred } else { Confidence::Observed },
        }
    }

    /// The facts that a row shows besides the state.
    pub fn facts(&self) -> &TranscriptFacts {
        &self.facts
    }

    /// The folder that the client moved the session to, else the one it was launched in.
    pub fn cwd(&self) -> Option<&Arc<str>> {
        self.lineage().cwd()
    }

    /// The id that the file's first record names. The file's name may have only a part of it.
    pub fn own_id(&self) -> Option<&Arc<str>> {
        self.inherited.own()
    }

    /// Clears the targets of open and of refused calls, because the user may exclude them. Returns whether any target was set.
    pub fn forget_targets(&mut self) -> bool {
        self.turn.pending.forget_targets() | self.facts.refusals.forget_target()
    }

    /// Whether the target of an open or of a refused call is known.
    pub fn has_targets(&self) -> bool {
        let refused = self.facts.refusals.shown().map(|refused| &refused.last.target);
        self.turn.pending.iter().map(|call| &call.target).chain(refused).any(|target| !target.is_empty())
    }

    /// Tool calls without a result, oldest first.
    pub fn pending_tools(&self) -> Vec<PendingTool> {
        self.turn.pending.iter().cloned().collect()
    }

    /// The facts for the chain resolver.
    pub fn lineage(&self) -> &Lineage {
        self.ancestry.lineage()
    }

    /// Restores the lineage, which is stored apart.
    pub(crate) fn restore_lineage(&mut self, lineage: Lineage, revision: u64) {
        self.ancestry.restore(lineage, revision);
    }

    /// Rises when a fact of lineage other than spans and the end of the last segment has changed.
    pub fn lineage_revision(&self) -> u64 {
        self.ancestry.revision()
    }

    /// The requests of this file.
    pub fn ledger(&self) -> &RequestLedger {
        &self.ledger
    }

    /// Whether a record with this id was applied. Records without facts do not count.
    pub fn has_record(&self, id: RecordId) -> bool {
        self.seen.contains(id)
    }

    /// How many different records with an id were applied.
    pub fn record_count(&self) -> usize {
        self.seen.len()
    }

    /// The running maximum of the records' times since the clock was last set back. A record without a time takes
    /// this one.
    pub fn clock(&self) -> Option<Timestamp> {
        self.clock
    }

    /// The data of each record, for snapshots.
    pub(crate) fn memory(&mut self) -> RecordData<'_> {
        RecordData { seen: &mut self.seen, ledger: &mut self.ledger }
    }

    /// The same, read only.
    pub(crate) fn remembered(&self) -> (&IdSet, &RequestLedger) {
        (&self.seen, &self.ledger)
    }

    /// Sets the timeouts, which are settings and may change. They count from the next record or deadline on.
    pub fn set_timeouts(&mut self, timeouts: Timeouts) {
        self.turn.timeouts = timeouts;
    }

    /// The machine whose state is shown.
    fn current(&self) -> &Machine {
        self.ahead.as_deref().unwrap_or(&self.machine)
    }

    fn shown_key(&self) -> (State, Option<StateKind>) {
        let shown = self.current().shown();
        (shown.state, shown.kind)
    }

    /// If a subagent wrote after the last record of this file: the machine before silence ended the turn. Between
    /// two records that silence counted.
    fn machine_before_silence(&self) -> Option<Machine> {
        let apart = self.turn.agents_at > self.turn.last_activity;
        if apart { self.machine.before_silence() } else { None }
    }

    /// Brings `ahead` up to `advanced_to`.
    fn fire_ahead(&mut self, out: &mut Vec<Effect>) {
        let Some(to) = self.advanced_to else { return };
        if self.ahead.is_none() {
            self.ahead = self.machine_before_silence().map(Box::new);
        }
        if self.deadline().is_some_and(|deadline| deadline <= to) {
            let mut machine = self.ahead.take().unwrap_or_else(|| Box::new(self.machine.clone()));
            machine.fire_until(to, &self.turn, out);
            self.ahead = Some(machine);
        }
    }

    /// The same if the state in `before` is no step towards the new one.
    fn fire_and_report(&mut self, before: (State, Option<StateKind>), out: &mut Vec<Effect>) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.fire_ahead(&mut scratch);
        self.report_difference(before, scratch, out);
    }

    /// Reports one transition from the state in `before` to the current one, if they differ. The steps in `scratch`
    /// are dropped: some of them were reported before, or undone.
    fn report_difference(
        &mut self,
        before: (State, Option<StateKind>),
        mut scratch: Vec<Effect>,
        out: &mut Vec<Effect>,
    ) {
        scratch.clear();
        self.scratch = scratch;
        let after = self.shown_key();
        if before != after {
            let machine = self.current();
            out.push(Effect::Transition {
                from: before.0,
                to: after.0,
                kind: after.1,
                at: machine.shown().since.or(self.clock).unwrap_or_default(),
                detail: machine.describe(&self.turn),
            });
        }
    }
}

//! The fold of one main transcript: records in, state, facts and lineage out.
//!
//! The state is a function of the records and of the newest time known, and of nothing else: a deadline that was
//! fired by the clock is taken back when a record with an earlier time turns up after all. So a session that was
//! watched live and one that is read a year later say the same.

mod records;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chain::lineage::Lineage;
use crate::ids::{RecordId, SessionId};
use crate::roster::row::PendingTool;
use crate::session::ancestry::Ancestry;
use crate::session::background::Running;
use crate::session::effect::{Effect, Reading};
use crate::session::facts::Facts;
use crate::session::id_set::IdSet;
use crate::session::machine::Machine;
use crate::session::memory::Memory;
use crate::session::state::{Confidence, State, StateKind, Timeouts};
use crate::session::turn::Turn;
use crate::session::usage::RequestLedger;
use crate::time::{Millis, Timestamp};
use crate::transcript::record::{Attachment, Body, Prompt, PromptOrigin, Record};

/// No client writes records that are further out of order than this, minutes at most.
const SET_BACK: Millis = Millis::from_secs(600);

/// One session, folded record by record.
///
/// What a snapshot holds is told by the fields: see [`crate::session::snapshot`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionFold {
    seen: IdSet,
    /// The running maximum of the records' times since the clock was last set back.
    clock: Option<Timestamp>,
    /// The newest time that [`SessionFold::advance`] was given.
    #[serde(skip)]
    advanced_to: Option<Timestamp>,
    /// What the records say, and the deadlines up to `clock`.
    machine: Machine,
    /// The same with the deadlines up to `advanced_to`, where that fired any: dropped with the next record.
    #[serde(skip)]
    ahead: Option<Box<Machine>>,
    turn: Turn,
    tasks: Running,
    /// The queue in order; `true` for a notice of the client, which the person did not type.
    queue: Vec<bool>,
    /// The client has said how many subagents run, so its silence says that none do.
    client_counts_agents: bool,
    /// Hash of the message that ended the turn: a late block of it is no new turn.
    ended_message: Option<u64>,
    facts: Facts,
    ancestry: Ancestry,
    ledger: RequestLedger,
    #[serde(skip)]
    scratch: Vec<Effect>,
    /// It stands for one that was kept and cannot be read any more.
    #[serde(skip)]
    unreadable: bool,
}

impl SessionFold {
    /// A session of which no record is known yet: idle.
    pub fn new(id: SessionId, timeouts: Timeouts) -> Self {
        Self {
            seen: IdSet::default(),
            clock: None,
            advanced_to: None,
            machine: Machine::new(),
            ahead: None,
            turn: Turn::new(timeouts),
            tasks: Running::default(),
            queue: Vec::new(),
            client_counts_agents: false,
            ended_message: None,
            facts: Facts::default(),
            ancestry: Ancestry::new(id),
            ledger: RequestLedger::default(),
            scratch: Vec::new(),
            unreadable: false,
        }
    }

    /// In place of one that was kept and cannot be read: nothing of it counts, and its transcript is to be read anew.
    pub(crate) fn unreadable(id: SessionId, timeouts: Timeouts) -> Self {
        Self { unreadable: true, ..Self::new(id, timeouts) }
    }

    pub(crate) fn is_unreadable(&self) -> bool {
        self.unreadable
    }

    /// Takes in the next record of the file. Transitions are added to `out`.
    ///
    /// Every deadline up to the record's time has fired before it is looked at. A record that was applied already
    /// (history re-appended by a second compaction) changes nothing.
    pub fn apply(&mut self, record: &Record<'_>, out: &mut Vec<Effect>) {
        match record.body {
            // They say nothing; not even their times count, so that a stranger cannot move the clock.
            Body::Silent | Body::Unknown(_) => return,
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
        // What subagents write only puts off what is shown. Between two records of this file it does not count: of files, the
        // one that is read first must not decide what the other one says.
        let agents_at = self.turn.agents_at.take();
        let apart = agents_at > self.turn.last_activity;
        if !behind && !apart {
            // What fired ahead of the records would fire now in just the same way.
            if let Some(ahead) = self.ahead.take() {
                self.machine = *ahead;
            }
            self.machine.fire_until(now, &self.turn, out);
            self.fold(record, now, out);
            self.turn.agents_at = agents_at;
            return;
        }

        // The clock is ahead of the record, or what is shown is not what this file alone says: only what is different
        // afterwards is told.
        let before = self.shown_key();
        let mut scratch = std::mem::take(&mut self.scratch);
        self.ahead = None;
        self.machine.fire_until(now, &self.turn, &mut scratch);
        self.fold(record, now, &mut scratch);
        self.turn.agents_at = agents_at;
        self.fire_ahead(&mut scratch);
        self.tell_difference(before, scratch, out);
    }

    /// The time of a prompt that the person has given after the clock was set back: one that is so far behind the records
    /// before it. Copied history is older than what it is copied into, and sets nothing back.
    fn set_back_to(&self, record: &Record<'_>) -> Option<Timestamp> {
        let Body::Prompt(Prompt { origin: PromptOrigin::Human, .. }) = &record.body else { return None };
        let envelope = &record.envelope;
        let (at, clock) = (envelope.at?, self.clock?);
        let own = !envelope.sidechain && envelope.forked_from.is_none();
        (own && clock.since(at) > SET_BACK).then_some(at)
    }

    /// From here on the time is another one. What happened before says nothing about how long anything lasts now:
    /// without this every deadline would wait until the clock has caught up.
    fn set_back(&mut self, at: Timestamp) {
        self.clock = Some(at);
        self.turn.last_activity = self.turn.last_activity.min(Some(at));
        self.turn.stirred_at = self.turn.stirred_at.min(Some(at));
        self.turn.agents_at = self.turn.agents_at.min(Some(at));
        self.turn.pending.set_back(at);
        // Whatever is stamped later than this was written after the clock had been set, and they were begun before.
        self.turn.agents.set_back(at - SET_BACK);
        self.tasks.set_back(at - SET_BACK);
    }

    /// Fires the deadlines up to `now`. A time before an earlier one is ignored: clocks that go back take
    /// nothing back.
    ///
    /// Read what a file already holds before the first call: of a record behind the clock only the difference that
    /// it makes to the present is told, not the states in between.
    pub fn advance(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        self.advanced_to = self.advanced_to.max(Some(now));
        if self.ahead.is_none() && self.unbroken().is_some() {
            self.fire_anew(self.shown_key(), out);
        } else {
            self.fire_ahead(out);
        }
    }

    /// The clock was wrong and has been set back to `now`: what only the wrong time had fired is taken back.
    pub fn turn_back(&mut self, now: Timestamp) {
        if self.advanced_to.is_some_and(|advanced| advanced > now) {
            self.advanced_to = Some(now);
            self.ahead = None;
        }
    }

    /// A subagent of this session wrote something into its own file. It never moves the turn, but while one runs or
    /// only subagents work, the session is not idle.
    pub fn subagent_active(&mut self, at: Timestamp, out: &mut Vec<Effect>) {
        if self.turn.agents_at >= Some(at) {
            return;
        }
        let before = self.shown_key();
        self.turn.agents_at = Some(at);
        self.ahead = None;
        self.fire_anew(before, out);
    }

    /// When [`SessionFold::advance`] will next change something.
    pub fn deadline(&self) -> Option<Timestamp> {
        self.current().deadline(&self.turn)
    }

    /// What the transcript says of the turn.
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

    /// What a row shows besides the state.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The folder the session was launched in.
    pub fn cwd(&self) -> Option<&Arc<str>> {
        self.lineage().cwds.first()
    }

    /// Forgets what open calls act on: the person may want none of it stored. Says whether anything was known.
    pub fn forget_targets(&mut self) -> bool {
        self.turn.pending.forget_targets()
    }

    /// Tool calls without a result, oldest first.
    pub fn pending_tools(&self) -> Vec<PendingTool> {
        self.turn.pending.iter().cloned().collect()
    }

    /// What the chain resolver needs.
    pub fn lineage(&self) -> &Lineage {
        self.ancestry.lineage()
    }

    /// Takes up the lineage, which is kept by itself.
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

    /// Whether a record of this id was applied; records that say nothing are not counted among them.
    pub fn has_record(&self, id: RecordId) -> bool {
        self.seen.contains(id)
    }

    /// How many different records with an id were applied.
    pub fn record_count(&self) -> usize {
        self.seen.len()
    }

    /// The running maximum of the records' times, as far as the clock was not set back: the time that a record without one
    /// takes.
    pub fn clock(&self) -> Option<Timestamp> {
        self.clock
    }

    /// What is remembered of each record, for snapshots.
    pub(crate) fn memory(&mut self) -> Memory<'_> {
        Memory { seen: &mut self.seen, ledger: &mut self.ledger }
    }

    /// The same, to be looked at.
    pub(crate) fn remembered(&self) -> (&IdSet, &RequestLedger) {
        (&self.seen, &self.ledger)
    }

    /// The timeouts are settings, and may change: they count from the next record or deadline on.
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

    /// The machine without the silence that a subagent has broken: between two records of this file it counted as one.
    fn unbroken(&self) -> Option<Machine> {
        let apart = self.turn.agents_at > self.turn.last_activity;
        if apart { self.machine.before_silence() } else { None }
    }

    /// Brings `ahead` up to `advanced_to`.
    fn fire_ahead(&mut self, out: &mut Vec<Effect>) {
        let Some(to) = self.advanced_to else { return };
        if self.ahead.is_none() {
            self.ahead = self.unbroken().map(Box::new);
        }
        if self.deadline().is_some_and(|deadline| deadline <= to) {
            let mut machine = self.ahead.take().unwrap_or_else(|| Box::new(self.machine.clone()));
            machine.fire_until(to, &self.turn, out);
            self.ahead = Some(machine);
        }
    }

    /// The same where what was shown before is no step on the way.
    fn fire_anew(&mut self, before: (State, Option<StateKind>), out: &mut Vec<Effect>) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.fire_ahead(&mut scratch);
        self.tell_difference(before, scratch, out);
    }

    /// Tells of one transition from what was shown before to what is shown now, if they differ. The steps in `scratch`
    /// are forgotten: some of them were told before, or taken back.
    fn tell_difference(
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

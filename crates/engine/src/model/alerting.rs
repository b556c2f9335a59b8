//! Who needs the person: every row that is shown is handed to the one policy, and what it tells goes out.

use std::collections::BTreeSet;

use watchbill_core::attention::{Attention, AttentionSettings, Counts, Need, Outcome, Sighting};
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::time::Timestamp;

/// The policy, and what subscribers do not know yet of it.
pub(crate) struct Alerting {
    policy: Attention,
    /// Subscribers don't know yet that everything is muted, or no longer.
    muting_changed: bool,
}

impl Alerting {
    /// Nothing was seen yet.
    pub fn new(settings: AttentionSettings) -> Self {
        Self { policy: Attention::new(settings), muting_changed: false }
    }

    /// The person wants other alerts.
    pub fn set_settings(&mut self, settings: AttentionSettings) {
        self.policy.set_settings(settings);
    }

    /// Shows a row of the default roster to the policy, and notes in the row what it counts for. Says when that will
    /// be different though nothing happens.
    pub fn attend(&mut self, row: &mut Row, now: Timestamp) -> Option<Timestamp> {
        self.policy.see(now, Sighting::of(row));
        row.needs = self.counted_need(&row.session_id, now);
        let (_, counts_at) = self.policy.need_of(&row.session_id)?;
        (counts_at > now).then_some(counts_at)
    }

    /// What a session needs the person for, once that counts.
    pub fn counted_need(&self, id: &SessionId, now: Timestamp) -> Option<Need> {
        self.policy.need_of(id).filter(|(_, counts_at)| *counts_at <= now).map(|(need, _)| need)
    }

    /// A session is not shown, so that nobody is to be told of it.
    pub fn disregard(&mut self, id: &SessionId, now: Timestamp) {
        self.policy.lose(now, id);
    }

    /// No alerts until then.
    pub fn mute(&mut self, until: Option<Timestamp>) {
        self.muting_changed |= self.policy.muted_until() != until;
        self.policy.set_muted_until(until);
    }

    /// Until when nothing is told.
    pub fn muted_until(&self) -> Option<Timestamp> {
        self.policy.muted_until()
    }

    /// Whether muting has changed since the last call.
    pub fn take_muting_changed(&mut self) -> bool {
        std::mem::take(&mut self.muting_changed)
    }

    /// The sessions whose window is in front.
    pub fn set_in_front(&mut self, sessions: BTreeSet<SessionId>) {
        self.policy.set_in_front(sessions);
    }

    /// How many sessions need the person now, by what for.
    pub fn counts(&self, now: Timestamp) -> Counts {
        self.policy.counts(now)
    }

    /// Who needs the person already, for somebody who begins to listen only now.
    pub fn already_so(&mut self, now: Timestamp) -> Option<Outcome> {
        self.policy.already_so(now)
    }

    /// The past has been read: from now on, what comes to need the person is told.
    pub fn begin(&mut self, now: Timestamp) {
        self.policy.begin(now);
    }

    /// What the policy has to tell by now.
    pub fn advance(&mut self, now: Timestamp) -> Vec<Outcome> {
        self.policy.advance(now)
    }

    /// When it will have more to tell.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.policy.deadline(now).filter(|at| *at > now)
    }
}

//! Passes every shown row to the attention policy, and gives its alerts to the caller.

use std::collections::BTreeSet;

use watchbill_agents::traits;
use watchbill_core::attention::{Attention, AttentionEvent, AttentionSettings, Counts, Need, Sighting};
use watchbill_core::ids::SessionId;
use watchbill_core::limits::KnownLimit;
use watchbill_core::roster::row::Row;
use watchbill_core::time::Timestamp;

/// The attention policy, and a note that subscribers must learn of changed muting.
pub(crate) struct Alerting {
    policy: Attention,
    /// Muting has changed, and subscribers do not know yet.
    muting_changed: bool,
}

impl Alerting {
    /// A policy that has seen no row.
    pub fn new(settings: AttentionSettings) -> Self {
        Self { policy: Attention::new(settings), muting_changed: false }
    }

    /// Applies the user's alert settings.
    pub fn set_settings(&mut self, settings: AttentionSettings) {
        self.policy.set_settings(settings);
    }

    /// Passes the limits of plans to the policy.
    pub fn observe_limits(&mut self, limits: &[KnownLimit], now: Timestamp) {
        self.policy.apply_limits(now, |agent| traits(agent).title, limits);
    }

    /// Passes a row of the default roster to the policy, and sets `needs` and `unseen` of the row. If a need has not lasted long enough yet, returns when it will.
    pub fn observe_row(&mut self, row: &mut Row, now: Timestamp) -> Option<Timestamp> {
        self.policy.apply_sighting(now, Sighting::of(row));
        row.needs = self.counted_need(&row.session_id, now);
        row.unseen = self.is_unseen(&row.session_id);
        let (_, counts_at) = self.policy.need_of(&row.session_id)?;
        (counts_at > now).then_some(counts_at)
    }

    /// The reason why a session needs the user; `None` before the need counts.
    pub fn counted_need(&self, id: &SessionId, now: Timestamp) -> Option<Need> {
        self.policy.need_of(id).filter(|(_, counts_at)| *counts_at <= now).map(|(need, _)| need)
    }

    /// Whether its turn has ended, and the user has not looked at it since.
    pub fn is_unseen(&self, id: &SessionId) -> bool {
        self.policy.is_unseen(id)
    }

    /// Removes a session that the roster no longer shows. It gets no alerts.
    pub fn remove(&mut self, id: &SessionId, now: Timestamp) {
        self.policy.remove_session(now, id);
    }

    /// Mutes alerts until this time; `None` unmutes.
    pub fn mute(&mut self, until: Option<Timestamp>) {
        self.muting_changed |= self.policy.muted_until() != until;
        self.policy.set_muted_until(until);
    }

    /// The end of the mute.
    pub fn muted_until(&self) -> Option<Timestamp> {
        self.policy.muted_until()
    }

    /// Whether muting has changed since the last call.
    pub fn take_muting_changed(&mut self) -> bool {
        std::mem::take(&mut self.muting_changed)
    }

    /// Sets the sessions whose window is in front. Returns those whose rows change by it.
    pub fn set_in_front(&mut self, sessions: BTreeSet<SessionId>) -> Vec<SessionId> {
        self.policy.set_in_front(sessions)
    }

    /// The user looks at a session's terminal. Returns whether its row changes by it.
    pub fn look_at(&mut self, session: &SessionId) -> bool {
        self.policy.look_at(session)
    }

    /// The number of sessions that need the user now, by kind of need.
    pub fn counts(&self, now: Timestamp) -> Counts {
        self.policy.counts(now)
    }

    /// The present needs, for a subscriber that begins to listen now.
    pub fn already_so(&mut self, now: Timestamp) -> Option<AttentionEvent> {
        self.policy.standing_needs(now)
    }

    /// Begins to report: the first scan is over, and from now on each new need gives an alert.
    pub fn begin(&mut self, now: Timestamp) {
        self.policy.begin(now);
    }

    /// The policy's news up to now.
    pub fn advance(&mut self, now: Timestamp) -> Vec<AttentionEvent> {
        self.policy.advance(now)
    }

    /// The time of the next news of the policy.
    pub fn deadline(&self, now: Timestamp) -> Option<Timestamp> {
        self.policy.deadline(now).filter(|at| *at > now)
    }
}

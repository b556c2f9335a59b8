//! Who needs the person: every row that is shown is handed to the one policy, and what it tells goes out.

use watchbill_core::attention::{Need, Outcome, Sighting};
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::time::Timestamp;

use super::{Due, Engine};
use crate::input::{AttentionInput, Output};

impl Engine {
    /// Shows a row of the default roster to the policy, and notes in the row what it counts for. Says when that will
    /// be different though nothing happens.
    pub(super) fn attend(&mut self, row: &mut Row) -> Option<Timestamp> {
        self.attention.see(self.now, Sighting::of(row));
        row.needs = self.counted_need(&row.session_id);
        let (_, counts_at) = self.attention.need_of(&row.session_id)?;
        (counts_at > self.now).then_some(counts_at)
    }

    /// What a session needs the person for, once that counts.
    pub(super) fn counted_need(&self, id: &SessionId) -> Option<Need> {
        self.attention.need_of(id).filter(|(_, counts_at)| *counts_at <= self.now).map(|(need, _)| need)
    }

    /// A session is not shown, so that nobody is to be told of it.
    pub(super) fn disregard(&mut self, id: &SessionId) {
        self.attention.lose(self.now, id);
    }

    pub(super) fn take_attention(&mut self, input: AttentionInput) {
        match input {
            AttentionInput::Zone(zone) => {
                if self.settings.alerts.attention.zone != zone {
                    self.settings.alerts.attention.zone = zone;
                    self.attention.set_settings(self.settings.alerts.attention.clone());
                }
            }
            AttentionInput::Mute(until) => self.mute(until),
            AttentionInput::InFront(sessions) => self.attention.set_in_front(sessions),
        }
    }

    /// No alerts until then; `None`, or a time that has passed, ends it.
    pub(super) fn mute(&mut self, until: Option<Timestamp>) {
        let until = until.filter(|until| *until > self.now);
        self.muting_changed |= self.attention.muted_until() != until;
        self.attention.set_muted_until(until);
        self.deadlines.set(Due::Unmute, until);
    }

    /// Who needs the person already, for somebody who begins to listen only now; nothing while the past is being read.
    pub(crate) fn already_so(&mut self) -> Option<Outcome> {
        (!self.startup.is_reading()).then(|| self.attention.already_so(self.now)).flatten()
    }

    /// Tells what the policy has to tell, and when it will have more.
    pub(super) fn tell_attention(&mut self, out: &mut Vec<Output>) {
        if !self.startup.is_reading() {
            self.attention.begin(self.now);
        }
        out.extend(self.attention.advance(self.now).into_iter().map(Output::Attention));
        let next = self.attention.deadline(self.now).filter(|at| *at > self.now);
        self.deadlines.set(Due::Attention, next);
    }
}

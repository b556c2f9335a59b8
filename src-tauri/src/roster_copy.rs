//! A copy of the roster, built from the messages of a subscription.

use watchbill_protocol::roster::{RosterDelta, RosterMessage, TrackedSession};

/// The rows, and the time of the engine's newest message.
#[derive(Debug, Default)]
pub struct RosterCopy {
    revision: u64,
    /// Rows in roster order.
    pub rows: Vec<TrackedSession>,
    /// `generatedAt` of the newest message: the engine's clock, on which ages are based.
    pub generated_at: Option<jiff::Timestamp>,
    /// The end of a mute.
    pub muted_until: Option<jiff::Timestamp>,
}

/// A delta does not follow on our revision. The rows stay as they were.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftBehind;

impl RosterCopy {
    /// Applies one message.
    ///
    /// # Errors
    /// When a delta belongs to another revision. Then a new subscription is needed.
    pub fn apply(&mut self, message: RosterMessage) -> Result<(), LeftBehind> {
        match message {
            RosterMessage::Snapshot(snapshot) => {
                self.revision = snapshot.revision;
                self.generated_at = snapshot.generated_at.parse().ok();
                self.muted_until = snapshot.muted_until.and_then(|until| until.parse().ok());
                self.rows = snapshot.sessions;
            }
            RosterMessage::Delta(delta) => self.apply_delta(delta)?,
            RosterMessage::Select { .. } | RosterMessage::Stopped => {}
        }
        Ok(())
    }

    fn apply_delta(&mut self, delta: RosterDelta) -> Result<(), LeftBehind> {
        if delta.base != self.revision {
            return Err(LeftBehind);
        }
        self.revision = delta.revision;
        self.generated_at = delta.generated_at.parse().ok().or(self.generated_at);
        self.muted_until = delta.muted_until.and_then(|until| until.parse().ok());
        self.rows.retain(|row| {
            !delta.removals.contains(&row.session_id)
                && delta.upserts.iter().all(|upsert| upsert.session.session_id != row.session_id)
        });
        for upsert in delta.upserts {
            let place = usize::try_from(upsert.index).unwrap_or(usize::MAX).min(self.rows.len());
            self.rows.insert(place, upsert.session);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tray::face::tests::row;
    use watchbill_protocol::roster::{Group, RosterSnapshot, Upsert};

    const AT: &str = "2026-11-20T15:30:52.694Z";

    fn snapshot(revision: u64, ids: &[&str]) -> RosterMessage {
        RosterMessage::Snapshot(RosterSnapshot {
            revision,
            generated_at: AT.into(),
            sessions: ids.iter().map(|id| row(id, Group::Working)).collect(),
            problems: Vec::new(),
            reading: false,
            muted_until: None,
            limits: Vec::new(),
            rest: None,
        })
    }

    fn delta(base: u64, upserts: &[(u32, &str)], removals: &[&str]) -> RosterMessage {
        RosterMessage::Delta(RosterDelta {
            base,
            revision: base + 1,
            generated_at: AT.into(),
            upserts: upserts
                .iter()
                .map(|(index, id)| Upsert { index: *index, session: row(id, Group::NeedsYou) })
                .collect(),
            removals: removals.iter().map(ToString::to_string).collect(),
            problems: None,
            reading: false,
            muted_until: None,
            limits: None,
        })
    }

    fn ids(copy: &RosterCopy) -> Vec<&str> {
        copy.rows.iter().map(|row| row.session_id.as_str()).collect()
    }

    #[test]
    fn a_delta_removes_rows_and_then_inserts_upserts_at_their_index() {
        let mut copy = RosterCopy::default();
        copy.apply(snapshot(7, &["a", "b", "c", "d"])).expect("a snapshot always fits");
        copy.apply(delta(7, &[(0, "c"), (2, "new")], &["b"])).expect("it follows");
        assert_eq!(ids(&copy), ["c", "a", "new", "d"]);
        assert_eq!(copy.rows[0].group, Group::NeedsYou, "the row itself is replaced");
    }

    #[test]
    fn a_delta_for_another_revision_changes_nothing() {
        let mut copy = RosterCopy::default();
        copy.apply(snapshot(7, &["a"])).expect("a snapshot always fits");
        assert_eq!(copy.apply(delta(6, &[], &["a"])), Err(LeftBehind));
        assert_eq!(ids(&copy), ["a"]);
    }

    #[test]
    fn an_index_beyond_the_end_appends() {
        let mut copy = RosterCopy::default();
        copy.apply(snapshot(1, &["a"])).expect("a snapshot always fits");
        copy.apply(delta(1, &[(99, "z")], &[])).expect("it follows");
        assert_eq!(ids(&copy), ["a", "z"]);
    }
}

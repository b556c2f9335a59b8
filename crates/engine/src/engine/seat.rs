//! Where a session runs, for whoever wants to see its terminal.

use std::cmp::Reverse;

use watchbill_core::evidence::registry::Liveness;
use watchbill_core::evidence::witness::InstanceWitness;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_terminal::{Presence, Seat};

use crate::engine::Engine;

/// `kind` of sessions that the client runs behind a daemon of its own (client 2.1.329).
const BACKGROUND: &str = "bg";

impl Engine {
    /// Where a session runs.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn seat(&self, asked: &str) -> Result<Seat, ApiError> {
        let id = self.find(asked)?;
        let row = self.row(&id).ok_or_else(|| {
            ApiError::new(ErrorCode::NotFound, format!("nothing is known of session {id} any more"))
        })?;
        let mut instances = self.makings(&id).instances();
        // Of several processes on one session the one that was started last is the one that the person left open.
        instances
            .sort_by_key(|witness| Reverse((witness.liveness == Liveness::Alive, witness.entry.started_at)));
        let running = instances.iter().find(|witness| witness.liveness != Liveness::Dead);
        let presence = match running {
            _ if !self.world.processes.are_real() => Presence::MadeUp,
            Some(witness) => self.presence(witness),
            None if row.live => Presence::Heard,
            None => Presence::Ended,
        };
        Ok(Seat { session: id.as_str().into(), cwd: row.cwd, terminal: row.terminal, presence })
    }

    fn presence(&self, witness: &InstanceWitness) -> Presence {
        let entry = &witness.entry;
        let elsewhere = |domain: &str| !self.world.processes.shares_ids(domain);
        match witness.liveness {
            _ if entry.pid_domain.as_deref().is_some_and(elsewhere) => Presence::Elsewhere,
            _ if entry.kind.as_deref() == Some(BACKGROUND) => Presence::Background,
            Liveness::Alive => Presence::Runs(entry.instance.clone()),
            _ => Presence::Heard,
        }
    }
}

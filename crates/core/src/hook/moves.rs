//! Changes of session inside one process, by its SessionEnd and SessionStart hooks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::event::{HookEvent, StartSource};
use super::origin::HookOrigin;
use super::payload::HookPayload;
use crate::chain::lineage::{HookMove, MoveCause};
use crate::ids::{Instance, SessionId};
use crate::time::Timestamp;

/// How many changes of one process are kept; a day of `/clear` every ten minutes makes 144.
const EVENT_LIMIT: usize = 256;
/// How many processes are kept. Beyond it the one that was silent longest is dropped.
const PROCESSES: usize = 1024;

/// Folds the hooks that begin and end sessions, of all processes, in any order of arrival.
///
/// No payload names the session before (client 2.1.329), but the process links the two: after SessionEnd `clear` of
/// one session, its SessionStart `clear` is of the next one.
#[derive(Debug, Clone, Default)]
pub struct HookMoves {
    processes: BTreeMap<Instance, BTreeMap<(u64, Arc<str>), Edge>>,
}

#[derive(Debug, Clone)]
struct Edge {
    at: Timestamp,
    session: SessionId,
    /// How the session began; `None` if the event only shows that the process is in it.
    starts: Option<StartSource>,
}

impl HookMoves {
    /// Applies one event; `true` when it may have changed [`HookMoves::all`].
    pub fn take(&mut self, origin: &HookOrigin, payload: &HookPayload) -> bool {
        let starts = match &payload.event {
            HookEvent::SessionStart { source, .. } => Some(*source),
            HookEvent::SessionEnd { .. } | HookEvent::PreCompact => None,
            _ => return false,
        };
        let Some(agent) = origin.agent.clone() else { return false };
        if !self.processes.contains_key(&agent) && self.processes.len() >= PROCESSES {
            let newest = |edges: &BTreeMap<_, Edge>| edges.values().map(|edge| edge.at).max();
            let oldest = self.processes.iter().min_by_key(|(agent, edges)| (newest(edges), *agent));
            if let Some(oldest) = oldest.map(|(agent, _)| agent.clone()) {
                self.processes.remove(&oldest);
            }
        }
        let edges = self.processes.entry(agent).or_default();
        let edge = Edge { at: origin.at, session: payload.session.clone(), starts };
        let new = edges.insert((origin.order, Arc::clone(&origin.id)), edge).is_none();
        if edges.len() > EVENT_LIMIT {
            edges.pop_first();
        }
        new
    }

    /// Every change of session inside a process, oldest first within each.
    pub fn all(&self) -> Vec<HookMove> {
        let mut moves = Vec::new();
        for (instance, edges) in &self.processes {
            let mut current: Option<&SessionId> = None;
            for edge in edges.values() {
                let before = current.replace(&edge.session).filter(|before| **before != edge.session);
                let cause = match edge.starts {
                    Some(StartSource::Clear) => MoveCause::Clear,
                    Some(StartSource::Resume) => MoveCause::Resume,
                    Some(StartSource::Fork) => MoveCause::Fork,
                    Some(StartSource::Compact) => MoveCause::Compact,
                    Some(StartSource::Startup | StartSource::Unknown) | None => continue,
                };
                let Some(from) = before.cloned() else { continue };
                let (instance, to, at) = (instance.clone(), edge.session.clone(), edge.at);
                moves.push(HookMove { instance, from, to, at, cause });
            }
        }
        moves
    }
}

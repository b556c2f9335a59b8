//! From one session to the next in one process, as its hooks tell: it leaves one and begins another.
//!
//! No payload of client 2.1.329 names both sessions. But `/clear` and `/resume` fire SessionEnd with their name and then,
//! within 200 ms, SessionStart for the other session, from the same process.

use std::collections::BTreeMap;

use watchbill_core::chain::lineage::RegistryMove;
use watchbill_core::hook::event::StartSource;
use watchbill_core::hook::{HookEvent, HookOrigin, HookPayload};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::time::{Millis, Timestamp};

/// A session that begins later than this after the one before was left is no continuation of it: the picker of
/// `/resume` may be open for a while, and then the registry knows better.
const AT_ONCE: Millis = Millis::from_secs(10);
/// So many are remembered; the oldest give way.
const MOST: usize = 4096;

/// The moves that were told, and halves of moves.
#[derive(Debug, Default)]
pub struct HookMoves {
    left: BTreeMap<Instance, (SessionId, Timestamp)>,
    began: BTreeMap<Instance, (SessionId, Timestamp)>,
    moves: Vec<RegistryMove>,
}

impl HookMoves {
    /// Takes one event in; says whether it completes a move. Either half may be heard first.
    pub fn take(&mut self, origin: &HookOrigin, payload: &HookPayload) -> bool {
        let Some(agent) = &origin.agent else { return false };
        let half = (payload.session.clone(), origin.at);
        match &payload.event {
            HookEvent::SessionEnd { reason } if reason.moves_on() => put(&mut self.left, agent, half),
            HookEvent::SessionStart { source: StartSource::Clear | StartSource::Resume, .. } => {
                put(&mut self.began, agent, half);
            }
            _ => return false,
        }
        let (Some((from, left)), Some((to, began))) = (self.left.get(agent), self.began.get(agent)) else {
            return false;
        };
        if from == to || began < left || *began > *left + AT_ONCE {
            return false;
        }
        let told = RegistryMove { instance: agent.clone(), from: from.clone(), to: to.clone(), at: *began };
        if self.moves.contains(&told) {
            return false;
        }
        if self.moves.len() >= MOST {
            self.moves.drain(..MOST / 8);
        }
        self.moves.push(told);
        true
    }

    /// All of them, in the order in which they were heard.
    pub fn all(&self) -> &[RegistryMove] {
        &self.moves
    }
}

fn put(
    halves: &mut BTreeMap<Instance, (SessionId, Timestamp)>,
    agent: &Instance,
    half: (SessionId, Timestamp),
) {
    if halves.len() >= MOST && !halves.contains_key(agent) {
        // Whoever has not moved for longest will not move within seconds.
        let oldest = halves.iter().min_by_key(|(_, (_, at))| *at).map(|(agent, _)| agent.clone());
        oldest.and_then(|oldest| halves.remove(&oldest));
    }
    halves.insert(agent.clone(), half);
}

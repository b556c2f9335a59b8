//! Folds the hook events of one session, in any order of arrival, into one reading.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::hook_state::{HookReading, TurnEvent};
use super::origin::HookOrigin;
use super::payload::HookPayload;
use super::witness::HookWitness;
use crate::ids::Instance;
use crate::time::Timestamp;

/// How many events can still be sorted. A sender is late by milliseconds, a spool by seconds.
const WINDOW: usize = 128;
/// How many processes of one session are kept apart. Beyond it the one that was silent longest is dropped.
const PROCESSES: usize = 8;

/// Folds the hook events of one session.
///
/// Events arrive in any order and more than once. The fold sorts the events of one process by the sender's clock, so
/// any order of arrival gives the same reading. An event that is older than all of the last 128 is left out and
/// counted. Processes are kept apart: the events of a process end with it. A `claude -p` that a session starts
/// inherits the session's id, but is no witness of its turn.
#[derive(Debug, Clone, Default)]
pub struct HookFold {
    processes: BTreeMap<Option<Instance>, Window>,
    too_late: u64,
}

/// Sort key of an event: the sender's clock since boot, which never goes back, then the event's id.
type EventOrder = (u64, Arc<str>);

#[derive(Debug, Clone, Default)]
struct Window {
    /// The reading of everything before the window.
    base: HookReading,
    /// Place of the newest event that `base` holds.
    base_end: Option<EventOrder>,
    /// In order.
    events: Vec<(EventOrder, Timestamp, TurnEvent)>,
    /// The reading of all events.
    now: HookReading,
    /// Wall clock of the newest event.
    newest: Timestamp,
    /// Process ids of the agent's ancestors, nearest first.
    outer: Arc<[u32]>,
}

impl HookFold {
    /// Applies one event of this session. Returns `false` if it was applied before, or is too late to be sorted.
    pub fn apply(&mut self, origin: &HookOrigin, payload: &HookPayload) -> bool {
        if !self.processes.contains_key(&origin.agent) {
            self.make_room();
        }
        let window = self.processes.entry(origin.agent.clone()).or_default();
        let place = (origin.order, Arc::clone(&origin.id));
        if window.base_end.as_ref().is_some_and(|end| place <= *end) {
            self.too_late += 1;
            return false;
        }
        let Err(at) = window.events.binary_search_by(|event| event.0.cmp(&place)) else { return false };
        window.newest = window.newest.max(origin.at);
        if let Some(agent) = &origin.agent
            && let Some(own) = origin.ancestors.iter().position(|pid| *pid == agent.pid)
            && window.outer.is_empty()
        {
            window.outer = Arc::from(&origin.ancestors[own + 1..]);
        }
        window.insert(at, (place, origin.at, TurnEvent::of(payload)));
        true
    }

    /// The clock was set back to `now`. The order of the events stays; what was heard before counts as heard by then.
    pub fn turn_back(&mut self, now: Timestamp) {
        for window in self.processes.values_mut() {
            window.newest = window.newest.min(now);
            window.base.turn_back(now);
            window.now.turn_back(now);
            window.events.iter_mut().for_each(|(_, at, _)| *at = (*at).min(now));
        }
    }

    /// The hooks' reading. `running` lists the processes that run the session, by the registry; it is empty when none
    /// is known. If one is known, the events of every other process are no evidence.
    pub fn witness(&self, running: &[Instance]) -> Option<HookWitness> {
        let counts =
            |agent: &Instance| running.is_empty() || running.iter().any(|process| process.may_be(agent));
        let (agent, window) = self
            .processes
            .iter()
            .filter(|(agent, window)| {
                agent.as_ref().is_none_or(|agent| counts(agent) && !self.is_within_another(agent, window))
            })
            .max_by_key(|(agent, window)| (window.newest, *agent))?;
        let witness = window.now.witness()?;
        Some(HookWitness { agent: agent.clone(), ..witness })
    }

    /// How many events came too late to be sorted.
    pub fn too_late(&self) -> u64 {
        self.too_late
    }

    /// Another process of the same session started this one: a `claude -p` in a tool call.
    fn is_within_another(&self, agent: &Instance, window: &Window) -> bool {
        let others = self.processes.keys().flatten().filter(|other| !other.may_be(agent));
        others.into_iter().any(|other| window.outer.contains(&other.pid))
    }

    fn make_room(&mut self) {
        if self.processes.len() < PROCESSES {
            return;
        }
        let oldest = self.processes.iter().min_by_key(|(agent, window)| (window.newest, *agent));
        if let Some(oldest) = oldest.map(|(agent, _)| agent.clone()) {
            self.processes.remove(&oldest);
        }
    }
}

impl Window {
    fn insert(&mut self, place: usize, event: (EventOrder, Timestamp, TurnEvent)) {
        let is_last = place == self.events.len();
        self.events.insert(place, event);
        if is_last {
            let (_, at, event) = &self.events[place];
            self.now.apply(event, *at);
        } else {
            self.now = self.base.clone();
            for (_, at, event) in &self.events {
                self.now.apply(event, *at);
            }
        }
        if self.events.len() > WINDOW {
            let (place, at, event) = self.events.remove(0);
            self.base.apply(&event, at);
            self.base_end = Some(place);
        }
    }
}

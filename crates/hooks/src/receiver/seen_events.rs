//! The events that a receiver knows: delivered, kept, or both.

use std::collections::{HashMap, VecDeque};

/// How many ids are remembered. An event whose id is no longer among them may be delivered twice; consumers can tell
/// by the id.
const LIMIT: usize = 1 << 16;

/// The state of one event.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct EventState {
    /// The journal holds it.
    pub kept: bool,
    /// The consumer has got it.
    pub delivered: bool,
}

/// The latest events by id.
#[derive(Debug, Default)]
pub(super) struct SeenEvents {
    fates: HashMap<u128, EventState>,
    by_age: VecDeque<u128>,
}

impl SeenEvents {
    /// The state of an event.
    pub fn event_state(&self, id: u128) -> EventState {
        self.fates.get(&id).copied().unwrap_or_default()
    }

    /// The state of an event, to be changed.
    pub fn event_state_mut(&mut self, id: u128) -> &mut EventState {
        if !self.fates.contains_key(&id) {
            if self.by_age.len() >= LIMIT
                && let Some(oldest) = self.by_age.pop_front()
            {
                self.fates.remove(&oldest);
            }
            self.by_age.push_back(id);
        }
        self.fates.entry(id).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_forgets_the_oldest_and_never_grows_beyond_its_limit() {
        let mut known = SeenEvents::default();
        for id in 0..2 * LIMIT as u128 {
            known.event_state_mut(id).delivered = true;
            known.event_state_mut(id).kept = true;
        }
        assert_eq!(known.fates.len(), LIMIT);
        assert_eq!(known.by_age.len(), LIMIT);
        assert_eq!(known.event_state(0), EventState::default());
        assert_eq!(known.event_state(2 * LIMIT as u128 - 1), EventState { kept: true, delivered: true });
    }
}

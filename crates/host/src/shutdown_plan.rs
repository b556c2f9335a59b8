//! The steps that end a session, as a pure plan: a request first, signals next, SIGKILL last. The plan always ends.

use std::collections::VecDeque;
use std::time::Duration;

/// The host's next step to end a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Interrupts the running turn.
    Interrupt,
    /// Closes the agent's standard input.
    CloseInput,
    /// SIGHUP, as a terminal that is closed sends it.
    HangUp,
    /// SIGTERM to the agent.
    Terminate,
    /// SIGKILL to the agent, and to all that it left.
    Kill,
    /// SIGTERM to each process that the agent left.
    TerminateLeft,
    /// SIGKILL to each of them.
    KillLeft,
    /// The system does not end them. The session is over with that said.
    GiveUp,
}

/// The state of an end.
#[derive(Debug)]
pub struct ShutdownPlan {
    plan: VecDeque<(Act, Duration)>,
    until: Duration,
}

/// How often remaining processes are killed again: a process may have started another one meanwhile.
const KILLS: usize = 10;

impl ShutdownPlan {
    /// The end of a session. A Claude client takes up to 1.9 s after SIGTERM (measured with 2.1.329).
    pub fn new(is_terminal: bool, turn_runs: bool) -> Self {
        let ms = Duration::from_millis;
        let mut plan = VecDeque::new();
        if is_terminal {
            plan.push_back((Act::HangUp, ms(2000)));
        } else {
            if turn_runs {
                plan.push_back((Act::Interrupt, ms(600)));
            }
            plan.push_back((Act::CloseInput, ms(2000)));
        }
        plan.push_back((Act::Terminate, ms(2200)));
        plan.push_back((Act::Kill, ms(200)));
        plan.push_back((Act::TerminateLeft, ms(1000)));
        plan.extend((0..KILLS).map(|_| (Act::KillLeft, ms(200))));
        plan.push_back((Act::GiveUp, Duration::MAX));
        Self { plan, until: Duration::ZERO }
    }

    /// The next act, if its time has come. `agent` and `left`: whether the agent runs, and whether what it started does.
    /// `turn_runs`: whether an interrupt has still to work.
    pub fn next(&mut self, now: Duration, agent: bool, left: bool, turn_runs: bool) -> Option<Act> {
        loop {
            let (act, _) = *self.plan.front()?;
            let for_agent =
                matches!(act, Act::Interrupt | Act::CloseInput | Act::HangUp | Act::Terminate | Act::Kill);
            // What the agent left is looked at when it is gone.
            if for_agent && !agent {
                self.plan.pop_front();
                self.until = now;
                continue;
            }
            if !for_agent && !agent && !left {
                return None;
            }
            // The interrupt has worked: no need to wait for the rest of its time.
            let worked = act == Act::CloseInput && !turn_runs;
            if now < self.until && !worked {
                return None;
            }
            let (act, time) = self.plan.pop_front()?;
            self.until = now.saturating_add(time);
            return Some(act);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What happens if the agent ends after `agent` ms and the rest after `left` ms, with the end of the turn at `turn`.
    fn played(terminal: bool, agent: u64, left: u64, turn: u64) -> Vec<(Act, u64)> {
        let mut ending = ShutdownPlan::new(terminal, turn > 0);
        let mut acts = Vec::new();
        for now in (0..20_000).step_by(50) {
            let at = Duration::from_millis(now);
            while let Some(act) = ending.next(at, now < agent, now < left, now < turn) {
                acts.push((act, now));
                if act == Act::GiveUp {
                    return acts;
                }
            }
        }
        acts
    }

    #[test]
    fn a_polite_agent_is_not_killed() {
        assert_eq!(played(false, 150, 150, 0), [(Act::CloseInput, 0)]);
        assert_eq!(played(false, 400, 400, 100), [(Act::Interrupt, 0), (Act::CloseInput, 100)]);
        assert_eq!(played(true, 500, 500, 0), [(Act::HangUp, 0)]);
    }

    #[test]
    fn what_an_agent_leaves_is_ended_too() {
        let acts = played(false, 100, 700, 0);
        assert_eq!(acts, [(Act::CloseInput, 0), (Act::TerminateLeft, 100)]);
    }

    #[test]
    fn a_deaf_agent_is_killed_last() {
        let acts: Vec<Act> = played(false, 5450, 5450, 10_000).into_iter().map(|(act, _)| act).collect();
        assert_eq!(acts, [Act::Interrupt, Act::CloseInput, Act::Terminate, Act::Kill, Act::TerminateLeft]);
    }

    proptest! {
        #[test]
        fn each_end_has_an_end(terminal: bool, agent in 0_u64..30_000, left in 0_u64..30_000, turn in 0_u64..30_000) {
            let acts = played(terminal, agent, left.max(agent), turn);
            let last = acts.last().map_or(0, |(_, at)| *at);
            prop_assert!(last < 10_000, "{acts:?}");
            // Nothing is killed that was not asked before.
            let place = |wanted: Act| acts.iter().position(|(act, _)| *act == wanted);
            if let Some(killed) = place(Act::Kill) {
                prop_assert!(place(Act::Terminate).is_some_and(|asked| asked < killed));
            }
            if let Some(killed) = place(Act::KillLeft) {
                prop_assert!(place(Act::TerminateLeft).is_some_and(|asked| asked < killed));
            }
        }
    }
}

//! When a plan's limit deserves an alert.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::attention::episode::Episode;
use crate::attention::need::Need;
use crate::ids::Agent;
use crate::limits::{KnownLimit, Limit};
use crate::time::Timestamp;

/// The limits that are known, each with the end of the span that was reported last.
#[derive(Debug, Clone, Default)]
pub(super) struct LimitReports {
    reported: BTreeMap<(Agent, Arc<str>, u32), Option<Timestamp>>,
}

impl LimitReports {
    /// Whether enough of a limit is used, and that is news. A limit that is seen for the first time is old: a program before this
    /// one may have reported it.
    pub fn is_news(&mut self, known: &KnownLimit, percent: u32, is_old: bool, is_silent: bool) -> bool {
        let key = (known.agent, Arc::clone(&known.folder), known.limit.minutes);
        let is_old = is_old || !self.reported.contains_key(&key);
        let reported = self.reported.entry(key).or_default();
        let is_over = percent > 0 && known.limit.used >= percent.saturating_mul(100);
        if !is_over || reported.is_some_and(|end| known.limit.is_in_span_until(end)) {
            return false;
        }
        // What is old stays so. What comes in a mute is news with the first word after it.
        if is_old || !is_silent {
            *reported = Some(known.limit.resets_at);
        }
        !is_old && !is_silent
    }
}

/// The words of the alert. A click opens the session that said it.
pub(super) fn episode(now: Timestamp, agent: &str, known: &KnownLimit) -> Episode {
    let span = Limit::span_words(known.limit.minutes);
    Episode {
        session: known.session.clone(),
        need: Need::PlanLimit,
        since: known.said_at,
        at: now,
        name: Arc::from(agent),
        wants: Arc::from(format!("has used {} % of {span} of its plan", known.limit.used / 100)),
        title: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Attention, AttentionEvent, AttentionSettings};
    use crate::ids::SessionId;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + minute * 60_000)
    }

    fn known(percent: u32, ends: i64) -> KnownLimit {
        KnownLimit {
            agent: Agent::Claude,
            folder: Arc::from("/home/dev/.claude"),
            limit: Limit { minutes: 300, used: percent * 100, resets_at: at(ends) },
            session: SessionId::new("s"),
            said_at: at(0),
            growth: Vec::new(),
        }
    }

    /// What is reported when these percentages are said, one a minute, until the mute ends.
    fn told(policy: &mut Attention, words: &[(u32, i64)]) -> Vec<String> {
        let mut told = Vec::new();
        for (minute, (percent, ends)) in (1..).zip(words) {
            policy.apply_limit(at(minute), "Agent", &known(*percent, *ends));
            told.extend(policy.advance(at(minute)).into_iter().filter_map(|event| match event {
                AttentionEvent::Raised { episode, silence: None } => Some(episode.wants.to_string()),
                _ => None,
            }));
        }
        told
    }

    fn policy() -> Attention {
        let mut policy = Attention::new(AttentionSettings::default());
        policy.begin(at(0));
        policy
    }

    #[test]
    fn a_limit_is_reported_once_in_its_span() {
        let words = [(80, 200), (91, 200), (95, 203), (2, 500), (89, 500), (90, 500), (99, 500)];
        let expected = ["has used 91 % of 5 hours of its plan", "has used 90 % of 5 hours of its plan"];
        assert_eq!(told(&mut policy(), &words), expected);
    }

    #[test]
    fn a_limit_from_before_the_start_is_old() {
        assert_eq!(told(&mut policy(), &[(95, 200), (97, 200)]), [""; 0]);
        let mut early = Attention::new(AttentionSettings::default());
        early.apply_limit(at(0), "Agent", &known(10, 200));
        early.apply_limit(at(0), "Agent", &known(95, 200));
        early.begin(at(0));
        assert_eq!(told(&mut early, &[(97, 200)]), [""; 0]);
    }

    #[test]
    fn a_mute_defers_it_and_zero_turns_it_off() {
        let mut muted = policy();
        muted.set_muted_until(Some(at(3)));
        assert_eq!(
            told(&mut muted, &[(10, 200), (92, 200), (93, 200)]),
            ["has used 93 % of 5 hours of its plan"]
        );
        let mut off = Attention::new(AttentionSettings { limit: 0, ..AttentionSettings::default() });
        off.begin(at(0));
        assert_eq!(told(&mut off, &[(10, 200), (100, 200)]), [""; 0]);
    }
}

//! When a plan's limit deserves an alert.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::attention::episode::Episode;
use crate::attention::need::Need;
use crate::ids::Agent;
use crate::limits::{KnownLimit, Limit};
use crate::time::Timestamp;

/// What is known of the spans that run.
#[derive(Debug, Clone, Default)]
pub(super) struct LimitReports {
    spans: BTreeMap<(Agent, Arc<str>, u32), Span>,
}

#[derive(Debug, Clone)]
struct Span {
    end: Timestamp,
    /// It needs no alert any more: it had one, or a program before this one may have reported it.
    is_settled: bool,
    /// The alert, if there was one.
    raised: Option<Episode>,
}

impl LimitReports {
    /// Forgets the spans that run no more. Returns their alerts.
    pub fn end_others(&mut self, running: &[KnownLimit]) -> Vec<Episode> {
        let runs = |key: &(Agent, Arc<str>, u32), span: &Span| {
            running.iter().any(|known| *key == key_of(known) && known.limit.is_in_span_until(span.end))
        };
        self.spans.extract_if(.., |key, span| !runs(key, span)).filter_map(|(_, span)| span.raised).collect()
    }

    /// The alert that a limit deserves now: once in each span. `began`: since when news are reported. If the span is older than that
    /// and enough of it is used with its first word, a program before this one may have reported it.
    pub fn news(
        &mut self,
        now: Timestamp,
        agent: &str,
        known: &KnownLimit,
        is_over: bool,
        began: Option<Timestamp>,
        is_silent: bool,
    ) -> Option<Episode> {
        let is_old = began.is_none_or(|began| known.begins() < began);
        let first = Span { end: known.limit.resets_at, is_settled: is_over && is_old, raised: None };
        let span = self.spans.entry(key_of(known)).or_insert(first);
        span.is_settled |= is_over && began.is_none();
        if !is_over || is_silent || span.is_settled {
            return None;
        }
        span.is_settled = true;
        span.raised = Some(episode(now, agent, known));
        span.raised.clone()
    }
}

fn key_of(known: &KnownLimit) -> (Agent, Arc<str>, u32) {
    (known.agent, Arc::clone(&known.folder), known.limit.minutes)
}

/// The words of the alert. A click opens the session that said it. Two limits that one word names have spans of two beginnings.
fn episode(now: Timestamp, agent: &str, known: &KnownLimit) -> Episode {
    let span = Limit::span_words(known.limit.minutes);
    Episode {
        session: known.session.clone(),
        need: Need::PlanLimit,
        since: known.begins(),
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

    /// What is reported and taken back when these percentages are said, one a minute.
    fn told(policy: &mut Attention, words: &[(u32, i64)]) -> Vec<String> {
        let mut told = Vec::new();
        for (minute, (percent, ends)) in (1..).zip(words) {
            let known = KnownLimit { said_at: at(minute), ..known(*percent, *ends) };
            policy.apply_limits(at(minute), |_| "Agent", &[known]);
            told.extend(outcomes(policy, minute));
        }
        told
    }

    fn outcomes(policy: &mut Attention, minute: i64) -> Vec<String> {
        let words = |event| match event {
            AttentionEvent::Raised { episode, silence: None } => Some(episode.wants.to_string()),
            AttentionEvent::Cleared { need: Need::PlanLimit, .. } => Some("over".to_owned()),
            _ => None,
        };
        policy.advance(at(minute)).into_iter().filter_map(words).collect()
    }

    fn policy() -> Attention {
        let mut policy = Attention::new(AttentionSettings::default());
        policy.begin(at(0));
        policy
    }

    const OF_91: &str = "has used 91 % of 5 hours of its plan";

    #[test]
    fn a_limit_is_reported_once_in_its_span_and_taken_back_at_its_end() {
        let words = [(80, 200), (91, 200), (95, 203), (2, 500), (89, 500), (90, 500), (99, 500)];
        let mut policy = policy();
        assert_eq!(told(&mut policy, &words), [OF_91, "over", "has used 90 % of 5 hours of its plan"]);
        policy.apply_limits(at(501), |_| "Agent", &[]);
        assert_eq!(outcomes(&mut policy, 501), ["over"]);
        policy.apply_limits(at(502), |_| "Agent", &[]);
        assert_eq!(outcomes(&mut policy, 502), [""; 0]);
    }

    #[test]
    fn a_limit_that_a_program_before_may_have_reported_is_old() {
        assert_eq!(told(&mut policy(), &[(95, 200), (97, 200)]), [""; 0]);
        assert_eq!(told(&mut policy(), &[(95, 301), (97, 301)]), ["has used 95 % of 5 hours of its plan"]);
        let mut early = Attention::new(AttentionSettings::default());
        early.apply_limits(at(0), |_| "Agent", &[known(10, 200)]);
        early.apply_limits(at(0), |_| "Agent", &[known(95, 200)]);
        early.begin(at(0));
        assert_eq!(told(&mut early, &[(97, 200), (91, 500)]), [OF_91]);
    }

    #[test]
    fn two_limits_of_one_word_are_two_alerts() {
        let week = Limit { minutes: 10_080, ..known(96, 900).limit };
        let both = [known(91, 200), KnownLimit { limit: week, ..known(96, 900) }];
        let mut policy = Attention::new(AttentionSettings::default());
        policy.begin(at(-20_000));
        policy.apply_limits(at(0), |_| "Agent", &both);
        let raised = policy.advance(at(0)).into_iter().filter_map(|event| match event {
            AttentionEvent::Raised { episode, .. } => Some((episode.session, episode.need, episode.since)),
            _ => None,
        });
        assert_eq!(raised.collect::<std::collections::BTreeSet<_>>().len(), 2);
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

//! Plan limits, as the agents say them: how much of a span of time is used up, and when the span ends.
//!
//! Several sessions speak of one limit, and each repeats what its own newest request was told. A word after a request is fresh, and
//! the newest of those counts. Of others the higher one within a span counts.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{Agent, SessionId};
use crate::time::{Millis, Timestamp};

/// Ends of one span, as several requests tell it, differ by less.
const SAME_SPAN: Millis = Millis::from_secs(600);
/// Limits in memory. An account has two, and few people have several accounts.
const MOST: usize = 64;
/// From so many hundredths of a percent on, a refusal is by this limit: the newest word may be older than the refused request.
const USED_UP: u32 = 9_500;
/// Of a limit's growth, steps of so many hundredths of a percent are kept, and so many of them.
const STEP: u32 = 200;
const MOST_STEPS: usize = 64;

/// What an agent says of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The length of the span, in minutes.
    pub minutes: u32,
    /// How much of it is used, in hundredths of a percent.
    pub used: u32,
    /// When the span ends.
    pub resets_at: Timestamp,
}

impl Limit {
    /// Whether the limit is of the span that ends then.
    pub fn is_in_span_until(&self, end: Timestamp) -> bool {
        self.resets_at.as_millis().abs_diff(end.as_millis()) < SAME_SPAN.0.unsigned_abs()
    }

    /// The length of a span in words, such as `5 hours`.
    pub fn span_words(minutes: u32) -> String {
        match minutes {
            10_080 => "the week".to_owned(),
            minutes if minutes % 1_440 == 0 => format!("{} days", minutes / 1_440),
            minutes if minutes % 60 == 0 => format!("{} hours", minutes / 60),
            minutes => format!("{minutes} minutes"),
        }
    }

    /// A limit from the numbers of an agent. `None` if they make no sense.
    pub fn new(minutes: u64, percent: f64, resets_at_seconds: u64) -> Option<Self> {
        let minutes = u32::try_from(minutes).ok().filter(|minutes| *minutes > 0)?;
        let resets_at = Timestamp::from_millis(i64::try_from(resets_at_seconds).ok()?.checked_mul(1000)?);
        Some(Self { minutes, used: hundredths(percent)?, resets_at }).filter(|_| resets_at.is_in_range())
    }
}

/// A percentage in hundredths. `None` for a negative number, and for more than a thousandfold.
pub fn hundredths(percent: f64) -> Option<u32> {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
    (0.0..=100_000.0).contains(&percent).then(|| (percent * 100.0).round() as u32)
}

/// The newest word on one limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownLimit {
    /// The agent that said it.
    pub agent: Agent,
    /// The agent's folder: each has an account of its own.
    pub folder: Arc<str>,
    /// The word.
    pub limit: Limit,
    /// The session that said it.
    pub session: SessionId,
    /// When.
    pub said_at: Timestamp,
    /// How much of the span was used when, in hundredths of a percent: steps of its growth, the oldest first.
    pub growth: Vec<(Timestamp, u32)>,
}

/// The limits of all accounts.
#[derive(Debug, Default)]
pub struct Limits {
    known: BTreeMap<(Agent, Arc<str>, u32), KnownLimit>,
}

impl Limits {
    /// Takes what a session says of its account; `is_fresh`: after a request. Returns whether that is news.
    pub fn take(
        &mut self,
        agent: Agent,
        folder: &Arc<str>,
        session: &SessionId,
        said_at: Timestamp,
        said: &[Limit],
        is_fresh: bool,
    ) -> bool {
        let mut changed = false;
        for limit in said {
            let key = (agent, Arc::clone(folder), limit.minutes);
            // A span that ends after its own length from now is a mistake. It would outlast every true word.
            let latest = said_at + Millis::from_secs(i64::from(limit.minutes) * 60) + SAME_SPAN;
            if limit.resets_at > latest || !self.known.contains_key(&key) && self.known.len() >= MOST {
                continue;
            }
            let (folder, session, limit) = (Arc::clone(folder), session.clone(), *limit);
            let mut word = KnownLimit { agent, folder, limit, session, said_at, growth: Vec::new() };
            match self.known.get_mut(&key) {
                Some(known) if known.session == word.session && known.limit == word.limit => {
                    known.said_at = known.said_at.max(said_at);
                }
                Some(known) if !known.gives_way_to(&word, is_fresh) => (),
                known => {
                    word.grow_from(known.map(|known| &*known));
                    self.known.insert(key, word);
                    changed = true;
                }
            }
        }
        changed
    }

    /// The limits whose spans run, by agent, folder and length.
    pub fn running(&self, now: Timestamp) -> Vec<KnownLimit> {
        self.known.values().filter(|known| known.limit.resets_at > now).cloned().collect()
    }

    /// When an account's limit ends that was used up at that time, as far as is known. `None` if several may have been.
    pub fn used_up_until(&self, agent: Agent, folder: &str, since: Timestamp) -> Option<Timestamp> {
        let of_account = self.known.values().filter(|known| known.agent == agent && *known.folder == *folder);
        let ran = of_account
            .filter(|known| known.limit.resets_at > since && known.begins() <= since + SAME_SPAN)
            .map(|known| &known.limit);
        let mut full = ran.filter(|limit| limit.used >= USED_UP).map(|limit| limit.resets_at);
        full.next().filter(|_| full.next().is_none())
    }

    /// When the next of these spans ends.
    pub fn next_end(&self, now: Timestamp) -> Option<Timestamp> {
        self.known.values().map(|known| known.limit.resets_at).filter(|end| *end > now).min()
    }

    /// The clock was set back to `now`.
    pub fn turn_back(&mut self, now: Timestamp) {
        for known in self.known.values_mut() {
            known.said_at = known.said_at.min(now);
            known.growth.iter_mut().for_each(|step| step.0 = step.0.min(now));
        }
    }
}

impl KnownLimit {
    /// When its span began.
    pub fn begins(&self) -> Timestamp {
        self.limit.resets_at - Millis::from_secs(i64::from(self.limit.minutes) * 60)
    }

    /// Takes the steps of the word before, if that is of the same span. Steps that the word takes back go.
    fn grow_from(&mut self, before: Option<&Self>) {
        let (at, used) = (self.said_at, self.limit.used);
        let same = before.filter(|before| before.limit.is_in_span_until(self.limit.resets_at));
        let steps = same.map(|before| before.growth.clone()).unwrap_or_default();
        self.growth = steps.into_iter().filter(|step| step.0 <= at && step.1 <= used).collect();
        let is_step = self.growth.last().is_none_or(|last| used - last.1 >= STEP);
        if is_step && self.growth.len() < MOST_STEPS {
            self.growth.push((at, used));
        }
    }

    fn gives_way_to(&self, word: &Self, is_fresh: bool) -> bool {
        if word.session == self.session || is_fresh {
            (word.said_at, word.limit.used) > (self.said_at, self.limit.used)
        } else if word.limit.is_in_span_until(self.limit.resets_at) {
            (word.limit.used, word.said_at) > (self.limit.used, self.said_at)
        } else {
            word.limit.resets_at > self.limit.resets_at
        }
    }
}

/// Divides the growth of a limit among those who used it meanwhile. `steps`: how much was used at the end of each stretch. `uses`: the
/// number of a stretch, who, and how much by any measure. What grew in a stretch without a use goes to none.
pub fn divide<K: Ord + Clone>(steps: &[f64], uses: &[(usize, K, f64)]) -> BTreeMap<K, f64> {
    let mut sums = vec![0.0; steps.len()];
    for (stretch, _, weight) in uses {
        sums.get_mut(*stretch).into_iter().for_each(|sum| *sum += weight);
    }
    let mut shares = BTreeMap::new();
    for (stretch, who, weight) in uses {
        let (Some(end), Some(sum)) = (steps.get(*stretch), sums.get(*stretch)) else { continue };
        let begin = stretch.checked_sub(1).map_or(0.0, |before| steps[before]);
        if *sum > 0.0 {
            *shares.entry(who.clone()).or_default() += (end - begin) * weight / sum;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIVE_HOURS: u32 = 300;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + minutes * 60_000)
    }

    fn limit(used: u32, ends: i64) -> Limit {
        Limit { minutes: FIVE_HOURS, used: used * 100, resets_at: at(ends) }
    }

    /// What is shown after these words: session, minute, percentage, end.
    fn after(words: &[(&str, i64, u32, i64)]) -> Option<(u32, Timestamp)> {
        let (mut limits, folder) = (Limits::default(), Arc::from("/home/dev/.claude"));
        for (session, minute, used, ends) in words {
            let session = SessionId::new(session);
            limits.take(Agent::Claude, &folder, &session, at(*minute), &[limit(*used, *ends)], false);
        }
        limits.running(at(0)).first().map(|known| (known.limit.used / 100, known.said_at))
    }

    #[test]
    fn an_idle_session_that_repeats_an_old_word_changes_nothing() {
        assert_eq!(after(&[("a", 0, 40, 100), ("b", 1, 30, 100)]), Some((40, at(0))));
        assert_eq!(after(&[("a", 0, 40, 100), ("b", 1, 99, -200)]), Some((40, at(0))));
    }

    #[test]
    fn the_higher_word_of_a_span_and_any_word_of_a_later_one_count() {
        assert_eq!(after(&[("a", 0, 40, 100), ("b", 1, 41, 101)]), Some((41, at(1))));
        assert_eq!(after(&[("a", 0, 40, 100), ("b", 1, 40, 100)]), Some((40, at(1))));
        assert_eq!(after(&[("a", 0, 90, 100), ("b", 150, 2, 400)]), Some((2, at(150))));
    }

    #[test]
    fn a_session_takes_its_own_word_back() {
        assert_eq!(after(&[("a", 0, 90, 100), ("a", 1, 10, 100)]), Some((10, at(1))));
        assert_eq!(
            after(&[("a", 1, 10, 100), ("a", 0, 90, 100)]),
            Some((10, at(1))),
            "an older word comes late"
        );
    }

    #[test]
    fn a_fresh_word_of_another_session_counts_and_an_end_far_away_does_not() {
        let (mut limits, folder) = (Limits::default(), Arc::from("/x"));
        let mut take = |session: &str, minute: i64, used: u32, ends: i64, is_fresh: bool| {
            limits.take(
                Agent::Claude,
                &folder,
                &SessionId::new(session),
                at(minute),
                &[limit(used, ends)],
                is_fresh,
            );
            limits.running(at(0))[0].limit.used / 100
        };
        assert_eq!(take("a", 0, 95, 100, true), 95);
        assert_eq!(take("b", 1, 3, 100, false), 95, "it may be of another account, or old");
        assert_eq!(take("b", 2, 4, 100, true), 4);
        assert_eq!(take("c", 3, 1, 1_000_000, true), 4);
    }

    #[test]
    fn the_growth_is_kept_in_steps_of_one_span() {
        let (mut limits, folder, session) = (Limits::default(), Arc::from("/x"), SessionId::new("a"));
        let mut take = |minute: i64, used: u32, ends: i64| {
            limits.take(Agent::Claude, &folder, &session, at(minute), &[limit(used, ends)], true);
            let growth = &limits.running(at(0))[0].growth;
            growth.iter().map(|(when, used)| (when.since(at(0)).0 / 60_000, used / 100)).collect::<Vec<_>>()
        };
        assert_eq!(take(1, 10, 100), [(1, 10)]);
        assert_eq!(take(2, 11, 100), [(1, 10)], "less than a step");
        assert_eq!(take(3, 15, 101), [(1, 10), (3, 15)]);
        assert_eq!(take(4, 15, 100), [(1, 10), (3, 15)]);
        assert_eq!(take(5, 12, 100), [(1, 10), (5, 12)], "a word that is taken back");
        assert_eq!(take(6, 1, 300), [(6, 1)], "the next span");
    }

    #[test]
    fn a_refusal_is_by_the_one_limit_of_the_account_that_was_full() {
        let until =
            |limits: &Limits, folder: &str, minute| limits.used_up_until(Agent::Claude, folder, at(minute));
        let (mut limits, folder, session) = (Limits::default(), Arc::from("/x"), SessionId::new("a"));
        let week = |used| Limit { minutes: 10_080, used, resets_at: at(4_000) };
        limits.take(Agent::Claude, &folder, &session, at(0), &[limit(99, 100), week(5_000)], true);
        assert_eq!(until(&limits, "/x", 1), Some(at(100)));
        assert_eq!(until(&limits, "/x", 200), None, "refused after its end");
        assert_eq!(until(&limits, "/x", -400), None, "refused before its span began");
        assert_eq!(until(&limits, "/y", 1), None);
        limits.take(Agent::Claude, &folder, &session, at(2), &[week(9_600)], true);
        assert_eq!(until(&limits, "/x", 3), None, "either may have been it");
        assert_eq!(until(&limits, "/x", 200), Some(at(4_000)));
    }

    #[test]
    fn growth_goes_to_those_who_used_it_meanwhile() {
        let uses = [(0, "a", 1.0), (0, "b", 3.0), (2, "b", 5.0), (3, "c", 9.0)];
        let shares = divide(&[8.0, 10.0, 15.0], &uses);
        assert_eq!(shares.into_iter().collect::<Vec<_>>(), [("a", 2.0), ("b", 11.0)]);
    }

    #[test]
    fn a_limit_is_gone_when_its_span_ends() {
        let (mut limits, folder, session) = (Limits::default(), Arc::from("/x"), SessionId::new("a"));
        assert!(limits.take(Agent::Codex, &folder, &session, at(0), &[limit(1, 30)], true));
        assert_eq!(limits.next_end(at(0)), Some(at(30)));
        assert_eq!((limits.running(at(30)).len(), limits.next_end(at(30))), (0, None));
    }

    #[test]
    fn numbers_without_sense_give_no_limit() {
        for (minutes, percent, end) in [(0, 1.0, 1), (300, f64::NAN, 1), (300, -1.0, 1), (300, 1e300, 1)] {
            assert_eq!(Limit::new(minutes, percent, end), None);
        }
        assert_eq!(Limit::new(u64::MAX, 1.0, 1), None);
        assert_eq!(Limit::new(300, 1.0, u64::MAX), None);
        assert_eq!(Limit::new(300, 42.499, 1_800_000_000).map(|limit| limit.used), Some(4250));
    }
}

//! The law over all orders of events.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Act {
    Ask(usize, Option<u8>),
    Answer(usize),
    Printed(usize),
    Gone(usize),
    Verdict(usize, bool),
    Ended(usize),
    Undelivered(usize),
    HostCloses(usize),
    Calls(usize, bool),
    ReleaseAll,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0..3usize, prop::option::of(0..2u8)).prop_map(|(session, subagent)| Act::Ask(session, subagent)),
        4 => (0..40usize).prop_map(Act::Answer),
        3 => (0..40usize).prop_map(Act::Printed),
        2 => (0..40usize).prop_map(Act::Gone),
        4 => (0..3usize, any::<bool>()).prop_map(|(session, waits)| Act::Verdict(session, waits)),
        1 => (0..3usize).prop_map(Act::Ended),
        1 => (0..40usize).prop_map(Act::Undelivered),
        1 => (0..40usize).prop_map(Act::HostCloses),
        2 => (0..3usize, any::<bool>()).prop_map(|(session, open)| Act::Calls(session, open)),
        1 => Just(Act::ReleaseAll),
    ]
}

/// What the outcomes of one request may be, judged by the acts alone.
#[derive(Default)]
struct Judged {
    sent_at: Option<i64>,
    taken: bool,
    failed: bool,
}

impl Judged {
    /// Whether this outcome is true after this act.
    fn is_true(&mut self, outcome: AnswerOutcome, act: &Act, now: i64) -> bool {
        let since = self.sent_at.map(|at| now - at);
        let is_true = match (outcome, act) {
            (AnswerOutcome::Taken, Act::Printed(_)) => !self.taken && !self.failed,
            (
                AnswerOutcome::Effect,
                Act::Verdict(_, false) | Act::Ask(..) | Act::HostCloses(_) | Act::Calls(_, false),
            ) => !self.failed,
            (AnswerOutcome::NoEffect, Act::Verdict(_, true)) => !self.failed && since >= Some(EFFECT.0),
            (AnswerOutcome::Lost, Act::Gone(_) | Act::Undelivered(_)) => !self.taken && !self.failed,
            _ => false,
        };
        self.taken |= outcome == AnswerOutcome::Taken;
        self.failed |= outcome == AnswerOutcome::NoEffect;
        let was_sent = self.sent_at.is_some();
        if matches!(act, Act::Undelivered(_)) {
            // It can be answered again.
            *self = Self::default();
        }
        is_true && was_sent
    }

    /// The closing that is true after this act, and whether the effect is known with it.
    fn closing(&self, act: &Act) -> (Closing, bool) {
        let goes_on = matches!(act, Act::Verdict(..) | Act::Ask(..) | Act::HostCloses(_) | Act::Calls(..));
        match self.sent_at {
            _ if matches!(act, Act::Gone(_)) => (Closing::Withdrawn, false),
            Some(_) if !self.failed => (Closing::Answered, goes_on),
            _ => (Closing::Elsewhere, false),
        }
    }
}

proptest! {
    /// In every order of events each request is answered at most once, closed at most once, and never answered after that.
    /// A hook process that got no answer is released or ends by itself. No outcome is told that its facts do not show.
    #[test]
    fn each_request_is_decided_at_most_once(acts in prop::collection::vec((act(), 0..2_000i64), 1..120)) {
        let mut all = OpenRequests::default();
        let mut asked: Vec<Request> = Vec::new();
        let (mut sent, mut closed, mut released, mut gone) =
            (BTreeSet::new(), BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut lost = BTreeSet::new();
        let mut judged: BTreeMap<RequestId, Judged> = BTreeMap::new();
        let mut now = 0;
        for (act, passed) in acts {
            now += passed;
            let of = |which: usize| asked.get(which % asked.len().max(1)).cloned();
            let effects = match act.clone() {
                Act::Ask(session, subagent) => {
                    let subagent = subagent.map(|n| n.to_string());
                    let one = request(asked.len(), &session.to_string(), subagent.as_deref(), now);
                    asked.push(one.clone());
                    all.ask(one)
                }
                Act::Answer(which) => {
                    if let Some(one) = of(which) && answer(&mut all, &one, now) == Ok(true) {
                        prop_assert!(sent.insert(one.id.clone()), "{} was answered twice", one.id);
                        judged.insert(one.id.clone(), Judged { sent_at: Some(now), ..Judged::default() });
                        prop_assert!(!closed.contains_key(&one.id), "{} was answered after its end", one.id);
                        prop_assert!(!released.contains(&one.id) && !gone.contains(&one.id));
                    }
                    Vec::new()
                }
                Act::Printed(which) => of(which).map(|one| all.printed(&one.id, at(now))).unwrap_or_default(),
                Act::Gone(which) => of(which).map(|one| {
                    gone.insert(one.id.clone());
                    all.hook_gone(&one.id)
                }).unwrap_or_default(),
                Act::Verdict(session, waits) => all.verdict(&SessionId::new(&session.to_string()), waits, at(now)),
                Act::Ended(session) => all.session_ended(&SessionId::new(&session.to_string())),
                Act::Undelivered(which) => of(which).map(|one| {
                    let effects = all.undelivered(&one.id);
                    if !effects.is_empty() {
                        // It can be answered again.
                        sent.remove(&one.id);
                        lost.insert(one.id.clone());
                    }
                    effects
                }).unwrap_or_default(),
                Act::Calls(session, open) => {
                    all.take_calls(&SessionId::new(&session.to_string()), CallWitness::Hooks, |_| open)
                }
                Act::HostCloses(which) => of(which).map(|one| all.closed(&one.id)).unwrap_or_default(),
                Act::ReleaseAll => all.release_all(),
            };
            for effect in effects.clone() {
                match effect {
                    RequestEffect::Release(id) => {
                        prop_assert!(!sent.contains(&id), "{} has an answer on its way", id);
                        prop_assert!(released.insert(id));
                    }
                    RequestEffect::Closed(_, id, closing) => {
                        let (right, is_known) = judged.entry(id.clone()).or_default().closing(&act);
                        prop_assert_eq!(closing, right, "{} after {:?}", &id, act);
                        let says_effect = effects.contains(&RequestEffect::Outcome(id.clone(), AnswerOutcome::Effect));
                        prop_assert_eq!(says_effect, is_known, "{} after {:?}", &id, act);
                        prop_assert!(closed.insert(id, closing).is_none());
                    }
                    RequestEffect::Expired(one) => prop_assert!(
                        !sent.contains(&one.id) && !lost.contains(&one.id),
                        "{} was answered", one.id
                    ),
                    RequestEffect::Outcome(id, outcome) => {
                        let is_true = judged.entry(id.clone()).or_default().is_true(outcome, &act, now);
                        prop_assert!(is_true, "{} is {:?} after {:?}", id, outcome, act);
                    }
                }
            }
        }
        for one in &asked {
            let is_open = all.of(&one.session).iter().any(|open| open.request.id == one.id);
            prop_assert_eq!(is_open, !closed.contains_key(&one.id), "{} is open or closed", &one.id);
            let is_answered = sent.contains(&one.id);
            let ended_alone = gone.contains(&one.id);
            prop_assert!(is_open || is_answered || ended_alone || released.contains(&one.id), "{} waits for ever", &one.id);
        }
    }
}

//! Subagents that are sessions of their own: what they do shows in the row of the session that started them.

use std::cmp::Reverse;
use std::sync::Arc;

use watchbill_core::evidence::witness::Verdict;
use watchbill_core::roster::row::PendingTool;
use watchbill_core::session::state::{Confidence, State, StateKind};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use crate::model::session::{SessionData, plus};

/// The subagents of one session, with those that they started in turn.
#[derive(Debug, Default)]
pub struct Parts {
    /// Those that are at work by their own witnesses.
    at_work: Vec<Part>,
    /// How many were started by others of them. The session's data counts the rest.
    pub deeper: usize,
    /// The tokens of those.
    pub deeper_tokens: Usage,
    /// The newest activity of all.
    pub last_activity_at: Option<Timestamp>,
}

/// A session with its subagents.
#[derive(Debug)]
pub struct Joined<'a> {
    /// What they do together.
    pub verdict: Verdict,
    /// The subagent that asks the user, if the verdict shows that one.
    pub asking: Option<&'a Part>,
    /// How many subagents are at work.
    pub running: usize,
}

/// A subagent that may be at work.
#[derive(Debug)]
pub struct Part {
    /// What its own witnesses say.
    pub verdict: Verdict,
    /// Its open calls.
    pub calls: Vec<PendingTool>,
}

impl Part {
    fn asks(&self) -> bool {
        self.verdict.state == State::WaitingForApproval
    }
}

impl Parts {
    /// Adds a subagent, if it is at work by its verdict.
    pub fn extend(&mut self, part: Option<Part>) {
        let works = |part: &Part| matches!(part.verdict.state, State::Working | State::WaitingForApproval);
        self.at_work.extend(part.filter(works));
    }

    /// Counts the subagents that another subagent started.
    pub fn add_deeper(&mut self, session: &SessionData) {
        self.deeper += session.agents.len();
        self.deeper_tokens = plus(self.deeper_tokens, session.agent_tokens);
    }

    /// Those that are at work. When the session has ended, only a process of its own shows that a subagent goes on.
    fn beside(&self, own: &Verdict) -> impl Iterator<Item = &Part> {
        let ended = own.state == State::Ended;
        self.at_work.iter().filter(move |part| part.verdict.live || !ended)
    }

    /// Joins the verdict on the session alone with those on its subagents.
    pub fn join(&self, own: Verdict) -> Joined<'_> {
        let running = self.beside(&own).count();
        // One that asks for certain goes before a suspicion. Of two equal ones, the first goes before.
        let asking = self
            .beside(&own)
            .filter(|part| part.asks())
            .max_by_key(|part| (is_sure(&part.verdict), Reverse(part.verdict.since)));
        if let Some(part) = asking.filter(|part| !asks_before(&own, part)) {
            let verdict = shown_as(own, part, part.verdict.kind, "asks");
            return Joined { verdict, asking, running };
        }
        let rests = match own.state {
            State::WaitingForInput => own.kind == Some(StateKind::TurnEnded),
            State::Idle | State::Ended => true,
            State::Working | State::WaitingForApproval => false,
        };
        let working = self.beside(&own).filter(|_| rests).min_by_key(|part| part.verdict.since);
        let verdict = match working {
            Some(part) => shown_as(own, part, Some(StateKind::Background), "works"),
            None => own,
        };
        Joined { verdict, asking: None, running }
    }
}

fn is_sure(verdict: &Verdict) -> bool {
    verdict.reason.confidence == Confidence::Observed
}

/// Whether the session asks the user itself, no less certainly than the subagent.
fn asks_before(own: &Verdict, part: &Part) -> bool {
    let asks = own.state == State::WaitingForApproval && (is_sure(own) || !is_sure(&part.verdict));
    asks || own.kind == Some(StateKind::Dialog)
}

/// The verdict on a session whose subagent decides.
fn shown_as(own: Verdict, part: &Part, kind: Option<StateKind>, does: &str) -> Verdict {
    let by = &part.verdict;
    let named = |detail: &str| Arc::from(format!("a subagent {does}: {detail}"));
    let mut reason = by.reason.clone();
    reason.detail = named(&reason.detail);
    let mut witnesses = own.witnesses;
    witnesses.iter_mut().for_each(|witness| witness.winner = false);
    let winner = by.witnesses.iter().find(|witness| witness.winner).cloned();
    witnesses.splice(
        0..0,
        winner.map(|mut winner| {
            winner.detail = named(&winner.detail);
            winner
        }),
    );
    Verdict {
        state: by.state,
        kind,
        since: by.since,
        reason,
        pid: own.pid.or(by.pid),
        live: own.live || by.live,
        ask: by.ask.clone(),
        witnesses,
        ..own
    }
}

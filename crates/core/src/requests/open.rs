//! The open requests: each is decided at most once, and only while its hook process waits.
//!
//! - *open*: an answer makes it *sending*. It closes when its hook process is gone (withdrawn), or when the session no longer
//!   asks (elsewhere).
//! - *sending*: *taken* when the hook process has printed the answer. It closes as withdrawn when the hook process is gone
//!   before that; the answer is lost.
//! - *taken*: it closes as answered when the session no longer asks. After five seconds without that it is *failed*.
//! - *failed*: the answer had no effect. It closes as decided elsewhere when the session no longer asks.
//!
//! Every fact comes from outside: the connection of the hook process, the verdict of the session, the user's answer, the
//! time. Nothing here answers by itself.

mod states;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::SessionId;
use crate::time::{Millis, Timestamp};

use super::decision::Decision;
use super::repeats::Repeats;
use super::request::{Digest, NamedFiles, Request, RequestId, Via};
use states::Cause;
pub use states::{
    AnswerOutcome, AnswerRefusal, Asked, CallWitness, Closing, OpenRequest, Progress, RequestEffect,
};

/// Evidence from before this time belongs to the previous request. The agent writes its registry file up to 0.7 s after
/// it starts the hook. It ignores keys in the first half second of a dialog (recorded from client 2.1.329).
const SETTLES: Millis = Millis(500);

/// A session that has not waited by this time asks nothing: its dialog was closed at once, or never shown. Without a
/// registry file, a hook alone is believed after one second.
const SHOWN_BY: Millis = Millis(2_000);

/// How long an answer may go without effect before the card says so.
const EFFECT: Millis = Millis(5_000);

/// The requests of one session that wait at most. More is a client gone wrong.
const MAX_WAITING: usize = 64;

/// All open requests, oldest first in each session.
#[derive(Debug, Default)]
pub struct OpenRequests {
    sessions: BTreeMap<SessionId, Vec<OpenRequest>>,
    /// How often each session asked for the same. Until the session ends.
    asked: BTreeMap<SessionId, Repeats>,
}

impl OpenRequests {
    /// A hook process or a host asks.
    ///
    /// The agent runs the hooks of one turn after another: an older open request of the same turn is decided by then. A
    /// host asks once, and says itself when a request is over.
    pub fn ask(&mut self, request: Request) -> Vec<RequestEffect> {
        let mut effects = Vec::new();
        if request.via == Via::Host && self.find(&request.id).is_some() {
            return effects;
        }
        let of_turn =
            |one: &OpenRequest| request.via == Via::Hook && one.request.subagent_id == request.subagent_id;
        self.close(&request.session, Cause::TurnGoesOn, &mut effects, of_turn);
        let requests = self.sessions.entry(request.session.clone()).or_default();
        if requests.len() >= MAX_WAITING {
            effects.push(RequestEffect::Release(request.id));
        } else {
            let times = self.asked.entry(request.session.clone()).or_default().count(&request);
            requests.push(OpenRequest {
                request: Arc::new(request),
                progress: Progress::Open,
                has_waited: false,
                seen_by: BTreeSet::new(),
                times,
                was_sent: false,
                refused: None,
            });
        }
        effects
    }

    /// The clock was set back to `now`: what was asked and answered before counts as of then.
    pub fn turn_back(&mut self, now: Timestamp) {
        for one in self.sessions.values_mut().flatten() {
            if one.request.opened_at > now {
                Arc::make_mut(&mut one.request).opened_at = now;
            }
            if let Progress::Sending(at) | Progress::Taken(at) | Progress::Failed(at) = &mut one.progress {
                *at = (*at).min(now);
            }
        }
    }

    /// Checks an answer, without taking it. Gives the request.
    ///
    /// # Errors
    /// When it cannot be answered so; nothing has changed.
    pub fn check(
        &self,
        session: &SessionId,
        id: &RequestId,
        seen: Digest,
        decision: &Decision,
    ) -> Result<Arc<Request>, AnswerRefusal> {
        let requests = self.sessions.get(session).map(Vec::as_slice).unwrap_or_default();
        let one = requests.iter().find(|one| one.request.id == *id).ok_or(AnswerRefusal::NotOpen)?;
        if one.progress != Progress::Open {
            return Err(AnswerRefusal::Answered);
        }
        if one.request.digest != seen {
            return Err(AnswerRefusal::Changed);
        }
        decision.check(&one.request)?;
        Ok(Arc::clone(&one.request))
    }

    /// The files that an open request names were looked at. `files`: all of them, as they are now.
    pub fn note_files(&mut self, id: &RequestId, files: NamedFiles) {
        if let Some(one) = self.find(id).filter(|one| one.progress == Progress::Open) {
            Arc::make_mut(&mut one.request).note_files(files);
        }
    }

    /// A program that may not answer tried to answer what the session asks now. The card says so.
    pub fn note_refused(&mut self, session: &SessionId, why: &str) {
        if let Some(one) = self.sessions.get_mut(session).and_then(|requests| requests.first_mut()) {
            one.refused = Some(why.into());
        }
    }

    /// The answer that was checked is stored and goes to the hook process. `false`: it is not open any more.
    pub fn send(&mut self, id: &RequestId, now: Timestamp) -> bool {
        match self.find(id) {
            Some(one) if one.progress == Progress::Open => {
                one.progress = Progress::Sending(now);
                true
            }
            _ => false,
        }
    }

    /// The hook process has printed its answer.
    pub fn printed(&mut self, id: &RequestId, now: Timestamp) -> Vec<RequestEffect> {
        match self.find(id) {
            Some(one) if matches!(one.progress, Progress::Sending(_)) => {
                one.progress = Progress::Taken(now);
                vec![RequestEffect::Outcome(id.clone(), AnswerOutcome::Taken)]
            }
            _ => Vec::new(),
        }
    }

    /// The hook process has ended, or its connection.
    pub fn hook_gone(&mut self, id: &RequestId) -> Vec<RequestEffect> {
        let Some(one) = self.find(id) else { return Vec::new() };
        let mut effects = match one.progress {
            Progress::Open => Vec::new(),
            Progress::Sending(_) => vec![RequestEffect::Outcome(id.clone(), AnswerOutcome::Lost)],
            Progress::Taken(_) | Progress::Failed(_) => return Vec::new(),
        };
        let session = one.request.session.clone();
        self.remove(&session, id);
        effects.push(RequestEffect::Closed(session, id.clone(), Closing::Withdrawn));
        effects
    }

    /// The host of an own session says that nothing more can be answered: the agent has the answer, or withdrew.
    pub fn closed(&mut self, id: &RequestId) -> Vec<RequestEffect> {
        let mut effects = Vec::new();
        if let Some(session) = self.find(id).map(|one| one.request.session.clone()) {
            self.close(&session, Cause::TurnGoesOn, &mut effects, |one| one.request.id == *id);
        }
        effects
    }

    /// The host says that the agent is gone or is being ended. A request without an answer expires.
    pub fn closed_by_end(&mut self, id: &RequestId) -> Vec<RequestEffect> {
        let Some(one) = self.find(id) else { return Vec::new() };
        let (session, mut effects) = (one.request.session.clone(), Vec::from_iter(one.expired()));
        self.close(&session, Cause::End, &mut effects, |one| one.request.id == *id);
        effects
    }

    /// The answer did not reach its host. The request can be answered again.
    pub fn undelivered(&mut self, id: &RequestId) -> Vec<RequestEffect> {
        match self.find(id) {
            Some(one) if matches!(one.progress, Progress::Sending(_)) => {
                one.progress = Progress::Open;
                one.was_sent = true;
                vec![RequestEffect::Outcome(id.clone(), AnswerOutcome::Lost)]
            }
            _ => Vec::new(),
        }
    }

    /// Applies a session's verdict: whether it waits for the user. The caller calls it at each change of the verdict and at
    /// [`OpenRequests::deadline`].
    pub fn verdict(&mut self, session: &SessionId, waits: bool, now: Timestamp) -> Vec<RequestEffect> {
        let mut effects = Vec::new();
        let is_settled = |one: &OpenRequest| now >= one.request.opened_at + SETTLES;
        if waits {
            for one in self.sessions.get_mut(session).into_iter().flatten() {
                one.has_waited |= is_settled(one);
                if let Progress::Sending(at) | Progress::Taken(at) = one.progress
                    && now >= at + EFFECT
                {
                    one.progress = Progress::Failed(now);
                    effects.push(RequestEffect::Outcome(one.request.id.clone(), AnswerOutcome::NoEffect));
                }
            }
            return effects;
        }
        self.close(session, Cause::TurnGoesOn, &mut effects, |one| {
            // A host says itself when a request is over.
            one.request.via == Via::Hook
                && is_settled(one)
                && (one.has_waited
                    || one.progress != Progress::Open
                    || now >= one.request.opened_at + SHOWN_BY)
        });
        effects
    }

    /// Applies what a witness tells of the calls of the session's own turn. When a witness stops listing the call of a
    /// request, the request is decided. The session may wait on, because a subagent asks.
    pub fn take_calls(
        &mut self,
        session: &SessionId,
        witness: CallWitness,
        is_open: impl Fn(&Request) -> bool,
    ) -> Vec<RequestEffect> {
        let mut effects = Vec::new();
        for one in self.sessions.get_mut(session).into_iter().flatten() {
            if is_open(&one.request) {
                one.seen_by.insert(witness);
            }
        }
        self.close(session, Cause::TurnGoesOn, &mut effects, |one| {
            one.request.via == Via::Hook
                && one.request.subagent_id.is_none()
                && one.seen_by.contains(&witness)
                && !is_open(&one.request)
        });
        effects
    }

    /// The process of the session has ended. What it asked expires: it was neither allowed nor denied.
    pub fn session_ended(&mut self, session: &SessionId) -> Vec<RequestEffect> {
        let mut effects: Vec<_> = self.of(session).iter().flat_map(OpenRequest::expired).collect();
        effects.extend(self.session_gone(session));
        effects
    }

    /// The session has ended, or nothing shows it any more: it cannot be answered here.
    pub fn session_gone(&mut self, session: &SessionId) -> Vec<RequestEffect> {
        let mut effects = Vec::new();
        self.close(session, Cause::End, &mut effects, |_| true);
        self.asked.remove(session);
        effects
    }

    /// Lets every hook process end with nothing: the program ends, or no longer holds the store.
    pub fn release_all(&mut self) -> Vec<RequestEffect> {
        let sessions: Vec<_> = self.sessions.keys().cloned().collect();
        let mut effects = Vec::new();
        for session in sessions {
            effects.extend(self.session_gone(&session));
        }
        effects
    }

    /// The open requests of a session, oldest first. The first is the one to show.
    pub fn of(&self, session: &SessionId) -> &[OpenRequest] {
        self.sessions.get(session).map(Vec::as_slice).unwrap_or_default()
    }

    /// The request of a session to show.
    pub fn asked(&self, session: &SessionId) -> Option<Asked> {
        let (first, rest) = self.of(session).split_first()?;
        let OpenRequest { request, progress, times, refused, .. } = first.clone();
        Some(Asked { request, progress, more: u32::try_from(rest.len()).unwrap_or(u32::MAX), times, refused })
    }

    /// When [`OpenRequests::verdict`] can change something of a session without a new fact.
    pub fn deadline(&self, session: &SessionId, after: Timestamp) -> Option<Timestamp> {
        let due = |one: &OpenRequest| {
            let effect = match one.progress {
                Progress::Sending(at) | Progress::Taken(at) => Some(at + EFFECT),
                Progress::Open | Progress::Failed(_) => None,
            };
            [Some(one.request.opened_at + SETTLES), Some(one.request.opened_at + SHOWN_BY), effect]
        };
        self.of(session).iter().flat_map(due).flatten().filter(|at| *at > after).min()
    }

    /// The session that a request is of.
    pub fn session_of(&self, id: &RequestId) -> Option<&SessionId> {
        let one = self.sessions.values().flatten().find(|one| one.request.id == *id)?;
        Some(&one.request.session)
    }

    /// Whether nothing is asked at all, and no session that runs has asked before.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.asked.is_empty()
    }

    fn find(&mut self, id: &RequestId) -> Option<&mut OpenRequest> {
        self.sessions.values_mut().flatten().find(|one| one.request.id == *id)
    }

    fn remove(&mut self, session: &SessionId, id: &RequestId) {
        if let Some(requests) = self.sessions.get_mut(session) {
            requests.retain(|one| one.request.id != *id);
            if requests.is_empty() {
                self.sessions.remove(session);
            }
        }
    }

    /// Closes the requests of a session that are chosen.
    fn close(
        &mut self,
        session: &SessionId,
        cause: Cause,
        effects: &mut Vec<RequestEffect>,
        is_over: impl Fn(&OpenRequest) -> bool,
    ) {
        let Some(requests) = self.sessions.get_mut(session) else { return };
        requests.retain(|one| {
            if !is_over(one) {
                return true;
            }
            let id = one.request.id.clone();
            let closing = match one.progress {
                Progress::Open => {
                    effects.push(RequestEffect::Release(id.clone()));
                    Closing::Elsewhere
                }
                Progress::Failed(_) => Closing::Elsewhere,
                Progress::Sending(_) | Progress::Taken(_) => {
                    if cause == Cause::TurnGoesOn {
                        effects.push(RequestEffect::Outcome(id.clone(), AnswerOutcome::Effect));
                    }
                    Closing::Answered
                }
            };
            effects.push(RequestEffect::Closed(session.clone(), id, closing));
            false
        });
        if requests.is_empty() {
            self.sessions.remove(session);
        }
    }
}

#[cfg(test)]
mod tests;

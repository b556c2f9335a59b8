//! Turns a user command into changes, or refuses it with a reason.

use std::fmt;
use std::sync::Arc;

use super::{Deferral, EditChange, SeenActivity, SessionCommand, UserEdits};
use crate::chain::{Chain, Chains, LinkConfidence, ManualLink};
use crate::ids::{ChainId, SessionId};
use crate::roster::row::Row;
use crate::session::facts::one_line;
use crate::time::{Millis, Timestamp};

/// The facts by which a command is judged.
pub struct CommandFacts<'a> {
    /// The time.
    pub now: Timestamp,
    /// The result of all earlier commands.
    pub user_edits: &'a UserEdits,
    /// The present chains.
    pub chains: &'a Chains,
    /// When a session began, without copied history.
    pub began: &'a dyn Fn(&SessionId) -> Option<Timestamp>,
    /// The row of the session that the command names.
    pub row: Option<&'a Row>,
}

/// Why a command is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandRefusal {
    /// Nothing is known of the session.
    Unknown(SessionId),
    /// Both sessions are in one chain already.
    OneChain(SessionId, SessionId),
    /// Each session would come from the other.
    Circle(SessionId, SessionId),
    /// The session begins its chain: there is nothing to split it from.
    BeginsChain(SessionId),
    /// No suggested link leads to the session.
    NotSuggested(SessionId),
    /// The user has neither joined nor split anything in the chain.
    NothingToUndo(SessionId),
    /// The time has passed.
    Past(Timestamp),
    /// The time is after the year 9999.
    TooFar,
}

impl fmt::Display for CommandRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(session) => write!(f, "session {session} is not known"),
            Self::OneChain(a, b) if a == b => {
                write!(f, "a chain cannot be joined with itself; name two sessions of different chains")
            }
            Self::OneChain(a, b) => write!(f, "{a} and {b} are in one chain already"),
            Self::Circle(a, b) => {
                write!(f, "{a} and {b} cannot be joined: each would go on where the other ended")
            }
            Self::BeginsChain(session) => write!(
                f,
                "{session} begins its chain, so there is nothing to split it from; name a later session of the \
                 chain (a compaction inside one session cannot be split)"
            ),
            Self::NotSuggested(session) => write!(f, "no suggested link leads to {session}"),
            Self::NothingToUndo(session) => {
                write!(f, "nothing was joined or split by hand in the chain of {session}")
            }
            Self::Past(at) => write!(f, "{at} has passed; name a time to come"),
            Self::TooFar => f.write_str("the time is beyond the year 9999; name a nearer one"),
        }
    }
}

impl std::error::Error for CommandRefusal {}

/// Turns a command into changes. The caller applies and stores them.
///
/// # Errors
/// When the command does not fit the present state.
pub fn changes_of_command(
    known: &CommandFacts<'_>,
    command: &SessionCommand,
) -> Result<Vec<EditChange>, CommandRefusal> {
    match command {
        SessionCommand::Name { session, name } => Ok(known.rename(session, name.as_deref())),
        SessionCommand::Join { session, with } => known.join(session, with),
        SessionCommand::Accept { session } => known.accept(session),
        SessionCommand::Split { session } => known.split(session),
        SessionCommand::Undo { session } => known.undo(session),
        SessionCommand::Snooze { session, until } => known.snooze(session, *until),
        SessionCommand::PutAway { session, away } => known.put_away(session, *away),
    }
}

impl CommandFacts<'_> {
    fn chain(&self, session: &SessionId) -> Result<&Chain, CommandRefusal> {
        self.chains.of(session).ok_or_else(|| CommandRefusal::Unknown(session.clone()))
    }

    /// A time after all earlier joins and splits, even if the clock was set back: the newest one counts.
    fn when(&self) -> Timestamp {
        let newest = self.user_edits.links().iter().map(ManualLink::at).max();
        newest.map_or(self.now, |at| self.now.max(at + Millis(1)))
    }

    /// Without a name, removes each name that the chain would otherwise be called by.
    fn rename(&self, session: &SessionId, name: Option<&str>) -> Vec<EditChange> {
        let chain = self.chains.of(session);
        let own = chain.map_or_else(|| ChainId::derive(session), |chain| chain.id.clone());
        if let Some(name) = name.map(one_line).filter(|name| !name.is_empty()) {
            return vec![EditChange::SetChainName(own, Some(Arc::from(name)))];
        }
        let sessions = chain.iter().flat_map(|chain| &chain.sessions).map(ChainId::derive);
        let named = sessions.chain([own]).filter(|id| self.user_edits.names().contains_key(id));
        named.map(|id| EditChange::SetChainName(id, None)).collect()
    }

    fn join(&self, a: &SessionId, b: &SessionId) -> Result<Vec<EditChange>, CommandRefusal> {
        let (one, other) = (self.chain(a)?, self.chain(b)?);
        if one.id == other.id {
            return Err(CommandRefusal::OneChain(a.clone(), b.clone()));
        }
        let age = |chain: &Chain| {
            let began = chain.sessions.first().and_then(self.began);
            (began.is_none(), began, chain.id.clone())
        };
        let (earlier, later) = if age(one) <= age(other) { (one, other) } else { (other, one) };
        let unknown = || CommandRefusal::Unknown(a.clone());
        let to = later.sessions.first().ok_or_else(unknown)?;
        // The later chain continues the session of the earlier chain that had begun last by then.
        let start = (self.began)(to);
        let before = |session: &&SessionId| match ((self.began)(session), start) {
            (Some(began), Some(start)) => began <= start,
            (_, start) => start.is_none(),
        };
        let from = earlier.sessions.iter().rev().find(before).or_else(|| earlier.sessions.first());
        let from = from.ok_or_else(unknown)?;
        Ok(vec![EditChange::AddLink(ManualLink::Join {
            at: self.when(),
            from: from.clone(),
            to: to.clone(),
        })])
    }

    fn accept(&self, session: &SessionId) -> Result<Vec<EditChange>, CommandRefusal> {
        let suggested =
            |link: &&crate::chain::Link| link.to == *session && link.confidence == LinkConfidence::Suggested;
        let link = self.chain(session)?.links.iter().find(suggested);
        let from = link.ok_or_else(|| CommandRefusal::NotSuggested(session.clone()))?.from.clone();
        Ok(vec![EditChange::AddLink(ManualLink::Join { at: self.when(), from, to: session.clone() })])
    }

    fn split(&self, session: &SessionId) -> Result<Vec<EditChange>, CommandRefusal> {
        let chain = self.chain(session)?;
        if chain.id == ChainId::derive(session) {
            return Err(CommandRefusal::BeginsChain(session.clone()));
        }
        Ok(vec![EditChange::AddLink(ManualLink::Split { at: self.when(), session: session.clone() })])
    }

    fn undo(&self, session: &SessionId) -> Result<Vec<EditChange>, CommandRefusal> {
        let newest = self.user_edits.newest_link_of(&self.chain(session)?.sessions);
        let newest = newest.ok_or_else(|| CommandRefusal::NothingToUndo(session.clone()))?;
        Ok(vec![EditChange::RemoveLink(newest.clone())])
    }

    fn snooze(
        &self,
        session: &SessionId,
        until: Option<Timestamp>,
    ) -> Result<Vec<EditChange>, CommandRefusal> {
        if let Some(until) = until.filter(|until| *until <= self.now) {
            return Err(CommandRefusal::Past(until));
        }
        if until.is_some_and(|until| !until.is_in_range()) {
            return Err(CommandRefusal::TooFar);
        }
        // A superseded session never needs the user. The command means the work, which goes on in the head.
        let chain = self.chains.of(session).filter(|chain| chain.superseded.contains_key(session));
        let head = chain.map_or(session, |chain| &chain.head);
        let set = |session: &SessionId| {
            let before = self.user_edits.deferral_of(session).copied().unwrap_or_default();
            EditChange::SetDeferral(session.clone(), Deferral { snoozed_until: until, ..before })
        };
        let mut changes = vec![set(head)];
        // If the head is only a guess, the session may have kept a snooze. It would count again if the guess were
        // dropped.
        let stayed = self.user_edits.deferral_of(session).is_some_and(|aside| aside.snoozed_until.is_some());
        if head != session && until.is_none() && stayed {
            changes.push(set(session));
        }
        Ok(changes)
    }

    fn put_away(&self, session: &SessionId, away: bool) -> Result<Vec<EditChange>, CommandRefusal> {
        let row = self.row.ok_or_else(|| CommandRefusal::Unknown(session.clone()))?;
        let before = self.user_edits.deferral_of(session).copied().unwrap_or_default();
        Ok(vec![EditChange::SetDeferral(
            session.clone(),
            Deferral { away: away.then(|| SeenActivity::of(row)), ..before },
        )])
    }
}

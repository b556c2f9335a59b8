//! Everything that the person has said and not taken back.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Aside;
use crate::chain::ManualLink;
use crate::ids::{ChainId, SessionId};
use crate::time::Timestamp;

/// One thing that the person says, of a session and with that of its work chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Word {
    /// The chain is called so; without a name as the sessions call it themselves.
    Name {
        /// A session of the chain.
        session: SessionId,
        /// Its name.
        name: Option<String>,
    },
    /// The chains of both are one piece of work: the later one goes on where the earlier one was.
    Join {
        /// A session of the one chain.
        session: SessionId,
        /// A session of the other.
        with: SessionId,
    },
    /// A suggested link into the session is right.
    Accept {
        /// The later session of the link.
        session: SessionId,
    },
    /// The session begins a chain of its own, whatever else suggests or proves the contrary.
    Split {
        /// The session.
        session: SessionId,
    },
    /// The last join, acceptance or split that concerns the chain was wrong.
    Undo {
        /// A session of the chain.
        session: SessionId,
    },
    /// The session needs nobody until then; without a time a snooze is over.
    Snooze {
        /// The session.
        session: SessionId,
        /// Until when.
        until: Option<Timestamp>,
    },
    /// The session is put away until something new happens in it, or is taken back.
    PutAway {
        /// The session.
        session: SessionId,
        /// Away, or back.
        away: bool,
    },
}

impl Word {
    /// The same of other sessions: a person names one by the beginning of its id.
    ///
    /// # Errors
    /// Those of `find`.
    pub fn with_sessions<E>(mut self, find: impl Fn(&SessionId) -> Result<SessionId, E>) -> Result<Self, E> {
        match &mut self {
            Self::Join { session, with } => {
                (*session, *with) = (find(session)?, find(with)?);
            }
            Self::Name { session, .. }
            | Self::Accept { session }
            | Self::Split { session }
            | Self::Undo { session }
            | Self::Snooze { session, .. }
            | Self::PutAway { session, .. } => *session = find(session)?,
        }
        Ok(self)
    }

    /// The session that it is said of.
    pub const fn session(&self) -> &SessionId {
        match self {
            Self::Name { session, .. }
            | Self::Join { session, .. }
            | Self::Accept { session }
            | Self::Split { session }
            | Self::Undo { session }
            | Self::Snooze { session, .. }
            | Self::PutAway { session, .. } => session,
        }
    }
}

/// All words that count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Words {
    names: BTreeMap<ChainId, Arc<str>>,
    links: BTreeSet<ManualLink>,
    asides: HashMap<SessionId, Aside>,
}

/// What one word changes: the form in which it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A chain has this name, or none.
    Named(ChainId, Option<Arc<str>>),
    /// This was said of a link.
    Said(ManualLink),
    /// That was taken back.
    Unsaid(ManualLink),
    /// A session is set aside so; a default value means not at all.
    Aside(SessionId, Aside),
}

impl Words {
    /// Takes one change in. Said twice it is said once.
    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Named(chain, Some(name)) => {
                self.names.insert(chain, name);
            }
            Change::Named(chain, None) => {
                self.names.remove(&chain);
            }
            Change::Said(link) => {
                // Of two words that differ in their times alone the newer one stands.
                self.links.retain(|known| !known.is_same(&link));
                self.links.insert(link);
            }
            Change::Unsaid(link) => {
                self.links.remove(&link);
            }
            Change::Aside(session, aside) if aside.is_nothing() => {
                self.asides.remove(&session);
            }
            Change::Aside(session, aside) => {
                self.asides.insert(session, aside);
            }
        }
    }

    /// All of it as changes of nothing.
    pub fn changes(&self) -> Vec<Change> {
        let names =
            self.names.iter().map(|(chain, name)| Change::Named(chain.clone(), Some(Arc::clone(name))));
        let links = self.links.iter().cloned().map(Change::Said);
        let asides = self.asides.iter().map(|(session, aside)| Change::Aside(session.clone(), *aside));
        names.chain(links).chain(asides).collect()
    }

    /// The names of chains.
    pub const fn names(&self) -> &BTreeMap<ChainId, Arc<str>> {
        &self.names
    }

    /// Which sessions belong together, and which do not.
    pub const fn links(&self) -> &BTreeSet<ManualLink> {
        &self.links
    }

    /// What was said last of the links of a chain with these sessions: what an undo takes back.
    pub fn newest_of(&self, sessions: &[SessionId]) -> Option<&ManualLink> {
        let concerns = |link: &&ManualLink| match link {
            ManualLink::Join { from, to, .. } => sessions.contains(from) || sessions.contains(to),
            ManualLink::Split { session, .. } => sessions.contains(session),
        };
        self.links.iter().filter(concerns).max_by_key(|link| (link.at(), *link))
    }

    /// How a session is set aside.
    pub fn aside(&self, session: &SessionId) -> Option<&Aside> {
        self.asides.get(session)
    }

    /// Every session that is set aside, in no order.
    pub fn asides(&self) -> impl Iterator<Item = (&SessionId, &Aside)> {
        self.asides.iter()
    }
}

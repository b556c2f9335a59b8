//! User commands about sessions, and the data that they leave.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Deferral;
use crate::chain::ManualLink;
use crate::ids::{ChainId, SessionId};
use crate::time::Timestamp;

/// One user command about a session or its work chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionCommand {
    /// Names the chain; without a name it is called as its sessions call it.
    Name {
        /// A session of the chain.
        session: SessionId,
        /// Its name.
        name: Option<String>,
    },
    /// Makes the chains of both sessions one piece of work: the later chain continues the earlier one.
    Join {
        /// A session of the one chain.
        session: SessionId,
        /// A session of the other.
        with: SessionId,
    },
    /// Confirms a suggested link into the session.
    Accept {
        /// The later session of the link.
        session: SessionId,
    },
    /// Begins a chain of its own with the session, even against the evidence.
    Split {
        /// The session.
        session: SessionId,
    },
    /// Takes back the last join, acceptance or split that concerns the chain.
    Undo {
        /// A session of the chain.
        session: SessionId,
    },
    /// Snoozes the session until then; without a time, ends the snooze.
    Snooze {
        /// The session.
        session: SessionId,
        /// Until when.
        until: Option<Timestamp>,
    },
    /// Puts the session away until something new happens in it, or takes it back.
    PutAway {
        /// The session.
        session: SessionId,
        /// `true`: away; `false`: back.
        away: bool,
    },
}

impl SessionCommand {
    /// The same command with other sessions. The user may name a session by the beginning of its id, which `find`
    /// completes.
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

    /// The session that the command is about; of a join, the first one.
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

/// The data that all commands leave: names of chains, joins and splits, snoozes, put-away marks. It also has the titles that the model
/// proposes, which are read with these; no command changes them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct UserEdits {
    names: BTreeMap<ChainId, Arc<str>>,
    links: BTreeSet<ManualLink>,
    asides: HashMap<SessionId, Deferral>,
    proposed_titles: HashMap<SessionId, Arc<str>>,
}

/// One change by a command, in the form in which it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditChange {
    /// Gives a chain this name, or none.
    SetChainName(ChainId, Option<Arc<str>>),
    /// Adds a join or split.
    AddLink(ManualLink),
    /// Removes a join or split.
    RemoveLink(ManualLink),
    /// Sets the snooze and the put-away mark of a session; the default value removes both.
    SetDeferral(SessionId, Deferral),
}

impl UserEdits {
    /// Applies one change. A second time has no further effect.
    pub fn apply(&mut self, change: EditChange) {
        match change {
            EditChange::SetChainName(chain, Some(name)) => {
                self.names.insert(chain, name);
            }
            EditChange::SetChainName(chain, None) => {
                self.names.remove(&chain);
            }
            EditChange::AddLink(link) => {
                // A link that differs from a stored one only in its time replaces it.
                self.links.retain(|known| !known.is_same(&link));
                self.links.insert(link);
            }
            EditChange::RemoveLink(link) => {
                self.links.remove(&link);
            }
            EditChange::SetDeferral(session, aside) if aside.is_default_deferral() => {
                self.asides.remove(&session);
            }
            EditChange::SetDeferral(session, aside) => {
                self.asides.insert(session, aside);
            }
        }
    }

    /// All data, as changes that build it from an empty value.
    pub fn changes(&self) -> Vec<EditChange> {
        let names = self
            .names
            .iter()
            .map(|(chain, name)| EditChange::SetChainName(chain.clone(), Some(Arc::clone(name))));
        let links = self.links.iter().cloned().map(EditChange::AddLink);
        let asides =
            self.asides.iter().map(|(session, aside)| EditChange::SetDeferral(session.clone(), *aside));
        names.chain(links).chain(asides).collect()
    }

    /// The names of chains.
    pub const fn names(&self) -> &BTreeMap<ChainId, Arc<str>> {
        &self.names
    }

    /// The joins and splits.
    pub const fn links(&self) -> &BTreeSet<ManualLink> {
        &self.links
    }

    /// The newest join or split of a chain with these sessions: the one that an undo takes back.
    pub fn newest_link_of(&self, sessions: &[SessionId]) -> Option<&ManualLink> {
        let concerns = |link: &&ManualLink| match link {
            ManualLink::Join { from, to, .. } => sessions.contains(from) || sessions.contains(to),
            ManualLink::Split { session, .. } => sessions.contains(session),
        };
        self.links.iter().filter(concerns).max_by_key(|link| (link.at(), *link))
    }

    /// The snooze and the put-away mark of a session.
    pub fn deferral_of(&self, session: &SessionId) -> Option<&Deferral> {
        self.asides.get(session)
    }

    /// Replaces the titles that the model proposes.
    pub fn set_proposed_titles(&mut self, titles: impl IntoIterator<Item = (SessionId, Arc<str>)>) {
        self.proposed_titles = titles.into_iter().collect();
    }

    /// The title that the model proposes for a session.
    pub fn proposed_title_of(&self, session: &SessionId) -> Option<&Arc<str>> {
        self.proposed_titles.get(session)
    }

    /// The sessions whose proposed title differs.
    pub fn differently_titled<'e>(&'e self, other: &'e Self) -> impl Iterator<Item = &'e SessionId> {
        let all = self.proposed_titles.keys().chain(other.proposed_titles.keys());
        all.filter(|id| self.proposed_title_of(id) != other.proposed_title_of(id))
    }

    /// Every session that is snoozed or put away, in no order.
    pub fn deferrals(&self) -> impl Iterator<Item = (&SessionId, &Deferral)> {
        self.asides.iter()
    }
}

//! The input of the chain resolver.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::lineage::{HookMove, Lineage, Marker, Neighbours, RegistryMove, Switch};
use crate::ids::{ChainId, SessionId};
use crate::time::Timestamp;

static NO_TERMINALS: BTreeMap<SessionId, Vec<(Timestamp, Arc<str>)>> = BTreeMap::new();
static NO_TIMES: BTreeMap<SessionId, Option<Timestamp>> = BTreeMap::new();
static NO_NEIGHBOURS: Neighbours = Neighbours::new();
static NO_SWITCHES: BTreeMap<SessionId, Switch> = BTreeMap::new();
static NO_NAMES: BTreeMap<ChainId, Arc<str>> = BTreeMap::new();
static NO_SESSIONS: BTreeSet<SessionId> = BTreeSet::new();

/// All facts about where sessions come from. The order within the slices does not matter.
#[derive(Debug, Clone, Copy)]
pub struct LineageFacts<'a> {
    /// The lineage of each main transcript.
    pub lineages: &'a [&'a Lineage],
    /// Changes of session inside one process, as seen in the registry.
    pub moves: &'a [RegistryMove],
    /// Changes of session inside one process, as its hooks report them (see [`HookMoves`](crate::hook::HookMoves)).
    pub hook_moves: &'a [HookMove],
    /// Changes of the agent, by the session where the work goes on.
    pub switches: &'a BTreeMap<SessionId, Switch>,
    /// Compactions that markers announced.
    pub markers: &'a [Marker],
    /// The terminals of a session, where they are known, each with the time since when, oldest first. Any key will do;
    /// it is only compared (see [`TerminalContext::identity`](crate::hook::TerminalContext::identity)).
    pub terminals: &'a BTreeMap<SessionId, Vec<(Timestamp, Arc<str>)>>,
    /// For each running process the session that it is on now.
    pub live: &'a BTreeSet<SessionId>,
    /// Sessions that a process has not left, with the time since when it may be on them, if that is known. The process
    /// may have ended.
    pub held: &'a BTreeMap<SessionId, Option<Timestamp>>,
    /// What was known at compactions, and may be unknown now.
    pub neighbours: &'a Neighbours,
    /// The user's joins and splits.
    pub manual: &'a [ManualLink],
    /// The user's names for chains, by the id that the chain had then.
    pub names: &'a BTreeMap<ChainId, Arc<str>>,
}

impl<'a> LineageFacts<'a> {
    /// Only the facts of transcripts.
    pub fn of(lineages: &'a [&'a Lineage]) -> Self {
        Self {
            lineages,
            moves: &[],
            hook_moves: &[],
            switches: &NO_SWITCHES,
            markers: &[],
            terminals: &NO_TERMINALS,
            live: &NO_SESSIONS,
            held: &NO_TIMES,
            neighbours: &NO_NEIGHBOURS,
            manual: &[],
            names: &NO_NAMES,
        }
    }

    /// Whether a process was on the session at this time and has not left it for another one. A process that came to
    /// it later says nothing about then.
    pub(super) fn was_held(&self, session: &SessionId, at: Timestamp) -> bool {
        let since = self.held.get(session).copied().or(self.live.contains(session).then_some(None));
        let moves = self.moves.iter().map(|moved| (&moved.to, moved.at));
        let moves = moves.chain(self.hook_moves.iter().map(|moved| (&moved.to, moved.at)));
        let moved = || moves.filter(|(to, _)| *to == session).map(|(_, at)| at).max();
        since.is_some_and(|since| since.max(moved()).is_none_or(|since| since <= at))
    }
}

/// A join or split by the user. For one session the newest one counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ManualLink {
    /// `to` goes on where `from` ended.
    Join {
        /// When the user made it.
        at: Timestamp,
        /// The earlier session.
        from: SessionId,
        /// The later session.
        to: SessionId,
    },
    /// The session begins a chain of its own.
    Split {
        /// When the user made it.
        at: Timestamp,
        /// The session.
        session: SessionId,
    },
}

impl ManualLink {
    /// When the user made it.
    pub const fn at(&self) -> Timestamp {
        match self {
            Self::Join { at, .. } | Self::Split { at, .. } => *at,
        }
    }

    /// The session whose origin it decides.
    pub const fn session(&self) -> &SessionId {
        match self {
            Self::Join { to, .. } => to,
            Self::Split { session, .. } => session,
        }
    }

    /// Both say the same, apart from their times.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Join { from, to, .. }, Self::Join { from: from2, to: to2, .. }) => {
                (from, to) == (from2, to2)
            }
            (Self::Split { session, .. }, Self::Split { session: session2, .. }) => session == session2,
            _ => false,
        }
    }
}

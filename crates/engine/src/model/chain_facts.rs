//! The facts that chains depend on, beside the transcripts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use watchbill_core::chain::lineage::{HookMove, Lineage, Marker, Neighbours, RegistryMove};
use watchbill_core::chain::resolve::{LineageFacts, ManualLink};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_core::user::UserEdits;

use crate::model::sessions::Sessions;
use crate::witnesses::Witnesses;
use crate::witnesses::own::{OwnSessions, SwitchedSessions};

/// Facts from the witnesses and the user.
pub(crate) struct ChainFacts<'w> {
    moves: &'w [RegistryMove],
    markers: Vec<Marker>,
    hook_moves: Vec<HookMove>,
    switched: SwitchedSessions,
    terminals: BTreeMap<SessionId, Vec<(Timestamp, Arc<str>)>>,
    held: BTreeMap<SessionId, Option<Timestamp>>,
    neighbours: &'w Neighbours,
    manual: Vec<ManualLink>,
    user_edits: &'w UserEdits,
}

impl<'w> ChainFacts<'w> {
    /// Collects the facts up to a time, with the markers in these working folders.
    pub fn of(
        witnesses: &'w Witnesses,
        own: &OwnSessions,
        user_edits: &'w UserEdits,
        until: Option<Timestamp>,
        cwds: &mut dyn Iterator<Item = &Arc<str>>,
    ) -> Self {
        let markers = witnesses.markers(cwds, until);
        Self {
            moves: witnesses.moves(),
            // Only the meaning of a marker depends on it.
            held: if markers.is_empty() { BTreeMap::new() } else { witnesses.held() },
            markers,
            neighbours: witnesses.neighbours(),
            hook_moves: witnesses.hook_moves(until),
            switched: own.switched(),
            terminals: witnesses.terminals(),
            manual: user_edits.links().iter().cloned().collect(),
            user_edits,
        }
    }

    /// The sessions without a transcript in which the agent was changed.
    pub fn unwritten(&self, own: &OwnSessions, sessions: &Sessions) -> Vec<Lineage> {
        let ends = self.switched.switches.iter().flat_map(|(to, switch)| [&switch.from, to]);
        let ends: BTreeSet<_> = ends.filter(|id| sessions.fold(id).is_none()).collect();
        ends.into_iter().filter_map(|id| own.lineage_of(id)).collect()
    }

    /// The sessions in which the agent was changed and which a host runs.
    pub fn hosted(&self) -> &BTreeSet<SessionId> {
        &self.switched.live
    }

    /// The markers.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// Gives the markers, drops the rest.
    pub fn into_markers(self) -> Vec<Marker> {
        self.markers
    }

    /// Adds these transcripts' lineages, and the sessions that a process runs.
    pub fn with<'a>(
        &'a self,
        lineages: &'a [&'a Lineage],
        live: &'a BTreeSet<SessionId>,
    ) -> LineageFacts<'a> {
        LineageFacts {
            moves: self.moves,
            hook_moves: &self.hook_moves,
            switches: &self.switched.switches,
            markers: &self.markers,
            terminals: &self.terminals,
            live,
            held: &self.held,
            neighbours: self.neighbours,
            manual: &self.manual,
            names: self.user_edits.names(),
            ..LineageFacts::of(lineages)
        }
    }
}

//! The origin of each session, free of cycles, and the sessions that are superseded.

use super::copies::DisjointSets;
use super::facts::LineageFacts;
use super::lineage::SLACK;
use super::link::LinkReason;
use super::nodes::Nodes;
use super::parents::{Origin, Parent};
use crate::time::Timestamp;

/// Origins and supersessions.
#[derive(Debug)]
pub(super) struct Forest {
    /// Where each session comes from.
    pub origins: Vec<Origin>,
    /// The successor of each session, and when it took over.
    pub superseded: Vec<Option<(usize, Option<Timestamp>)>>,
    trees: DisjointSets,
}

impl Forest {
    /// Takes origins that are free of cycles and decides which sessions they supersede.
    pub fn from_origins(nodes: &Nodes<'_>, origins: Vec<Origin>, facts: &LineageFacts<'_>) -> Self {
        let mut superseded: Vec<Option<(usize, Option<Timestamp>)>> = vec![None; nodes.len()];
        let mut trees = DisjointSets::new(nodes.len());
        for (number, origin) in origins.iter().enumerate() {
            let Some(parent) = origin.parent() else { continue };
            trees.join(number, parent.from);
            if !takes_over(nodes, facts, number, parent) {
                continue;
            }
            // The user was led to the first successor; a later sibling changes nothing.
            let old = &mut superseded[parent.from];
            if old.is_none_or(|(by, at)| (parent.at, number) < (at, by)) {
                *old = Some((number, parent.at));
            }
        }
        Self { origins, superseded, trees }
    }

    /// Both come from the same first session.
    pub fn same_tree(&mut self, a: usize, b: usize) -> bool {
        self.trees.lowest(a) == self.trees.lowest(b)
    }

    /// Gives a session without an origin the parent that a marker suggests, and supersedes that parent.
    ///
    /// The two must be in different trees, so that no cycle can arise.
    pub fn set_marker_parent(&mut self, number: usize, parent: Parent) {
        self.trees.join(number, parent.from);
        self.superseded[parent.from] = Some((number, parent.at));
        self.origins[number] = Origin::Known(parent);
    }
}

/// Whether the child supersedes the parent.
///
/// It does not if the parent has later activity, or if a process is on the parent now: the user went back to it. Then
/// the parent is a head again, beside its successor, because hiding work is worse than showing two rows.
fn takes_over(nodes: &Nodes<'_>, facts: &LineageFacts<'_>, child: usize, parent: Parent) -> bool {
    let from = &nodes[parent.from];
    let Some(at) = parent.at.filter(|_| parent.continues && from.seen) else { return false };
    if from.last.is_some_and(|last| last > at + SLACK) {
        return false;
    }
    !facts.live.contains(from.id) || registry_lags(nodes, facts, child, parent, at)
}

/// Whether the registry still names the old session although its process went on: some agents do not rewrite the
/// file on `/clear`. This counts only if the caller gives the start time of the process and no other fact contradicts
/// it.
fn registry_lags(
    nodes: &Nodes<'_>,
    facts: &LineageFacts<'_>,
    child: usize,
    parent: Parent,
    at: Timestamp,
) -> bool {
    let same_process =
        matches!(parent.reason, LinkReason::Clear | LinkReason::Process | LinkReason::Registry);
    let old = nodes[parent.from].id;
    same_process
        && facts.live_since.get(old).is_some_and(|since| *since < at)
        && !facts.live.contains(nodes[child].id)
        && !facts.moves.iter().any(|m| m.to == *old && m.at >= at)
}

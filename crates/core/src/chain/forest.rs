//! The origin of each session, free of cycles, and the sessions that are superseded.

use super::copies::DisjointSets;
use super::facts::LineageFacts;
use super::lineage::SLACK;
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
        let mut forest = Self {
            superseded: vec![None; nodes.len()],
            trees: DisjointSets::new(nodes.len()),
            origins: Vec::new(),
        };
        for (number, origin) in origins.iter().enumerate() {
            let Some(parent) = origin.parent() else { continue };
            forest.trees.join(number, parent.from);
            if parent.at.is_some_and(|at| parent.continues && takes_over(nodes, facts, parent.from, at)) {
                forest.supersede(number, parent);
            }
        }
        forest.origins = origins;
        forest
    }

    fn supersede(&mut self, number: usize, parent: Parent) {
        // The user was led to the first successor; a later sibling changes nothing.
        let old = &mut self.superseded[parent.from];
        if old.is_none_or(|(by, at)| (parent.at, number) < (at, by)) {
            *old = Some((number, parent.at));
        }
    }

    /// Both come from the same first session.
    pub fn same_tree(&mut self, a: usize, b: usize) -> bool {
        self.trees.lowest(a) == self.trees.lowest(b)
    }

    /// Gives a session without an origin the parent that a marker suggests.
    ///
    /// The two must be in different trees, so that no cycle can arise.
    pub fn set_marker_parent(
        &mut self,
        nodes: &Nodes<'_>,
        facts: &LineageFacts<'_>,
        number: usize,
        parent: Parent,
        compacted_at: Timestamp,
    ) {
        self.trees.join(number, parent.from);
        if takes_over(nodes, facts, parent.from, compacted_at) {
            self.supersede(number, parent);
        }
        self.origins[number] = Origin::Known(parent);
    }
}

/// Whether a successor that began at this time supersedes the session.
///
/// It does not if the session has later activity, or if a process is on it now: the user went back to it. Then
/// it is a head again, beside its successor, because hiding work is worse than showing two rows.
fn takes_over(nodes: &Nodes<'_>, facts: &LineageFacts<'_>, from: usize, at: Timestamp) -> bool {
    let from = &nodes[from];
    from.seen && !facts.live.contains(from.id) && from.last.is_none_or(|last| last <= at + SLACK)
}

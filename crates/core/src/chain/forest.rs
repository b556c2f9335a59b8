//! Every session's origin, free of cycles, and which sessions are over because their work goes on elsewhere.

use super::copies::DisjointSets;
use super::facts::Facts;
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
    /// Who took over from each session, and when.
    pub superseded: Vec<Option<(usize, Option<Timestamp>)>>,
    trees: DisjointSets,
}

impl Forest {
    /// Takes origins that are free of cycles and decides which sessions they supersede.
    pub fn grow(nodes: &Nodes<'_>, origins: Vec<Origin>, facts: &Facts<'_>) -> Self {
        let mut superseded: Vec<Option<(usize, Option<Timestamp>)>> = vec![None; nodes.len()];
        let mut trees = DisjointSets::new(nodes.len());
        for (number, origin) in origins.iter().enumerate() {
            let Some(parent) = origin.parent() else { continue };
            trees.join(number, parent.from);
            if !takes_over(nodes, facts, number, parent) {
                continue;
            }
            // The first to take over is the one that the person was led to; a later sibling changes nothing.
            let old = &mut superseded[parent.from];
            if old.is_none_or(|(by, at)| (parent.at, number) < (at, by)) {
                *old = Some((number, parent.at));
            }
        }
        Self { origins, superseded, trees }
    }

    /// Both come from the same session in the end.
    pub fn same_tree(&mut self, a: usize, b: usize) -> bool {
        self.trees.lowest(a) == self.trees.lowest(b)
    }

    /// Gives a session without an origin the one that a marker suggests, and supersedes that.
    ///
    /// The two must be in different trees: then no cycle can arise.
    pub fn adopt(&mut self, number: usize, parent: Parent) {
        self.trees.join(number, parent.from);
        self.superseded[parent.from] = Some((number, parent.at));
        self.origins[number] = Origin::Known(parent);
    }
}

/// The parent is over since the child began.
///
/// It is not where it has activity after that, or where a process is on it now: somebody went back to it. Then
/// it is a head again, beside its successor, because hiding work is worse than showing two rows.
fn takes_over(nodes: &Nodes<'_>, facts: &Facts<'_>, child: usize, parent: Parent) -> bool {
    let from = &nodes[parent.from];
    let Some(at) = parent.at.filter(|_| parent.continues && from.seen) else { return false };
    if from.last.is_some_and(|last| last > at + SLACK) {
        return false;
    }
    !facts.live.contains(from.id) || registry_lags(nodes, facts, child, parent, at)
}

/// The registry still names the old session although its process has gone on: some clients do not rewrite the
/// file on `/clear`. Only believed where the caller says since when the process runs, and nothing speaks against it.
fn registry_lags(nodes: &Nodes<'_>, facts: &Facts<'_>, child: usize, parent: Parent, at: Timestamp) -> bool {
    let same_process =
        matches!(parent.reason, LinkReason::Clear | LinkReason::Process | LinkReason::Registry);
    let old = nodes[parent.from].id;
    same_process
        && facts.live_since.get(old).is_some_and(|since| *since < at)
        && !facts.live.contains(nodes[child].id)
        && !facts.moves.iter().any(|m| m.to == *old && m.at >= at)
}

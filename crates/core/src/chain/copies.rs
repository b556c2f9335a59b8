//! Groups the transcripts that hold the same records, and finds the original of each group.

use super::lineage::BeganBy;
use super::nodes::Nodes;
use crate::ids::RecordId;

/// Groups of sessions with common records.
#[derive(Debug)]
pub(super) struct Copies {
    /// The group of each node, named by its lowest member.
    group: Vec<usize>,
    /// For each group, the member that the others were copied from, unless their own records name another origin.
    root: Vec<usize>,
    /// For each group, how many members it has.
    size: Vec<usize>,
}

impl Copies {
    /// Groups the sessions by their first record and their compact boundaries.
    ///
    /// A first record may match a boundary too: a fork may copy only the records after the last compaction, and then
    /// it begins with that boundary.
    pub fn find(nodes: &Nodes<'_>) -> Self {
        let mut keys: Vec<(RecordId, usize)> = Vec::with_capacity(nodes.len());
        for (number, node) in nodes.iter() {
            let Some(lineage) = node.lineage else { continue };
            keys.extend(lineage.first_record.iter().chain(&lineage.boundaries).map(|id| (*id, number)));
        }
        keys.sort_unstable();
        let mut sets = DisjointSets::new(nodes.len());
        for pair in keys.windows(2) {
            if pair[0].0 == pair[1].0 {
                sets.join(pair[0].1, pair[1].1);
            }
        }
        let mut copies = Self {
            group: (0..nodes.len()).map(|n| sets.lowest(n)).collect(),
            root: (0..nodes.len()).collect(),
            size: vec![0; nodes.len()],
        };
        for (number, _) in nodes.iter() {
            copies.size[copies.group[number]] += 1;
        }
        for (number, _) in nodes.iter() {
            let group = copies.group[number];
            if copies.size[group] > 1 && copies.claim(nodes, number) < copies.claim(nodes, copies.root[group])
            {
                copies.root[group] = number;
            }
        }
        copies
    }

    /// Another file has records of this session.
    pub fn is_shared(&self, number: usize) -> bool {
        self.size[self.group[number]] > 1
    }

    /// Both files hold the same records.
    pub fn share(&self, a: usize, b: usize) -> bool {
        self.group[a] == self.group[b]
    }

    /// The member of the group that the others were copied from.
    pub fn root(&self, number: usize) -> usize {
        self.root[self.group[number]]
    }

    /// The newest session of the same group that the copied records name as their process.
    ///
    /// A fork of a fork holds the records of the first one before those of the second one, so the last name is the
    /// nearest.
    pub fn named_by_process(&self, nodes: &Nodes<'_>, number: usize) -> Option<usize> {
        nodes[number].processes.iter().rev().copied().find(|&origin| self.share(origin, number))
    }

    /// Sort key of a session's claim to be the original; the lowest key wins. A session that names an origin, or says
    /// that it is a fork, comes last. Then the earlier start wins. If copied times are equal, the process decides: a
    /// fork runs in a process of its own, while the original may have begun by `/clear` in another session's process.
    fn claim(&self, nodes: &Nodes<'_>, number: usize) -> impl Ord + use<> {
        let node = &nodes[number];
        let names_one = node.forked_from.is_some()
            || !node.foreign.is_empty()
            || node.began_by(BeganBy::Fork)
            || self.named_by_process(nodes, number).is_some();
        let own_process = node.lineage.is_some_and(|l| l.own_process_session);
        (names_one, node.start.is_none(), node.start, own_process, number)
    }
}

/// Disjoint sets whose representative is the lowest member, so that the outcome does not depend on the order.
#[derive(Debug)]
pub(super) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    /// `len` numbers, each in a set of its own.
    pub fn new(len: usize) -> Self {
        Self((0..len).collect())
    }

    /// Adds a number in a set of its own.
    pub fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    /// The lowest member of the set of `n`.
    pub fn lowest(&mut self, mut n: usize) -> usize {
        while self.0[n] != n {
            self.0[n] = self.0[self.0[n]];
            n = self.0[n];
        }
        n
    }

    /// Joins the sets of `a` and `b`.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.lowest(a), self.lowest(b));
        self.0[a.max(b)] = a.min(b);
    }
}

//! The sessions that the facts name, numbered in the order of their ids.

use std::cmp::Reverse;

use super::facts::{LineageFacts, ManualLink};
use super::lineage::{BeganBy, Lineage};
use crate::ids::SessionId;
use crate::time::Timestamp;

/// A session, or an id that only other records name.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Its id.
    pub id: &'a SessionId,
    /// The facts of its transcript; `None` for a live session without a file, and for a mere id.
    pub lineage: Option<&'a Lineage>,
    /// It has a transcript or a process. Otherwise only other records name it.
    pub seen: bool,
    /// When it began, without the history that was copied into it.
    pub start: Option<Timestamp>,
    /// Its latest activity.
    pub last: Option<Timestamp>,
    /// `process_sessions` by number, without itself.
    pub processes: Vec<usize>,
    /// `foreign_sessions` by number, without itself.
    pub foreign: Vec<usize>,
    /// `forked_from` by number, unless it is itself.
    pub forked_from: Option<usize>,
}

impl Node<'_> {
    /// Some record carries `session_id`, so the agent is 2.1.207 or newer. Such an agent resumes in
    /// the same file, so history that it copied can only be a fork.
    pub fn is_modern(&self) -> bool {
        self.lineage.is_some_and(|l| l.own_process_session || !l.process_sessions.is_empty())
    }

    /// The first records of the file show that the session began so.
    pub fn began_by(&self, how: BeganBy) -> bool {
        self.lineage.is_some_and(|l| l.began_by == Some(how))
    }

    /// Order of beginning: earlier first, unknown last, then by id.
    pub fn age(&self) -> (bool, Option<Timestamp>, &SessionId) {
        (self.start.is_none(), self.start, self.id)
    }
}

/// All nodes, sorted by id, so that a number stands for a session and numbers compare as ids do.
#[derive(Debug)]
pub(super) struct Nodes<'a> {
    nodes: Vec<Node<'a>>,
    /// The first eight bytes of each id, side by side, so that a search seldom follows a pointer to the text.
    heads: Vec<u64>,
}

impl<'a> Nodes<'a> {
    /// Numbers every session that has a transcript, is live, or is named as an origin.
    pub fn collect(facts: &LineageFacts<'a>) -> Self {
        let mut known: Vec<(u64, &'a SessionId, bool, Option<&'a Lineage>)> =
            Vec::with_capacity(facts.lineages.len() * 2);
        for &lineage in facts.lineages {
            known.push((head(&lineage.session), &lineage.session, true, Some(lineage)));
            known.extend(lineage.named().map(|id| (head(id), id, false, None)));
        }
        known.extend(facts.live.iter().map(|id| (head(id), id, true, None)));
        known.extend(facts.switches.values().map(|switch| (head(&switch.from), &switch.from, false, None)));
        // A session that the user joined to stays the beginning of the chain when its transcript is gone.
        known.extend(facts.manual.iter().filter_map(|word| match word {
            ManualLink::Join { from, .. } => Some((head(from), from, false, None)),
            ManualLink::Split { .. } => None,
        }));
        // The richest entry of an id comes first and stays. One id can have two transcripts: `/cd` moves
        // a session's file, and a sync program may leave a copy under another root.
        known.sort_unstable_by(|a, b| {
            let by_id = a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1));
            by_id.then_with(|| b.2.cmp(&a.2)).then_with(|| richness(b.3).cmp(&richness(a.3)))
        });
        known.dedup_by(|later, kept| later.0 == kept.0 && later.1 == kept.1);
        let heads = known.iter().map(|k| k.0).collect();
        let nodes = known.into_iter().map(|(_, id, seen, lineage)| node(id, seen, lineage)).collect();
        let mut nodes = Self { nodes, heads };
        nodes.number_names();
        nodes
    }

    /// Looks up the numbers of named sessions once, for all later steps.
    fn number_names(&mut self) {
        for number in 0..self.nodes.len() {
            let Some(lineage) = self.nodes[number].lineage else { continue };
            let find = |id: &SessionId| self.find(id).filter(|&n| n != number);
            let processes = lineage.process_sessions.iter().filter_map(find).collect();
            let foreign = lineage.foreign_sessions.iter().filter_map(find).collect();
            let forked_from = lineage.forked_from.as_ref().and_then(find);
            let node = &mut self.nodes[number];
            (node.processes, node.foreign, node.forked_from) = (processes, foreign, forked_from);
        }
    }

    /// The number of a session.
    pub fn find(&self, id: &SessionId) -> Option<usize> {
        let wanted = head(id);
        let first = self.heads.partition_point(|&h| h < wanted);
        let same = self.heads[first..].partition_point(|&h| h == wanted);
        let found = self.nodes[first..first + same].binary_search_by(|n| n.id.cmp(id)).ok()?;
        Some(first + found)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All of them with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Node<'a>)> {
        self.nodes.iter().enumerate()
    }
}

impl<'a> std::ops::Index<usize> for Nodes<'a> {
    type Output = Node<'a>;
    fn index(&self, number: usize) -> &Node<'a> {
        &self.nodes[number]
    }
}

fn node<'a>(id: &'a SessionId, seen: bool, lineage: Option<&'a Lineage>) -> Node<'a> {
    let (start, last) = (lineage.and_then(Lineage::start), lineage.and_then(|l| l.activity().last));
    Node { id, lineage, seen, start, last, processes: Vec::new(), foreign: Vec::new(), forked_from: None }
}

/// The first eight bytes of an id as a number with the same order.
fn head(id: &SessionId) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(id.as_str().bytes()) {
        *to = from;
    }
    u64::from_be_bytes(bytes)
}

/// Order of two transcripts of one session: the one with later activity is richer. The rest of the key only makes the
/// choice independent of the order of the facts.
fn richness(lineage: Option<&Lineage>) -> impl Ord + '_ {
    lineage.map(|l| {
        let last = l.spans.iter().map(|s| s.1).max();
        (
            (last, l.segments.len(), l.process_sessions.len(), l.foreign_sessions.len(), l.boundaries.len()),
            (Reverse(l.started_at), Reverse(l.own_started_at), l.began_by.map(|b| b == BeganBy::Fork)),
            (&l.spans, l.first_record, &l.boundaries, l.own_process_session, &l.forked_from),
            (&l.process_sessions, &l.foreign_sessions, &l.cwds, &l.custom_title),
            (&l.moved_to, &l.continued_in, &l.plan_of),
        )
    })
}

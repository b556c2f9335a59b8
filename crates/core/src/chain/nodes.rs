//! The sessions that the facts speak of, numbered in the order of their ids.

use std::cmp::Reverse;

use super::lineage::{BeganBy, Lineage};
use super::resolve::Facts;
use crate::ids::SessionId;
use crate::time::Timestamp;

/// A session, or the mere name of one.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// Its id.
    pub id: &'a SessionId,
    /// What its transcript says; `None` for a live session without a file, and for a mere name.
    pub lineage: Option<&'a Lineage>,
    /// It has a transcript or a process. Otherwise other records name it and nothing else is left of it.
    pub seen: bool,
    /// When it began, without the history that was copied into it.
    pub start: Option<Timestamp>,
    /// Its latest activity.
    pub last: Option<Timestamp>,
}

impl Node<'_> {
    /// Some record carries `session_id`, so the client is 2.1.207 or newer. Such a client resumes in
    /// the same file, so history that it copied can only be a fork.
    pub fn is_modern(&self) -> bool {
        self.lineage.is_some_and(|l| l.own_process_session || !l.process_sessions.is_empty())
    }

    /// The head of the file says how the session began.
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
pub(super) struct Nodes<'a>(Vec<Node<'a>>);

impl<'a> Nodes<'a> {
    /// Numbers every session that has a transcript, is live, or is named as an origin.
    pub fn collect(facts: &Facts<'a>) -> Self {
        let mut known: Vec<(&'a SessionId, bool, Option<&'a Lineage>)> =
            Vec::with_capacity(facts.lineages.len());
        for &lineage in facts.lineages {
            known.push((&lineage.session, true, Some(lineage)));
            let named =
                lineage.process_sessions.iter().chain(&lineage.foreign_sessions).chain(&lineage.forked_from);
            known.extend(named.map(|id| (id, false, None)));
        }
        known.extend(facts.live.iter().map(|id| (id, true, None)));
        // The richest entry of an id comes first and stays. One id can have two transcripts: `/cd` moves
        // a session's file, and a sync program may leave a copy under another root.
        known.sort_by(|a, b| {
            a.0.cmp(b.0).then_with(|| b.1.cmp(&a.1)).then_with(|| richness(b.2).cmp(&richness(a.2)))
        });
        known.dedup_by(|later, earlier| later.0 == earlier.0);
        Self(known.into_iter().map(|(id, seen, lineage)| node(id, seen, lineage)).collect())
    }

    /// The number of a session.
    pub fn find(&self, id: &SessionId) -> Option<usize> {
        self.0.binary_search_by(|n| n.id.cmp(id)).ok()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// All of them with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Node<'a>)> {
        self.0.iter().enumerate()
    }
}

impl<'a> std::ops::Index<usize> for Nodes<'a> {
    type Output = Node<'a>;
    fn index(&self, number: usize) -> &Node<'a> {
        &self.0[number]
    }
}

fn node<'a>(id: &'a SessionId, seen: bool, lineage: Option<&'a Lineage>) -> Node<'a> {
    let start = lineage.and_then(|l| l.own_started_at.or(l.started_at).or(l.spans.first().map(|s| s.0)));
    let last = lineage.and_then(|l| l.spans.iter().map(|s| s.1).max()).or(start);
    Node { id, lineage, seen, start, last }
}

/// Of two transcripts of one session the one that reaches further says more. The rest of the key only
/// makes the choice independent of the order.
fn richness(lineage: Option<&Lineage>) -> impl Ord + '_ {
    lineage.map(|l| {
        let last = l.spans.iter().map(|s| s.1).max();
        (
            (last, l.segments.len(), l.process_sessions.len(), l.foreign_sessions.len(), l.boundaries.len()),
            (Reverse(l.started_at), Reverse(l.own_started_at), l.began_by.map(|b| b == BeganBy::Fork)),
            (&l.spans, l.first_record, &l.boundaries, l.own_process_session, &l.forked_from),
            (&l.process_sessions, &l.foreign_sessions, &l.cwds, &l.custom_title),
        )
    })
}

//! The result: work chains with their sessions, segments and links.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};
use std::sync::Arc;

use super::forest::Forest;
use super::lineage::{Lineage, Segment};
use super::link::{Link, LinkConfidence, LinkReason};
use super::markers::{Announced, Neighbour, opens_with_boundary};
use super::nodes::Nodes;
use crate::ids::{ChainId, SessionId};
use crate::roster::row::Supersession;
use crate::time::Timestamp;
use crate::transcript::record::{CompactBoundary, CompactTrigger};

/// One piece of work, over all the sessions that it went through.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// Derived from the session that the chain began with, even if that file is gone.
    pub id: ChainId,
    /// The name that the user gave the chain here. Else the user's own title in the agent, from the last active
    /// session that has one.
    pub name: Option<Arc<str>>,
    /// The sessions in the order of their beginning, each after the one it comes from.
    pub sessions: Vec<SessionId>,
    /// The session in which the work goes on: the last active one among those without a successor.
    pub head: SessionId,
    /// Every link that touches the chain: within it, from and to forks, and one for each compaction inside a
    /// file, whose two ends are the same session.
    pub links: Vec<Link>,
    /// The sessions whose work goes on in another one.
    pub superseded: BTreeMap<SessionId, Supersession>,
    /// Compactions in the whole chain, each once.
    pub compaction_count: u32,
    /// The segments in order. A live session without a transcript has none yet.
    pub segments: Vec<(SessionId, Segment)>,
    /// How many segments there are.
    pub segment_count: u32,
    /// The session that the chain began with.
    first: SessionId,
}

/// All work chains, or the requested ones.
#[derive(Debug, Clone, Default)]
pub struct Chains {
    chains: Vec<Chain>,
    /// [`Chains::renew`] moved chains into free places, so they are out of order.
    out_of_order: bool,
    by_session: HashMap<SessionId, usize>,
    /// Facts about compactions that a later program may not see any more. The caller keeps them.
    pub neighbours: Vec<Neighbour>,
}

impl Chains {
    /// The chain that the session is in.
    pub fn of(&self, session: &SessionId) -> Option<&Chain> {
        Some(&self.chains[*self.by_session.get(session)?])
    }

    /// How the session was superseded; `None` if it was not.
    pub fn superseded(&self, session: &SessionId) -> Option<&Supersession> {
        self.of(session)?.superseded.get(session)
    }

    /// Replaces each chain that holds one of `sessions`, as a whole, by the chains in `by`.
    pub fn replace_chains_of<'s>(&mut self, sessions: impl IntoIterator<Item = &'s SessionId>, by: Self) {
        let gone: BTreeSet<usize> =
            sessions.into_iter().filter_map(|session| self.by_session.get(session).copied()).collect();
        // From the end, so that `swap_remove` never moves a chain that is still to be removed.
        for at in gone.into_iter().rev() {
            for session in self.chains.swap_remove(at).sessions {
                self.by_session.remove(&session);
            }
            for session in self.chains.get(at).into_iter().flat_map(|moved| &moved.sessions) {
                self.by_session.insert(session.clone(), at);
            }
        }
        let before = self.chains.len();
        self.out_of_order = true;
        self.chains.extend(by.chains);
        self.by_session.extend(by.by_session.into_iter().map(|(session, at)| (session, before + at)));
    }

    /// All chains, in the order of their first sessions' ids.
    pub fn iter(&self) -> std::vec::IntoIter<&Chain> {
        let mut all: Vec<&Chain> = self.chains.iter().collect();
        if self.out_of_order {
            all.sort_unstable_by_key(|chain| &chain.first);
        }
        all.into_iter()
    }

    /// How many chains there are.
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// There is no session at all.
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }
}

impl PartialEq for Chains {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'c> IntoIterator for &'c Chains {
    type Item = &'c Chain;
    type IntoIter = std::vec::IntoIter<&'c Chain>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Builds the chains of the `wanted` sessions.
pub(super) fn assemble(
    nodes: &Nodes<'_>,
    forest: &Forest,
    announced: &Announced,
    names: &BTreeMap<ChainId, Arc<str>>,
    wanted: &dyn Fn(&SessionId) -> bool,
) -> Chains {
    let root = roots(forest);
    let mut needed = vec![false; nodes.len()];
    for (number, _) in nodes.iter().filter(|(_, node)| node.seen && wanted(node.id)) {
        needed[root[number]] = true;
    }
    let (mut members, mut children, mut forks) =
        (vec![Vec::new(); nodes.len()], vec![Vec::new(); nodes.len()], vec![Vec::new(); nodes.len()]);
    for (number, _) in nodes.iter().filter(|(_, node)| node.seen) {
        if needed[root[number]] {
            members[root[number]].push(number);
        }
        if let Some(parent) = forest.origins[number].parent().filter(|parent| needed[root[parent.from]]) {
            if parent.continues {
                children[parent.from].push(number);
            } else if nodes[parent.from].seen {
                forks[root[parent.from]].push(number);
            }
        }
    }
    let mut place = vec![0; nodes.len()];
    let mut chains = Vec::with_capacity(members.iter().filter(|members| !members.is_empty()).count());
    for (first, members) in members.iter().enumerate().filter(|(_, members)| !members.is_empty()) {
        let ordered;
        let order = match members.as_slice() {
            [_] => members,
            _ => {
                ordered = in_order(nodes, &children, first);
                &ordered
            }
        };
        place[first] = chains.len();
        let forks = &forks[first];
        chains.push(Assembly { nodes, forest, announced, order, forks, names }.chain(first));
    }
    let listed = nodes.iter().filter(|(number, node)| node.seen && needed[root[*number]]);
    let mut by_session = HashMap::with_capacity(chains.iter().map(|chain| chain.sessions.len()).sum());
    by_session.extend(listed.map(|(number, node)| (node.id.clone(), place[root[number]])));
    Chains { chains, out_of_order: false, by_session, neighbours: Vec::new() }
}

/// For each node, the node that its chain began with.
fn roots(forest: &Forest) -> Vec<usize> {
    let len = forest.origins.len();
    let mut root = vec![usize::MAX; len];
    let mut path = Vec::new();
    for number in 0..len {
        let mut at = number;
        while root[at] == usize::MAX {
            path.push(at);
            match forest.origins[at].parent().filter(|p| p.continues) {
                Some(parent) => at = parent.from,
                None => root[at] = at,
            }
        }
        for passed in path.drain(..) {
            root[passed] = root[at];
        }
    }
    root
}

/// The sessions that come from `first`, oldest first, each after its predecessor.
fn in_order(nodes: &Nodes<'_>, children: &[Vec<usize>], first: usize) -> Vec<usize> {
    let mut ready = BinaryHeap::from([Reverse((nodes[first].age(), first))]);
    let mut order = Vec::new();
    while let Some(Reverse((_, number))) = ready.pop() {
        if nodes[number].seen {
            order.push(number);
        }
        ready.extend(children[number].iter().map(|&child| Reverse((nodes[child].age(), child))));
    }
    order
}

/// The data from which one chain is built.
struct Assembly<'x, 'a> {
    nodes: &'x Nodes<'a>,
    forest: &'x Forest,
    announced: &'x Announced,
    /// The sessions of the chain, in order.
    order: &'x [usize],
    /// The sessions that branch off from it.
    forks: &'x [usize],
    /// The user's names for chains.
    names: &'x BTreeMap<ChainId, Arc<str>>,
}

impl Assembly<'_, '_> {
    fn chain(&self, first: usize) -> Chain {
        let (nodes, id) = (self.nodes, |n: usize| self.nodes[n].id.clone());
        let mut links: Vec<Link> =
            self.order.iter().chain(self.forks).filter_map(|&n| self.link_into(n)).collect();
        let mut segments = Vec::new();
        let mut compactions = 0;
        for &number in self.order {
            let (own, at) = self.segments(number);
            compactions += at.len() + usize::from(self.announced.opened.binary_search(&number).is_ok());
            links.extend(at.into_iter().map(|(reason, at)| Link {
                from: id(number),
                to: id(number),
                reason,
                confidence: LinkConfidence::Proven,
                at,
            }));
            if let [_] = self.order {
                // Most chains have one segment of one session. Spare capacity would be a third of the memory of all
                // chains.
                segments.reserve_exact(own.len());
            }
            segments.extend(own.into_iter().map(|segment| (id(number), segment)));
        }
        links.sort_by(|a, b| (a.at, &a.to, &a.from, a.reason).cmp(&(b.at, &b.to, &b.from, b.reason)));

        let over = |n: usize| self.forest.superseded[n];
        let active_last = |wanted: &dyn Fn(usize) -> bool| {
            self.order.iter().copied().filter(|&n| wanted(n)).max_by_key(|&n| nodes[n].last)
        };
        let head = active_last(&|n| over(n).is_none());
        let named = active_last(&|n| title(nodes, n).is_some());
        let supersession = |&n: &usize| over(n).map(|(by, at)| (id(n), Supersession { by: id(by), at }));
        let own = ChainId::derive(nodes[first].id);
        let name = self.manual_name(&own).or_else(|| named.and_then(|n| title(nodes, n)));
        Chain {
            first: id(first),
            name: name.cloned(),
            id: own,
            sessions: self.order.iter().map(|&n| id(n)).collect(),
            head: id(head.or(self.order.last().copied()).unwrap_or(first)),
            superseded: self.order.iter().filter_map(supersession).collect(),
            compaction_count: count(compactions),
            segment_count: count(segments.len()),
            links,
            segments,
        }
    }

    /// The name that the user gave the chain, else the name of its newest part that once was a chain of its own.
    fn manual_name(&self, own: &ChainId) -> Option<&Arc<str>> {
        if self.names.is_empty() {
            return None;
        }
        let of_part = |&n: &usize| self.names.get(&ChainId::derive(self.nodes[n].id));
        self.names.get(own).or_else(|| self.order.iter().rev().find_map(of_part))
    }

    /// The link by which a session comes from another.
    fn link_into(&self, number: usize) -> Option<Link> {
        let parent = self.forest.origins[number].parent()?;
        Some(Link {
            from: self.nodes[parent.from].id.clone(),
            to: self.nodes[number].id.clone(),
            reason: parent.reason,
            confidence: parent.confidence,
            at: parent.at,
        })
    }

    /// The segments of one session and the compactions between them, including compactions that only a marker
    /// reports.
    fn segments(&self, number: usize) -> (Vec<Segment>, Vec<(LinkReason, Option<Timestamp>)>) {
        let Some(lineage) = self.nodes[number].lineage else { return (Vec::new(), Vec::new()) };
        // A compaction that opened the file is counted once, and not as a segment before it.
        let is_opened = self.announced.opened.binary_search(&number).is_ok();
        let opening = usize::from(is_opened && opens_with_boundary(&self.nodes[number]));
        let left_out = self.copied_segments(number, lineage).max(opening);
        let mut segments = lineage.segments[left_out..].to_vec();
        let mut at: Vec<_> = segments
            .iter()
            .zip(segments.iter().skip(1).map(|s| s.started_at).chain([None]))
            .filter(|(segment, _)| segment.boundary.is_some())
            .map(|(segment, next)| (LinkReason::CompactBoundary, next.or(segment.ended_at)))
            .collect();
        let in_file = &self.announced.in_file;
        let first = in_file.partition_point(|(n, _)| *n < number);
        for &(_, when) in in_file[first..].iter().take_while(|(n, _)| *n == number) {
            split(&mut segments, when);
            at.push((LinkReason::Marker, Some(when)));
        }
        (segments, at)
    }

    /// How many of the first segments the session copied from its predecessor. They count there.
    fn copied_segments(&self, number: usize, lineage: &Lineage) -> usize {
        let parent = self.forest.origins[number].parent();
        let Some(parent) = parent.filter(|p| {
            p.continues && matches!(p.reason, LinkReason::SharedRecords | LinkReason::ContinuedIn)
        }) else {
            return 0;
        };
        let original = self.nodes[parent.from].lineage.map_or(&[][..], |l| &l.boundaries);
        let ends = lineage.segments.iter().filter(|s| s.boundary.is_some()).count();
        // The ids are those of the newest boundaries, so they are aligned at the end.
        let unnamed = ends.saturating_sub(lineage.boundaries.len());
        let start = self.nodes[number].start;
        let is_copied = |(n, segment): &(usize, &Segment)| {
            let id = n.checked_sub(unnamed).and_then(|n| lineage.boundaries.get(n));
            let before = segment.ended_at.zip(start).is_some_and(|(ended, start)| ended < start);
            before || id.is_some_and(|id| original.contains(id))
        };
        let with_end = lineage.segments.iter().enumerate().take_while(|(_, s)| s.boundary.is_some());
        with_end.take_while(is_copied).count()
    }
}

/// Splits the segment that contains `at`: a marker reported a compaction that the file does not show.
fn split(segments: &mut Vec<Segment>, at: Timestamp) {
    let later = |s: &Segment| s.started_at.is_some_and(|start| start > at);
    let place = segments.iter().position(later).unwrap_or(segments.len()).saturating_sub(1);
    let Some(old) = segments.get_mut(place) else { return };
    let goes_on = old.ended_at.is_some_and(|end| end > at);
    let rest =
        Segment { started_at: Some(at), ended_at: old.ended_at.filter(|_| goes_on), boundary: old.boundary };
    if goes_on {
        old.ended_at = Some(at);
    }
    old.boundary =
        Some(CompactBoundary { trigger: CompactTrigger::Unknown, pre_tokens: None, post_tokens: None });
    segments.insert(place + 1, rest);
}

fn title<'a>(nodes: &Nodes<'a>, number: usize) -> Option<&'a Arc<str>> {
    nodes[number].lineage?.custom_title.as_ref()
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

//! Reads marker files: each is a compaction inside one file, or a new session with a predecessor.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::facts::LineageFacts;
use super::forest::Forest;
use super::lineage::{Lineage, Marker, MoveCause, SLACK};
use super::link::{LinkConfidence, LinkReason};
use super::nodes::{Node, Nodes};
use super::parents::{Origin, Parent};
use crate::ids::SessionId;
use crate::time::{Millis, Timestamp};

/// A marker this close to a boundary in the file announced that boundary.
const BOUNDARY_WINDOW: Millis = Millis::from_secs(60);

/// What is known now of a session at the compaction that began another one (see [`Neighbours`](super::lineage::Neighbours)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// The session that the compaction began.
    pub of: SessionId,
    /// The other session.
    pub other: SessionId,
    /// Whether it ran in the same terminal.
    pub same: bool,
    /// The time of the compaction.
    pub at: Timestamp,
}

/// Compactions that only markers or hooks report.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// Inside one file, sorted by session and time.
    pub in_file: Vec<(usize, Timestamp)>,
    /// Sessions that a compaction opened, sorted.
    pub opened: Vec<usize>,
    /// New facts about other sessions at these compactions.
    pub neighbours: Vec<Neighbour>,
}

impl Announced {
    /// Adds the sessions that a hook began after a compaction, if that hook gave the session its origin. Such a hook
    /// announces a compaction as a marker does.
    pub fn add_hooks(&mut self, nodes: &Nodes<'_>, forest: &Forest, facts: &LineageFacts<'_>) {
        for moved in facts.hook_moves.iter().filter(|moved| moved.cause == MoveCause::Compact) {
            let (Some(from), Some(to)) = (nodes.find(&moved.from), nodes.find(&moved.to)) else { continue };
            let parent = forest.origins[to].parent().filter(|parent| parent.reason == LinkReason::Hook);
            if parent.is_some_and(|parent| parent.from == from) {
                self.opened.push(to);
            }
        }
        self.opened.sort_unstable();
        self.opened.dedup();
    }
}

/// Applies every marker once, in the order of time.
pub(super) fn apply_markers(nodes: &Nodes<'_>, forest: &mut Forest, facts: &LineageFacts<'_>) -> Announced {
    let mut announced = Announced::default();
    if facts.markers.is_empty() {
        return announced;
    }
    let mut opened = BTreeSet::new();
    let mut candidates = Candidates::collect(nodes, forest, facts);
    for (number, marker) in distinct(nodes, facts) {
        let node = &nodes[number];
        let at = marker.compacted_at;
        // A boundary at the head of a file may be some seconds older than its marker. It is the compaction that opened
        // the file.
        let slack = if opens_with_boundary(node) { BOUNDARY_WINDOW } else { SLACK };
        let was_there = node.start.is_some_and(|start| start < at - slack);
        if was_there || !opened.insert(number) {
            if !node.lineage.is_some_and(|l| is_explained(l, at)) {
                announced.in_file.push((number, at));
            }
            continue;
        }
        if forest.origins[number] != Origin::Unknown {
            // A proven origin beats the rule of thumb.
            continue;
        }
        let noted = &mut announced.neighbours;
        if let Some((from, reason, confidence)) = candidates.predecessor(forest, number, marker, noted) {
            let at = node.start.or(Some(at));
            let parent = Parent { from, reason, confidence, at, continues: true };
            forest.set_marker_parent(nodes, facts, number, parent, marker.compacted_at);
            candidates.continued.entry(from).or_default().push(marker.compacted_at);
        }
    }
    announced.in_file.sort_unstable();
    announced.opened = opened.into_iter().collect();
    announced
}

/// Whether the session's file holds nothing before its first compaction.
pub(super) fn opens_with_boundary(node: &Node<'_>) -> bool {
    let first = node.lineage.and_then(|lineage| lineage.segments.first());
    first.filter(|first| first.boundary.is_some()).is_some_and(|first| {
        first.ended_at.zip(node.start).is_none_or(|(ended, start)| start <= ended && ended <= start + SLACK)
    })
}

/// The markers of known sessions, each announcement once, oldest first.
///
/// A marker waits until its session has a transcript: only that shows whether the session is new, and an empty
/// successor must not hide another session. Hooks of two settings files announce one compaction twice, some
/// milliseconds apart.
fn distinct<'m>(nodes: &Nodes<'_>, facts: &LineageFacts<'m>) -> Vec<(usize, &'m Marker)> {
    let known =
        |m: &'m Marker| nodes.find(&m.session).filter(|&n| nodes[n].lineage.is_some()).map(|n| (n, m));
    let mut markers: Vec<(usize, &Marker)> = facts.markers.iter().filter_map(known).collect();
    markers.sort_by(|a, b| (a.0, a.1.compacted_at, &a.1.cwd).cmp(&(b.0, b.1.compacted_at, &b.1.cwd)));
    markers.dedup_by(|later, kept| later.0 == kept.0 && later.1.compacted_at <= kept.1.compacted_at + SLACK);
    markers.sort_by_key(|m| (m.1.compacted_at, m.0));
    markers
}

/// Whether a boundary in the file is the compaction that the marker announced.
///
/// The marker's time is compared with the gap around the boundary. The last record before it may be hours old. The
/// boundary reaches the file with the next reply and carries an older time.
fn is_explained(lineage: &Lineage, at: Timestamp) -> bool {
    lineage.segments.iter().enumerate().filter(|(_, s)| s.boundary.is_some()).any(|(n, segment)| {
        let next = lineage.segments.get(n + 1).and_then(|s| s.started_at);
        let (Some(a), Some(b)) = (segment.ended_at.or(next), next.or(segment.ended_at)) else { return false };
        (a.min(b) - BOUNDARY_WINDOW..=a.max(b) + BOUNDARY_WINDOW).contains(&at)
    })
}

/// Sessions that a compaction could have ended. All is judged as it was at the compaction, so that a link stays when
/// its earlier session goes on, or a process ends.
struct Candidates<'x, 'a> {
    nodes: &'x Nodes<'a>,
    facts: &'x LineageFacts<'a>,
    by_terminal: BTreeMap<&'a str, Vec<usize>>,
    by_cwd: BTreeMap<&'a str, Vec<usize>>,
    /// When each session went on in another one.
    continued: BTreeMap<usize, Vec<Timestamp>>,
}

impl<'x, 'a> Candidates<'x, 'a> {
    fn collect(nodes: &'x Nodes<'a>, forest: &Forest, facts: &'x LineageFacts<'a>) -> Self {
        let mut by_cwd: BTreeMap<&'a str, Vec<usize>> =
            facts.markers.iter().map(|m| (folder(&m.cwd), Vec::new())).collect();
        let mut by_terminal: BTreeMap<&'a str, Vec<usize>> = BTreeMap::new();
        for (number, node) in nodes.iter() {
            // An agent whose files tell the origin of a session leaves no markers.
            let Some(lineage) = node.lineage.filter(|lineage| !lineage.tells_origin) else { continue };
            for (_, terminal) in facts.terminals.get::<SessionId>(node.id).into_iter().flatten() {
                by_terminal.entry(terminal).or_default().push(number);
            }
            for cwd in &lineage.cwds {
                if let Some(sessions) = by_cwd.get_mut(folder(cwd)) {
                    sessions.push(number);
                }
            }
        }
        let mut continued: BTreeMap<usize, Vec<Timestamp>> = BTreeMap::new();
        for parent in forest.origins.iter().filter_map(|origin| origin.parent()).filter(|p| p.continues) {
            continued.entry(parent.from).or_default().extend(parent.at);
        }
        Self { nodes, facts, by_terminal, by_cwd, continued }
    }

    /// The session that the compaction ended: the one that was active last before it. A session of the same terminal
    /// is preferred to one of the same folder.
    ///
    /// A session in another terminal is a sibling. So is one with a process of its own, one that was at work during the
    /// compaction, and one that began after the compaction, or after the new session. Activity is known to a minute
    /// only: a session of the folder that goes on within that time counts as at work.
    fn predecessor(
        &self,
        forest: &mut Forest,
        number: usize,
        marker: &Marker,
        noted: &mut Vec<Neighbour>,
    ) -> Option<(usize, LinkReason, LinkConfidence)> {
        let (node, at) = (&self.nodes[number], marker.compacted_at);
        let until = at + SLACK;
        let first_terminal = || self.facts.terminals.get::<SessionId>(node.id)?.first();
        let terminal = self.terminal(number, until).or_else(|| first_terminal().map(|(_, key)| &**key));
        let began = node.start.map_or(at, |start| start.min(at));
        let known = self.facts.neighbours.get(node.id);
        let in_folder = self.by_cwd.get(folder(&marker.cwd)).into_iter().flatten().copied();
        let in_terminal = terminal.and_then(|key| self.by_terminal.get(key)).into_iter().flatten().copied();
        let known_before = known.into_iter().flatten().filter_map(|(id, _)| self.nodes.find(id));
        let places = in_folder.map(|n| (n, true)).chain(in_terminal.chain(known_before).map(|n| (n, false)));
        let mut best = None;
        for (n, in_folder) in places {
            let other = &self.nodes[n];
            if other.start.is_none_or(|start| start >= began) {
                continue;
            }
            let known = known.and_then(|known| known.get(other.id)).copied();
            let seen = || Some(terminal? == self.terminal(n, until)?);
            let is_held = self.facts.was_held(other.id, at);
            // What was once seen at the compaction stays. A process that comes later does not undo it.
            let same =
                known.filter(|same| *same).or_else(|| is_held.then_some(false)).or(known).or_else(seen);
            if let Some(same) = same.filter(|_| same != known) {
                noted.push(Neighbour { of: node.id.clone(), other: other.id.clone(), same, at });
            }
            let fits = same.unwrap_or_else(|| in_folder && !self.works(n, until));
            if fits && self.is_unfollowed(n, at) && !forest.same_tree(n, number) {
                best =
                    best.max(self.active_until(n, until).map(|active| (same.is_some(), active, Reverse(n))));
            }
        }
        best.map(|(is_same, _, Reverse(from))| match is_same {
            true => (from, LinkReason::Marker, LinkConfidence::Proven),
            false => (from, LinkReason::CwdRecency, LinkConfidence::Suggested),
        })
    }

    /// Whether the session was active before and after this time, without a pause.
    fn works(&self, number: usize, until: Timestamp) -> bool {
        let spans = self.nodes[number].lineage.map_or(&[][..], |lineage| &lineage.spans);
        spans.iter().any(|&(start, end)| start <= until && until < end)
    }

    /// Whether the session had no other successor then. One from which it was active again before or after the
    /// compaction says nothing about then.
    fn is_unfollowed(&self, number: usize, at: Timestamp) -> bool {
        self.continued.get(&number).into_iter().flatten().all(|&other| {
            let active = self.active_until(number, at.max(other) + SLACK);
            active.is_some_and(|active| active > at.min(other) + SLACK)
        })
    }

    fn active_until(&self, number: usize, until: Timestamp) -> Option<Timestamp> {
        self.nodes[number].lineage?.active_until(until)
    }

    /// The session's terminal at a time.
    fn terminal(&self, number: usize, at: Timestamp) -> Option<&'a str> {
        let seen = self.facts.terminals.get::<SessionId>(self.nodes[number].id)?;
        seen.iter().rev().find(|(since, _)| *since <= at).map(|(_, key)| &**key)
    }
}

/// A folder's name without a slash at its end.
pub(super) fn folder(cwd: &str) -> &str {
    match cwd.trim_end_matches('/') {
        "" => cwd,
        trimmed => trimmed,
    }
}

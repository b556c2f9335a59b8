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

/// Compactions that only markers or hooks report.
#[derive(Debug, Default)]
pub(super) struct Announced {
    /// Inside one file, sorted by session and time.
    pub in_file: Vec<(usize, Timestamp)>,
    /// Sessions that a compaction opened, sorted.
    pub opened: Vec<usize>,
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
        if node.lineage.is_some_and(|l| is_explained(l, marker.compacted_at)) {
            continue;
        }
        let was_there = node.start.is_some_and(|start| start < marker.compacted_at - SLACK);
        if was_there || !opened.insert(number) {
            announced.in_file.push((number, marker.compacted_at));
            continue;
        }
        if forest.origins[number] != Origin::Unknown {
            // A proven origin beats the rule of thumb.
            continue;
        }
        if let Some((from, reason, confidence)) = candidates.predecessor(nodes, forest, facts, number, marker)
        {
            let at = node.start.or(Some(marker.compacted_at));
            forest.set_marker_parent(number, Parent { from, reason, confidence, at, continues: true });
            candidates.remove(nodes, facts, from);
        }
    }
    announced.in_file.sort_unstable();
    announced.opened = opened.into_iter().collect();
    announced
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

/// Sessions by their latest activity. If two stopped at the same time, the lower id is preferred.
type ByActivity = BTreeSet<(Timestamp, Reverse<usize>)>;

/// Sessions that a compaction could have ended, by terminal and by folder.
struct Candidates<'a> {
    by_terminal: BTreeMap<&'a str, ByActivity>,
    by_cwd: BTreeMap<&'a str, ByActivity>,
}

impl<'a> Candidates<'a> {
    /// All sessions that are neither superseded nor live. A live session has another process than the new session.
    fn collect(nodes: &Nodes<'a>, forest: &Forest, facts: &LineageFacts<'a>) -> Self {
        let mut by_cwd: BTreeMap<&'a str, ByActivity> =
            facts.markers.iter().map(|m| (folder(&m.cwd), ByActivity::new())).collect();
        let mut by_terminal: BTreeMap<&'a str, ByActivity> = BTreeMap::new();
        for (number, node) in nodes.iter() {
            let Some((lineage, last)) = node.lineage.zip(node.last) else { continue };
            if forest.superseded[number].is_some() || facts.live.contains(node.id) {
                continue;
            }
            let entry = (last, Reverse(number));
            if let Some(terminal) = terminal_of(facts, node) {
                by_terminal.entry(terminal).or_default().insert(entry);
            }
            for cwd in &lineage.cwds {
                if let Some(sessions) = by_cwd.get_mut(folder(cwd)) {
                    sessions.insert(entry);
                }
            }
        }
        Self { by_terminal, by_cwd }
    }

    /// Removes a session, because it is superseded now.
    fn remove(&mut self, nodes: &Nodes<'_>, facts: &LineageFacts<'_>, number: usize) {
        let node = &nodes[number];
        let Some((lineage, last)) = node.lineage.zip(node.last) else { return };
        let entry = (last, Reverse(number));
        if let Some(sessions) = terminal_of(facts, node).and_then(|t| self.by_terminal.get_mut(t)) {
            sessions.remove(&entry);
        }
        for cwd in &lineage.cwds {
            if let Some(sessions) = self.by_cwd.get_mut(folder(cwd)) {
                sessions.remove(&entry);
            }
        }
    }

    /// The session that the compaction ended: the most recently active one without activity after the compaction. A
    /// session of the same terminal is preferred to one of the same folder.
    ///
    /// If the new session's terminal is known, a session of the same folder counts only if its own terminal is
    /// unknown. A session in another terminal is a sibling, and so is one that began after the compaction, or after the
    /// new session.
    fn predecessor(
        &self,
        nodes: &Nodes<'_>,
        forest: &mut Forest,
        facts: &LineageFacts<'_>,
        number: usize,
        marker: &Marker,
    ) -> Option<(usize, LinkReason, LinkConfidence)> {
        let terminal = terminal_of(facts, &nodes[number]);
        let began = nodes[number].start.map_or(marker.compacted_at, |start| start.min(marker.compacted_at));
        let mut newest = |sessions: Option<&ByActivity>, elsewhere: bool| {
            let until = (marker.compacted_at + SLACK, Reverse(0));
            let numbers = sessions?.range(..=until).rev().map(|(_, Reverse(n))| *n);
            let mut fit = numbers.filter(|&n| !elsewhere || terminal_of(facts, &nodes[n]).is_none());
            fit.find(|&n| nodes[n].start.is_some_and(|start| start < began) && !forest.same_tree(n, number))
        };
        let same_terminal = terminal.and_then(|t| newest(self.by_terminal.get(t), false));
        if let Some(from) = same_terminal {
            return Some((from, LinkReason::Marker, LinkConfidence::Proven));
        }
        let from = newest(self.by_cwd.get(folder(&marker.cwd)), terminal.is_some())?;
        Some((from, LinkReason::CwdRecency, LinkConfidence::Suggested))
    }
}

fn terminal_of<'a>(facts: &LineageFacts<'a>, node: &Node<'_>) -> Option<&'a str> {
    facts.terminals.get::<SessionId>(node.id).map(|key| &**key)
}

/// A folder's name without a slash at its end.
pub(super) fn folder(cwd: &str) -> &str {
    match cwd.trim_end_matches('/') {
        "" => cwd,
        trimmed => trimmed,
    }
}

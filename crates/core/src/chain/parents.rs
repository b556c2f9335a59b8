//! Finds the parent of each session, by proven evidence and the user's joins and splits.

use std::collections::BTreeMap;

use super::copies::Copies;
use super::facts::{LineageFacts, ManualLink};
use super::lineage::{BeganBy, HookMove, MoveCause, RegistryMove, SLACK, Switch};
use super::link::{LinkConfidence, LinkReason};
use super::nodes::Nodes;
use crate::ids::SessionId;
use crate::time::{Millis, Timestamp};

/// A session that began this long before its process was seen to move to it is still new.
const MOVE_SLACK: Millis = Millis::from_secs(5);
/// Two records further apart than this are in two spans.
const SPAN_GAP: Millis = Millis::from_secs(60);

/// Where a session comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parent {
    /// The earlier session.
    pub from: usize,
    /// How it is known.
    pub reason: LinkReason,
    /// How far it can be trusted.
    pub confidence: LinkConfidence,
    /// When the later one began.
    pub at: Option<Timestamp>,
    /// The later one is the same piece of work. Otherwise it branches off into a chain of its own.
    pub continues: bool,
}

impl Parent {
    fn proven(from: usize, reason: LinkReason, at: Option<Timestamp>) -> Self {
        Self { from, reason, confidence: LinkConfidence::Proven, at, continues: true }
    }

    fn branch(from: usize, reason: LinkReason, at: Option<Timestamp>) -> Self {
        Self { continues: false, ..Self::proven(from, reason, at) }
    }
}

/// The result for one session's origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Not known: a marker may still name a predecessor.
    Unknown,
    /// It comes from no session, or from one whose id is lost; a marker must not guess.
    None,
    /// It is known.
    Known(Parent),
}

impl Origin {
    /// The parent, if there is one.
    pub fn parent(self) -> Option<Parent> {
        match self {
            Self::Known(parent) => Some(parent),
            Self::Unknown | Self::None => None,
        }
    }
}

/// Finds every session's origin, by the strongest evidence for each.
pub(super) fn find_parents(nodes: &Nodes<'_>, copies: &Copies, facts: &LineageFacts<'_>) -> Vec<Origin> {
    let mut origins: Vec<Origin> = (0..nodes.len()).map(|n| copied_from(nodes, copies, n)).collect();
    name_continuations(nodes, facts, &mut origins);
    let moves = Moves::new(nodes, facts);
    let groups = ProcessGroups::new(nodes, &origins);
    for (number, node) in nodes.iter() {
        if !node.seen {
            continue;
        }
        let moved = moves.opening(nodes, facts, number);
        match origins[number] {
            Origin::Unknown => origins[number] = process_origin(nodes, &groups, moved, number),
            Origin::None if node.began_by(BeganBy::Fork) => {
                // The process left one session for its fork: the move names the origin that the file does not.
                if let Some(seen) = moved {
                    let at = node.start.or(Some(seen.at));
                    origins[number] = Origin::Known(Parent::branch(seen.from, LinkReason::ForkedFrom, at));
                }
            }
            Origin::None | Origin::Known(_) => {}
        }
    }
    apply_manual_links(nodes, facts, &mut origins);
    break_cycles(nodes, &mut origins);
    origins
}

/// Sets the origin of each session that is proven to go on where another one stopped. Copied history is no fork then.
fn name_continuations(nodes: &Nodes<'_>, facts: &LineageFacts<'_>, origins: &mut [Origin]) {
    let mut name_any = |from: &SessionId, to: &SessionId, parent: &dyn Fn(usize) -> Parent| {
        if let (Some(from), Some(to)) = (nodes.find(from), nodes.find(to))
            && from != to
            && nodes[to].seen
        {
            origins[to] = Origin::Known(parent(from));
        }
    };
    for (to, Switch { from, at, fork }) in facts.switches {
        name_any(from, to, &|from| Parent {
            continues: !fork,
            ..Parent::proven(from, LinkReason::Switched, Some(*at))
        });
    }
    let mut name = |from: &SessionId, to: &SessionId, reason, at| {
        name_any(from, to, &|from| Parent::proven(from, reason, at));
    };
    let mut parked: Vec<&RegistryMove> = facts.moves.iter().filter(|moved| moved.parked).collect();
    parked.sort_unstable_by_key(|moved| (moved.at, &moved.from, &moved.to));
    for moved in parked {
        name(&moved.from, &moved.to, LinkReason::Registry, Some(moved.at));
    }
    for (_, node) in nodes.iter() {
        let Some(lineage) = node.lineage else { continue };
        if let Some(from) = &lineage.plan_of {
            name(from, node.id, LinkReason::ContinuedIn, node.start);
        }
        if let Some((to, at)) = &lineage.continued_in {
            name(node.id, to, LinkReason::ContinuedIn, *at);
        }
    }
}

/// The origin of forks, and of history that old agents copied.
fn copied_from(nodes: &Nodes<'_>, copies: &Copies, number: usize) -> Origin {
    let node = &nodes[number];
    let fork_of = |from| Origin::Known(Parent::branch(from, LinkReason::ForkedFrom, node.start));
    if let Some(from) = node.forked_from.or_else(|| copies.named_by_process(nodes, number)) {
        return fork_of(from);
    }
    // The last name is the nearest one. A session whose file is still there is preferred to one whose file is gone.
    let foreign = || node.foreign.iter().rev().copied();
    if let Some(from) = foreign().find(|&n| nodes[n].seen).or_else(|| foreign().next()) {
        return Origin::Known(copy_of(nodes, from, number));
    }
    let process = node.processes.last().copied();
    let shared = copies.is_shared(number);
    // Two forks of a session whose file is gone are siblings, not fork and origin.
    let gone = process.filter(|&n| shared && !nodes[n].seen && !node.began_by(BeganBy::Clear));
    if let Some(from) = gone {
        return fork_of(from);
    }
    if shared && copies.root(number) != number {
        return Origin::Known(copy_of(nodes, copies.root(number), number));
    }
    if node.began_by(BeganBy::Fork) {
        return process.map_or(Origin::None, fork_of);
    }
    Origin::Unknown
}

/// The meaning of copied history whose origin is known.
///
/// Agents since 2.1.207 resume in the same file, so a copy by them is a fork. Older agents also copied on resume
/// and on compaction: such a copy continues the original, unless the original went on too. Records that kept their
/// old `sessionId` were copied by an old client, even if a new client has resumed the copy since.
fn copy_of(nodes: &Nodes<'_>, from: usize, number: usize) -> Parent {
    let (origin, copy) = (&nodes[from], &nodes[number]);
    if copy.began_by(BeganBy::Fork) || copy.is_modern() && copy.foreign.is_empty() {
        return Parent::branch(from, LinkReason::ForkedFrom, copy.start);
    }
    if !origin.seen {
        // Without the original both are possible. A chain of its own has an id that stays in either case.
        return Parent::branch(from, LinkReason::SharedRecords, copy.start);
    }
    match (origin.last, copy.start) {
        (Some(last), Some(start)) if last <= start + SLACK => {
            Parent::proven(from, LinkReason::SharedRecords, copy.start)
        }
        _ => Parent::branch(from, LinkReason::ForkedFrom, copy.start),
    }
}

/// The origin of a session that a running process opened, by `/clear` or in another way.
fn process_origin(nodes: &Nodes<'_>, groups: &ProcessGroups, moved: Option<Moved>, number: usize) -> Origin {
    let node = &nodes[number];
    let clear = node.began_by(BeganBy::Clear);
    if let Some(seen) = moved {
        let reason = match seen.cause {
            Some(MoveCause::Fork) => {
                let at = node.start.or(Some(seen.at));
                return Origin::Known(Parent::branch(seen.from, LinkReason::ForkedFrom, at));
            }
            Some(MoveCause::Clear) => LinkReason::Clear,
            _ if clear => LinkReason::Clear,
            Some(_) => LinkReason::Hook,
            None => LinkReason::Registry,
        };
        return Origin::Known(Parent::proven(seen.from, reason, node.start.or(Some(seen.at))));
    }
    let Some(process) = node.processes.first().copied() else { return Origin::Unknown };
    let before = node.start.and_then(|start| groups.predecessor(process, number, start));
    let from = match before {
        _ if !clear && !nodes[process].seen => {
            // Without the file of `process`, this may also be a fork of it; see `copied_from`.
            return Origin::Unknown;
        }
        Some(from) => from,
        // The process did begin with that session, even if the times or the file are lost.
        None if clear => process,
        None => return Origin::Unknown,
    };
    let reason = if clear { LinkReason::Clear } else { LinkReason::Process };
    Origin::Known(Parent::proven(from, reason, node.start))
}

/// Sessions, grouped by the session that their process began with. `/clear` does not change that one.
struct ProcessGroups {
    /// Spans of activity as (process, start, end, latest end so far in the group, session), sorted.
    spans: Vec<GroupSpan>,
}

struct GroupSpan {
    process: usize,
    start: Timestamp,
    end: Timestamp,
    latest_end: Timestamp,
    session: usize,
}

impl ProcessGroups {
    fn new(nodes: &Nodes<'_>, origins: &[Origin]) -> Self {
        let mut wanted = vec![false; nodes.len()];
        let mut members: Vec<(usize, usize)> = Vec::new();
        for (number, node) in nodes.iter() {
            let Some(lineage) = node.lineage else { continue };
            // A fork's copied records name the original's process, its own process is another one.
            let branch = origins[number].parent().is_some_and(|p| !p.continues);
            if branch && lineage.own_process_session {
                continue;
            }
            for &process in &node.processes {
                wanted[process] = true;
                members.push((process, number));
            }
        }
        members.extend(wanted.iter().enumerate().filter(|(_, wanted)| **wanted).map(|(n, _)| (n, n)));
        let mut spans = Vec::new();
        for (process, session) in members {
            let Some(lineage) = nodes[session].lineage else { continue };
            spans.extend(lineage.spans.iter().map(|&(start, end)| GroupSpan {
                process,
                start,
                end,
                latest_end: end,
                session,
            }));
        }
        spans.sort_unstable_by_key(|s| (s.process, s.start, s.end, s.session));
        for n in 1..spans.len() {
            if spans[n].process == spans[n - 1].process {
                spans[n].latest_end = spans[n].latest_end.max(spans[n - 1].latest_end);
            }
        }
        Self { spans }
    }

    /// The session of the process that was active last before `start`.
    ///
    /// A session that stopped before `start` is preferred to one that went on: the latter runs in another process by
    /// now, or was resumed. It counts as active one span gap before `start`, because a span shows no more than that.
    fn predecessor(&self, process: usize, session: usize, start: Timestamp) -> Option<usize> {
        let end = self.spans.partition_point(|s| (s.process, s.start) <= (process, start));
        let mut best: Option<(Timestamp, usize)> = None;
        for span in self.spans[..end].iter().rev().take_while(|s| s.process == process) {
            if best.is_some_and(|(at, _)| span.latest_end.min(start) < at) {
                // No earlier span ends later than the best one so far.
                break;
            }
            if span.session == session {
                continue;
            }
            let active = if span.end <= start + SLACK {
                span.end.min(start)
            } else {
                (start - SPAN_GAP).max(span.start)
            };
            if best.is_none_or(|(at, lowest)| {
                (at, std::cmp::Reverse(lowest)) < (active, std::cmp::Reverse(span.session))
            }) {
                best = Some((active, span.session));
            }
        }
        best.map(|(_, session)| session)
    }
}

/// A change of session by a process.
#[derive(Debug, Clone, Copy)]
struct Moved {
    from: usize,
    at: Timestamp,
    /// The cause that a hook gave; `None` if only the registry showed the change.
    cause: Option<MoveCause>,
}

/// Changes of session, sorted by the later session. For one session, those that hooks reported come first, then the
/// earliest.
struct Moves(Vec<(usize, bool, Timestamp, usize, Option<MoveCause>)>);

impl Moves {
    fn new(nodes: &Nodes<'_>, facts: &LineageFacts<'_>) -> Self {
        let numbered = |from: &SessionId, to: &SessionId, at: Timestamp, cause: Option<MoveCause>| {
            let (from, to) = (nodes.find(from)?, nodes.find(to)?);
            (from != to && nodes[from].seen).then_some((to, cause.is_none(), at, from, cause))
        };
        let registry = |m: &RegistryMove| numbered(&m.from, &m.to, m.at, None);
        let hook = |m: &HookMove| numbered(&m.from, &m.to, m.at, Some(m.cause));
        let mut moves: Vec<_> = facts.moves.iter().filter_map(registry).collect();
        moves.extend(facts.hook_moves.iter().filter_map(hook));
        moves.sort_unstable();
        Self(moves)
    }

    /// The first change that opened the session. A change to a session that existed before is a `/resume` and ties
    /// nothing.
    fn opening(&self, nodes: &Nodes<'_>, facts: &LineageFacts<'_>, to: usize) -> Option<Moved> {
        let first = self.0.partition_point(|m| m.0 < to);
        let mut moves = self.0[first..].iter().take_while(|m| m.0 == to);
        let is_new = |at: Timestamp| match nodes[to].start {
            Some(start) => start >= at - MOVE_SLACK,
            // Nothing is written yet: a live session without a past is a new one.
            None => facts.live.contains(nodes[to].id),
        };
        let opens = |m: &&(usize, bool, Timestamp, usize, Option<MoveCause>)| {
            m.4 != Some(MoveCause::Resume) && is_new(m.2)
        };
        moves.find(opens).map(|&(_, _, at, from, cause)| Moved { from, at, cause })
    }
}

/// Applies the user's joins and splits over all other evidence; for each session the newest one counts.
fn apply_manual_links(nodes: &Nodes<'_>, facts: &LineageFacts<'_>, origins: &mut [Origin]) {
    let mut newest: BTreeMap<usize, &ManualLink> = BTreeMap::new();
    for word in facts.manual {
        let Some(number) = nodes.find(word.session()).filter(|&number| nodes[number].seen) else { continue };
        let kept = newest.entry(number).or_insert(word);
        *kept = std::cmp::max_by_key(*kept, word, |word| (word.at(), *word));
    }
    for (number, word) in newest {
        match word {
            ManualLink::Join { from, at, .. } => {
                if let Some(from) = nodes.find(from).filter(|&from| from != number) {
                    let at = nodes[number].start.or(Some(*at));
                    origins[number] = Origin::Known(Parent::proven(from, LinkReason::Manual, at));
                }
            }
            // A fork already begins a chain of its own; its origin is still worth showing.
            ManualLink::Split { .. } => {
                if origins[number].parent().is_none_or(|parent| parent.continues) {
                    origins[number] = Origin::None;
                }
            }
        }
    }
}

/// Removes one link from each cycle, so that contradictory facts leave a forest.
///
/// The oldest session of the cycle loses its origin. A link that the user made stays if another one can go.
fn break_cycles(nodes: &Nodes<'_>, origins: &mut [Origin]) {
    // 0: not visited; otherwise the walk that visited the node first.
    let mut met_in = vec![0usize; nodes.len()];
    for start in 0..nodes.len() {
        let walk = start + 1;
        let mut at = start;
        while met_in[at] == 0 {
            met_in[at] = walk;
            match origins[at].parent() {
                Some(parent) => at = parent.from,
                None => break,
            }
        }
        if met_in[at] != walk || origins[at].parent().is_none() {
            continue;
        }
        let cycle =
            std::iter::successors(Some(at), |&n| origins[n].parent().map(|p| p.from).filter(|&p| p != at));
        let manual = |n: usize| origins[n].parent().is_some_and(|p| p.reason == LinkReason::Manual);
        if let Some(oldest) =
            cycle.min_by(|&a, &b| (manual(a), nodes[a].age()).cmp(&(manual(b), nodes[b].age())))
        {
            origins[oldest] = Origin::None;
        }
    }
}

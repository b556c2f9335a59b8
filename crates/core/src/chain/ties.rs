//! Groups of sessions that may affect each other's chains. A caller that resolves a few sessions anew can skip
//! thousands of others.

use std::collections::{HashMap, HashSet};

use super::copies::DisjointSets;
use super::facts::{LineageFacts, ManualLink};
use super::lineage::{Lineage, SLACK};
use super::markers::folder;
use crate::ids::{RecordId, SessionId, stable_hash};
use crate::time::Timestamp;

/// Groups of sessions. A fact about one group says nothing about the chains of another.
///
/// Groups only grow. An outdated fact keeps sessions together that need not be; that costs time, but no result is
/// wrong. For the same reason terminals and folders are compared by a hash.
#[derive(Debug)]
pub struct SessionGroups {
    numbers: HashMap<SessionId, usize>,
    sessions: Vec<SessionId>,
    sets: DisjointSets,
    /// For each session the next one of its group, in a ring.
    next: Vec<usize>,
    /// Parts of a group: sessions that transcripts name together, or that have records in common. In such a part, the
    /// activity of one session may matter to the others.
    groups: DisjointSets,
    /// For each set of `groups`, by its lowest member: the latest beginning in it, and how many members it has.
    begun: Vec<(Option<Timestamp>, usize)>,
    /// For each record that begins a file or a segment, one session that has it.
    records: HashMap<RecordId, usize>,
    terminals: HashMap<u64, usize>,
    folders: HashMap<u64, Folder>,
}

/// The sessions that have worked in a folder.
#[derive(Debug, Default)]
struct Folder {
    /// One of them is enough if all are one group.
    sessions: Vec<usize>,
    /// A marker may tie any of them.
    marked: bool,
}

impl Default for SessionGroups {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            sessions: Vec::new(),
            sets: DisjointSets::new(0),
            next: Vec::new(),
            groups: DisjointSets::new(0),
            begun: Vec::new(),
            records: HashMap::new(),
            terminals: HashMap::new(),
            folders: HashMap::new(),
        }
    }
}

impl SessionGroups {
    /// Adds the facts of a transcript. Call it again when the transcript shows more.
    pub fn add(&mut self, lineage: &Lineage) {
        let number = self.number(&lineage.session);
        for id in lineage.named() {
            let other = self.number(id);
            self.join_activity_sets(number, other);
        }
        for record in lineage.first_record.iter().chain(&lineage.boundaries) {
            let other = *self.records.entry(*record).or_insert(number);
            self.join_activity_sets(number, other);
        }
        let begun = &mut self.begun[self.groups.lowest(number)].0;
        let continued = lineage.continued_in.as_ref().and_then(|(_, at)| *at);
        *begun = (*begun).max(lineage.start()).max(continued);
        for cwd in &lineage.cwds {
            let place = self.folders.entry(stable_hash(folder(cwd).as_bytes())).or_default();
            match place.sessions.first().copied().filter(|_| place.marked) {
                Some(other) => self.tie(number, other),
                None if place.sessions.last() != Some(&number) => place.sessions.push(number),
                None => {}
            }
        }
    }

    /// Adds the facts that come from no transcript.
    pub fn add_facts(&mut self, facts: &LineageFacts<'_>) {
        let moves = facts.moves.iter().map(|seen| (&seen.from, &seen.to));
        let moves = moves.chain(facts.hook_moves.iter().map(|seen| (&seen.from, &seen.to)));
        let moves = moves.chain(facts.switches.iter().map(|(to, switch)| (&switch.from, to)));
        let joined = facts.manual.iter().filter_map(|word| match word {
            ManualLink::Join { from, to, .. } => Some((from, to)),
            ManualLink::Split { .. } => None,
        });
        for (from, to) in moves.chain(joined) {
            let (from, to) = (self.number(from), self.number(to));
            self.tie(from, to);
        }
        if facts.markers.is_empty() {
            return;
        }
        for marker in facts.markers {
            let number = self.number(&marker.session);
            let place = self.folders.entry(stable_hash(folder(&marker.cwd).as_bytes())).or_default();
            place.marked = true;
            let all = std::mem::replace(&mut place.sessions, vec![number]);
            for other in all {
                self.tie(number, other);
            }
        }
        // Only the meaning of a marker depends on the terminal.
        let terminals =
            facts.terminals.iter().flat_map(|(session, seen)| seen.iter().map(move |t| (session, &t.1)));
        for (session, terminal) in terminals {
            let number = self.number(session);
            let other = *self.terminals.entry(stable_hash(terminal.as_bytes())).or_insert(number);
            self.tie(number, other);
        }
        for (session, others) in facts.neighbours {
            let number = self.number(session);
            for other in others.keys() {
                let other = self.number(other);
                self.tie(number, other);
            }
        }
    }

    /// All sessions in the groups of `sessions`, each once, including ids that are only named. `None` if there are
    /// more than `most`.
    pub fn groups_of<'s>(
        &mut self,
        sessions: impl IntoIterator<Item = &'s SessionId>,
        most: usize,
    ) -> Option<Vec<SessionId>> {
        let mut met = HashSet::new();
        let mut found = Vec::new();
        for session in sessions {
            let first = self.number(session);
            if !met.insert(self.sets.lowest(first)) {
                continue;
            }
            let mut at = first;
            loop {
                found.push(self.sessions[at].clone());
                if found.len() > most {
                    return None;
                }
                at = self.next[at];
                if at == first {
                    break;
                }
            }
        }
        Some(found)
    }

    /// Whether new activity of this session may change the origin of another one. `last` is its latest activity known
    /// before. As a rule it cannot, because no session of its set began so late.
    pub fn may_precede(&mut self, session: &SessionId, last: Option<Timestamp>) -> bool {
        let number = self.number(session);
        let (begun, count) = self.begun[self.groups.lowest(number)];
        count > 1 && begun.is_some_and(|begun| last.is_none_or(|last| last <= begun + SLACK))
    }

    /// How many sessions and mere ids are known.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether no session is known.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    fn number(&mut self, session: &SessionId) -> usize {
        if let Some(number) = self.numbers.get(session) {
            return *number;
        }
        let number = self.sets.add();
        self.numbers.insert(session.clone(), number);
        self.sessions.push(session.clone());
        self.next.push(number);
        self.groups.add();
        self.begun.push((None, 1));
        number
    }

    /// Joins the groups of two sessions, and their sets of `groups`.
    fn join_activity_sets(&mut self, a: usize, b: usize) {
        self.tie(a, b);
        let (a, b) = (self.groups.lowest(a), self.groups.lowest(b));
        if a != b {
            let ((begun, count), (other_begun, other_count)) = (self.begun[a], self.begun[b]);
            self.groups.join(a, b);
            self.begun[a.min(b)] = (begun.max(other_begun), count + other_count);
        }
    }

    /// Joins the groups of two sessions.
    fn tie(&mut self, a: usize, b: usize) {
        if self.sets.lowest(a) != self.sets.lowest(b) {
            self.sets.join(a, b);
            // Swapping the successors makes one ring of two.
            self.next.swap(a, b);
        }
    }
}

//! Which sessions may bear on each other's chains: whoever resolves a few anew need not look at thousands of others.

use std::collections::{HashMap, HashSet};

use super::copies::DisjointSets;
use super::facts::{Facts, ManualLink};
use super::lineage::{Lineage, SLACK};
use super::markers::folder;
use crate::ids::{RecordId, SessionId, stable_hash};
use crate::time::Timestamp;

/// Groups of sessions. What is known of one group says nothing of the chains of another.
///
/// Groups only grow: what is not so any more keeps sessions together that need not be, which costs time and no truth. For the
/// same reason things that sessions have in common are told apart by a hash.
#[derive(Debug)]
pub struct Ties {
    numbers: HashMap<SessionId, usize>,
    sessions: Vec<SessionId>,
    sets: DisjointSets,
    /// For each session another one of its group: around in a ring.
    next: Vec<usize>,
    /// Those of a group that transcripts name together, or that have records in common: to whom it may matter when the others
    /// were active.
    kin: DisjointSets,
    /// For each of these sets, by its lowest member, the latest beginning in it and how many it has.
    begun: Vec<(Option<Timestamp>, usize)>,
    /// For each record that begins a file or a segment one session that has it.
    records: HashMap<RecordId, usize>,
    terminals: HashMap<u64, usize>,
    folders: HashMap<u64, Folder>,
}

/// The sessions that have worked in a folder.
#[derive(Debug, Default)]
struct Folder {
    /// One of them is enough where they are one group.
    sessions: Vec<usize>,
    /// A marker may tie any of them.
    marked: bool,
}

impl Default for Ties {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            sessions: Vec::new(),
            sets: DisjointSets::new(0),
            next: Vec::new(),
            kin: DisjointSets::new(0),
            begun: Vec::new(),
            records: HashMap::new(),
            terminals: HashMap::new(),
            folders: HashMap::new(),
        }
    }
}

impl Ties {
    /// Takes in what a transcript says, also when it says more than before.
    pub fn add(&mut self, lineage: &Lineage) {
        let number = self.number(&lineage.session);
        let named =
            lineage.process_sessions.iter().chain(&lineage.foreign_sessions).chain(&lineage.forked_from);
        for id in named {
            let other = self.number(id);
            self.tie_kin(number, other);
        }
        for record in lineage.first_record.iter().chain(&lineage.boundaries) {
            let other = *self.records.entry(*record).or_insert(number);
            self.tie_kin(number, other);
        }
        let begun = &mut self.begun[self.kin.lowest(number)].0;
        *begun = (*begun).max(lineage.start());
        for cwd in &lineage.cwds {
            let place = self.folders.entry(stable_hash(folder(cwd).as_bytes())).or_default();
            match place.sessions.first().copied().filter(|_| place.marked) {
                Some(other) => self.tie(number, other),
                None if place.sessions.last() != Some(&number) => place.sessions.push(number),
                None => {}
            }
        }
    }

    /// Takes in what is known beside the transcripts.
    pub fn add_facts(&mut self, facts: &Facts<'_>) {
        let moves = facts.moves.iter().map(|seen| (&seen.from, &seen.to));
        let moves = moves.chain(facts.hook_moves.iter().map(|told| (&told.from, &told.to)));
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
        // Only what a marker means depends on the terminal.
        for (session, terminal) in facts.terminals {
            let number = self.number(session);
            let other = *self.terminals.entry(stable_hash(terminal.as_bytes())).or_insert(number);
            self.tie(number, other);
        }
    }

    /// All sessions of the groups that these are in, each once, and names that are no more than that. `None` where they are
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

    /// Whether it may tell where another session comes from that this one was active, where `last` is the latest activity that
    /// was known before. Nobody began so late that it would, as a rule: who goes on is active now.
    pub fn may_precede(&mut self, session: &SessionId, last: Option<Timestamp>) -> bool {
        let number = self.number(session);
        let (begun, count) = self.begun[self.kin.lowest(number)];
        count > 1 && begun.is_some_and(|begun| last.is_none_or(|last| last <= begun + SLACK))
    }

    /// How many sessions and names are known.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Whether nobody is known.
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
        self.kin.add();
        self.begun.push((None, 1));
        number
    }

    /// Makes one group of two, and one of those of whom it matters when they were active.
    fn tie_kin(&mut self, a: usize, b: usize) {
        self.tie(a, b);
        let (a, b) = (self.kin.lowest(a), self.kin.lowest(b));
        if a != b {
            let ((begun, count), (other_begun, other_count)) = (self.begun[a], self.begun[b]);
            self.kin.join(a, b);
            self.begun[a.min(b)] = (begun.max(other_begun), count + other_count);
        }
    }

    /// Makes one group of two.
    fn tie(&mut self, a: usize, b: usize) {
        if self.sets.lowest(a) != self.sets.lowest(b) {
            self.sets.join(a, b);
            // Two rings become one where each goes on in the other.
            self.next.swap(a, b);
        }
    }
}

//! Joins the evidence of several sessions into memories. The user's decision about a memory outranks every rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::kind::{Importance, MemoryKind};
use super::likeness::Trigrams;
use crate::time::Timestamp;

/// Alike texts of one kind and file are one subject: the newer one replaces the older one. From 0 to 1.
const ALIKE: f64 = 0.6;
/// The confidence below which nothing is injected.
pub const LEAST_CONFIDENCE: f64 = 0.3;
/// The confidence of what may hold text of others.
const SUSPECT_CONFIDENCE: f64 = 0.4;
/// The confidence of what a model said with two pieces of evidence.
const OF_MODEL_TWICE: f64 = 0.6;
/// The confidence of what the user accepted or wrote.
const OF_USER: f64 = 0.95;
const DAY: f64 = 86_400_000.0;

/// The evidence of one session for a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Id of the memory.
    pub memory: u64,
    /// The session.
    pub session: Arc<str>,
    /// The turn in it.
    pub batch: Arc<str>,
    /// Where the record begins in the session's transcript.
    pub byte: Option<u64>,
    /// When.
    pub at: Timestamp,
    /// How often the session shows it.
    pub times: u64,
    /// The rule.
    pub kind: MemoryKind,
    /// The text.
    pub text: String,
    /// The file, relative to the project's root.
    pub path: Option<String>,
    /// The normal form of the error line.
    pub symptom: Option<String>,
    /// Its importance.
    pub importance: Importance,
    /// It may hold text of others.
    pub suspect: bool,
}

as_str!(EditKind, Standing);

/// The user's last decision about a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum EditKind {
    /// Written by hand.
    Added,
    /// Accepted as it is.
    Accepted,
    /// Rejected; the evidence stays.
    Rejected,
    /// Given another text.
    Edited,
    /// Removed for good; it never comes back.
    Forgotten,
}

/// The user's decision about a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Edit {
    /// Id of the memory.
    pub memory: u64,
    /// The decision.
    pub what: EditKind,
    /// When.
    pub at: Timestamp,
    /// The user's text, if the user wrote one.
    pub text: Option<String>,
    /// The file of a memory that was added.
    pub path: Option<String>,
    /// The record that the user marked, if the memory was added there.
    pub mark: Option<Mark>,
}

/// A record of a transcript that the user marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Its session.
    pub session: Arc<str>,
    /// Its turn; empty if none is known.
    pub batch: Arc<str>,
    /// Where the record begins in the transcript.
    pub byte: Option<u64>,
    /// The record's time.
    pub at: Timestamp,
}

/// A memory: the newest evidence, how much there is, and the user's decision.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its id.
    pub id: u64,
    /// The rule that found it.
    pub kind: MemoryKind,
    /// One line of text.
    pub text: String,
    /// The file.
    pub path: Option<String>,
    /// The normal form of the error line.
    pub symptom: Option<String>,
    /// Its importance.
    pub importance: Importance,
    /// Any evidence may hold text of others.
    pub suspect: bool,
    /// The session of the newest evidence, or the one where the user marked the text. `None` if the user wrote it elsewhere.
    pub source: Option<Arc<str>>,
    /// How many sessions show it.
    pub sessions: usize,
    /// How often they show it.
    pub times: u64,
    /// The newest evidence, or the user's act.
    pub last_seen: Timestamp,
    /// The user's decision.
    pub decision: Option<EditKind>,
}

/// Which findings count without the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum AcceptRule {
    /// None.
    Person,
    /// Findings of the rules.
    #[default]
    Rules,
    /// Also those that may hold text of others, and those of a model.
    All,
}

/// Whether a memory is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Standing {
    /// It may be injected.
    Active,
    /// It waits for the user.
    Proposed,
    /// Too few sessions show it so far.
    Counting,
    /// Nothing has shown it for long.
    Faded,
    /// A newer memory of the same file and kind says nearly the same: its id.
    Superseded(u64),
    /// The user has rejected it.
    Rejected,
}

impl Memory {
    /// Its confidence at a time, from 0 to 1.
    pub fn confidence(&self, now: Timestamp) -> f64 {
        if matches!(self.decision, Some(EditKind::Added | EditKind::Accepted | EditKind::Edited)) {
            return OF_USER;
        }
        let base = match self.kind {
            _ if self.suspect => SUSPECT_CONFIDENCE,
            // Two activities show more than one.
            kind if kind.is_of_model() && self.times > 1 => OF_MODEL_TWICE,
            kind => kind.confidence(),
        };
        let days = (now.since(self.last_seen).0.max(0) as f64 / DAY).floor();
        base * 0.5_f64.powf(days / self.kind.half_life_days())
    }

    /// Its standing, if no other memory replaces it.
    fn standing_alone(&self, accept: AcceptRule, now: Timestamp) -> Standing {
        match self.decision {
            Some(EditKind::Rejected | EditKind::Forgotten) => return Standing::Rejected,
            Some(EditKind::Added | EditKind::Accepted | EditKind::Edited) => return Standing::Active,
            None => {}
        }
        let (sessions, times) = self.kind.threshold();
        let is_persons = self.kind == MemoryKind::Note;
        if self.sessions < sessions || self.times < times {
            Standing::Counting
        } else if self.confidence(now) < LEAST_CONFIDENCE {
            Standing::Faded
        } else if match accept {
            AcceptRule::Person => self.suspect || !is_persons,
            AcceptRule::Rules => self.suspect || self.kind.is_of_model(),
            AcceptRule::All => false,
        } {
            Standing::Proposed
        } else {
            Standing::Active
        }
    }
}

/// The memories of this evidence and these edits, sorted by id. The order of the input does not matter.
///
/// All evidence of a memory must be there. A memory that the user has forgotten is left out.
pub fn gather(evidence: &[Evidence], edits: &[Edit]) -> Vec<Memory> {
    let mut by_id: BTreeMap<u64, Vec<&Evidence>> = BTreeMap::new();
    evidence.iter().for_each(|one| by_id.entry(one.memory).or_default().push(one));
    let edits: BTreeMap<u64, &Edit> = edits.iter().map(|edit| (edit.memory, edit)).collect();
    let mut memories = Vec::new();
    for (id, shown) in &by_id {
        let edit = edits.get(id);
        if edit.is_none_or(|edit| edit.what != EditKind::Forgotten) {
            memories.extend(of_evidence(*id, shown, edit.copied()));
        }
    }
    // The user may add what a rule has found: that is one memory, with its evidence.
    let alone = edits.values().filter(|edit| !by_id.contains_key(&edit.memory));
    memories.extend(alone.filter_map(|edit| of_hand(edit)));
    memories.sort_by_key(|memory| memory.id);
    memories
}

fn of_evidence(id: u64, shown: &[&Evidence], edit: Option<&Edit>) -> Option<Memory> {
    let newest = shown.iter().max_by(|a, b| (a.at, &a.session).cmp(&(b.at, &b.session)))?;
    let own = edit.and_then(|edit| edit.text.clone());
    Some(Memory {
        id,
        kind: newest.kind,
        source: own.is_none().then(|| Arc::clone(&newest.session)),
        text: own.unwrap_or_else(|| newest.text.clone()),
        path: newest.path.clone(),
        symptom: newest.symptom.clone(),
        importance: shown.iter().map(|one| one.importance).max()?,
        suspect: shown.iter().any(|one| one.suspect),
        sessions: shown.len(),
        times: shown.iter().map(|one| one.times).sum(),
        last_seen: newest.at,
        decision: edit.map(|edit| edit.what),
    })
}

/// A memory that the user wrote.
fn of_hand(edit: &Edit) -> Option<Memory> {
    if edit.what != EditKind::Added {
        return None;
    }
    Some(Memory {
        id: edit.memory,
        kind: MemoryKind::Note,
        text: edit.text.clone()?,
        path: edit.path.clone(),
        symptom: None,
        importance: Importance::High,
        suspect: false,
        source: edit.mark.as_ref().map(|mark| Arc::clone(&mark.session)),
        sessions: 0,
        times: 0,
        last_seen: edit.at,
        decision: Some(edit.what),
    })
}

/// Memories that can replace each other: of one kind and file.
type Group<'m> = (MemoryKind, Option<&'m str>);

/// The standing of each memory, in the order of `memories`. All memories of the same file and kind must be there. The cost grows with
/// the square of the largest number of memories of one file and kind.
pub fn standings(memories: &[Memory], accept: AcceptRule, now: Timestamp) -> Vec<Standing> {
    let mut standing: Vec<Standing> =
        memories.iter().map(|memory| memory.standing_alone(accept, now)).collect();
    let mut groups: BTreeMap<Group<'_>, Vec<(usize, Trigrams)>> = BTreeMap::new();
    for (at, memory) in memories.iter().enumerate() {
        // A command is not alike another one: each works.
        if standing[at] == Standing::Active && memory.kind != MemoryKind::Command {
            let group = groups.entry((memory.kind, memory.path.as_deref())).or_default();
            group.push((at, Trigrams::of(&memory.text)));
        }
    }
    for mut group in groups.into_values() {
        group.sort_by_key(|(at, _)| std::cmp::Reverse((memories[*at].last_seen, memories[*at].id)));
        for (n, (at, runs)) in group.iter().enumerate() {
            let newer = group[..n].iter().find(|(_, other)| runs.likeness(other) >= ALIKE);
            if let Some((by, _)) = newer {
                standing[*at] = Standing::Superseded(memories[*by].id);
            }
        }
    }
    standing
}

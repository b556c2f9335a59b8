//! What has changed since the store was last told, and the facts that no file will tell again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use watchbill_core::chain::lineage::{Marker, RegistryMove};
use watchbill_core::chain::link::Link;
use watchbill_core::ids::SessionId;
use watchbill_core::person::Change;
use watchbill_core::roster::row::Row;
use watchbill_core::time::Timestamp;
use watchbill_store::tables::answers::AnswerRow;

/// Name of the fact that holds what no file will tell again.
pub(super) const FACTS: &str = "facts";
/// Name of the fact that says which commands were carried out lately: one that is sent again is carried out once.
pub(super) const COMMANDS: &str = "commands";

/// Everything that one step is to store.
#[derive(Debug, Default)]
pub struct Changes {
    /// Transcripts, by path.
    pub files: BTreeMap<PathBuf, FileChange>,
    /// Rows as they are now.
    pub rows: BTreeMap<SessionId, Row>,
    /// Sessions that were shown and of which there is nothing to show any more.
    pub gone: BTreeSet<SessionId>,
    /// Rows whose state has just changed, in order.
    pub transitions: Vec<Row>,
    /// All links of the chains, if all were resolved anew.
    pub links: Option<Vec<Link>>,
    /// Links that chains resolved anew since have beside those.
    pub new_links: Vec<Link>,
    /// Links that chains had before, and that the transcripts do not tell of any more.
    pub old_links: Vec<Link>,
    /// What the person has said, in order.
    pub words: Vec<Change>,
    /// Answers of the user to requests, and what came of them, in order.
    pub answers: Vec<AnswerChange>,
    /// The commands that these words carry out, with those that were carried out lately.
    pub carried_out: Option<CarriedOut>,
    /// Sessions that were forgotten, where the list of them was removed with the store.
    pub forgotten: BTreeSet<SessionId>,
    /// What no file will tell again, if it has changed.
    pub facts: Option<Facts>,
    /// From these transcripts on rows are stored that may still get another chain.
    pub rows_behind: bool,
    /// With these rows all sessions have theirs, also those whose transcripts were stored ahead.
    pub all_rows: bool,
    /// Sessions among these that work in folders of which nothing is to be stored.
    pub left_out: BTreeSet<SessionId>,
}

/// What happened to an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerChange {
    /// It was given.
    Given(AnswerRow),
    /// What came of the answer to a request, in a word, and when that was known.
    Outcome(String, &'static str, Timestamp),
}

/// Ids of commands, when they were carried out, and what stands for the command itself.
pub type CarriedOut = BTreeMap<String, (Timestamp, u64)>;

/// What has become of one transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It was read.
    Read {
        /// Whose it is, or whose subagent's; empty while nobody knows.
        session: String,
        /// What is kept of it as a whole, in place of what was.
        head: Vec<u8>,
        /// What is remembered of its new records, to be put behind the rest.
        piece: Option<Vec<u8>>,
        /// It was read from its beginning: there is no rest.
        fresh: bool,
    },
    /// It is there no more.
    Gone,
}

/// What was seen live and stands in no file, or in none that need still be there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Processes that went from one session to another.
    pub moves: Vec<RegistryMove>,
    /// Markers that were read, by their files.
    pub markers: Vec<(String, Vec<Marker>)>,
}

impl Facts {
    /// The sessions that these facts name.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        let moved = self.moves.iter().flat_map(|seen| [&seen.from, &seen.to]);
        moved.chain(self.markers.iter().flat_map(|(_, markers)| markers).map(|marker| &marker.session))
    }

    /// The same without what names a session of which nothing is to be stored.
    #[must_use]
    pub fn without(&self, untold: &dyn Fn(&str) -> bool) -> Self {
        let told = |id: &SessionId| !untold(id.as_str());
        let moves = self.moves.iter().filter(|seen| told(&seen.from) && told(&seen.to)).cloned().collect();
        let markers = self.markers.iter().map(|(path, markers)| {
            (path.clone(), markers.iter().filter(|marker| told(&marker.session)).cloned().collect::<Vec<_>>())
        });
        // The name of a marker's file holds the id.
        Self { moves, markers: markers.filter(|(_, markers)| !markers.is_empty()).collect() }
    }
}

impl Changes {
    /// Whether there is nothing to store.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
            && self.rows.is_empty()
            && self.gone.is_empty()
            && self.transitions.is_empty()
            && self.links.is_none()
            && self.new_links.is_empty()
            && self.old_links.is_empty()
            && self.words.is_empty()
            && self.answers.is_empty()
            && self.carried_out.is_none()
            && self.forgotten.is_empty()
            && self.facts.is_none()
            && !self.all_rows
            && !self.rows_behind
    }

    /// Adds later changes to these, which could not be stored.
    pub fn merge(&mut self, later: Self) {
        for (path, change) in later.files {
            let merged = match (self.files.remove(&path), change) {
                (
                    Some(FileChange::Read { piece: Some(mut before), fresh, .. }),
                    FileChange::Read { session, head, piece, fresh: false },
                ) => {
                    before.extend(piece.unwrap_or_default());
                    FileChange::Read { session, head, piece: Some(before), fresh }
                }
                (Some(FileChange::Read { piece: None, fresh: true, .. }), change) => match change {
                    FileChange::Read { session, head, piece, .. } => {
                        FileChange::Read { session, head, piece, fresh: true }
                    }
                    FileChange::Gone => FileChange::Gone,
                },
                // What follows a file that went is another file.
                (Some(FileChange::Gone), FileChange::Read { session, head, piece, .. }) => {
                    FileChange::Read { session, head, piece, fresh: true }
                }
                (_, change) => change,
            };
            self.files.insert(path, merged);
        }
        self.gone.retain(|id| !later.rows.contains_key(id));
        self.rows.retain(|id, _| !later.gone.contains(id));
        self.rows.extend(later.rows);
        self.gone.extend(later.gone);
        self.transitions.extend(later.transitions);
        self.links = later.links.or(self.links.take());
        for links in [self.links.as_mut(), Some(&mut self.new_links)].into_iter().flatten() {
            links.retain(|link| !later.old_links.contains(link));
        }
        self.old_links.retain(|link| !later.new_links.contains(link));
        self.old_links.extend(later.old_links);
        self.new_links.extend(later.new_links);
        self.words.extend(later.words);
        self.answers.extend(later.answers);
        self.carried_out = later.carried_out.or(self.carried_out.take());
        self.forgotten.extend(later.forgotten);
        self.facts = later.facts.or(self.facts.take());
        self.all_rows = later.all_rows || self.all_rows && !later.rows_behind;
        self.rows_behind |= later.rows_behind;
        self.left_out.extend(later.left_out);
    }
}

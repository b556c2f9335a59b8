//! The changes since the last save, and the facts that no file holds any more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use watchbill_core::chain::lineage::{Marker, Neighbours, RegistryMove};
use watchbill_core::chain::link::Link;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::time::Timestamp;
use watchbill_core::user::EditChange;
use watchbill_store::tables::answers::AnswerRow;

/// Name of the stored facts that no file holds any more.
pub(super) const FACTS: &str = "facts";
/// Name of the stored list of recent commands. A command that is sent again runs once.
pub(super) const COMMANDS: &str = "commands";

/// All changes that one step stores.
#[derive(Debug, Default)]
pub struct Changes {
    /// Transcripts, by path.
    pub files: BTreeMap<PathBuf, FileChange>,
    /// Current rows.
    pub rows: BTreeMap<SessionId, Row>,
    /// Sessions that had a row and have none now.
    pub gone: BTreeSet<SessionId>,
    /// Rows with a new state, in order.
    pub transitions: Vec<Row>,
    /// All links of the chains, if all chains were resolved again.
    pub links: Option<Vec<Link>>,
    /// New links of chains that were resolved again since then.
    pub new_links: Vec<Link>,
    /// Former links that the transcripts no longer tell of.
    pub old_links: Vec<Link>,
    /// User edits, in order.
    pub user_edits: Vec<EditChange>,
    /// Answers of the user to requests, and their outcomes, in order.
    pub answers: Vec<AnswerChange>,
    /// The commands that make these edits, with the other recent commands.
    pub carried_out: Option<RecentCommands>,
    /// Forgotten sessions, when their list was removed with the store.
    pub forgotten: BTreeSet<SessionId>,
    /// The facts that no file holds any more, if they changed.
    pub facts: Option<SeenFacts>,
    /// From now on, transcripts are stored ahead of rows, or rows ahead of their chains.
    pub rows_behind: bool,
    /// With these rows, all sessions have one, also those whose transcripts were stored ahead.
    pub all_rows: bool,
    /// Sessions of these changes that are excluded by their folders.
    pub left_out: BTreeSet<SessionId>,
}

/// What happened to an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerChange {
    /// It was given.
    Given(AnswerRow),
    /// The outcome of an answer, as one word, and the time when it was known.
    Outcome(String, &'static str, Timestamp),
}

/// Command ids, each with its time and a hash of the command.
pub type RecentCommands = BTreeMap<String, (Timestamp, u64)>;

/// The change of one transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileChange {
    /// It was read.
    Read {
        /// The session that it belongs to, or whose subagent wrote it; empty while unknown.
        session: String,
        /// The head of its fold; replaces the stored one.
        head: Vec<u8>,
        /// The memory of its new records; appended to the stored pieces.
        piece: Option<Vec<u8>>,
        /// The file was read from its beginning, so this replaces the stored pieces.
        fresh: bool,
    },
    /// The file is gone.
    Gone,
}

/// Facts that the engine saw live. No file holds them, or their file may be gone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SeenFacts {
    /// Processes that changed sessions.
    pub moves: Vec<RegistryMove>,
    /// Read markers, by their files.
    pub markers: Vec<(String, Vec<Marker>)>,
    /// What was known of sessions at the compactions of these markers.
    pub neighbours: Neighbours,
}

impl SeenFacts {
    /// The sessions that these facts name.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        let moved = self.moves.iter().flat_map(|seen| [&seen.from, &seen.to]);
        let beside = self.neighbours.iter().flat_map(|(of, others)| others.keys().chain([of]));
        let marked = self.markers.iter().flat_map(|(_, markers)| markers).map(|marker| &marker.session);
        moved.chain(marked).chain(beside)
    }

    /// A copy without the entries that name a session for which `is_removed` is true: that must not be stored.
    #[must_use]
    pub fn without(&self, is_removed: &dyn Fn(&str) -> bool) -> Self {
        let may_store = |id: &SessionId| !is_removed(id.as_str());
        let moves =
            self.moves.iter().filter(|seen| may_store(&seen.from) && may_store(&seen.to)).cloned().collect();
        let markers = self.markers.iter().map(|(path, markers)| {
            (
                path.clone(),
                markers.iter().filter(|marker| may_store(&marker.session)).cloned().collect::<Vec<_>>(),
            )
        });
        let mut neighbours = self.neighbours.clone();
        neighbours.retain(|of, others| {
            others.retain(|other, _| may_store(other));
            may_store(of) && !others.is_empty()
        });
        // A marker's file name contains the session id, so leave out the path too.
        Self { moves, markers: markers.filter(|(_, markers)| !markers.is_empty()).collect(), neighbours }
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
            && self.user_edits.is_empty()
            && self.answers.is_empty()
            && self.carried_out.is_none()
            && self.forgotten.is_empty()
            && self.facts.is_none()
            && !self.all_rows
            && !self.rows_behind
    }

    /// Appends later changes to these, which could not be stored yet.
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
                // A file after a removed one is a new file.
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
        self.user_edits.extend(later.user_edits);
        self.answers.extend(later.answers);
        self.carried_out = later.carried_out.or(self.carried_out.take());
        self.forgotten.extend(later.forgotten);
        self.facts = later.facts.or(self.facts.take());
        self.all_rows = later.all_rows || self.all_rows && !later.rows_behind;
        self.rows_behind |= later.rows_behind;
        self.left_out.extend(later.left_out);
    }
}

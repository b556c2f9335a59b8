//! Changes that are not in the store yet.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use watchbill_core::chain::lineage::RegistryMove;
use watchbill_core::chain::link::Link;
use watchbill_core::ids::SessionId;
use watchbill_core::roster::row::Row;
use watchbill_core::user::EditChange;

use crate::persist::changes::{AnswerChange, Changes};

/// Which of the next rows to store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NextRows {
    /// Store each row that differs from the last one.
    #[default]
    MayDiffer,
    /// The store has these rows. Only changes caused by passing time are missing.
    Stored,
}

/// Which sessions have a stored row.
#[derive(Default)]
enum StoredRows {
    /// Every session has its row.
    #[default]
    Complete,
    /// Transcripts were stored ahead of rows, or rows ahead of their chains. These sessions have no stored row yet.
    /// After the restore, only those at rest stay in the set.
    Behind(FxHashSet<SessionId>),
}

/// The changes since [`Pending::take`].
#[derive(Default)]
pub(crate) struct Pending {
    /// Whether changes are noted.
    on: bool,
    /// This run only fills the store; no caller reads rows.
    alone: bool,
    files: BTreeSet<PathBuf>,
    rows: BTreeMap<SessionId, Row>,
    gone: BTreeSet<SessionId>,
    next_rows: NextRows,
    stored_rows: StoredRows,
    transitions: Vec<Row>,
    links: bool,
    new_links: Vec<Link>,
    old_links: Vec<Link>,
    user_edits: Vec<EditChange>,
    answers: Vec<AnswerChange>,
    markers: bool,
    last_move: Option<RegistryMove>,
    /// Files with an unusable stored state. They must be read from their beginning.
    begun_anew: Vec<PathBuf>,
}

impl Pending {
    /// Notes changes from now on.
    pub fn keep(&mut self) {
        self.on = true;
    }

    /// Whether changes are noted.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Changes are only stored; no caller sees rows.
    pub fn keep_alone(&mut self) {
        self.alone = true;
    }

    /// Whether rows are made only to be stored.
    pub fn is_store_only(&self) -> bool {
        self.alone
    }

    /// A transcript was read or removed, or its tokens count differently.
    pub fn file(&mut self, path: &Path) {
        if self.on {
            self.files.insert(path.to_path_buf());
        }
    }

    /// A row changed.
    pub fn row(&mut self, row: &Row) {
        if self.on && (self.next_rows == NextRows::MayDiffer || self.lacks_row(&row.session_id)) {
            self.gone.remove(&row.session_id);
            self.rows.insert(row.session_id.clone(), row.clone());
        }
    }

    /// A session that had a row has none now.
    pub fn gone(&mut self, id: &SessionId) {
        if self.on {
            self.rows.remove(id);
            self.gone.insert(id.clone());
        }
    }

    /// Sets which of the next rows to store.
    pub fn expect_rows(&mut self, next: NextRows) {
        self.next_rows = next;
    }

    /// Whether a session has no stored row yet, though its transcript was stored.
    pub fn lacks_row(&self, id: &SessionId) -> bool {
        matches!(&self.stored_rows, StoredRows::Behind(lacking) if lacking.contains(id))
    }

    /// These sessions may have no stored rows yet.
    pub fn rows_are_behind(&mut self, sessions: impl Iterator<Item = SessionId>) {
        match &mut self.stored_rows {
            StoredRows::Behind(lacking) => lacking.extend(sessions),
            StoredRows::Complete => self.stored_rows = StoredRows::Behind(sessions.collect()),
        }
    }

    /// Keeps only these sessions in the set of those without a stored row. Says whether any is left.
    pub fn retain_lacking(&mut self, stays: impl Fn(&SessionId) -> bool) -> bool {
        let StoredRows::Behind(lacking) = &mut self.stored_rows else { return false };
        lacking.retain(stays);
        !lacking.is_empty()
    }

    /// The rows of these sessions were made, or they have none.
    pub fn rows_made(&mut self, sessions: &BTreeSet<SessionId>) {
        self.next_rows = NextRows::MayDiffer;
        if let StoredRows::Behind(lacking) = &mut self.stored_rows
            && !lacking.is_empty()
        {
            for id in sessions {
                lacking.remove(id);
            }
        }
    }

    /// The state of a row changed.
    pub fn transition(&mut self, row: &Row) {
        if self.on {
            self.transitions.push(row.clone());
        }
    }

    /// All chains were resolved again.
    pub fn links(&mut self) {
        self.links = self.on;
    }

    /// Some chains were resolved again: these links are new, those no longer hold.
    pub fn other_links(&mut self, new: Vec<Link>, old: Vec<Link>) {
        if self.on {
            self.new_links.retain(|link| !old.contains(link));
            self.old_links.retain(|link| !new.contains(link));
            self.new_links.extend(new);
            self.old_links.extend(old);
        }
    }

    /// A user edit was made, or has ended.
    pub fn user_edit(&mut self, change: &EditChange) {
        if self.on {
            self.user_edits.push(change.clone());
        }
    }

    /// The user has answered a request, or the outcome of an answer is known.
    pub fn answer(&mut self, change: AnswerChange) {
        if self.on {
            self.answers.push(change);
        }
    }

    /// A marker is new.
    pub fn markers(&mut self) {
        self.markers = self.on;
    }

    /// Sets the newest stored move of a process.
    pub fn set_last_move(&mut self, newest: Option<RegistryMove>) {
        self.last_move = newest;
    }

    /// The stored state of a file is unusable, so it must be read from its beginning.
    pub fn read_from_start(&mut self, path: &Path) {
        self.begun_anew.push(path.to_path_buf());
    }

    /// Takes the files to read from their beginning.
    pub fn take_begun_anew(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.begun_anew)
    }

    /// Takes the changed files.
    pub fn take_files(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.files)
    }

    /// Whether registry moves or markers changed since the last call.
    pub fn take_facts_due(&mut self, newest: Option<&RegistryMove>) -> bool {
        let moved = newest != self.last_move.as_ref();
        if moved {
            self.last_move = newest.cloned();
        }
        std::mem::take(&mut self.markers) | moved
    }

    /// Whether to store all links.
    pub fn take_links_due(&mut self) -> bool {
        std::mem::take(&mut self.links)
    }

    /// Takes everything except files, links and facts. `chains_wait`: rows are stored ahead of their
    /// chains. `all_made`: no row is due.
    pub fn take(&mut self, chains_wait: bool, all_made: bool) -> Changes {
        let was_behind = matches!(self.stored_rows, StoredRows::Behind(_));
        let rows_behind = chains_wait && !was_behind;
        if rows_behind {
            self.stored_rows = StoredRows::Behind(HashSet::default());
        }
        let all_rows =
            all_made && matches!(&self.stored_rows, StoredRows::Behind(lacking) if lacking.is_empty());
        if all_rows {
            self.stored_rows = StoredRows::Complete;
        }
        Changes {
            rows: std::mem::take(&mut self.rows),
            gone: std::mem::take(&mut self.gone),
            transitions: std::mem::take(&mut self.transitions),
            new_links: std::mem::take(&mut self.new_links),
            old_links: std::mem::take(&mut self.old_links),
            user_edits: std::mem::take(&mut self.user_edits),
            answers: std::mem::take(&mut self.answers),
            rows_behind,
            all_rows,
            ..Changes::default()
        }
    }
}

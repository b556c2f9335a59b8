//! What has changed and is not in the store yet.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;
use watchbill_core::chain::lineage::RegistryMove;
use watchbill_core::chain::link::Link;
use watchbill_core::ids::SessionId;
use watchbill_core::person::Change;
use watchbill_core::roster::row::Row;

use crate::persist::changes::{AnswerChange, Changes};

/// What the store has of the rows that are made next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum NextRows {
    /// Each is stored that is another one than before.
    #[default]
    MayDiffer,
    /// An earlier run has stored them, as far as they do not depend on the time.
    Stored,
}

/// What the store has of the rows of all sessions.
#[derive(Default)]
enum StoredRows {
    /// Every session has its row.
    #[default]
    Complete,
    /// Transcripts were stored ahead of rows, or rows ahead of their chains. These sessions have no row yet; once all are
    /// taken up, those of them that rest.
    Behind(FxHashSet<SessionId>),
}

/// What has changed since [`Pending::take`].
#[derive(Default)]
pub(crate) struct Pending {
    /// Somebody keeps what changes.
    on: bool,
    /// And nobody looks at it.
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
    words: Vec<Change>,
    answers: Vec<AnswerChange>,
    markers: bool,
    last_move: Option<RegistryMove>,
    /// What was kept of these is of no use: they are to be read from their beginning.
    begun_anew: Vec<PathBuf>,
}

impl Pending {
    /// From now on somebody keeps what changes.
    pub fn keep(&mut self) {
        self.on = true;
    }

    /// Whether anybody does.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// What is found out is kept, and shown to nobody.
    pub fn keep_alone(&mut self) {
        self.alone = true;
    }

    /// Whether rows are made to be kept alone.
    pub fn is_alone(&self) -> bool {
        self.alone
    }

    /// A transcript was read, or is gone, or its tokens are counted otherwise.
    pub fn file(&mut self, path: &Path) {
        if self.on {
            self.files.insert(path.to_path_buf());
        }
    }

    /// A row is another one than before.
    pub fn row(&mut self, row: &Row) {
        if self.on && (self.next_rows == NextRows::MayDiffer || self.lacks_row(&row.session_id)) {
            self.gone.remove(&row.session_id);
            self.rows.insert(row.session_id.clone(), row.clone());
        }
    }

    /// There is nothing to show any more of a session that had a row.
    pub fn gone(&mut self, id: &SessionId) {
        if self.on {
            self.rows.remove(id);
            self.gone.insert(id.clone());
        }
    }

    /// What the store has of the rows that are made next.
    pub fn expect_rows(&mut self, next: NextRows) {
        self.next_rows = next;
    }

    /// Whether a session has no stored row yet, though its transcript was stored.
    pub fn lacks_row(&self, id: &SessionId) -> bool {
        matches!(&self.stored_rows, StoredRows::Behind(lacking) if lacking.contains(id))
    }

    /// These sessions have no stored rows yet, or may have none.
    pub fn rows_are_behind(&mut self, sessions: impl Iterator<Item = SessionId>) {
        match &mut self.stored_rows {
            StoredRows::Behind(lacking) => lacking.extend(sessions),
            StoredRows::Complete => self.stored_rows = StoredRows::Behind(sessions.collect()),
        }
    }

    /// Forgets which sessions have no stored row, but for those. Says whether any had none.
    pub fn retain_lacking(&mut self, stays: impl Fn(&SessionId) -> bool) -> bool {
        let StoredRows::Behind(lacking) = &mut self.stored_rows else { return false };
        lacking.retain(stays);
        !lacking.is_empty()
    }

    /// The rows of these were made, as far as they have any.
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

    /// The state of a row has just changed.
    pub fn transition(&mut self, row: &Row) {
        if self.on {
            self.transitions.push(row.clone());
        }
    }

    /// The chains were resolved anew.
    pub fn links(&mut self) {
        self.links = self.on;
    }

    /// Some of the chains were resolved anew: these links are new, and those are not so any more.
    pub fn other_links(&mut self, new: Vec<Link>, old: Vec<Link>) {
        if self.on {
            self.new_links.retain(|link| !old.contains(link));
            self.old_links.retain(|link| !new.contains(link));
            self.new_links.extend(new);
            self.old_links.extend(old);
        }
    }

    /// The person has said something, or what they said has had its time.
    pub fn word(&mut self, change: &Change) {
        if self.on {
            self.words.push(change.clone());
        }
    }

    /// The user has answered a request, or it is known what came of an answer.
    pub fn answer(&mut self, change: AnswerChange) {
        if self.on {
            self.answers.push(change);
        }
    }

    /// A marker is new.
    pub fn markers(&mut self) {
        self.markers = self.on;
    }

    /// The newest move of a process that the store has.
    pub fn set_last_move(&mut self, newest: Option<RegistryMove>) {
        self.last_move = newest;
    }

    /// What was kept of a file is of no use: it is to be read from its beginning.
    pub fn begin_anew(&mut self, path: &Path) {
        self.begun_anew.push(path.to_path_buf());
    }

    /// Takes the files that are to be read from their beginning.
    pub fn take_begun_anew(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.begun_anew)
    }

    /// Takes the files that have changed.
    pub fn take_files(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut self.files)
    }

    /// Whether what no file will tell again has changed, since this was asked last.
    pub fn take_facts_due(&mut self, newest: Option<&RegistryMove>) -> bool {
        let moved = newest != self.last_move.as_ref();
        if moved {
            self.last_move = newest.cloned();
        }
        std::mem::take(&mut self.markers) | moved
    }

    /// Whether all links are to be stored.
    pub fn take_links_due(&mut self) -> bool {
        std::mem::take(&mut self.links)
    }

    /// Takes everything else, but for what the engine knows better. `chains_wait`: rows are stored ahead of their chains;
    /// `all_made`: no row is to be made any more.
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
            words: std::mem::take(&mut self.words),
            answers: std::mem::take(&mut self.answers),
            rows_behind,
            all_rows,
            ..Changes::default()
        }
    }
}

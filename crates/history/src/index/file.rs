//! The history of one file: the read position, and the fold.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use watchbill_agents::Agent;
use watchbill_agents::files::parser_of;
use watchbill_agents::layout::ClientPath;
use watchbill_agents::traits::Parser;
use watchbill_core::history::{HistoryFold, HistorySettings};
use watchbill_core::ids::SessionId;
use watchbill_core::session::IdSet;
use watchbill_core::transcript::line_splitter::Line;
use watchbill_store::{FileKey, SessionKey, Store, StoreError, WriteTransaction};
use watchbill_watch::fs::Fs;

use super::beside::RecordObserver;
use super::indexed::{FileReadCounts, IndexError};
use super::rows::Rows;
use super::saved_state::{self, IdParts, StoredState};
use super::supplement;
use crate::reader::{LineReceiver, Reader, add_folder, folder_beside};

/// One file.
pub struct FileHistory {
    /// The file's session, from its path or its records.
    owner: Option<SessionId>,
    by: Agent,
    agent: Option<Arc<str>>,
    reader: Reader,
    /// The keys of the file and its session in the store; `None` until something of the file is stored.
    keys: Option<(FileKey, SessionKey)>,
    fold: Option<HistoryFold>,
    seen: IdSet,
    ids: IdParts,
    /// Unreadable lines, counted while the store has no row of the file that could hold the count.
    early_problems: u64,
}

impl FileHistory {
    /// Restores the file's state from the store, or begins with the first byte.
    pub fn take_up(store: &Store, path: &Path, place: &ClientPath) -> Result<Self, StoreError> {
        let (owner, agent) = match place {
            ClientPath::Transcript { session, .. } => (Some(session.clone()), None),
            ClientPath::Subagent { session, agent, .. } => (Some(session.clone()), Some(Arc::clone(agent))),
            // Its records name the session.
            ClientPath::FlatSubagent { agent, .. } => (None, Some(Arc::clone(agent))),
            _ => (None, None),
        };
        let mut file = Self {
            owner,
            by: place.agent(),
            agent,
            reader: Reader::default(),
            keys: None,
            fold: None,
            seen: new_set(),
            ids: IdParts::default(),
            early_problems: 0,
        };
        match saved_state::read(store, path, file.agent.as_deref())? {
            StoredState::Resumable(kept)
                if file.owner.as_ref().is_none_or(|owner| owner == kept.fold.session()) =>
            {
                file.owner = Some(kept.fold.session().clone());
                file.reader = Reader::resume(kept.cursor, kept.line_start);
                file.keys = Some((kept.file, kept.session));
                file.fold = Some(kept.fold);
                file.seen = kept.seen;
                file.ids = kept.ids;
            }
            StoredState::Resumable(kept) => file.mark_stale((kept.file, kept.session)),
            StoredState::RowsOnly(rows, session) => file.mark_stale((rows, session)),
            StoredState::New => {}
        }
        Ok(file)
    }

    /// The stored rows have an earlier form, so the file is read anew.
    fn mark_stale(&mut self, keys: (FileKey, SessionKey)) {
        (self.keys, self.reader) = (Some(keys), Reader::from_first_byte());
    }

    /// The fold, if this is the session's own transcript. It is created if a hook event comes before the first
    /// record.
    pub fn own_fold(&mut self, session: &SessionId) -> Option<&mut HistoryFold> {
        let own = self.agent.is_none() && self.owner.as_ref() == Some(session);
        own.then(|| self.fold.get_or_insert_with(|| HistoryFold::new(session.clone(), None)))
    }

    /// Removes all stored rows of the file.
    pub fn remove(&mut self, step: &mut WriteTransaction<'_>) -> Result<(), StoreError> {
        if let Some((file, _)) = self.keys.take() {
            step.remove_file(file)?;
        }
        self.begin_anew();
        self.reader = Reader::default();
        Ok(())
    }

    fn begin_anew(&mut self) {
        self.fold = None;
        self.seen = new_set();
        self.ids = IdParts::default();
        self.early_problems = 0;
    }

    /// Reads the new part of the file and stores it in the step.
    pub fn read<B: RecordObserver>(
        &mut self,
        fs: &dyn Fs,
        step: &mut WriteTransaction<'_>,
        path: &Path,
        budget: u64,
        with: ReadContext<'_, B>,
    ) -> Result<FileReadCounts, IndexError> {
        let ReadContext { settings, forgotten, scratch, mut beside } = with;
        if self.owner.as_ref().is_some_and(|owner| forgotten.contains(owner)) {
            return Ok(FileReadCounts { skipped: true, ..FileReadCounts::default() });
        }
        let name = path.to_string_lossy();
        if let (None, Some(owner)) = (&self.agent, &self.owner) {
            supplement::trim(fs, step, owner, path)?;
        }
        let mut reader = std::mem::take(&mut self.reader);
        let mut run = FileRead {
            file: self,
            step,
            fs,
            settings,
            forgotten,
            name: &name,
            parse: parser_of(path),
            folder: folder_beside(fs, path),
            beside: beside.as_deref_mut(),
            count: FileReadCounts::default(),
            failed: None,
        };
        let outcome = reader.read(fs, path, scratch, budget, &mut run);
        run.flush_items();
        let FileRead { mut count, failed, .. } = run;
        self.reader = reader;
        if let Some(error) = failed {
            return Err(error.into());
        }
        let outcome = outcome?;
        if let Some(beside) = beside {
            beside.stands(&self.reader);
        }
        (count.bytes, count.more) = (outcome.bytes_read, outcome.more);
        let changed = count.bytes > 0 || outcome.restarted.is_some();
        if let (Some((file, _)), Some(fold), Some(cursor)) = (self.keys, &mut self.fold, self.reader.cursor())
            && changed
        {
            if fold.take_left_out() {
                step.note_excluded_part(file)?;
            }
            let line_start = self.reader.line_start();
            saved_state::write(step, file, cursor, line_start, &mut self.seen, fold, &mut self.ids)?;
            step.count_problems(file, count.problems + std::mem::take(&mut self.early_problems))?;
        } else {
            count.skipped = count.skipped || self.keys.is_none();
            self.early_problems += count.problems;
        }
        Ok(count)
    }
}

/// The other arguments of one read.
pub struct ReadContext<'w, B> {
    pub settings: &'w HistorySettings,
    pub forgotten: &'w HashSet<SessionId>,
    pub scratch: &'w mut Vec<u8>,
    /// Receives every record too.
    pub beside: Option<&'w mut B>,
}

fn new_set() -> IdSet {
    let mut set = IdSet::default();
    set.note_new();
    set
}

/// One read of a file.
struct FileRead<'r, 's, B> {
    file: &'r mut FileHistory,
    step: &'r mut WriteTransaction<'s>,
    fs: &'r dyn Fs,
    settings: &'r HistorySettings,
    forgotten: &'r HashSet<SessionId>,
    name: &'r str,
    parse: Parser,
    /// The working folder, if no record names it.
    folder: Option<String>,
    beside: Option<&'r mut B>,
    count: FileReadCounts,
    failed: Option<StoreError>,
}

impl<B: RecordObserver> LineReceiver for FileRead<'_, '_, B> {
    fn restarted(&mut self) {
        self.file.begin_anew();
        if let Some(beside) = &mut self.beside {
            beside.restarted();
        }
        if let Some((file, _)) = self.file.keys {
            let reset = self.step.reset_file(file);
            self.note(reset);
        }
    }

    fn line(&mut self, line: Line<'_>) {
        if self.failed.is_some() {
            return;
        }
        let report = (self.parse)(line.bytes, &mut |mut record, full| {
            add_folder(&mut record, self.folder.as_deref());
            let folder = self.file.fold.as_ref().and_then(HistoryFold::folder);
            self.settings.exclude.clear_excluded_targets(&mut record, full, folder);
            if let Some(beside) = &mut self.beside {
                beside.record(&record);
            }
            if self.file.owner.is_none() {
                self.file.owner = record.envelope.session_id.as_deref().map(SessionId::new);
            }
            let known = record.envelope.uuid.is_some_and(|id| !self.file.seen.insert(id));
            if known || !self.begun() {
                return;
            }
            let Self { file, step, fs, settings, count, failed, .. } = self;
            let (Some((key, session)), Some(fold)) = (file.keys, &mut file.fold) else { return };
            let mut rows = Rows { step, session, file: Some(key), fs: *fs, texts: 0, failed: failed.take() };
            fold.apply(line.offset, &record, full, settings, &mut |item| rows.take(item));
            count.texts += rows.texts;
            *failed = rows.failed;
        });
        if let Some(beside) = &mut self.beside {
            beside.line(&report);
        }
        self.count.records += u64::from(report.records);
        let unknown = u64::from(report.unknown_type.is_some());
        self.count.unknown += unknown;
        self.count.problems += report.problems().count() as u64 - unknown;
    }

    fn huge_line(&mut self) {
        self.count.problems += 1;
        if let Some(beside) = &mut self.beside {
            beside.huge_line();
        }
    }

    fn carried(&mut self, bytes: u64) {
        if let Some(beside) = &mut self.beside {
            beside.carried(bytes);
        }
    }
}

impl<B: RecordObserver> FileRead<'_, '_, B> {
    fn note(&mut self, done: Result<(), StoreError>) {
        if let (Err(error), None) = (done, &self.failed) {
            self.failed = Some(error);
        }
    }

    /// Whether the file's session is known and may be stored. Creates the keys and the fold if they are missing.
    fn begun(&mut self) -> bool {
        if self.file.fold.is_some() && self.file.keys.is_some() {
            return true;
        }
        let Some(owner) = self.file.owner.clone() else { return false };
        if self.failed.is_some() || self.forgotten.contains(&owner) {
            self.count.skipped = true;
            return false;
        }
        let agent = self.file.agent.clone();
        let keys = self
            .step
            .session_key(&owner)
            .and_then(|session| Ok((self.step.file_key(self.name, session, agent.as_deref())?, session)))
            .and_then(|(file, session)| {
                // The default agent stands in each new row.
                if self.file.by != Agent::default() {
                    self.step.set_agent(session, self.file.by)?;
                }
                Ok((file, session))
            });
        match keys {
            Ok(keys) => self.file.keys = Some(keys),
            Err(error) => {
                self.failed = Some(error);
                return false;
            }
        }
        self.file.fold.get_or_insert_with(|| HistoryFold::new(owner, agent.as_deref()));
        true
    }

    /// Stores the items that the fold has held back.
    fn flush_items(&mut self) {
        let (Some((key, session)), Some(fold)) = (self.file.keys, &mut self.file.fold) else { return };
        if self.failed.is_some() {
            return;
        }
        let mut rows =
            Rows { step: self.step, session, file: Some(key), fs: self.fs, texts: 0, failed: None };
        fold.settle(&mut |item| rows.take(item));
        self.failed = rows.failed;
    }
}

//! Opens the store: which process writes, which schema it has, and how a damaged file is handled.

use std::path::Path;

use crate::access::{Access, DatabaseState, OpenMode};
use crate::connect;
use crate::damage_note::DamageNote;
use crate::error::StoreError;
use crate::index_state::{Lag, MergeState};
use crate::lock::{self, LockResult, WriterLock};
use crate::log_pages::note_length;
use crate::names::{DATABASE, LOCK, beside};
use crate::open_files::OpenFiles;
use crate::store::Store;
use crate::tables::meta_names::{INDEX_VERSION, UNINDEXED};
use crate::{folder, salvage, schema, text};

impl Store {
    /// Opens the store in `data_dir`.
    ///
    /// # Errors
    /// When there is nothing to read, the schema is newer, or the system refuses. A damaged file is no error for
    /// the writer: it is set aside, and [`origin`](Self::origin) reports that.
    pub fn open(data_dir: &Path, mode: OpenMode) -> Result<Self, StoreError> {
        if mode == OpenMode::Read {
            if is_half_written(&data_dir.join(DATABASE)) {
                // Only a writer may roll the half step back. If another process is writing it, there is nothing to
                // repair.
                drop(Self::take_over(data_dir)?);
            }
            return Self::open_reader(data_dir, None);
        }
        folder::make_data(data_dir)?;
        match lock::acquire(&data_dir.join(LOCK))? {
            LockResult::Taken(lock) => Self::open_writer(data_dir, lock),
            LockResult::HeldBy(held_by) => Self::open_reader(data_dir, held_by),
        }
    }

    /// Opens the store for writing; `None` if another process writes. For a process that reads meanwhile: trying
    /// costs one look at a lock.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn take_over(data_dir: &Path) -> Result<Option<Self>, StoreError> {
        match lock::acquire(&data_dir.join(LOCK))? {
            LockResult::Taken(lock) => Self::open_writer(data_dir, lock).map(Some),
            LockResult::HeldBy(_) => Ok(None),
        }
    }

    fn open_writer(data_dir: &Path, lock: WriterLock) -> Result<Self, StoreError> {
        let path = data_dir.join(DATABASE);
        let suspect = DamageNote::of(&path);
        let raised = suspect.counts_now();
        let mut left_over = salvage::unfinished_copies(&path)?;
        let (mut sql, mut origin) = match connect::connect_writer(&path, raised) {
            Err(StoreError::Damaged { detail, .. }) => {
                let to = salvage::set_aside_database(&path)?;
                tracing::warn!(path = %path.display(), to = %to.display(), detail, "a damaged store is set aside");
                left_over.push(to.clone());
                (connect::connect_writer(&path, false)?.0, DatabaseState::SetAside { to, detail, saved: 0 })
            }
            other => other?,
        };
        if let Some(to) = left_over.last().cloned() {
            let rows = salvage::copy_rows(&path, &left_over, &mut sql)?;
            match &mut origin {
                DatabaseState::SetAside { saved, .. } => *saved = rows,
                _ if rows > 0 => {
                    let detail = "an earlier start ended before its rows were copied".to_owned();
                    origin = DatabaseState::SetAside { to, detail, saved: rows };
                }
                _ => {}
            }
        }
        let place = OpenFiles::of(&path, Some(lock.file()));
        let mut store = Self::from_parts(sql, path, Access::Writer, origin, place, Some(lock));
        note_length(&mut store.sql, &store.log).map_err(|e| StoreError::of(store.path(), &e))?;
        store.sync_forgotten_list()?;
        store.restore_archive_rows()?;
        store.repair_index(suspect.counts_now())?;
        // Damage that this start has met is searched for at the next one.
        if suspect.is_there() && suspect.counts_now() == raised {
            store.clear_damage_note(&suspect)?;
        }
        Ok(store)
    }

    /// Repairs the index: it may be in the bulk state, of another version, or damaged.
    fn repair_index(&mut self, suspect: bool) -> Result<(), StoreError> {
        let behind = self.meta(UNINDEXED)?.and_then(|first| first.parse().ok());
        self.lag.set(behind.map(|first| Lag { first, bytes: 0 }));
        let version = text::VERSION.to_string();
        let current = self.meta(INDEX_VERSION)?.is_some_and(|made| made == version);
        if !current || (suspect && !self.index_is_sound()?) {
            self.rebuild_index()?;
            let mut step = self.step()?;
            step.set_meta(INDEX_VERSION, &version)?;
            step.commit()
        } else if self.is_left_tuned()? || behind.is_some() {
            self.end_bulk_insert()
        } else {
            if !self.is_tidy()? {
                // A caller may never tidy the index, so the steps do.
                self.reset_usermerge()?;
                self.index_state.set(MergeState::Untidy(0));
            }
            Ok(())
        }
    }

    fn open_reader(data_dir: &Path, held_by: Option<u32>) -> Result<Self, StoreError> {
        Self::try_to_read(data_dir, held_by).map_err(StoreError::for_reader)
    }

    fn try_to_read(data_dir: &Path, held_by: Option<u32>) -> Result<Self, StoreError> {
        let path = data_dir.join(DATABASE);
        if folder::size(&path) == 0 {
            return Err(StoreError::Absent { path });
        }
        let place = OpenFiles::of(&path, None);
        let (sql, found) = match connect::connect_reader(&path, false) {
            // In a read-only folder, or without free space, the log's companion cannot be created. Without a log to
            // read, the database file alone is complete.
            Err(StoreError::ReadOnly { .. } | StoreError::Full { .. } | StoreError::Io { .. })
                if folder::size(&beside(&path, "-wal")) == 0 && !is_half_written(&path) =>
            {
                connect::connect_reader(&path, true)?
            }
            other => other?,
        };
        connect::check_version(&path, &sql, found)?;
        // Another process is creating it at this moment, or could not, because the disk was full.
        if found == 0 && schema::is_empty(&sql).map_err(|e| StoreError::of(&path, &e))? {
            return Err(StoreError::Absent { path });
        }
        Ok(Self::from_parts(sql, path, Access::Reader { held_by }, DatabaseState::Current, place, None))
    }

    /// Another connection to the same store, for another thread. It only reads.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn reader(&self) -> Result<Self, StoreError> {
        let folder = self.path().parent().unwrap_or(Path::new("."));
        Self::open_reader(folder, Some(std::process::id()).filter(|_| self.access() == Access::Writer))
    }

    /// Another writing connection, for long work. Meanwhile another thread of this process may read through this
    /// store, but must not write. Afterwards call [`adopt_second_writer`](Self::adopt_second_writer).
    ///
    /// # Errors
    /// When this process only reads, or the database cannot be opened.
    pub fn second_writer(&self) -> Result<Self, StoreError> {
        self.require_writer()?;
        self.check_in_place()?;
        // A writer without the log excludes any other writer.
        self.return_to_log()?;
        let mut sql = connect::open_for_writing(self.path()).map_err(|e| self.map_error(&e))?;
        note_length(&mut sql, &self.log).map_err(|e| self.map_error(&e))?;
        Ok(self.with_connection(sql))
    }
}

/// Whether a step without the log is being written, or was left half written by a kill.
fn is_half_written(path: &Path) -> bool {
    folder::size(&beside(path, "-journal")) > 0
}

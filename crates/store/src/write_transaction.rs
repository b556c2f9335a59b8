//! One step of the writer: a transaction, committed as a whole or not at all.

use std::collections::HashMap;
use std::path::Path;

use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, Params};
use watchbill_core::history::rows::Text;
use watchbill_core::time::Timestamp;

use crate::index_state::{Lag, MergeState};
use crate::tables::meta_names::UNINDEXED;
use crate::tables::{FileKey, SessionKey, at, count};
use crate::unindexed_texts::CachedTexts;
use crate::{Store, StoreError};

/// Everything that one step of the engine stores. Dropped without [`commit`](WriteTransaction::commit), it stores nothing.
#[derive(Debug)]
pub struct WriteTransaction<'a> {
    /// Its queries see what the step has written: they use the same connection.
    pub(crate) store: &'a Store,
    transaction: Transaction<'a>,
    /// Counts of the stored texts, by file: written once, at the end.
    texts: HashMap<FileKey, TextCount>,
    /// How far the index is behind.
    unindexed: Option<Lag>,
    /// The texts that are not indexed, as far as they are in memory.
    cached_texts: CachedTexts,
    /// Statements of this step, ready to run again. The connection's own cache looks up and copies the SQL text
    /// each time.
    ready: Vec<PreparedStatement<'a>>,
}

/// During a bulk insert, texts are indexed when they have so many bytes: as many as give one segment of the index.
const BULK_BATCH_BYTES: usize = 8 << 20;

/// Counts of a file's texts that this step has stored.
#[derive(Debug, Clone, Copy, Default)]
struct TextCount {
    texts: u64,
    cut: u64,
    newest: Option<Timestamp>,
}

/// A writing transaction, rolled back unless it is committed. rusqlite's own transaction compiles its SQL anew each
/// time. That uses a part of SQLite that storing a line does not need otherwise.
#[derive(Debug)]
struct Transaction<'a>(&'a Connection);

/// A compiled statement and its SQL text.
struct PreparedStatement<'a> {
    sql_text: &'static str,
    statement: CachedStatement<'a>,
}

impl std::fmt::Debug for PreparedStatement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.sql_text)
    }
}

impl<'a> Transaction<'a> {
    fn begin(sql: &'a Connection) -> rusqlite::Result<Self> {
        sql.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(Self(sql))
    }

    fn commit(self) -> rusqlite::Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // After some errors SQLite has rolled back by itself.
        if !self.0.is_autocommit()
            && let Err(error) = self.0.execute_batch("ROLLBACK")
        {
            tracing::warn!(%error, "a step of the store could not be rolled back");
        }
    }
}

impl Store {
    /// Begins a step.
    ///
    /// # Errors
    /// When this process only reads, or the database is locked, cannot be written, or was removed.
    pub fn step(&mut self) -> Result<WriteTransaction<'_>, StoreError> {
        self.require_writer()?;
        self.check_in_place()?;
        let store = &*self;
        // The exclusive borrow of the store keeps a second transaction from beginning inside this one.
        let transaction = Transaction::begin(&store.sql).map_err(|e| store.map_error(&e))?;
        if !store.unlogged.get() {
            store.place.note_log(store.path());
        }
        // If the step is dropped, nothing of it is stored, and the texts in memory are read from the database
        // again.
        let cached_texts = store.cached_texts.take();
        let (texts, unindexed, ready) = (HashMap::new(), store.lag.get(), Vec::new());
        Ok(WriteTransaction { store, transaction, texts, unindexed, cached_texts, ready })
    }
}

impl<'a> WriteTransaction<'a> {
    /// The file of the database.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// Commits everything in the step.
    ///
    /// # Errors
    /// When the database cannot be written; then nothing of the step is stored.
    pub fn commit(mut self) -> Result<(), StoreError> {
        if self.unindexed.is_some() && self.store.index_state.get() != MergeState::Bulk {
            self.index_all()?;
            self.merge_after_step(&self.store.index_state)?;
        }
        self.note_lag()?;
        for (file, stored) in std::mem::take(&mut self.texts) {
            self.run(
                "UPDATE files SET texts = texts + ?2, cut_bytes = cut_bytes + ?3,
                    text_at = max(coalesce(text_at, ?4), coalesce(?4, text_at)) WHERE id = ?1",
                (file, count(stored.texts), count(stored.cut), at(stored.newest)),
            )?;
        }
        let Self { store, transaction, unindexed, cached_texts, .. } = self;
        transaction.commit().map_err(|e| store.map_error(&e))?;
        store.lag.set(unindexed);
        if store.index_state.get() == MergeState::Bulk {
            store.cached_texts.replace(cached_texts);
        }
        Ok(())
    }

    /// The index may stay behind over several steps. The database notes its first missing text, for a start after a
    /// kill.
    fn note_lag(&mut self) -> Result<(), StoreError> {
        let first = self.unindexed.map(|lag| lag.first);
        if first == self.store.lag.get().map(|lag| lag.first) {
            return Ok(());
        }
        match first {
            Some(first) => self.set_meta(UNINDEXED, &first.to_string()),
            None => self.run("DELETE FROM meta WHERE name = ?1", [UNINDEXED]).map(drop),
        }
    }

    /// Runs one statement; returns how many rows changed.
    pub(crate) fn run(&mut self, sql: &'static str, params: impl Params) -> Result<usize, StoreError> {
        let store = self.store;
        self.ready(sql).and_then(|statement| statement.execute(params)).map_err(|e| store.map_error(&e))
    }

    /// Runs one statement whose SQL text is composed.
    pub(crate) fn run_composed(&mut self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        let run = self.transaction.0.prepare_cached(sql).and_then(|mut statement| statement.execute(params));
        run.map_err(|e| self.store.map_error(&e))
    }

    fn ready(&mut self, sql: &'static str) -> rusqlite::Result<&mut CachedStatement<'a>> {
        // Found by its address, because comparing SQL texts is the cost to avoid.
        let at = match self.ready.iter().position(|ready| std::ptr::eq(ready.sql_text, sql)) {
            Some(at) => at,
            None => {
                self.ready.push(PreparedStatement {
                    sql_text: sql,
                    statement: self.transaction.0.prepare_cached(sql)?,
                });
                self.ready.len() - 1
            }
        };
        Ok(&mut self.ready[at].statement)
    }

    /// Reads something in its state within this step.
    pub(crate) fn read<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        ask(self.transaction.0).map_err(|e| self.store.map_error(&e))
    }

    /// Runs one statement that returns one value.
    pub(crate) fn one<T: FromSql>(&mut self, sql: &str, params: impl Params) -> Result<T, StoreError> {
        self.transaction
            .0
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, |row| row.get(0)))
            .map_err(|e| self.store.map_error(&e))
    }

    /// Id of the row that was inserted last.
    pub(crate) fn last_id(&self) -> i64 {
        self.transaction.0.last_insert_rowid()
    }

    /// Counts a text that was just stored, and queues it for the index.
    pub(crate) fn note_text(
        &mut self,
        file: FileKey,
        session: SessionKey,
        row: &Text<'_>,
    ) -> Result<(), StoreError> {
        let stored = self.texts.entry(file).or_default();
        stored.texts += 1;
        stored.cut += row.cut;
        stored.newest = stored.newest.max(row.at);
        let id = self.last_id();
        if self.unindexed.is_none() {
            self.cached_texts.clear();
        }
        let lag = self.unindexed.get_or_insert(Lag { first: id, bytes: 0 });
        lag.bytes += row.text.len();
        self.cached_texts.take(id, row.text, session, row.role.as_str(), row.tool);
        if lag.bytes > BULK_BATCH_BYTES { self.index_all() } else { Ok(()) }
    }

    /// Indexes all stored texts. Must also run before texts are removed, because each removal is passed to the
    /// index.
    pub(crate) fn index_all(&mut self) -> Result<(), StoreError> {
        let Some(lag) = self.unindexed.take() else { return Ok(()) };
        if self.cached_texts.reaches_back_to(lag.first) {
            self.read(|sql| self.cached_texts.index(sql))?;
        } else {
            self.index_from(lag.first)?;
        }
        self.cached_texts.clear();
        Ok(())
    }

    /// Nothing is left to index: the index is made anew from all texts.
    pub(crate) fn clear_unindexed(&mut self) {
        self.unindexed = None;
        self.cached_texts.clear();
    }

    /// Drops the counts of a file together with its texts.
    pub(crate) fn drop_counts(&mut self, file: FileKey) {
        self.texts.remove(&file);
    }
}

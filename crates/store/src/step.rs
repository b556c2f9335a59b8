//! One step of the writer: a transaction, committed whole or not at all.

use std::collections::HashMap;

use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, Params};
use watchbill_core::history::rows::Text;
use watchbill_core::time::Timestamp;

use crate::at_hand::AtHand;
use crate::index_care::{Care, Lag};
use crate::tables::meta_names::UNINDEXED;
use crate::tables::{FileKey, SessionKey, at, count};
use crate::{Store, StoreError};

/// Everything that one step of the engine stores. Dropped without [`commit`](Step::commit), none of it is.
#[derive(Debug)]
pub struct Step<'a> {
    store: &'a Store,
    transaction: Transaction<'a>,
    /// What was stored of texts, by file: written once, at the end.
    texts: HashMap<FileKey, TextCount>,
    /// What is not indexed yet.
    unindexed: Option<Lag>,
    /// As much of it as is in memory.
    at_hand: AtHand,
    /// What was run, ready to be run again: the connection's own cache looks the words up, and copies them, each time.
    ready: Vec<Ready<'a>>,
}

/// So many bytes of texts are indexed at once while very many are stored: as many as give one piece of the index.
const INDEX_AT: usize = 8 << 20;

/// What a step has stored of a file's texts.
#[derive(Debug, Clone, Copy, Default)]
struct TextCount {
    texts: u64,
    cut: u64,
    newest: Option<Timestamp>,
}

/// A transaction that writes, rolled back unless it is committed. rusqlite's own has its words compiled anew each time, with
/// a part of SQLite that a line needs for nothing else.
#[derive(Debug)]
struct Transaction<'a>(&'a Connection);

/// A statement that was compiled, and its words.
struct Ready<'a> {
    words: &'static str,
    statement: CachedStatement<'a>,
}

impl std::fmt::Debug for Ready<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.words)
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
        // SQLite has rolled back by itself where that could not wait.
        if !self.0.is_autocommit()
            && let Err(error) = self.0.execute_batch("ROLLBACK")
        {
            tracing::warn!(%error, "a step of the store is not taken back");
        }
    }
}

impl Store {
    /// Begins a step.
    ///
    /// # Errors
    /// When this process only reads, or the database is locked, cannot be written, or was removed.
    pub fn step(&mut self) -> Result<Step<'_>, StoreError> {
        self.writer()?;
        self.in_place()?;
        let store = &*self;
        // The exclusive borrow of the store keeps a second transaction from beginning inside this one.
        let transaction = Transaction::begin(&store.sql).map_err(|e| store.fault(&e))?;
        if !store.unlogged.get() {
            store.place.note_log(store.path());
        }
        // Of a step that is dropped none is stored, and what was at hand is read again.
        let at_hand = store.at_hand.take();
        let (texts, unindexed, ready) = (HashMap::new(), store.lag.get(), Vec::new());
        Ok(Step { store, transaction, texts, unindexed, at_hand, ready })
    }
}

impl<'a> Step<'a> {
    /// Makes everything in the step lasting.
    ///
    /// # Errors
    /// When the database cannot be written; then nothing of the step is stored.
    pub fn commit(mut self) -> Result<(), StoreError> {
        if self.unindexed.is_some() && self.store.care.get() != Care::Many {
            self.index_all()?;
            self.take_care(&self.store.care)?;
        }
        self.note_lag()?;
        for (file, stored) in std::mem::take(&mut self.texts) {
            self.run(
                "UPDATE files SET texts = texts + ?2, cut_bytes = cut_bytes + ?3,
                    text_at = max(coalesce(text_at, ?4), coalesce(?4, text_at)) WHERE id = ?1",
                (file, count(stored.texts), count(stored.cut), at(stored.newest)),
            )?;
        }
        let Self { store, transaction, unindexed, at_hand, .. } = self;
        transaction.commit().map_err(|e| store.fault(&e))?;
        store.lag.set(unindexed);
        if store.care.get() == Care::Many {
            store.at_hand.replace(at_hand);
        }
        Ok(())
    }

    /// The index may stay behind over several steps; from where on stands in the database, for a start after a kill.
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

    /// Runs one statement; says how many rows changed.
    pub(crate) fn run(&mut self, sql: &'static str, params: impl Params) -> Result<usize, StoreError> {
        let store = self.store;
        self.ready(sql).and_then(|statement| statement.execute(params)).map_err(|e| store.fault(&e))
    }

    /// The same of a statement whose words are put together.
    pub(crate) fn run_composed(&mut self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        let run = self.transaction.0.prepare_cached(sql).and_then(|mut statement| statement.execute(params));
        run.map_err(|e| self.store.fault(&e))
    }

    fn ready(&mut self, sql: &'static str) -> rusqlite::Result<&mut CachedStatement<'a>> {
        // By its place in the program: to compare words is what this is to spare.
        let at = match self.ready.iter().position(|ready| std::ptr::eq(ready.words, sql)) {
            Some(at) => at,
            None => {
                self.ready.push(Ready { words: sql, statement: self.transaction.0.prepare_cached(sql)? });
                self.ready.len() - 1
            }
        };
        Ok(&mut self.ready[at].statement)
    }

    /// Reads something, as the step has made it so far.
    pub(crate) fn read<T>(
        &self,
        ask: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        ask(self.transaction.0).map_err(|e| self.store.fault(&e))
    }

    /// Runs one statement that returns one value.
    pub(crate) fn one<T: FromSql>(&mut self, sql: &str, params: impl Params) -> Result<T, StoreError> {
        self.transaction
            .0
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, |row| row.get(0)))
            .map_err(|e| self.store.fault(&e))
    }

    /// Number of the row that was inserted last.
    pub(crate) fn last_id(&self) -> i64 {
        self.transaction.0.last_insert_rowid()
    }

    /// Takes note of a text that was just stored.
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
            self.at_hand.clear();
        }
        let lag = self.unindexed.get_or_insert(Lag { first: id, bytes: 0 });
        lag.bytes += row.text.len();
        self.at_hand.take(id, row.text, session, row.role.word(), row.tool);
        if lag.bytes > INDEX_AT { self.index_all() } else { Ok(()) }
    }

    /// Brings the index up to what is stored. Before texts are removed, too: the index is told of each.
    pub(crate) fn index_all(&mut self) -> Result<(), StoreError> {
        let Some(lag) = self.unindexed.take() else { return Ok(()) };
        if self.at_hand.reaches_back_to(lag.first) {
            self.read(|sql| self.at_hand.index(sql))?;
        } else {
            self.index_from(lag.first)?;
        }
        self.at_hand.clear();
        Ok(())
    }

    /// The index is made anew from all texts.
    pub(crate) fn nothing_is_behind(&mut self) {
        self.unindexed = None;
        self.at_hand.clear();
    }

    /// What was counted of a file is void with its texts.
    pub(crate) fn forget_counts(&mut self, file: FileKey) {
        self.texts.remove(&file);
    }
}

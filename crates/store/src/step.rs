//! One step of the writer: a transaction, committed whole or not at all.

use std::collections::HashMap;

use rusqlite::types::FromSql;
use rusqlite::{Params, Transaction, TransactionBehavior};

use crate::tables::{FileKey, count};
use crate::{Store, StoreError};

/// Everything that one step of the engine stores. Dropped without [`commit`](Step::commit), none of it is.
#[derive(Debug)]
pub struct Step<'a> {
    store: &'a Store,
    transaction: Transaction<'a>,
    /// Texts stored and bytes cut, by file: written once, at the end.
    texts: HashMap<FileKey, (u64, u64)>,
}

impl Store {
    /// Begins a step.
    ///
    /// # Errors
    /// When this process only reads, or the database is locked or cannot be written.
    pub fn step(&mut self) -> Result<Step<'_>, StoreError> {
        self.writer()?;
        let store = &*self;
        // The exclusive borrow of the store keeps a second transaction from beginning inside this one.
        let transaction = Transaction::new_unchecked(&store.sql, TransactionBehavior::Immediate)
            .map_err(|e| store.fault(&e))?;
        Ok(Step { store, transaction, texts: HashMap::new() })
    }
}

impl Step<'_> {
    /// Makes everything in the step lasting.
    ///
    /// # Errors
    /// When the database cannot be written; then nothing of the step is stored.
    pub fn commit(mut self) -> Result<(), StoreError> {
        for (file, (texts, cut)) in std::mem::take(&mut self.texts) {
            self.run(
                "UPDATE files SET texts = texts + ?2, cut_bytes = cut_bytes + ?3 WHERE id = ?1",
                (file, count(texts), count(cut)),
            )?;
        }
        let Self { store, transaction, .. } = self;
        transaction.commit().map_err(|e| store.fault(&e))
    }

    /// Runs one statement; says how many rows changed.
    pub(crate) fn run(&mut self, sql: &str, params: impl Params) -> Result<usize, StoreError> {
        self.transaction
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(params))
            .map_err(|e| self.store.fault(&e))
    }

    /// Runs one statement that returns one value.
    pub(crate) fn one<T: FromSql>(&mut self, sql: &str, params: impl Params) -> Result<T, StoreError> {
        self.transaction
            .prepare_cached(sql)
            .and_then(|mut statement| statement.query_row(params, |row| row.get(0)))
            .map_err(|e| self.store.fault(&e))
    }

    /// The number that the last inserted row was given.
    pub(crate) fn last_id(&self) -> i64 {
        self.transaction.last_insert_rowid()
    }

    /// Counts a stored text.
    pub(crate) fn count_text(&mut self, file: FileKey, cut: u64) {
        let counts = self.texts.entry(file).or_default();
        counts.0 += 1;
        counts.1 += cut;
    }
}

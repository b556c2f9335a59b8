//! The full-text index as a whole: bulk inserts, its soundness, and making it anew from the stored texts.

use std::cell::Cell;

use crate::damage::{empty_index, index_is_whole};
use crate::index_state::MergeState;
use crate::{Store, StoreError, WriteTransaction};

/// Memory of the index's hash table during a bulk insert, in bytes: it fits a processor's cache. With four times as
/// much, each word waits for memory; with less, the index falls into more segments.
const MANY_HASH: i64 = 4 << 20;
/// At other times: SQLite's default.
const USUAL_HASH: i64 = 1 << 20;
/// Memory for the database's pages during a bulk insert, in kilobytes.
const MANY_CACHE: i64 = 8_000;
/// At other times: SQLite's default.
const USUAL_CACHE: i64 = 2_000;
/// `automerge`: the number of segments of one level at which merging begins; SQLite's default.
const USUAL_MERGE: i64 = 4;

/// `crisismerge`: so many segments of one level are merged at once, however long that takes; SQLite's default.
const USUAL_CRISIS: i64 = 16;
/// `crisismerge` during a bulk insert. A gigabyte of transcripts gives fewer segments. Ten gigabytes would give
/// hundreds, and a search has to read each of them.
const MANY_CRISIS: i64 = 64;
/// `crisismerge` while large segments wait: merging them takes seconds, too long for a single step.
const PUT_OFF_CRISIS: i64 = 1_900;
/// `automerge` while much is stored beside other work: SQLite's maximum, because it merges by some hundred pages at
/// once.
const BESIDE_MERGE: i64 = 64;
/// Pages that each such step merges itself, about as many as it adds.
const BESIDE_PAGES: i64 = 64;
/// `usermerge` for those steps, SQLite's maximum: they merge only a level with so many segments. Each text is then
/// merged half as often as usual. Merges block others the longest: tens of milliseconds where a word is in every
/// text.
const BESIDE_AT_LEAST: i64 = 16;
/// `usermerge` otherwise, for merges on request; SQLite's default.
const USUAL_AT_LEAST: i64 = 4;
/// While large segments wait and no caller tidies, one of so many steps merges [`TIDY_PAGES`], some milliseconds of
/// work.
const TIDY_EACH: u64 = 8;
const TIDY_PAGES: i64 = 200;

impl Store {
    /// Prepares for storing very many texts, as the first index does. Texts are indexed many at a time, after
    /// several steps, and segments are merged rarely or many at once; that saves a fifth of the work. Meanwhile a
    /// search does not find the newest texts. [`end_bulk_insert`](Self::end_bulk_insert) ends this state, and so does a start
    /// after an unclean exit.
    ///
    /// An empty store is filled without the log. Readers then wait for the end of a step, and SQLite does not check
    /// foreign keys.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_bulk_insert(&mut self) -> Result<(), StoreError> {
        self.leave_log()?;
        self.tune_for_bulk_insert()
    }

    fn tune_for_bulk_insert(&mut self) -> Result<(), StoreError> {
        self.tune(MANY_HASH, 0, MANY_CRISIS, USUAL_AT_LEAST)?;
        self.index_state.set(MergeState::Bulk);
        self.cache(MANY_CACHE)
    }

    /// From now on, segments of the index are merged a little at a time, however many there are. For callers that
    /// store much beside other work: SQLite's usual merge of many at once blocks others for a tenth of a second.
    /// When there is time, the caller must call [`tidy_index`](Self::tidy_index).
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn merge_in_small_parts(&mut self) -> Result<(), StoreError> {
        self.tune(USUAL_HASH, BESIDE_MERGE, PUT_OFF_CRISIS, BESIDE_AT_LEAST)?;
        self.index_state.set(MergeState::Background);
        Ok(())
    }

    /// Returns to the usual state: small steps with small merges. The large segments are still there: whenever
    /// there is time, call [`tidy_index`](Self::tidy_index) until it is done.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_bulk_insert(&mut self) -> Result<(), StoreError> {
        // Done first, even if a later step fails.
        self.enable_foreign_keys()?;
        self.index_state.set(MergeState::Untidy(0));
        // The waiting texts are indexed before their memory is released.
        self.step()?.commit()?;
        self.tune(USUAL_HASH, USUAL_MERGE, PUT_OFF_CRISIS, USUAL_AT_LEAST)?;
        self.cache(USUAL_CACHE)?;
        self.return_to_log()
    }

    fn cache(&self, kilobytes: i64) -> Result<(), StoreError> {
        self.with_sql(|sql| sql.pragma_update(None, "cache_size", -kilobytes))
    }

    fn tune(&mut self, hash: i64, merge: i64, crisis: i64, at_least: i64) -> Result<(), StoreError> {
        let mut step = self.step()?;
        step.index_option("hashsize", hash)?;
        step.index_option("automerge", merge)?;
        step.index_option("crisismerge", crisis)?;
        step.index_option("usermerge", at_least)?;
        step.commit()
    }

    /// Resets the raised `usermerge` of this process, or of one that was killed.
    pub(crate) fn reset_usermerge(&mut self) -> Result<(), StoreError> {
        if self.option("usermerge")?.is_none_or(|at_least| at_least == USUAL_AT_LEAST) {
            return Ok(());
        }
        let mut step = self.step()?;
        step.index_option("usermerge", USUAL_AT_LEAST)?;
        step.commit()
    }

    /// The value of an option of the index.
    fn option(&self, name: &str) -> Result<Option<i64>, StoreError> {
        self.row("SELECT CAST(v AS INTEGER) FROM texts_fts_config WHERE k = ?1", [name], |row| {
            row.get::<_, Option<i64>>(0)
        })
        .map(Option::flatten)
    }

    /// Whether a bulk insert did not reach [`end_bulk_insert`](Self::end_bulk_insert).
    pub(crate) fn is_left_tuned(&self) -> Result<bool, StoreError> {
        Ok(self.option("automerge")? == Some(0))
    }

    /// Whether no large segments wait to be merged. While they wait, a search works but is a little slower.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_tidy(&self) -> Result<bool, StoreError> {
        Ok(self.option("crisismerge")?.is_none_or(|crisis| crisis == USUAL_CRISIS))
    }

    /// Merges about so many pages of the index; a page takes some hundredths of a millisecond. For idle moments.
    /// Returns whether more is left to merge.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn tidy_index(&mut self, pages: u32) -> Result<bool, StoreError> {
        if self.is_tidy()? {
            return Ok(false);
        }
        self.reset_usermerge()?;
        let before = self.sql.total_changes();
        let mut step = self.step()?;
        step.index_option("merge", i64::from(pages))?;
        step.commit()?;
        // As SQLite documents, fewer than two changes mean that there was nothing to merge.
        let more = self.sql.total_changes() - before >= 2;
        if !more {
            self.tune(USUAL_HASH, USUAL_MERGE, USUAL_CRISIS, USUAL_AT_LEAST)?;
            self.index_state.set(MergeState::None);
        }
        Ok(more)
    }

    /// Compares the index with the texts. It reads both completely.
    ///
    /// # Errors
    /// When the database cannot be read, or this process may not write.
    pub fn index_is_sound(&mut self) -> Result<bool, StoreError> {
        let mut step = self.step()?;
        let looked = step.index_all().and_then(|()| step.index_option("integrity-check", 1));
        let looked = looked.and_then(|()| step.read(|sql| index_is_whole(sql, i64::MAX)));
        match looked {
            Ok(is_whole) => Ok(is_whole),
            // Damaged sizes in the index make SQLite run out of memory.
            Err(StoreError::IndexDamaged { .. } | StoreError::Sql { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Makes the index anew from the stored texts.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn rebuild_index(&mut self) -> Result<(), StoreError> {
        match self.tune_for_bulk_insert() {
            // Damage to its own structure makes the index refuse every option. The damage is noted by now, so after
            // a kill the next start fills the empty index.
            Err(StoreError::IndexDamaged { .. } | StoreError::Sql { .. }) => {
                self.with_sql(empty_index)?;
                self.tune_for_bulk_insert()?;
            }
            other => other?,
        }
        let made = self.make_index();
        // Even after an error: in the bulk state, searches miss new texts for long.
        made.and(self.end_bulk_insert())
    }

    fn make_index(&mut self) -> Result<(), StoreError> {
        let mut step = self.step()?;
        step.clear_unindexed();
        step.run("INSERT INTO texts_fts (texts_fts) VALUES ('rebuild')", [])?;
        step.commit()
    }
}

impl WriteTransaction<'_> {
    /// Merges a little in this step while large segments wait and no caller tidies. Otherwise a pile of small
    /// segments could make a single step merge everything.
    pub(crate) fn merge_after_step(&mut self, index_state: &Cell<MergeState>) -> Result<(), StoreError> {
        match index_state.get() {
            MergeState::Untidy(steps) => {
                index_state.set(MergeState::Untidy(steps + 1));
                if steps % TIDY_EACH == TIDY_EACH - 1 {
                    self.index_option("merge", TIDY_PAGES)?;
                }
            }
            MergeState::Background => self.index_option("merge", BESIDE_PAGES)?,
            MergeState::None | MergeState::Bulk => {}
        }
        Ok(())
    }

    fn index_option(&mut self, name: &str, value: i64) -> Result<(), StoreError> {
        self.run("INSERT INTO texts_fts (texts_fts, rank) VALUES (?1, ?2)", (name, value))?;
        Ok(())
    }
}

//! The full-text index as a whole: many texts at once, its soundness, and making it anew from the stored texts.

use std::cell::Cell;

use rusqlite::OptionalExtension;

use crate::damage::empty_index;
use crate::index_care::Care;
use crate::{Step, Store, StoreError};

/// Bytes of the index's table in memory while many texts are stored: as much as a processor has at hand. With four
/// times as much each word is a wait for the memory, with less the index falls into more pieces.
const MANY_HASH: i64 = 4 << 20;
/// And otherwise: SQLite's own default.
const USUAL_HASH: i64 = 1 << 20;
/// Kilobytes of the database's pages in memory while many texts are stored.
const MANY_CACHE: i64 = 8_000;
/// And otherwise: SQLite's own default.
const USUAL_CACHE: i64 = 2_000;
/// How many segments of one level are merged as soon as they are there; SQLite's own default.
const USUAL_MERGE: i64 = 4;

/// How many segments of one level are merged at once, whatever it takes; SQLite's own default.
const USUAL_CRISIS: i64 = 16;
/// So many are merged while very many texts are stored: a gigabyte of transcripts gives fewer, and ten of them would
/// give hundreds, each of which a search would have to look into.
const MANY_CRISIS: i64 = 64;
/// While large segments are about: merging them takes seconds, which no single step should.
const PUT_OFF_CRISIS: i64 = 1_900;
/// Much is stored beside others: as many as SQLite takes, since it merges by some hundred pages at once.
const BESIDE_MERGE: i64 = 64;
/// Then each step merges about as much itself as it has caused.
const BESIDE_PAGES: i64 = 64;
/// But only of a level that has so many segments, the most that SQLite waits for: each text is then merged half as often
/// as by the usual number, and a merge is what others wait for the longest, tens of milliseconds where a word is in every
/// text.
const BESIDE_AT_LEAST: i64 = 16;
/// So many segments of a level are waited for otherwise, where a merge is asked for; SQLite's own default.
const USUAL_AT_LEAST: i64 = 4;
/// Then each of so many steps merges so many pages itself, some milliseconds' work, if nobody else does.
const TIDY_EACH: u64 = 8;
const TIDY_PAGES: i64 = 200;

impl Store {
    /// Prepares for storing very many texts, as the first index does: they are indexed many at a time, over as many
    /// steps as it takes, and pieces of the index are left as they are, or merged many at once, instead of again and
    /// again, which saves a fifth of the work. Meanwhile the newest texts are not found. To be ended by
    /// [`end_many`](Self::end_many); a start after an unclean exit ends it too. Into an empty store they go without
    /// the log, so that others who read have to wait for the end of a step, and it is not looked up whether what a row names is there.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn begin_many(&mut self) -> Result<(), StoreError> {
        self.leave_log()?;
        self.prepare_for_many()
    }

    fn prepare_for_many(&mut self) -> Result<(), StoreError> {
        self.tune(MANY_HASH, 0, MANY_CRISIS, USUAL_AT_LEAST)?;
        self.care.set(Care::Many);
        self.cache(MANY_CACHE)
    }

    /// Pieces of the index are merged a little at a time from now on, however many they become: for whoever stores
    /// much beside others, since merging many at once, as is usual, keeps them waiting for a tenth of a second. To be
    /// followed by [`tidy_index`](Self::tidy_index) once there is time.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn merge_by_and_by(&mut self) -> Result<(), StoreError> {
        self.tune(USUAL_HASH, BESIDE_MERGE, PUT_OFF_CRISIS, BESIDE_AT_LEAST)?;
        self.care.set(Care::Beside);
        Ok(())
    }

    /// Back to the usual: small steps, merged by and by. The large pieces are still there:
    /// [`tidy_index`](Self::tidy_index) is to be called until it is done, whenever there is time.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn end_many(&mut self) -> Result<(), StoreError> {
        // Whatever comes of the rest.
        self.check_keys()?;
        self.care.set(Care::Untidy(0));
        // What is behind is indexed before the memory for it is given back.
        self.step()?.commit()?;
        self.tune(USUAL_HASH, USUAL_MERGE, PUT_OFF_CRISIS, USUAL_AT_LEAST)?;
        self.cache(USUAL_CACHE)?;
        self.return_to_log()
    }

    fn cache(&self, kilobytes: i64) -> Result<(), StoreError> {
        self.asked(|sql| sql.pragma_update(None, "cache_size", -kilobytes))
    }

    fn tune(&mut self, hash: i64, merge: i64, crisis: i64, at_least: i64) -> Result<(), StoreError> {
        let mut step = self.step()?;
        step.index_option("hashsize", hash)?;
        step.index_option("automerge", merge)?;
        step.index_option("crisismerge", crisis)?;
        step.index_option("usermerge", at_least)?;
        step.commit()
    }

    /// Many segments of a level are waited for no longer: by this process, or by one that was killed.
    pub(crate) fn wait_for_few(&mut self) -> Result<(), StoreError> {
        if self.option("usermerge")?.is_none_or(|at_least| at_least == USUAL_AT_LEAST) {
            return Ok(());
        }
        let mut step = self.step()?;
        step.index_option("usermerge", USUAL_AT_LEAST)?;
        step.commit()
    }

    /// An option of the index.
    fn option(&self, name: &str) -> Result<Option<i64>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached("SELECT CAST(v AS INTEGER) FROM texts_fts_config WHERE k = ?1")?
                .query_row([name], |row| row.get::<_, Option<i64>>(0))
                .optional()
                .map(Option::flatten)
        })
    }

    /// Whether [`end_many`](Self::end_many) was never reached.
    pub(crate) fn is_left_tuned(&self) -> Result<bool, StoreError> {
        Ok(self.option("automerge")? == Some(0))
    }

    /// Whether large pieces of the index wait to be merged. Searching works all the same, a little slower.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_tidy(&self) -> Result<bool, StoreError> {
        Ok(self.option("crisismerge")?.is_none_or(|crisis| crisis == USUAL_CRISIS))
    }

    /// Merges pieces of the index, about as many pages as said, each of which takes some hundredths of a millisecond;
    /// for moments in which nothing else is to do. Says whether there is more to do.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn tidy_index(&mut self, pages: u32) -> Result<bool, StoreError> {
        if self.is_tidy()? {
            return Ok(false);
        }
        self.wait_for_few()?;
        let before = self.sql.total_changes();
        let mut step = self.step()?;
        step.index_option("merge", i64::from(pages))?;
        step.commit()?;
        // As SQLite documents it: fewer than two changes mean that there was nothing to merge.
        let more = self.sql.total_changes() - before >= 2;
        if !more {
            self.tune(USUAL_HASH, USUAL_MERGE, USUAL_CRISIS, USUAL_AT_LEAST)?;
            self.care.set(Care::None);
        }
        Ok(more)
    }

    /// Compares the index with the texts, which reads both whole.
    ///
    /// # Errors
    /// When the database cannot be read, or this process may not write.
    pub fn index_is_sound(&mut self) -> Result<bool, StoreError> {
        let mut step = self.step()?;
        match step.index_all().and_then(|()| step.index_option("integrity-check", 1)) {
            Ok(()) => Ok(true),
            // Damaged sizes in it are memory that is not there.
            Err(StoreError::IndexDamaged { .. } | StoreError::Sql { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Makes the index anew from the stored texts.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn rebuild_index(&mut self) -> Result<(), StoreError> {
        match self.prepare_for_many() {
            // Damage to what it knows of its own pieces keeps it from taking any option. That damage was met is noted by
            // now, so that an index left empty by a kill is made anew by the next start.
            Err(StoreError::IndexDamaged { .. } | StoreError::Sql { .. }) => {
                self.asked(empty_index)?;
                self.prepare_for_many()?;
            }
            other => other?,
        }
        let made = self.make_index();
        // Whatever came of it: in the state for many, new texts are not found for long.
        made.and(self.end_many())
    }

    fn make_index(&mut self) -> Result<(), StoreError> {
        let mut step = self.step()?;
        step.nothing_is_behind();
        step.run("INSERT INTO texts_fts (texts_fts) VALUES ('rebuild')", [])?;
        step.commit()
    }
}

impl Step<'_> {
    /// Where large pieces wait and nobody tidies, the steps do, so that a pile of small ones never makes a single
    /// step merge everything.
    pub(crate) fn take_care(&mut self, care: &Cell<Care>) -> Result<(), StoreError> {
        match care.get() {
            Care::Untidy(steps) => {
                care.set(Care::Untidy(steps + 1));
                if steps % TIDY_EACH == TIDY_EACH - 1 {
                    self.index_option("merge", TIDY_PAGES)?;
                }
            }
            Care::Beside => self.index_option("merge", BESIDE_PAGES)?,
            Care::None | Care::Many => {}
        }
        Ok(())
    }

    fn index_option(&mut self, name: &str, value: i64) -> Result<(), StoreError> {
        self.run("INSERT INTO texts_fts (texts_fts, rank) VALUES (?1, ?2)", (name, value))?;
        Ok(())
    }
}

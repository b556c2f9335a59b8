//! Removals: one way to describe what goes, and one way to remove it.
//!
//! [`Store::select_forgotten`] and [`Store::select_excluded`] select what goes and change nothing. [`Store::remove`] carries
//! the selection out: first the archive's files, then all rows in one transaction, then the bytes that the rows
//! had. After a kill at any point, the same removal can be done again, or only the bytes are left, as a note in the
//! database says (`wipe`).

mod exclude;
mod forget;
mod mentions;
mod selection;
mod wipe;

use rusqlite::params_from_iter;
use watchbill_core::time::Timestamp;

use crate::tables::FileKey;
use crate::tables::meta_names::CLEANING_DUE;
use crate::{Store, StoreError, WriteTransaction};
pub(crate) use exclude::RESET_EXCLUDE_MARK;
pub use forget::Forget;
use mentions::Mentions;
use selection::Reason;
pub use selection::{Heads, Removed, Selection};

/// Statements that remove a session, in this order. Rows of other tables that refer to `sessions`, `files` or
/// `states` go with them by foreign keys. The names of chains go before, and so do the texts, because the index
/// must be told about each.
const SESSION: [&str; 7] = [
    "DELETE FROM sessions WHERE session_id = ?1",
    // The engine's stored fold of a transcript holds its title and the first line of its last answer.
    "DELETE FROM states WHERE session = ?1",
    "DELETE FROM links WHERE earlier = ?1 OR later = ?1",
    "DELETE FROM set_aside WHERE session_id = ?1",
    "DELETE FROM answers WHERE session_id = ?1",
    "DELETE FROM recoveries WHERE session_id = ?1",
    "DELETE FROM archive WHERE session_id = ?1",
];

/// Statements that remove a plan of a session that stays.
const PLAN: [&str; 3] = [
    "DELETE FROM plans WHERE session = ?1 AND plan = ?2",
    "DELETE FROM plan_words WHERE session = ?1 AND plan = ?2",
    "DELETE FROM executions WHERE session = ?1 AND plan = ?2",
];

/// The texts of so many sessions are removed at once. Each statement writes out the index's memory; one statement
/// per session made a removal of 10,000 sessions take a quarter longer.
const AT_ONCE: usize = 128;

/// The progress of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Sessions are being removed. Nothing is final yet.
    Removing {
        /// How many are removed.
        done: usize,
        /// How many there are.
        all: usize,
    },
    /// The bytes of the removed rows are being wiped from the files. The time grows with the data that stays.
    Wiping,
}

impl Store {
    /// Removes the selection for good: archived files, rows, index entries, and the bytes that the rows had.
    /// Transcripts themselves are not touched. `tell` gets the progress.
    ///
    /// # Errors
    /// When the database or the archive cannot be written, or this process may not write. The removal must then be
    /// done again.
    pub fn remove(
        &mut self,
        selection: &Selection,
        now: Timestamp,
        tell: &mut dyn FnMut(Stage),
    ) -> Result<Removed, StoreError> {
        self.require_writer()?;
        let mut removed = selection.forecast.clone();
        if let Reason::Forgotten = selection.reason {
            if removed.sessions.is_empty() {
                return Ok(removed);
            }
            // If this cannot be written, nothing is removed.
            self.add_to_forgotten_list(&removed.sessions, now)?;
        }
        // Files first: after an interruption, a row without its file can be repaired, a file without its row
        // cannot.
        for file in removed.archived.iter().chain(&selection.beside) {
            self.remove_archived_file(file)?;
        }
        self.enable_foreign_keys()?;
        let mut step = self.step()?;
        let leaves_bytes = step.remove_rows(selection, &mut removed, tell)?;
        if leaves_bytes {
            step.set_meta(CLEANING_DUE, "1")?;
        }
        match &selection.reason {
            Reason::Forgotten => {
                removed.sessions.iter().try_for_each(|session| step.note_forgotten(session, now))?;
            }
            Reason::Excluded(mark) => step.note_excluded(mark.as_deref(), &removed, now)?,
        }
        step.commit()?;
        if leaves_bytes {
            tell(Stage::Wiping);
            removed.wiped_later = self.wipe_or_later()?;
        }
        Ok(removed)
    }

    fn remove_archived_file(&self, name: &str) -> Result<(), StoreError> {
        let path = self.archive_folder().join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io(&path, error)),
            _ => Ok(()),
        }
    }
}

impl WriteTransaction<'_> {
    /// Removes every selected row, and adds the counts that were not known before. Returns whether any row has
    /// changed.
    fn remove_rows(
        &mut self,
        selection: &Selection,
        removed: &mut Removed,
        tell: &mut dyn FnMut(Stage),
    ) -> Result<bool, StoreError> {
        let Selection { files, archived, mentions, heads, facts, .. } = selection;
        self.index_all()?;
        let sessions: Vec<&String> = selection.forecast.sessions.iter().collect();
        self.remove_chain_names(sessions.iter().copied())?;
        for (n, chunk) in sessions.chunks(AT_ONCE).enumerate() {
            tell(Stage::Removing { done: n * AT_ONCE, all: sessions.len() });
            self.remove_sessions(chunk)?;
        }
        for (file, path) in files {
            removed.texts += self.texts_of(*file)?;
            self.remove_file(*file)?;
            self.remove_state(path)?;
        }
        for path in archived {
            self.remove_archived(path)?;
        }
        self.remove_mentions(mentions, removed)?;
        self.drop_edits_without_evidence()?;
        for (path, head, instead) in heads {
            self.run("UPDATE states SET head = ?3 WHERE path = ?1 AND head = ?2", (path, head, instead))?;
        }
        if let Some((name, bytes)) = facts {
            self.put_fact(name, bytes)?;
        }
        Ok(*removed != Removed::default() || mentions.has_uncounted() || !heads.is_empty())
    }

    /// Removes sessions and everything that names them.
    fn remove_sessions(&mut self, sessions: &[&String]) -> Result<(), StoreError> {
        let places = vec!["?"; sessions.len()].join(", ");
        let texts = format!(
            "DELETE FROM texts WHERE file IN
                (SELECT f.id FROM files f JOIN sessions s ON s.id = f.session WHERE s.session_id IN ({places}))"
        );
        self.run_composed(&texts, params_from_iter(sessions))?;
        for session in sessions {
            for sql in SESSION {
                self.run(sql, [session])?;
            }
        }
        Ok(())
    }

    fn remove_mentions(&mut self, mentions: &Mentions, removed: &mut Removed) -> Result<(), StoreError> {
        for call in &mentions.calls {
            removed.activities += 1;
            self.run("DELETE FROM activities WHERE session = ?1 AND call = ?2", (call.session, &call.call))?;
            let Some(file) = call.file else {
                self.drop_memories_of_session(call.session)?;
                continue;
            };
            for byte in call.bytes.into_iter().flatten() {
                removed.texts += self.run(
                    "DELETE FROM texts WHERE file = ?1 AND byte = ?2 AND role IN ('tool_input', 'tool_result')",
                    (file, byte),
                )? as u64;
            }
            self.mark_for_rereading(file)?;
        }
        for (text, file, byte) in &mentions.texts {
            removed.texts += self.run("DELETE FROM texts WHERE id = ?1", [text])? as u64;
            self.run("UPDATE batches SET prompt = NULL WHERE file = ?1 AND byte = ?2", (file, byte))?;
            self.run(
                "UPDATE activities SET error = NULL WHERE file = ?1 AND result_byte = ?2",
                (file, byte),
            )?;
            self.mark_for_rereading(*file)?;
        }
        for (session, plan) in &mentions.plans {
            for sql in PLAN {
                self.run(sql, (session, plan))?;
            }
        }
        for row in &mentions.reasons {
            self.run("UPDATE transitions SET detail = '' WHERE rowid = ?1", [row])?;
        }
        Ok(())
    }

    fn texts_of(&mut self, file: FileKey) -> Result<u64, StoreError> {
        let texts: i64 = self.one("SELECT count(*) FROM texts WHERE file = ?1", [file])?;
        Ok(texts.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a store that cannot be opened is a failure")]

    use std::collections::BTreeSet;

    use super::*;
    use crate::{connect, schema};

    #[test]
    fn every_table_is_removed_with_a_session_or_holds_no_session() {
        let folder = tempfile::tempdir().unwrap();
        let (sql, _) = connect::connect_writer(&folder.path().join("watchbill.db"), false).unwrap();
        let mut parents = sql
            .prepare("SELECT \"table\" FROM pragma_foreign_key_list(?1) WHERE on_delete = 'CASCADE'")
            .unwrap();
        let mut goes: BTreeSet<String> =
            SESSION.iter().filter_map(|sql| sql.split(' ').nth(2)).map(str::to_owned).collect();
        let mut rest: Vec<String> = schema::tables(schema::NEWEST).unwrap();
        // A table may depend on one that depends on another.
        for _ in 0..rest.len() {
            rest.retain(|table| {
                let mut of = parents.query_map([table], |row| row.get::<_, String>(0)).unwrap();
                let is_gone = goes.contains(table) || of.any(|parent| goes.contains(&parent.unwrap()));
                !(is_gone && (goes.insert(table.clone()) || goes.contains(table)))
            });
        }
        rest.retain(|table| !table.starts_with("texts_fts"));
        rest.sort();
        // Chain names and engine facts are removed by their contents; of a forgotten session its id stays.
        assert_eq!(rest, ["chains", "engine_facts", "forgotten", "meta"]);
    }
}

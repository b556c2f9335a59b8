//! Forgetting: what the person wants gone is gone, also from the bytes of the file.

use rusqlite::{Connection, OptionalExtension};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use crate::archive::Archive;
use crate::tables::archive::ArchiveRow;
use crate::tables::meta::CLEANING_DUE;
use crate::tables::{SessionKey, uncount};
use crate::{Step, Store, StoreError};

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forget {
    /// One session with its subagents.
    Session(SessionId),
    /// These sessions with their subagents.
    Sessions(Vec<SessionId>),
    /// Every session whose newest activity is before this time.
    Before(Timestamp),
}

/// How far a removal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// So many of the sessions are removed, which is not for good yet.
    Removing {
        /// How many are.
        done: usize,
        /// Of how many.
        all: usize,
    },
    /// Their bytes are taken out of the files. How long that takes grows with what stays.
    Wiping,
}

/// The texts of so many sessions are removed at once: each statement writes out what the index has in memory, and to do so
/// for each session made the whole removal of 10,000 take a quarter longer.
const AT_ONCE: usize = 128;

/// What was removed, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The sessions.
    pub sessions: Vec<String>,
    /// Files that had been read.
    pub files: u64,
    /// Prompts.
    pub prompts: u64,
    /// Tool calls.
    pub activities: u64,
    /// Texts, with their entries in the index.
    pub texts: u64,
    /// Archived transcripts: names of the compressed files, relative to `archive/`.
    pub archived: Vec<String>,
    /// The bytes are still in the database, since another process reads it. [`Store::finish_wiping`] wipes them.
    pub wiped_later: bool,
}

impl Store {
    /// What [`forget`](Self::forget) would remove.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn would_forget(&self, what: &Forget) -> Result<Forgotten, StoreError> {
        // The removal itself takes these up first, and then counts rows alone.
        let strays = self.untold_copies()?;
        let mut meant = self.asked(|sql| meant(sql, what))?;
        let by_strays = self.meant_by_strays(what, &strays)?;
        meant.extend(by_strays);
        meant.sort();
        meant.dedup();
        let mut gone = self.removal_of(&meant)?;
        let of_meant = strays.into_iter().filter(|row| meant.contains(&row.session_id));
        gone.archived.extend(of_meant.map(|row| row.file));
        Ok(gone)
    }

    /// The copies of transcripts in the archive's folder that no row tells of, one for each transcript, but for those of
    /// sessions that were forgotten.
    fn untold_copies(&self) -> Result<Vec<ArchiveRow>, StoreError> {
        let Some(folder) = self.path().parent() else { return Ok(Vec::new()) };
        let rows = self.all_archived()?;
        let mut copies = Archive::new(folder).untold(&rows);
        if !copies.is_empty() {
            let forgotten = self.forgotten()?;
            copies.retain(|row| !forgotten.iter().any(|id| id.as_str() == row.session_id));
        }
        Ok(copies)
    }

    /// The sessions of which nothing but such copies is left, and that are meant.
    fn meant_by_strays(&self, what: &Forget, strays: &[ArchiveRow]) -> Result<Vec<String>, StoreError> {
        let mut meant = Vec::new();
        for row in strays {
            let id = SessionId::new(&row.session_id);
            let is_meant = match what {
                Forget::Session(asked) => *asked == id,
                Forget::Sessions(asked) => asked.contains(&id),
                Forget::Before(at) => {
                    let of_session = strays.iter().filter(|other| other.session_id == row.session_id);
                    let newest = of_session.map(|other| other.mtime).max();
                    newest < Some(*at)
                        && self.session_ids(&row.session_id, 2)?.iter().all(|known| *known != row.session_id)
                }
            };
            if is_meant {
                meant.push(row.session_id.clone());
            }
        }
        Ok(meant)
    }

    /// The ids of sessions that begin so, of which nothing is left but files of the archive that no row tells of.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_ids_of_strays(&self, begin: &str) -> Result<Vec<String>, StoreError> {
        let mut ids: Vec<String> = self.untold_copies()?.into_iter().map(|row| row.session_id).collect();
        ids.retain(|id| id.starts_with(begin));
        ids.sort();
        ids.dedup();
        Ok(ids)
    }

    /// What removing these sessions takes with it.
    pub(crate) fn removal_of<'s>(
        &self,
        sessions: impl IntoIterator<Item = &'s String>,
    ) -> Result<Forgotten, StoreError> {
        self.asked(|sql| {
            let mut gone = Forgotten::default();
            for id in sessions {
                let key: Option<SessionKey> = sql
                    .prepare_cached("SELECT id FROM sessions WHERE session_id = ?1")?
                    .query_row([id], |row| row.get(0))
                    .optional()?;
                if let Some(key) = key {
                    count(sql, key, &mut gone)?;
                }
                let archived = sql
                    .prepare_cached("SELECT file FROM archive WHERE session_id = ?1 ORDER BY file")?
                    .query_map([id], |row| row.get(0))?
                    .collect::<rusqlite::Result<Vec<String>>>()?;
                gone.archived.extend(archived);
                gone.sessions.push(id.clone());
            }
            Ok(gone)
        })
    }

    /// Removes sessions for good: rows, index entries, archived files, and the bytes they had in the database. They
    /// are not stored again from transcripts that are still there, until
    /// [`remember_again`](Self::remember_again); of each only its id is kept for that. Transcripts themselves
    /// are not touched. `tell` is told how far it is.
    ///
    /// # Errors
    /// When the database cannot be written, or this process may not.
    pub fn forget(
        &mut self,
        what: &Forget,
        now: Timestamp,
        tell: &mut dyn FnMut(Stage),
    ) -> Result<Forgotten, StoreError> {
        // A file of the archive without its row is of a session that is meant as well.
        self.tidy_archive()?;
        let mut gone = self.would_forget(what)?;
        if gone.sessions.is_empty() {
            return Ok(gone);
        }
        // Where that cannot be written nothing is removed.
        self.remind_of(&gone.sessions, now)?;
        // Files first: when this is cut short, a row without its file is mended, a file without its row is not.
        for file in &gone.archived {
            self.remove_archived_file(file)?;
        }
        self.check_keys()?;
        let mut step = self.step()?;
        step.remove_names(&gone.sessions)?;
        let all = gone.sessions.len();
        for (n, sessions) in gone.sessions.chunks(AT_ONCE).enumerate() {
            tell(Stage::Removing { done: n * AT_ONCE, all });
            step.remove_texts(sessions)?;
            for session in sessions {
                step.remove_session(session)?;
                step.note_forgotten(session, now)?;
            }
        }
        step.set_meta(CLEANING_DUE, "1")?;
        step.commit()?;
        // And so is one that was kept beside the one that counts.
        self.tidy_archive()?;
        tell(Stage::Wiping);
        gone.wiped_later = self.wipe_or_later()?;
        Ok(gone)
    }

    /// Whether what was removed may have left its bytes, since a kill or a reader came in between.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn is_to_be_wiped(&self) -> Result<bool, StoreError> {
        Ok(self.meta(CLEANING_DUE)?.is_some())
    }

    /// Takes these bytes out of the files. No part of opening the store, since it may take seconds.
    ///
    /// # Errors
    /// When the database cannot be written. What passes is none, and whoever comes next tries again.
    pub fn finish_wiping(&mut self) -> Result<(), StoreError> {
        if !self.is_to_be_wiped()? {
            return Ok(());
        }
        match self.wipe() {
            Err(error) if error.passes() => {
                tracing::warn!(%error, "what was forgotten is not wiped out yet");
                Ok(())
            }
            other => other,
        }
    }

    /// Wipes now, or says that it is still to be done, since another process reads the database.
    pub(crate) fn wipe_or_later(&mut self) -> Result<bool, StoreError> {
        match self.wipe() {
            Ok(()) => Ok(false),
            Err(StoreError::Locked { .. }) => Ok(true),
            Err(other) => Err(other),
        }
    }

    /// Takes the bytes of removed rows out of the files. Whether that is due stands in the database, so that a kill
    /// in between only puts it off.
    pub(crate) fn wipe(&mut self) -> Result<(), StoreError> {
        self.writer()?;
        // Merged into one piece the index holds no words of removed texts any more.
        let mut step = self.step()?;
        step.run("INSERT INTO texts_fts (texts_fts) VALUES ('optimize')", [])?;
        step.commit()?;
        self.asked(|sql| sql.execute_batch("VACUUM"))?;
        self.empty_log()?;
        let mut step = self.step()?;
        step.run("DELETE FROM meta WHERE name = ?1", [CLEANING_DUE])?;
        step.commit()
    }

    /// Carries everything over from the write-ahead log and cuts it to nothing: it holds older forms of pages.
    fn empty_log(&self) -> Result<(), StoreError> {
        let busy: bool =
            self.asked(|sql| sql.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)))?;
        if busy { Err(StoreError::Locked { path: self.path().to_owned(), held_by: None }) } else { Ok(()) }
    }

    pub(crate) fn remove_archived_file(&self, name: &str) -> Result<(), StoreError> {
        let path = self.archive_folder().join(name);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io(&path, error)),
            _ => Ok(()),
        }
    }
}

impl Step<'_> {
    /// Removes the texts of sessions.
    fn remove_texts(&mut self, sessions: &[String]) -> Result<(), StoreError> {
        self.index_all()?;
        let places = vec!["?"; sessions.len()].join(", ");
        self.run_composed(
            &format!(
                "DELETE FROM texts WHERE file IN
                    (SELECT f.id FROM files f JOIN sessions s ON s.id = f.session WHERE s.session_id IN ({places}))"
            ),
            rusqlite::params_from_iter(sessions),
        )
        .map(drop)
    }

    /// Removes a session and everything that names it.
    pub(crate) fn remove_session(&mut self, session: &str) -> Result<(), StoreError> {
        self.index_all()?;
        self.run(
            "DELETE FROM texts WHERE file IN
                (SELECT f.id FROM files f JOIN sessions s ON s.id = f.session WHERE s.session_id = ?1)",
            [session],
        )?;
        for sql in [
            "DELETE FROM sessions WHERE session_id = ?1",
            // What the engine keeps of a transcript holds its title and the first line of its last answer.
            "DELETE FROM states WHERE session = ?1",
            "DELETE FROM links WHERE earlier = ?1 OR later = ?1",
            "DELETE FROM set_aside WHERE session_id = ?1",
            "DELETE FROM recoveries WHERE session_id = ?1",
            "DELETE FROM archive WHERE session_id = ?1",
        ] {
            self.run(sql, [session])?;
        }
        Ok(())
    }
}

/// The sessions that are meant, also those of which only an archived transcript is left.
fn meant(sql: &Connection, what: &Forget) -> rusqlite::Result<Vec<String>> {
    let read = |row: &rusqlite::Row<'_>| row.get(0);
    match what {
        Forget::Session(id) => one(sql, id),
        Forget::Sessions(ids) => {
            let each = ids.iter().map(|id| one(sql, id)).collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(each.concat())
        }
        Forget::Before(at) => sql
            .prepare_cached(
                "SELECT session_id FROM sessions s
                 WHERE max(coalesce(active_at, created_at, 0), coalesce(created_at, 0),
                    coalesce((SELECT max(text_at) FROM files f WHERE f.session = s.id), 0)) BETWEEN 1 AND ?1 - 1
                 UNION SELECT a.session_id FROM archive a
                    WHERE a.session_id NOT IN (SELECT session_id FROM sessions)
                    GROUP BY a.session_id HAVING max(a.mtime) < ?1
                 ORDER BY 1",
            )?
            .query_map([at.as_millis()], read)?
            .collect(),
    }
}

/// The session, if anything is left of it.
fn one(sql: &Connection, id: &SessionId) -> rusqlite::Result<Vec<String>> {
    sql.prepare_cached(
        "SELECT session_id FROM sessions WHERE session_id = ?1
         UNION SELECT a.session_id FROM archive a
            WHERE a.session_id = ?1 AND a.session_id NOT IN (SELECT session_id FROM sessions)",
    )?
    .query_map([id.as_str()], |row| row.get(0))?
    .collect()
}

/// Adds what is stored of a session.
fn count(sql: &Connection, session: SessionKey, gone: &mut Forgotten) -> rusqlite::Result<()> {
    let counts = sql
        .prepare_cached(
            "SELECT (SELECT count(*) FROM files WHERE session = ?1), (SELECT count(*) FROM batches WHERE session = ?1),
                    (SELECT count(*) FROM activities WHERE session = ?1),
                    (SELECT coalesce(sum(texts), 0) FROM files WHERE session = ?1)",
        )?
        .query_row([session], |row| -> rusqlite::Result<[i64; 4]> {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        })?
        .map(uncount);
    gone.files += counts[0];
    gone.prompts += counts[1];
    gone.activities += counts[2];
    gone.texts += counts[3];
    Ok(())
}

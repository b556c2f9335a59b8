//! Reads evidence and edits: of a project, of a file, of words.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Row};
use watchbill_core::history::rows::BatchId;
use watchbill_core::ids::SessionId;
use watchbill_core::memory::{Edit, EditKind, Evidence, Importance, Mark, MemoryKind, Signal};
use watchbill_core::time::Timestamp;

use super::ProjectPlace;
use crate::tables::{At, SessionKey, bits, count, shared, unbits, uncount};
use crate::{Store, StoreError};

/// Words beyond this number of memories are common. The count stops there.
const COMMON: i64 = 500;
/// The most words of a prompt that are looked up: the rarest ones.
const TERMS: usize = 12;
/// A project with more rows of evidence is large. The count stops there.
const MANY: i64 = 2_000;
/// The most rows of what the user said about no file.
const NEWEST: i64 = 100;
/// The most memories that a prompt finds.
const FOUND: usize = 60;

const COLUMNS: &str =
    "e.memory, s.session_id, e.batch, e.byte, e.at, e.times, e.kind, e.text, e.path, e.symptom,
     e.importance, e.suspect FROM memory_evidence e JOIN sessions s ON s.id = e.session";

fn read(row: &Row<'_>) -> rusqlite::Result<Evidence> {
    let word = |column| -> rusqlite::Result<String> { row.get(column) };
    Ok(Evidence {
        memory: unbits(row.get(0)?),
        session: shared(row, 1)?.unwrap_or_default(),
        batch: shared(row, 2)?.unwrap_or_default(),
        byte: row.get::<_, Option<i64>>(3)?.map(uncount),
        at: row.get::<_, At>(4)?.0,
        times: uncount(row.get(5)?),
        // A kind of a later version counts as a note; only the shown word differs.
        kind: word(6)?.parse().unwrap_or(MemoryKind::Note),
        text: row.get(7)?,
        path: row.get(8)?,
        symptom: row.get(9)?,
        importance: Importance::of(&word(10)?),
        suspect: row.get(11)?,
    })
}

fn read_edit(row: &Row<'_>) -> rusqlite::Result<Option<Edit>> {
    let Ok(what) = row.get::<_, String>(1)?.parse::<EditKind>() else { return Ok(None) };
    Ok(Some(Edit {
        memory: unbits(row.get(0)?),
        what,
        at: row.get::<_, At>(2)?.0,
        text: row.get(3)?,
        path: row.get(4)?,
        mark: read_mark(row)?,
    }))
}

fn read_mark(row: &Row<'_>) -> rusqlite::Result<Option<Mark>> {
    let (Some(session), Some(at)) = (shared(row, 5)?, row.get::<_, Option<At>>(8)?) else { return Ok(None) };
    let byte = row.get::<_, Option<i64>>(7)?.map(uncount);
    Ok(Some(Mark { session, batch: shared(row, 6)?.unwrap_or_default(), byte, at: at.0 }))
}

/// The evidence and the edits of some memories.
pub type Found = (Vec<Evidence>, Vec<Edit>);

impl Store {
    /// Sessions that the rules have not seen, the newest first, each with its changed turns; without turns, as a whole.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memory_due(&self, most: usize) -> Result<Vec<(SessionKey, Vec<BatchId>)>, StoreError> {
        let turns = |turns: String| turns.split('\n').map(BatchId::from).collect();
        self.rows(
            "SELECT session, batch FROM memory_due ORDER BY session DESC LIMIT ?1",
            [count(most as u64)],
            |row| Ok((row.get(0)?, row.get::<_, Option<String>>(1)?.map(turns).unwrap_or_default())),
        )
    }

    /// What the rules keep of a session's turns; `None` if they must look at all of them.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memory_rules(&self, session: SessionKey) -> Result<Option<String>, StoreError> {
        self.row("SELECT rules FROM memory_sessions WHERE session = ?1", [session], |row| row.get(0))
            .map(Option::flatten)
    }

    /// What a session shows of a memory.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn signal(&self, session: SessionKey, memory: u64) -> Result<Option<Signal>, StoreError> {
        let found = self.row(
            &format!("SELECT {COLUMNS} WHERE e.memory = ?1 AND e.session = ?2"),
            (bits(memory), session),
            read,
        )?;
        Ok(found.map(|one| Signal {
            id: one.memory,
            kind: one.kind,
            text: one.text,
            path: one.path,
            symptom: one.symptom,
            importance: one.importance,
            suspect: one.suspect,
            batch: one.batch,
            byte: one.byte,
            at: one.at,
            times: one.times,
        }))
    }

    /// The folder in which a session worked, as far as is known.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn working_folder(&self, session: SessionKey) -> Result<Option<String>, StoreError> {
        self.only_row(
            "SELECT coalesce((SELECT cwd FROM sessions WHERE id = ?1),
                    (SELECT min(d.cwd) FROM folders d JOIN files f ON f.id = d.file
                        WHERE f.session = ?1 AND f.subagent IS NULL),
                    (SELECT min(cwd) FROM hook_folders WHERE session = ?1))",
            [session],
            |row| row.get(0),
        )
    }

    /// The record of a session at a time, as a mark; `None` if the session is not stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn mark_at(&self, session: &SessionId, at: Timestamp) -> Result<Option<Mark>, StoreError> {
        let Some(key) = self.session_key(session)? else { return Ok(None) };
        let query = "SELECT b.batch, CASE WHEN b.started_at = ?2 THEN b.byte ELSE
                    (SELECT t.byte FROM texts t WHERE t.file = b.file AND t.at = ?2 AND t.role = 'answer' AND t.subagent IS NULL
                     ORDER BY t.byte LIMIT 1) END
                 FROM batches b WHERE b.session = ?1 AND b.started_at <= ?2 ORDER BY b.started_at DESC, b.byte DESC LIMIT 1";
        let found = self.row(query, (key, At(at)), |row| {
            Ok((shared(row, 0)?.unwrap_or_default(), row.get::<_, Option<i64>>(1)?.map(uncount)))
        })?;
        let (batch, byte) = found.unwrap_or_default();
        Ok(Some(Mark { session: session.as_str().into(), batch, byte, at }))
    }

    /// The project of a session that the rules have seen.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memory_place(&self, session: SessionKey) -> Result<Option<ProjectPlace>, StoreError> {
        self.row("SELECT project, place, root FROM memory_sessions WHERE session = ?1", [session], |row| {
            Ok(ProjectPlace { project: unbits(row.get(0)?), place: row.get(1)?, root: row.get(2)? })
        })
    }

    /// The sessions of a project that the rules have seen, the one with the newest prompt first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn newest_memory_sessions(&self, project: u64, most: usize) -> Result<Vec<SessionKey>, StoreError> {
        let query = "SELECT m.session FROM memory_sessions m JOIN batches b ON b.session = m.session
                 WHERE m.project = ?1 GROUP BY m.session ORDER BY max(b.started_at) DESC, m.session DESC LIMIT ?2";
        self.rows(query, (bits(project), count(most as u64)), |row| row.get(0))
    }

    /// All evidence and edits of a project.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memories_of_project(&self, project: u64) -> Result<Found, StoreError> {
        self.with_sql(|sql| {
            let evidence = sql
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} WHERE e.project = ?1 ORDER BY e.memory, e.session"
                ))?
                .query_map([bits(project)], read)?
                .collect::<rusqlite::Result<_>>()?;
            Ok((evidence, edits(sql, project)?))
        })
    }

    /// Evidence of memories about one file, and the edits of the project.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memories_of_file(&self, project: u64, path: &str) -> Result<Found, StoreError> {
        self.with_sql(|sql| {
            let evidence = sql
                .prepare_cached(&format!("SELECT {COLUMNS} WHERE e.project = ?1 AND e.path = ?2"))?
                .query_map((bits(project), path), read)?
                .collect::<rusqlite::Result<_>>()?;
            Ok((evidence, edits(sql, project)?))
        })
    }

    /// What the user said last that is about no file, and the edits of the project.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memories_without_file(&self, project: u64) -> Result<Found, StoreError> {
        self.with_sql(|sql| {
            let evidence = sql
                .prepare_cached(&format!(
                    "SELECT {COLUMNS} WHERE e.project = ?1 AND e.path IS NULL
                        AND e.kind IN ('correction', 'refusal', 'note') AND e.importance = 'high'
                     ORDER BY e.at DESC, e.memory LIMIT ?2"
                ))?
                .query_map((bits(project), NEWEST), read)?
                .collect::<rusqlite::Result<_>>()?;
            Ok((evidence, edits(sql, project)?))
        })
    }

    /// The memories of a project that the user has forgotten.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn forgotten_memories(&self, project: u64) -> Result<BTreeSet<u64>, StoreError> {
        self.rows(
            "SELECT memory FROM memory_edits WHERE project = ?1 AND what = 'forgotten'",
            [bits(project)],
            |row| row.get(0).map(unbits),
        )
    }

    /// How many memories a project has, counted up to a limit.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memory_count(&self, project: u64) -> Result<u64, StoreError> {
        self.only_row(
            "SELECT count(DISTINCT memory) FROM
                    (SELECT memory FROM memory_evidence WHERE project = ?1 LIMIT ?2)",
            (bits(project), MANY),
            |row| row.get(0).map(uncount),
        )
    }

    /// Evidence of these memories, and the edits of the project.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memories_by_id(&self, project: u64, ids: &BTreeSet<u64>) -> Result<Found, StoreError> {
        self.with_sql(|sql| {
            let mut evidence = Vec::new();
            let mut statement =
                sql.prepare_cached(&format!("SELECT {COLUMNS} WHERE e.memory = ?1 ORDER BY e.session"))?;
            for id in ids {
                let rows = statement.query_map([bits(*id)], read)?;
                evidence.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
            }
            Ok((evidence, edits(sql, project)?))
        })
    }

    /// How many memories of a project have each word, counted up to a limit.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn word_frequencies(
        &self,
        project: u64,
        words: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, u64>, StoreError> {
        self.with_sql(|sql| {
            let mut statement = sql.prepare_cached(
                "SELECT count(DISTINCT memory) FROM
                    (SELECT memory FROM memory_words WHERE project = ?1 AND word = ?2 LIMIT ?3)",
            )?;
            let mut frequencies = BTreeMap::new();
            for word in words {
                let n: i64 = statement.query_row((bits(project), word, COMMON), |row| row.get(0))?;
                if n > 0 {
                    frequencies.insert(word.clone(), uncount(n));
                }
            }
            Ok(frequencies)
        })
    }

    /// The memories of a project that have any of the rarest of these words: those with most of them first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn memories_with_words(
        &self,
        project: u64,
        frequencies: &BTreeMap<String, u64>,
    ) -> Result<BTreeSet<u64>, StoreError> {
        let mut terms: Vec<(&u64, &String)> = frequencies.iter().map(|(word, n)| (n, word)).collect();
        terms.sort();
        terms.truncate(TERMS);
        self.with_sql(|sql| {
            let mut hits: BTreeMap<u64, usize> = BTreeMap::new();
            let mut statement = sql.prepare_cached(
                "SELECT DISTINCT memory FROM memory_words WHERE project = ?1 AND word = ?2 ORDER BY memory LIMIT ?3",
            )?;
            for (_, word) in terms {
                let mut rows = statement.query((bits(project), word, COMMON))?;
                while let Some(row) = rows.next()? {
                    *hits.entry(unbits(row.get(0)?)).or_default() += 1;
                }
            }
            let mut hits: Vec<(usize, u64)> = hits.into_iter().map(|(memory, n)| (n, memory)).collect();
            hits.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            Ok(hits.into_iter().take(FOUND).map(|(_, memory)| memory).collect())
        })
    }
}

fn edits(sql: &Connection, project: u64) -> rusqlite::Result<Vec<Edit>> {
    let mut statement = sql.prepare_cached(
        "SELECT e.memory, e.what, e.at, e.text, e.path, s.session_id, e.batch, e.byte, e.record_at
         FROM memory_edits e LEFT JOIN sessions s ON s.id = e.session WHERE e.project = ?1 ORDER BY e.memory",
    )?;
    let rows = statement.query_map([bits(project)], read_edit)?;
    Ok(rows.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
}

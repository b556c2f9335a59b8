//! Plans that the agent wrote: every version, its events, and the prompts that carried it out.

use std::sync::Arc;

use watchbill_core::history::rows::{Execution, PlanEvent, PlanEventKind};
use watchbill_core::time::Timestamp;

use super::{FileKey, SessionKey, at, shared, time};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- One version of a plan. An unchanged text gives no new version.
CREATE TABLE plans (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    plan    TEXT NOT NULL,     -- path of its file, or what else names it
    content TEXT NOT NULL,
    path    TEXT,
    at      INTEGER,           -- when the text was first there
    batch   TEXT,              -- batches.batch
    file    INTEGER REFERENCES files (id) ON DELETE CASCADE,
    PRIMARY KEY (session, plan, content)
) STRICT, WITHOUT ROWID;
CREATE INDEX plans_file ON plans (file);

-- What happened to a plan: to the version that was the newest at that time.
CREATE TABLE plan_words (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    plan    TEXT NOT NULL,
    at      INTEGER NOT NULL,  -- 0: not known
    word    TEXT NOT NULL,     -- written, proposed, rejected, approved
    batch   TEXT,
    file    INTEGER REFERENCES files (id) ON DELETE CASCADE,
    PRIMARY KEY (session, plan, at, word)
) STRICT, WITHOUT ROWID;
CREATE INDEX plan_words_file ON plan_words (file);

-- A prompt that carries out a plan, of this session or, by its text, of another one.
CREATE TABLE executions (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    batch   TEXT NOT NULL,
    plan    TEXT,
    content TEXT,
    at      INTEGER,
    file    INTEGER REFERENCES files (id) ON DELETE CASCADE,
    PRIMARY KEY (session, batch)
) STRICT, WITHOUT ROWID;
CREATE INDEX executions_file ON executions (file);
";

/// A version of a plan as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPlan {
    /// The name of the plan.
    pub plan: Arc<str>,
    /// Its file.
    pub path: Option<Arc<str>>,
    /// Its number by time, from 1.
    pub version: u32,
    /// Its text.
    pub content: String,
    /// When it was first there.
    pub at: Option<Timestamp>,
    /// The batch that wrote it.
    pub batch: Option<Arc<str>>,
    /// Its events, in order of time.
    pub words: Vec<(Option<Timestamp>, PlanEventKind)>,
}

impl WriteTransaction<'_> {
    /// Stores an event of a plan, with the text if there is one.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn merge_plan(
        &mut self,
        session: SessionKey,
        file: Option<FileKey>,
        version: &PlanEvent,
    ) -> Result<(), StoreError> {
        if let Some(content) = &version.content {
            self.run(
                "INSERT INTO plans (session, plan, content, path, at, batch, file)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                 ON CONFLICT (session, plan, content) DO UPDATE SET
                    path = coalesce(path, excluded.path), file = coalesce(file, excluded.file),
                    batch = CASE WHEN coalesce(excluded.at < at, at IS NULL) THEN excluded.batch ELSE batch END,
                    at = min(coalesce(at, excluded.at), coalesce(excluded.at, at))",
                rusqlite::params![
                    session,
                    &*version.plan,
                    content,
                    version.path.as_deref(),
                    at(version.at),
                    version.batch.as_deref(),
                    file
                ],
            )?;
        }
        // A hook and a record report one event, at almost the same time.
        let of_both = self.run(
            "UPDATE OR IGNORE plan_words SET at = min(at, ?3), batch = coalesce(batch, ?5), file = coalesce(file, ?6)
             WHERE session = ?1 AND plan = ?2 AND word = ?4 AND at = (SELECT at FROM plan_words WHERE session = ?1 AND plan = ?2 AND word = ?4
                AND (file IS NULL) <> (?6 IS NULL) AND abs(at - ?3) <= 5000 ORDER BY abs(at - ?3) LIMIT 1)",
            rusqlite::params![
                session,
                &*version.plan,
                at(version.at).unwrap_or(0),
                version.word.as_str(),
                version.batch.as_deref(),
                file
            ],
        )?;
        if of_both > 0 {
            return self.note_plan(session, &version.plan);
        }
        self.run(
            "INSERT INTO plan_words (session, plan, at, word, batch, file) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (session, plan, at, word) DO UPDATE SET
                batch = coalesce(batch, excluded.batch), file = coalesce(file, excluded.file)",
            rusqlite::params![
                session,
                &*version.plan,
                at(version.at).unwrap_or(0),
                version.word.as_str(),
                version.batch.as_deref(),
                file
            ],
        )?;
        self.note_plan(session, &version.plan)
    }

    /// Stores that a prompt carries out a plan.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn merge_execution(
        &mut self,
        session: SessionKey,
        file: Option<FileKey>,
        execution: &Execution,
    ) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO executions (session, batch, plan, content, at, file) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
             ON CONFLICT (session, batch) DO UPDATE SET
                plan = coalesce(plan, excluded.plan), content = coalesce(content, excluded.content),
                at = min(coalesce(at, excluded.at), coalesce(excluded.at, at)),
                file = coalesce(file, excluded.file)",
            rusqlite::params![
                session,
                &*execution.batch,
                execution.plan.as_deref(),
                execution.content,
                at(execution.at),
                file
            ],
        )?;
        Ok(())
    }
}

/// An event of a plan: the plan, the time, and the kind.
type PlanEventRow = (Arc<str>, Option<Timestamp>, PlanEventKind);

impl Store {
    /// Whether a turn wrote a version of a plan.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn has_plan(&self, session: SessionKey, batch: &str) -> Result<bool, StoreError> {
        self.only_row(
            "SELECT EXISTS (SELECT 1 FROM plans WHERE session = ?1 AND batch = ?2)",
            (session, batch),
            |row| row.get(0),
        )
    }

    /// The versions of a session's plans: by plan, then by time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plans(&self, session: SessionKey) -> Result<Vec<StoredPlan>, StoreError> {
        let mut plans: Vec<StoredPlan> = self.rows(
            "SELECT plan, path, content, at, batch,
                    row_number() OVER (PARTITION BY plan ORDER BY at, content) AS version
                 FROM plans WHERE session = ?1 ORDER BY plan, version",
            [session],
            |row| {
                Ok(StoredPlan {
                    plan: shared(row, 0)?.unwrap_or_default(),
                    path: shared(row, 1)?,
                    version: row.get(5)?,
                    content: row.get(2)?,
                    at: time(row, 3)?,
                    batch: shared(row, 4)?,
                    words: Vec::new(),
                })
            },
        )?;
        for (plan, at, word) in self.plan_events(session)? {
            // An event belongs to the version that was the newest at its time.
            let of_plan = plans.iter_mut().filter(|version| version.plan == plan);
            let mut newest = None;
            for version in of_plan {
                if newest.is_none() || version.at <= at {
                    newest = Some(version);
                }
            }
            if let Some(version) = newest {
                version.words.push((at, word));
            }
        }
        Ok(plans)
    }

    fn plan_events(&self, session: SessionKey) -> Result<Vec<PlanEventRow>, StoreError> {
        self.rows(
            "SELECT plan, nullif(at, 0), word FROM plan_words WHERE session = ?1 ORDER BY plan, at, word",
            [session],
            |row| {
                let word: String = row.get(2)?;
                Ok((
                    shared(row, 0)?.unwrap_or_default(),
                    time(row, 1)?,
                    word.parse().unwrap_or(PlanEventKind::Written),
                ))
            },
        )
    }

    /// The prompts of a session that carry out plans.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn executions(&self, session: SessionKey) -> Result<Vec<Execution>, StoreError> {
        self.rows(
            "SELECT plan, content, batch, at FROM executions WHERE session = ?1 ORDER BY at, batch",
            [session],
            |row| {
                Ok(Execution {
                    plan: shared(row, 0)?,
                    content: row.get(1)?,
                    batch: shared(row, 2)?.unwrap_or_default(),
                    at: time(row, 3)?,
                })
            },
        )
    }
}

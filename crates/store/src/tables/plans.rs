//! Plans that the agent wrote, every version of them.

use watchbill_core::time::Timestamp;

use super::{At, BatchKey, FileKey, SessionKey};
use crate::{Step, Store, StoreError};

pub(crate) const V1: &str = "
-- One version of a plan.
CREATE TABLE plans (
    session     INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    name        TEXT NOT NULL,     -- path of the plan file, or the id of the call that showed it
    version     INTEGER NOT NULL,  -- from 1
    batch       INTEGER REFERENCES batches (id) ON DELETE SET NULL,
    file        INTEGER REFERENCES files (id) ON DELETE CASCADE,
    at          INTEGER NOT NULL,
    source      TEXT NOT NULL,     -- write, edit, exit_plan_mode, prompt
    approved    INTEGER,           -- 1, 0, or none: not decided
    executed_by INTEGER REFERENCES batches (id) ON DELETE SET NULL,
    content     TEXT NOT NULL,
    PRIMARY KEY (session, name, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX plans_file ON plans (file);
CREATE INDEX plans_batch ON plans (batch);
CREATE INDEX plans_executed_by ON plans (executed_by);
";

/// One version of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRow {
    /// Whose it is.
    pub session: SessionKey,
    /// Path of the plan file, or the id of the call that showed it.
    pub name: String,
    /// From 1.
    pub version: u32,
    /// The batch that wrote it.
    pub batch: Option<BatchKey>,
    /// The transcript it was read from.
    pub file: Option<FileKey>,
    /// When.
    pub at: Timestamp,
    /// How it is known: `write`, `edit`, `exit_plan_mode`, `prompt`.
    pub source: String,
    /// The person's verdict.
    pub approved: Option<bool>,
    /// The batch that carries it out.
    pub executed_by: Option<BatchKey>,
    /// The plan.
    pub content: String,
}

impl Step<'_> {
    /// Stores a version of a plan in place of the one with its name and number.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_plan(&mut self, row: &PlanRow) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO plans
                (session, name, version, batch, file, at, source, approved, executed_by, content)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            rusqlite::params![
                row.session,
                row.name,
                row.version,
                row.batch,
                row.file,
                At(row.at),
                row.source,
                row.approved,
                row.executed_by,
                row.content
            ],
        )?;
        Ok(())
    }
}

impl Store {
    /// The plans of a session: by name, then by version.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn plans(&self, session: SessionKey) -> Result<Vec<PlanRow>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached(
                "SELECT session, name, version, batch, file, at, source, approved, executed_by, content
                 FROM plans WHERE session = ?1 ORDER BY name, version",
            )?
            .query_map([session], |row| {
                Ok(PlanRow {
                    session: row.get(0)?,
                    name: row.get(1)?,
                    version: row.get(2)?,
                    batch: row.get(3)?,
                    file: row.get(4)?,
                    at: row.get::<_, At>(5)?.0,
                    source: row.get(6)?,
                    approved: row.get(7)?,
                    executed_by: row.get(8)?,
                    content: row.get(9)?,
                })
            })?
            .collect()
        })
    }
}

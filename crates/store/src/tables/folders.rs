//! The folders in which sessions worked. They decide what goes when the user excludes a folder later.

use std::collections::BTreeSet;

use super::{FileKey, SessionKey};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V4: &str = "
-- The folders in which a transcript was written, each once. What the settings exclude is not among them.
CREATE TABLE folders (
    file INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    cwd  TEXT NOT NULL,
    PRIMARY KEY (file, cwd)
) STRICT, WITHOUT ROWID;
-- The folders that hooks have named, by session.
CREATE TABLE hook_folders (
    session INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    cwd     TEXT NOT NULL,
    PRIMARY KEY (session, cwd)
) STRICT, WITHOUT ROWID;
-- Earlier versions noted none: a transcript that grows is read from its beginning, so that all of its folders are known,
-- and rules that were carried out without them are carried out once more.
DELETE FROM snapshots WHERE kind = 'history';
UPDATE meta SET value = '' WHERE name = 'left_out';
";

/// Sessions and subagents that worked in folders of a rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkedIn {
    /// Sessions that began there, or that worked there according to their own transcript or a hook.
    pub sessions: BTreeSet<String>,
    /// Paths of the transcripts of subagents.
    pub subagents: BTreeSet<String>,
    /// Paths of transcripts that mention such a folder in another way, or a file in it: these are not archived.
    pub archived: BTreeSet<String>,
}

impl WorkedIn {
    /// Adds a transcript: of a session, or of a subagent of it.
    pub fn add(&mut self, session: String, subagent: bool, path: String) {
        match subagent {
            true => self.subagents.insert(path),
            false => self.sessions.insert(session),
        };
    }
}

impl WriteTransaction<'_> {
    /// Notes a folder in which a transcript was written.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_folder(&mut self, file: FileKey, cwd: &str) -> Result<(), StoreError> {
        self.run("INSERT OR IGNORE INTO folders (file, cwd) VALUES (?1, ?2)", (file, cwd)).map(drop)
    }

    /// Notes the folder of a session that a hook reports. It may be all that is known of the session.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_hook_folder(&mut self, session: SessionKey, cwd: &str) -> Result<(), StoreError> {
        let new =
            self.run("INSERT OR IGNORE INTO hook_folders (session, cwd) VALUES (?1, ?2)", (session, cwd))?;
        if new > 0 {
            self.run("UPDATE sessions SET cwd = ?2 WHERE id = ?1 AND cwd IS NULL", (session, cwd))?;
        }
        Ok(())
    }

    /// Notes the name of the project that a program reports for a session.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_project(&mut self, session: SessionKey, project: &str) -> Result<(), StoreError> {
        self.run("UPDATE sessions SET project = ?2 WHERE id = ?1 AND project IS NULL", (session, project))
            .map(drop)
    }
}

impl Store {
    /// Sessions and subagents that worked in a folder that fits the rule, as far as is stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn worked_in(&self, rule: &dyn Fn(&str) -> bool) -> Result<WorkedIn, StoreError> {
        let mut worked = WorkedIn::default();
        self.with_sql(|sql| {
            let mut statement = sql.prepare_cached(
                "SELECT d.cwd, s.session_id, f.subagent IS NOT NULL, f.path
                    FROM folders d JOIN files f ON f.id = d.file JOIN sessions s ON s.id = f.session
                 UNION ALL SELECT h.cwd, s.session_id, FALSE, '' FROM hook_folders h JOIN sessions s ON s.id = h.session
                 UNION ALL SELECT cwd, session_id, FALSE, '' FROM sessions WHERE cwd IS NOT NULL",
            )?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if rule(row.get_ref(0)?.as_str()?) {
                    worked.add(row.get(1)?, row.get(2)?, row.get(3)?);
                }
            }
            Ok(worked)
        })
    }

    /// Passes the transcripts without a known folder to `each`: the session, whether it is a subagent's, and the
    /// path. They were read before folders were noted, name none, or are left out from beginning to end.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn without_folders(&self, each: &mut dyn FnMut(String, bool, String)) -> Result<(), StoreError> {
        let query = "SELECT s.session_id, f.subagent IS NOT NULL, f.path
             FROM files f JOIN sessions s ON s.id = f.session
             WHERE NOT EXISTS (SELECT 1 FROM folders WHERE file = f.id) ORDER BY f.id";
        self.rows(query, [], |row| {
            each(row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(())
        })
    }
}

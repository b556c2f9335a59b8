//! Forgetting: selects sessions, and everything that is left of them.

use std::collections::{BTreeSet, HashSet};

use rusqlite::{Connection, OptionalExtension};
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;

use super::selection::{Reason, Removed, Selection, Strays};
use crate::archive::Archive;
use crate::tables::archive::ArchiveRow;
use crate::tables::{SessionKey, uncount};
use crate::{Store, StoreError};

/// The sessions to forget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forget {
    /// One session with its subagents.
    Session(SessionId),
    /// These sessions with their subagents.
    Sessions(Vec<SessionId>),
    /// Every session whose newest activity is before this time.
    Before(Timestamp),
}

impl Store {
    /// Selects these sessions, with everything that is left of them. The id of each removed session is kept: the
    /// session is not stored again from transcripts that are still there, until
    /// [`remember_again`](Self::remember_again).
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn select_forgotten(&self, what: &Forget) -> Result<Selection, StoreError> {
        let strays = self.strays()?;
        let mut sessions = self.with_sql(|sql| selected(sql, what))?;
        sessions.extend(self.selected_strays(what, &strays.first_copies)?);
        let would = self.all_of(sessions, &strays)?;
        Ok(Selection::of(Reason::Forgotten, would, BTreeSet::new(), &strays))
    }

    /// Everything that is left of these sessions.
    pub(super) fn all_of(&self, sessions: BTreeSet<String>, strays: &Strays) -> Result<Removed, StoreError> {
        self.with_sql(|sql| {
            let mut all = Removed::default();
            for id in &sessions {
                let key: Option<SessionKey> = sql
                    .prepare_cached("SELECT id FROM sessions WHERE session_id = ?1")?
                    .query_row([id], |row| row.get(0))
                    .optional()?;
                if let Some(key) = key {
                    count(sql, key, &mut all)?;
                }
                let mut archived = sql.prepare_cached("SELECT file FROM archive WHERE session_id = ?1")?;
                for file in archived.query_map([id], |row| row.get(0))? {
                    all.archived.insert(file?);
                }
            }
            let of_sessions = strays.first_copies.iter().filter(|row| sessions.contains(&row.session_id));
            all.archived.extend(of_sessions.map(|row| row.file.clone()));
            all.sessions = sessions;
            Ok(all)
        })
    }

    /// The archive files that have no row.
    pub(super) fn strays(&self) -> Result<Strays, StoreError> {
        let Some(folder) = self.path().parent() else { return Ok(Strays::default()) };
        let rows = self.all_archived()?;
        let mut copies = Archive::new(folder).copies_without(&rows);
        if !copies.is_empty() {
            let forgotten = self.forgotten()?;
            copies.retain(|row| !forgotten.iter().any(|id| id.as_str() == row.session_id));
        }
        let mut seen: HashSet<String> = rows.into_iter().map(|row| row.path).collect();
        let (first_copies, beside) = copies.into_iter().partition(|row| seen.insert(row.path.clone()));
        Ok(Strays { first_copies, beside })
    }

    /// The selected sessions of which only archive files without rows are left.
    fn selected_strays(&self, what: &Forget, strays: &[ArchiveRow]) -> Result<Vec<String>, StoreError> {
        let mut selected = Vec::new();
        for row in strays {
            let id = SessionId::new(&row.session_id);
            let is_selected = match what {
                Forget::Session(asked) => *asked == id,
                Forget::Sessions(asked) => asked.contains(&id),
                Forget::Before(at) => {
                    let of_session = strays.iter().filter(|other| other.session_id == row.session_id);
                    let newest = of_session.map(|other| other.mtime).max();
                    newest < Some(*at)
                        && self.session_ids(&row.session_id, 2)?.iter().all(|known| *known != row.session_id)
                }
            };
            if is_selected {
                selected.push(row.session_id.clone());
            }
        }
        Ok(selected)
    }

    /// The ids with this prefix of sessions that have archive files without rows.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_ids_of_strays(&self, begin: &str) -> Result<Vec<String>, StoreError> {
        let ids = self
            .strays()?
            .first_copies
            .into_iter()
            .map(|row| row.session_id)
            .filter(|id| id.starts_with(begin));
        Ok(ids.collect::<BTreeSet<_>>().into_iter().collect())
    }
}

/// The selected sessions, including those of which only an archived transcript is left.
fn selected(sql: &Connection, what: &Forget) -> rusqlite::Result<BTreeSet<String>> {
    let read = |row: &rusqlite::Row<'_>| row.get(0);
    match what {
        Forget::Session(id) => one(sql, id),
        Forget::Sessions(ids) => {
            let each = ids.iter().map(|id| one(sql, id)).collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(each.into_iter().flatten().collect())
        }
        Forget::Before(at) => sql
            .prepare_cached(
                "SELECT session_id FROM sessions s
                 WHERE max(coalesce(active_at, created_at, 0), coalesce(created_at, 0),
                    coalesce((SELECT max(text_at) FROM files f WHERE f.session = s.id), 0)) BETWEEN 1 AND ?1 - 1
                 UNION SELECT a.session_id FROM archive a
                    WHERE a.session_id NOT IN (SELECT session_id FROM sessions)
                    GROUP BY a.session_id HAVING max(a.mtime) < ?1",
            )?
            .query_map([at.as_millis()], read)?
            .collect(),
    }
}

/// The session, if anything is left of it, or if it is not yet in the list of the forgotten ones. What lies beside the store, such
/// as the log of an own session, goes by that list.
fn one(sql: &Connection, id: &SessionId) -> rusqlite::Result<BTreeSet<String>> {
    sql.prepare_cached(
        "SELECT session_id FROM sessions WHERE session_id = ?1
         UNION SELECT session_id FROM archive WHERE session_id = ?1
         UNION SELECT ?1 WHERE ?1 NOT IN (SELECT session_id FROM forgotten)",
    )?
    .query_map([id.as_str()], |row| row.get(0))?
    .collect()
}

/// Adds the counts of a session's rows.
fn count(sql: &Connection, session: SessionKey, all: &mut Removed) -> rusqlite::Result<()> {
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
    all.files += counts[0];
    all.prompts += counts[1];
    all.activities += counts[2];
    all.texts += counts[3];
    Ok(())
}

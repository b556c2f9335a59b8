//! What was forgotten, once more, in a file beside the database: when that is damaged, nobody else could tell which
//! transcripts are not to be stored again.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use watchbill_core::time::Timestamp;

use crate::names::beside;
use crate::{Store, StoreError, folder};

/// The ids of sessions, each with the time at which it was forgotten, in milliseconds.
type Ids = BTreeMap<String, i64>;

fn path_of(database: &Path) -> PathBuf {
    beside(database, ".forgotten")
}

/// The file in a data folder that names all sessions that are forgotten, one a line behind its time, for whoever keeps
/// something else of sessions than the store. It is replaced as a whole before anything is removed.
pub fn forgotten_in(data_dir: &Path) -> PathBuf {
    path_of(&data_dir.join(crate::DATABASE))
}

/// Writes the list whole or not at all: one session a line, behind its time.
fn write(database: &Path, ids: &Ids) -> Result<(), StoreError> {
    let (path, new) = (path_of(database), beside(database, ".forgotten.new"));
    let lines: String = ids.iter().map(|(id, at)| format!("{at} {id}\n")).collect();
    let mut file = folder::touch(&new)?;
    let write = file.set_len(0).and_then(|()| file.write_all(lines.as_bytes()));
    write.and_then(|()| file.sync_all()).map_err(|e| StoreError::io(&new, e))?;
    folder::rename_if_there(&new, &path)?;
    path.parent().map(folder::sync_names);
    Ok(())
}

/// What the database says.
fn table(sql: &Connection) -> rusqlite::Result<Ids> {
    sql.prepare_cached("SELECT session_id, at FROM forgotten")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Whether there is such a file, as far as the folder tells: one that cannot be read is there.
pub(crate) fn is_there(database: &Path) -> bool {
    path_of(database).symlink_metadata().is_ok()
}

/// What the file says; nothing where there is none.
///
/// # Errors
/// When it cannot be read: then it is not known what must not be stored again.
fn read(database: &Path) -> Result<Ids, StoreError> {
    let path = path_of(database);
    let bytes = match folder::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Ids::new()),
        read => read.map_err(|source| StoreError::ForgottenUnread { path, source })?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // A line without its time still names a session.
    let id = |line: &str| match line.split_once(' ').and_then(|(at, id)| Some((at.parse().ok()?, id))) {
        Some((at, id)) => (id.to_owned(), at),
        None => (line.to_owned(), 0),
    };
    Ok(lines.map(id).collect())
}

/// Puts into a new database what the file names. Says how many sessions that were.
///
/// # Errors
/// When the file cannot be read, or the database not written.
pub(crate) fn take_over(database: &Path, to: &Connection) -> Result<u64, StoreError> {
    let ids = read(database)?;
    let insert = || -> rusqlite::Result<u64> {
        let mut insert = to.prepare("INSERT OR IGNORE INTO forgotten (session_id, at) VALUES (?1, ?2)")?;
        let mut taken = 0;
        for (id, at) in &ids {
            taken += insert.execute((id, at))? as u64;
        }
        Ok(taken)
    };
    insert().map_err(|error| StoreError::of(database, &error))
}

impl Store {
    /// At the start: a database of an earlier program has no such file yet; and whoever takes the database away, to have it
    /// made anew, has not taken back what is to be forgotten.
    pub(crate) fn see_to_reminder(&self) -> Result<(), StoreError> {
        if is_there(self.path()) {
            let is_new = "SELECT NOT EXISTS (SELECT 1 FROM sessions)";
            // Not whether it was made just now: the start that has made it may have been ended before this.
            if self.asked(|sql| sql.query_row(is_new, [], |row| row.get(0)))? {
                take_over(self.path(), &self.sql)?;
            }
        } else if let Err(error) = self.remind_of(&BTreeSet::new(), Timestamp::default()) {
            tracing::warn!(%error, "should the store be damaged, it may not be known what was forgotten");
        }
        Ok(())
    }

    /// Why nothing is stored here yet, where that is since the list cannot be read: a database without sessions needs it.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn unread_reminder(&self) -> Result<Option<StoreError>, StoreError> {
        let is_new = "SELECT NOT EXISTS (SELECT 1 FROM sessions)";
        let is_new = self.asked(|sql| sql.query_row(is_new, [], |row| row.get(0)))?;
        Ok(if is_new { read(self.path()).err() } else { None })
    }

    /// These are about to be forgotten: from here on they are not stored again, whatever happens to the database.
    pub(crate) fn remind_of(&self, sessions: &BTreeSet<String>, at: Timestamp) -> Result<(), StoreError> {
        let mut ids = self.asked(table)?;
        if ids.is_empty() && sessions.is_empty() {
            return Ok(());
        }
        ids.extend(sessions.iter().map(|id| (id.clone(), at.as_millis())));
        write(self.path(), &ids)
    }

    /// The file says what the database says.
    ///
    /// # Errors
    /// When the database cannot be read, or the file not written.
    pub fn remind(&self) -> Result<(), StoreError> {
        write(self.path(), &self.asked(table)?)
    }
}

//! A second list of the forgotten sessions, in a file beside the database. If the database is damaged, only this
//! file tells which transcripts must not be stored again.

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

/// The file in a data folder that lists all forgotten sessions, one per line after its time. For code that keeps
/// data of sessions outside the store. The file is replaced as a whole before anything is removed.
pub fn forgotten_list_path(data_dir: &Path) -> PathBuf {
    path_of(&data_dir.join(crate::DATABASE))
}

/// All forgotten sessions of a data folder, as that file lists them.
///
/// # Errors
/// When the list cannot be read.
pub fn forgotten_sessions(data_dir: &Path) -> Result<BTreeSet<String>, StoreError> {
    read(&data_dir.join(crate::DATABASE)).map(|ids| ids.into_keys().collect())
}

/// Writes the list completely or not at all: one session per line, after its time.
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

/// The list in the database.
fn table(sql: &Connection) -> rusqlite::Result<Ids> {
    sql.prepare_cached("SELECT session_id, at FROM forgotten")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// Whether the file exists, even if it cannot be read.
pub(crate) fn is_there(database: &Path) -> bool {
    path_of(database).symlink_metadata().is_ok()
}

/// The list in the file; empty if there is no file.
///
/// # Errors
/// When the file cannot be read: then it is unknown what must not be stored again.
fn read(database: &Path) -> Result<Ids, StoreError> {
    let path = path_of(database);
    let bytes = match folder::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Ids::new()),
        read => read.map_err(|source| StoreError::ForgottenUnread { path, source })?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    // A line without a time still names a session.
    let id = |line: &str| match line.split_once(' ').and_then(|(at, id)| Some((at.parse().ok()?, id))) {
        Some((at, id)) => (id.to_owned(), at),
        None => (line.to_owned(), 0),
    };
    Ok(lines.map(id).collect())
}

/// Adds the file's list to a new database. Returns how many sessions were added.
///
/// # Errors
/// When the file cannot be read, or the database cannot be written.
pub(crate) fn restore_forgotten(database: &Path, to: &Connection) -> Result<u64, StoreError> {
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
    /// Called at the start. A database of an earlier program has no such file yet, so it is written. A new database
    /// gets the file's list: a user who deletes the database to have it made anew has not taken back what was to be
    /// forgotten.
    pub(crate) fn sync_forgotten_list(&self) -> Result<(), StoreError> {
        if is_there(self.path()) {
            let is_new = "SELECT NOT EXISTS (SELECT 1 FROM sessions)";
            // Not only a database that was made just now: the start that made it may have ended before this point.
            if self.with_sql(|sql| sql.query_row(is_new, [], |row| row.get(0)))? {
                restore_forgotten(self.path(), &self.sql)?;
            }
        } else if let Err(error) = self.add_to_forgotten_list(&BTreeSet::new(), Timestamp::default()) {
            tracing::warn!(%error, "should the store be damaged, it may not be known what was forgotten");
        }
        Ok(())
    }

    /// The error that keeps this store empty, if the list cannot be read. Only a database without sessions needs
    /// the list.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn forgotten_list_error(&self) -> Result<Option<StoreError>, StoreError> {
        let is_new = "SELECT NOT EXISTS (SELECT 1 FROM sessions)";
        let is_new = self.with_sql(|sql| sql.query_row(is_new, [], |row| row.get(0)))?;
        Ok(if is_new { read(self.path()).err() } else { None })
    }

    /// Lists sessions that are about to be forgotten. From here on they are not stored again, even if the
    /// database fails later.
    pub(crate) fn add_to_forgotten_list(
        &self,
        sessions: &BTreeSet<String>,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut ids = self.with_sql(table)?;
        if ids.is_empty() && sessions.is_empty() {
            return Ok(());
        }
        ids.extend(sessions.iter().map(|id| (id.clone(), at.as_millis())));
        write(self.path(), &ids)
    }

    /// Writes the database's list into the file.
    ///
    /// # Errors
    /// When the database cannot be read, or the file cannot be written.
    pub fn write_forgotten_list(&self) -> Result<(), StoreError> {
        write(self.path(), &self.with_sql(table)?)
    }
}

//! Opens connections to the database, and prepares each one.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::access::DatabaseState;
use crate::damage::check_database;
use crate::{StoreError, folder, schema, text};

/// How long to wait for another connection's lock. The engine stands still meanwhile.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Opens the database for reading; returns its schema version too. `alone`: no process writes it, and its companion
/// files are not read.
pub(crate) fn connect_reader(path: &Path, alone: bool) -> Result<(Connection, u32), StoreError> {
    let to_error = |e: rusqlite::Error| StoreError::of(path, &e);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sql = if alone {
        Connection::open_with_flags(uri(path), flags | OpenFlags::SQLITE_OPEN_URI)
    } else {
        Connection::open_with_flags(path, flags)
    };
    let sql = sql.map_err(to_error)?;
    prepare(&sql).map_err(to_error)?;
    let found = schema::version(&sql).map_err(to_error)?;
    Ok((sql, found))
}

/// The database as a URI for SQLite's immutable mode: no locks, no companion files.
pub(crate) fn uri(path: &Path) -> String {
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?immutable=1")
}

/// Opens the database for writing, and creates or migrates it. A suspect database is checked first.
pub(crate) fn connect_writer(path: &Path, suspect: bool) -> Result<(Connection, DatabaseState), StoreError> {
    folder::make_file(path)?;
    let to_error = |e: rusqlite::Error| StoreError::of(path, &e);
    let mut sql = open_for_writing(path).map_err(to_error)?;
    // SQLite may open it read-only instead, without an error.
    if sql.is_readonly("main").map_err(to_error)? {
        return Err(StoreError::ReadOnly { path: path.to_owned() });
    }
    let found = schema::version(&sql).map_err(to_error)?;
    check_version(path, &sql, found)?;
    if suspect {
        check_database(path, &sql)?;
    }
    if found == 0 && !schema::is_empty(&sql).map_err(to_error)? {
        let detail = "it has tables, and no version".to_owned();
        return Err(StoreError::Damaged { path: path.to_owned(), detail });
    }
    if found == 0 {
        // Rows of a kilobyte suit larger pages than SQLite's default: a tenth less work and space.
        sql.pragma_update(None, "page_size", 8192).map_err(to_error)?;
    }
    // WAL: readers never wait for the writer. NORMAL: a power failure may lose the newest steps, but the database
    // stays intact. The lost steps are read again from the transcripts.
    sql.pragma_update(None, "journal_mode", "WAL").map_err(to_error)?;
    sql.pragma_update(None, "synchronous", "NORMAL").map_err(to_error)?;
    sql.pragma_update(None, "journal_size_limit", 16 << 20).map_err(to_error)?;
    if found == schema::NEWEST {
        return Ok((sql, DatabaseState::Current));
    }
    let migrated = schema::migrate(&mut sql, found).map_err(to_error);
    if let Err(StoreError::Sql { .. } | StoreError::IndexDamaged { .. }) = migrated {
        // The version, or the schema that it stands for, may be damaged.
        check_database(path, &sql)?;
    }
    migrated?;
    let origin = if found == 0 { DatabaseState::Fresh } else { DatabaseState::Migrated { from: found } };
    Ok((sql, origin))
}

/// A connection that writes to an existing database.
pub(crate) fn open_for_writing(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sql = Connection::open_with_flags(path, flags)?;
    prepare(&sql)?;
    Ok(sql)
}

/// Sets the options that every connection needs.
fn prepare(sql: &Connection) -> rusqlite::Result<()> {
    sql.busy_timeout(TIMEOUT)?;
    // A query plan does not depend on bound values. Otherwise SQLite 3.54 compiles nearly every cached statement
    // anew at each use, if it compares with a parameter or is limited by one.
    sql.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    sql.set_prepared_statement_cache_capacity(128);
    sql.pragma_update(None, "foreign_keys", true)?;
    text::register(sql)
}

pub(crate) fn check_version(path: &Path, sql: &Connection, found: u32) -> Result<(), StoreError> {
    if found > schema::NEWEST {
        // A damaged file can hold any number as its version. Reading its schema fails first, so the user is not
        // asked to update the program.
        schema::is_empty(sql).map_err(|e| StoreError::of(path, &e))?;
        return Err(StoreError::Newer { path: path.to_owned(), found, known: schema::NEWEST });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a store that cannot be opened is a failure")]

    use rusqlite::StatementStatus;

    use crate::{OpenMode, Store};

    #[test]
    fn bound_values_never_recompile_a_statement() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        for connection in [&store, &store.second_writer().unwrap(), &store.reader().unwrap()] {
            for sql in [
                "SELECT s.title FROM sessions s, files f WHERE s.id = ?1 AND f.id = ?2",
                "SELECT text FROM texts WHERE file = ?1 ORDER BY byte LIMIT ?2",
            ] {
                for bound in [0, 1, 700] {
                    let mut statement = connection.sql.prepare_cached(sql).unwrap();
                    assert!(!statement.exists((bound, bound)).unwrap());
                    assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "{sql}");
                }
            }
        }
    }
}

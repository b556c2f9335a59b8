//! Reads databases of other programs. Nothing is written to them, and nothing is left beside them.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, ToSql};

use crate::connect::uri;

/// A writer in WAL mode makes no reader wait, except while it recovers the log after a crash.
const TIMEOUT: Duration = Duration::from_millis(200);

/// An open database of another program.
#[derive(Debug)]
pub struct ForeignDatabase {
    sql: Connection,
    path: PathBuf,
    /// No program had it open. Then it is read without locks, because SQLite would leave the files of a log beside it.
    alone: bool,
}

/// A value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
    /// Any other value, or none.
    Other,
}

impl Cell {
    /// The number.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// The text.
    pub fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl ForeignDatabase {
    /// Opens a database that exists.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let alone = !beside(path, "-wal").exists();
        if !alone && !beside(path, "-shm").exists() {
            let what = "its log has no index, and making one would write beside it; start its program once";
            return Err(io::Error::other(what));
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let sql = match alone {
            true => Connection::open_with_flags(uri(path), flags | OpenFlags::SQLITE_OPEN_URI),
            false => Connection::open_with_flags(path, flags),
        };
        let sql = sql.and_then(|sql| sql.busy_timeout(TIMEOUT).map(|()| sql));
        Ok(Self { sql: sql.map_err(io::Error::other)?, path: path.to_owned(), alone })
    }

    /// The rows that answer a query.
    ///
    /// # Errors
    /// When the query cannot be answered: the tables are others, or another program has begun to write since the opening.
    pub fn rows(&self, query: &str, values: &[&dyn ToSql]) -> io::Result<Vec<Vec<Cell>>> {
        let mut statement = self.sql.prepare_cached(query).map_err(io::Error::other)?;
        let columns = statement.column_count();
        let mut found = statement.query(values).map_err(io::Error::other)?;
        let mut rows = Vec::new();
        while let Some(row) = found.next().map_err(io::Error::other)? {
            let cell = |column| match row.get_ref(column) {
                Ok(ValueRef::Integer(number)) => Cell::Number(number),
                Ok(ValueRef::Text(text)) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
                _ => Cell::Other,
            };
            rows.push((0..columns).map(cell).collect());
        }
        match self.alone && beside(&self.path, "-wal").exists() {
            // What was read may be of two states.
            true => Err(io::Error::other("another program has begun to write it")),
            false => Ok(rows),
        }
    }
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

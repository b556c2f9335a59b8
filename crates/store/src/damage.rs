//! Damage to the database: it is noted where it is met, and looked for at the next start.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior};

use crate::suspicion::Suspicion;
use crate::{Store, StoreError, schema};

/// Reads all of our tables in a database whose damage was noted. What the full-text index makes of its own ones is left to
/// [`Store`](crate::Store), which makes it anew, and what a person has added is no matter: neither is asked, since SQLite
/// refuses to check anything together with an index that refuses everything, or with a function that it does not know.
pub(crate) fn look_through(path: &Path, sql: &Connection) -> Result<(), StoreError> {
    let said = |error: rusqlite::Error| match StoreError::of(path, &error) {
        // What is asked here is right. So it is the file that is not, as long as there is memory.
        StoreError::Sql { path, detail } if error.sqlite_error_code() != Some(ErrorCode::OutOfMemory) => {
            StoreError::Damaged { path, detail }
        }
        other => other,
    };
    let wrong = first_wrong(sql).map_err(said)?;
    match wrong {
        Some(detail) => Err(StoreError::Damaged { path: path.to_owned(), detail }),
        None => Ok(()),
    }
}

/// The first thing that is wrong and cannot be put right here.
fn first_wrong(sql: &Connection) -> rusqlite::Result<Option<String>> {
    if let Some(name) = schema::differs(sql)? {
        return Ok(Some(format!("{name} is not as this program made it")));
    }
    // With the pages that are free.
    if let Verdict::Indexes(detail) | Verdict::Damaged(detail) = check(sql, "sqlite_schema")? {
        return Ok(Some(detail));
    }
    let tables = schema::tables(schema::version(sql)?)?;
    for table in &tables {
        let mut verdict = check(sql, table)?;
        if let Verdict::Indexes(detail) = verdict {
            tracing::warn!(table, detail, "the indexes of a table are made anew");
            // Refused where two rows have one name: then it is the table that is damaged.
            sql.execute_batch(&format!("REINDEX {table}"))?;
            verdict = check(sql, table)?;
        }
        if let Verdict::Indexes(detail) | Verdict::Damaged(detail) = verdict {
            return Ok(Some(detail));
        }
    }
    for table in &tables {
        // The number of a row may be damaged too.
        let parent = sql
            .query_row("SELECT parent FROM pragma_foreign_key_check(?1) LIMIT 1", [table], |row| {
                row.get::<_, String>(0)
            })
            .optional()?;
        if let Some(parent) = parent {
            return Ok(Some(format!("what a row of {table} belongs to is not in {parent}")));
        }
        read_texts(sql, table)?;
    }
    Ok(None)
}

impl Store {
    /// Looks at the pages of all tables, for so long at most: who only asks how the store is need not read gigabytes. Says
    /// whether it has looked at all of them. What is wrong is noted for the next start.
    ///
    /// # Errors
    /// When a page is damaged, or the database cannot be read.
    pub fn look_at_pages(&self, patience: Duration) -> Result<bool, StoreError> {
        // Whoever stores everything for the first time waits for readers.
        if Suspicion::of(self.path()).is_for_later_boots() {
            return Ok(false);
        }
        let interrupt = self.sql.get_interrupt_handle();
        let (ended, ends) = mpsc::channel::<()>();
        let late = std::thread::spawn(move || {
            if ends.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                interrupt.interrupt();
            }
        });
        let looked = first_bad_page(&self.sql);
        drop(ended);
        let is_cut =
            |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted);
        let whole = match looked {
            Ok(None) => Ok(true),
            Ok(Some(detail)) => {
                Suspicion::of(self.path()).raise();
                Err(StoreError::Damaged { path: self.path().to_owned(), detail })
            }
            Err(error) if is_cut(&error) => Ok(false),
            Err(error) => Err(self.fault(&error)),
        };
        drop(late.join());
        whole
    }
}

/// What SQLite says of the first page that is not as it should be; the tables of texts, which are the largest, come last.
fn first_bad_page(sql: &Connection) -> rusqlite::Result<Option<String>> {
    let mut tables = schema::tables(schema::version(sql)?)?;
    tables.push("sqlite_schema".to_owned());
    tables.sort_by_key(|table| table.starts_with("texts"));
    for table in tables {
        let mut look = sql.prepare(&format!("PRAGMA quick_check({table})"))?;
        let said: String = look.query_row([], |row| row.get(0))?;
        if said != "ok" {
            let said: Vec<&str> =
                said.lines().map(str::trim).filter(|line| !line.starts_with("***")).collect();
            return Ok(Some(said.join("; ")));
        }
    }
    Ok(None)
}

/// What SQLite says of a table.
enum Verdict {
    Sound,
    /// An index says otherwise than its table, which alone counts.
    Indexes(String),
    Damaged(String),
}

/// Compares pages, types and indexes. That a page belongs to two tables is seen by what is wrong with one of them.
fn check(sql: &Connection, table: &str) -> rusqlite::Result<Verdict> {
    let mut check = sql.prepare(&format!("PRAGMA integrity_check({table})"))?;
    let found = check.query_map([], |row| row.get::<_, String>(0))?;
    let mut verdict = Verdict::Sound;
    for detail in found {
        match detail? {
            ok if ok == "ok" => {}
            // Such as: row 7 missing from index files_session.
            detail if detail.contains(" index ") => verdict = Verdict::Indexes(detail),
            detail => return Ok(Verdict::Damaged(detail)),
        }
    }
    Ok(verdict)
}

/// Takes everything out of the index, its options too. Without a version that it knows among these (4,
/// `FTS5_CURRENT_VERSION` of SQLite 3.54) FTS5 does not even that.
pub(crate) fn empty_index(sql: &Connection) -> rusqlite::Result<()> {
    let emptied = Transaction::new_unchecked(sql, TransactionBehavior::Immediate)?;
    emptied.execute("DELETE FROM texts_fts_config", [])?;
    emptied.execute("INSERT INTO texts_fts_config (k, v) VALUES ('version', 4)", [])?;
    emptied.execute("INSERT INTO texts_fts (texts_fts) VALUES ('delete-all')", [])?;
    emptied.commit()
}

/// Reads every text of a table: the check looks at pages and types, not at letters.
fn read_texts(sql: &Connection, table: &str) -> rusqlite::Result<()> {
    let columns = sql
        .prepare("SELECT name FROM pragma_table_xinfo(?1) WHERE type = 'TEXT'")?
        .query_map([table], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    for column in columns {
        let mut statement = sql.prepare(&format!("SELECT \"{column}\" FROM \"{table}\""))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            row.get_ref(0)?.as_str_or_null().map_err(rusqlite::Error::from)?;
        }
    }
    Ok(())
}

//! Damage to the database: noted when a statement meets it, searched for at the next start.

use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior};

use crate::damage_note::DamageNote;
use crate::tables::meta_names::UNINDEXED;
use crate::{Store, StoreError, schema};

/// Checks our tables, one by one, in a database whose damage was noted. It skips the tables of the full-text index,
/// which [`Store`](crate::Store) makes anew, and tables that a user has added. SQLite refuses a check that includes
/// a broken index or an unknown function.
pub(crate) fn check_database(path: &Path, sql: &Connection) -> Result<(), StoreError> {
    let answer = |error: rusqlite::Error| match StoreError::of(path, &error) {
        // The SQL here is right. So an SQL error means that the file is damaged, unless memory ran out.
        StoreError::Sql { path, detail } if error.sqlite_error_code() != Some(ErrorCode::OutOfMemory) => {
            StoreError::Damaged { path, detail }
        }
        other => other,
    };
    let wrong = first_wrong(sql).map_err(answer)?;
    match wrong {
        Some(detail) => Err(StoreError::Damaged { path: path.to_owned(), detail }),
        None => Ok(()),
    }
}

/// The first fault that cannot be repaired here.
fn first_wrong(sql: &Connection) -> rusqlite::Result<Option<String>> {
    if let Some(name) = schema::first_difference(sql)? {
        return Ok(Some(format!("{name} is not as this program made it")));
    }
    // This check includes the free pages.
    if let Verdict::Indexes(detail) | Verdict::Damaged(detail) = check(sql, "sqlite_schema")? {
        return Ok(Some(detail));
    }
    let tables = schema::tables(schema::version(sql)?)?;
    for table in &tables {
        let mut verdict = check(sql, table)?;
        if let Verdict::Indexes(detail) = verdict {
            tracing::warn!(table, detail, "the indexes of a table are made anew");
            // This fails if two rows have the same key. Then the table itself is damaged.
            sql.execute_batch(&format!("REINDEX {table}"))?;
            verdict = check(sql, table)?;
        }
        if let Verdict::Indexes(detail) | Verdict::Damaged(detail) = verdict {
            return Ok(Some(detail));
        }
    }
    for table in &tables {
        // The id of a row may be damaged too.
        let parent = sql
            .query_row("SELECT parent FROM pragma_foreign_key_check(?1) LIMIT 1", [table], |row| {
                row.get::<_, String>(0)
            })
            .optional()?;
        if let Some(parent) = parent {
            return Ok(Some(format!("a row of {table} belongs to a row that is not in {parent}")));
        }
        read_texts(sql, table)?;
    }
    Ok(None)
}

impl Store {
    /// Checks the pages of all tables and then the full-text index, for `patience` at most, because a status report should not
    /// read gigabytes. Returns whether it checked all of them. Damage is noted for the next start.
    ///
    /// # Errors
    /// When a page or the index is damaged, or the database cannot be read.
    pub fn check_pages(&self, patience: Duration) -> Result<bool, StoreError> {
        // A first index writes without the log, so it would have to wait for this reader.
        if DamageNote::of(self.path()).is_for_later_boots() {
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
        let index = match looked {
            // One transaction, because a writer may add texts meanwhile.
            Ok(None) => {
                self.sql.unchecked_transaction().and_then(|read| index_is_whole(&read, behind(&read)?))
            }
            _ => Ok(true),
        };
        drop(ended);
        let is_cut =
            |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted);
        let whole = match looked {
            Ok(None) if matches!(index, Ok(true)) => Ok(true),
            Ok(None) if index.as_ref().is_err_and(is_cut) => Ok(false),
            Ok(None) => {
                DamageNote::of(self.path()).raise();
                Err(StoreError::IndexDamaged { path: self.path().to_owned() })
            }
            Ok(Some(detail)) => {
                DamageNote::of(self.path()).raise();
                Err(StoreError::Damaged { path: self.path().to_owned(), detail })
            }
            Err(error) if is_cut(&error) => Ok(false),
            Err(error) => Err(self.map_error(&error)),
        };
        drop(late.join());
        whole
    }
}

/// SQLite's message about the first bad page. The text tables come last, because they are the largest.
fn first_bad_page(sql: &Connection) -> rusqlite::Result<Option<String>> {
    let mut tables = schema::tables(schema::version(sql)?)?;
    tables.push("sqlite_schema".to_owned());
    tables.sort_by_key(|table| table.starts_with("texts"));
    for table in tables {
        let mut look = sql.prepare(&format!("PRAGMA quick_check({table})"))?;
        let answer: String = look.query_row([], |row| row.get(0))?;
        if answer != "ok" {
            let answer: Vec<&str> =
                answer.lines().map(str::trim).filter(|line| !line.starts_with("***")).collect();
            return Ok(Some(answer.join("; ")));
        }
    }
    Ok(None)
}

/// One of so many words of the index is looked up.
const EACH_WORD: usize = 16;

/// Whether the full-text index is whole: as FTS5 checks it for a reader, with as many texts of each session as are stored, and with
/// words that a search finds. FTS5's check for a reader neither compares the texts nor looks a word up (`fts5IntegrityMethod` of
/// SQLite 3.54). Texts from the number `behind` on are not indexed yet. An index that cannot even be opened is an error.
pub(crate) fn index_is_whole(sql: &Connection, behind: i64) -> rusqlite::Result<bool> {
    let sound =
        sql.query_row("PRAGMA integrity_check(texts_fts)", [], |row| Ok(row.get_ref(0)?.as_str()? == "ok"))?;
    if !sound {
        return Ok(false);
    }
    sql.execute_batch(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.texts_words USING fts5vocab(main, texts_fts, col)",
    )?;
    let same: bool = sql.query_row(
        "WITH indexed AS (SELECT CAST(substr(term, 2) AS INTEGER) AS session, doc FROM temp.texts_words
                          WHERE term >= 's' AND term < 't' AND col = 'tags'),
              stored AS (SELECT session, count(*) FROM texts
                         WHERE id < ?1 GROUP BY session)
         SELECT NOT EXISTS (SELECT * FROM indexed EXCEPT SELECT * FROM stored)
            AND NOT EXISTS (SELECT * FROM stored EXCEPT SELECT * FROM indexed)",
        [behind],
        |row| row.get(0),
    )?;
    let mut words = sql.prepare("SELECT term FROM temp.texts_words")?;
    let mut found = sql.prepare("SELECT EXISTS (SELECT 1 FROM temp.texts_words WHERE term = ?1)")?;
    let words = words.query_map([], |row| row.get::<_, String>(0))?.step_by(EACH_WORD);
    for word in words {
        if !same || !found.query_row([word?], |row| row.get(0))? {
            return Ok(false);
        }
    }
    Ok(same)
}

/// The number of the first text that is not indexed yet.
fn behind(sql: &Connection) -> rusqlite::Result<i64> {
    let behind =
        sql.query_row("SELECT CAST(value AS INTEGER) FROM meta WHERE name = ?1", [UNINDEXED], |row| {
            row.get(0)
        });
    Ok(behind.optional()?.unwrap_or(i64::MAX))
}

/// The result of SQLite's check of a table.
enum Verdict {
    Sound,
    /// An index disagrees with its table. Only the table counts.
    Indexes(String),
    Damaged(String),
}

/// Checks pages, types and indexes. A page that belongs to two tables shows up as a fault in one of them.
fn check(sql: &Connection, table: &str) -> rusqlite::Result<Verdict> {
    let mut check = sql.prepare(&format!("PRAGMA integrity_check({table})"))?;
    let found = check.query_map([], |row| row.get::<_, String>(0))?;
    let mut verdict = Verdict::Sound;
    for detail in found {
        match detail? {
            ok if ok == "ok" => {}
            // For example: row 7 missing from index files_session.
            detail if detail.contains(" index ") => verdict = Verdict::Indexes(detail),
            detail => return Ok(Verdict::Damaged(detail)),
        }
    }
    Ok(verdict)
}

/// Empties the index, including its options. Even for that, FTS5 needs a version that it knows among the options
/// (4, `FTS5_CURRENT_VERSION` of SQLite 3.54).
pub(crate) fn empty_index(sql: &Connection) -> rusqlite::Result<()> {
    let emptied = Transaction::new_unchecked(sql, TransactionBehavior::Immediate)?;
    emptied.execute("DELETE FROM texts_fts_config", [])?;
    emptied.execute("INSERT INTO texts_fts_config (k, v) VALUES ('version', 4)", [])?;
    emptied.execute("INSERT INTO texts_fts (texts_fts) VALUES ('delete-all')", [])?;
    emptied.commit()
}

/// Reads every text of a table: SQLite's check covers pages and types, not characters.
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

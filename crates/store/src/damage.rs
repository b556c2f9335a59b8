//! Damage to the database: it is noted where it is met, and looked for at the next start.

use std::io::Write;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior};

use crate::{StoreError, folder, schema};

/// A file beside the database that says: damage was met, look through all of it at the next start. Looking through
/// a gigabyte takes seconds, which no usual start should pay. With the id of a boot in it, it says so only to later
/// boots: until that one ends, the system holds what the disk may not have yet.
pub(crate) struct Suspicion(PathBuf);

impl Suspicion {
    pub fn of(database: &Path) -> Self {
        Self(beside(database, ".suspect"))
    }

    /// Whether anything is noted, also what counts later.
    pub fn is_there(&self) -> bool {
        self.0.exists()
    }

    pub fn is_raised(&self) -> bool {
        match std::fs::read_to_string(&self.0) {
            Ok(boot) => boot.is_empty() || boot != this_boot(),
            Err(error) => error.kind() != std::io::ErrorKind::NotFound,
        }
    }

    /// Whether what is noted counts for later boots alone: a writer goes past the log, or was killed while it did.
    pub fn is_for_later_boots(&self) -> bool {
        self.is_there() && !self.is_raised()
    }

    pub fn raise(&self) {
        // Where the folder may not be written, the next one who meets the damage says so again.
        if let Err(error) = self.note("") {
            tracing::debug!(%error, "the damage could not be noted");
        }
    }

    /// From now on nothing waits for the disk, but for this. What is suspected already counts for later boots too, and
    /// where boots cannot be told apart this is a suspicion like others.
    ///
    /// # Errors
    /// When it cannot be noted.
    pub fn raise_for_later_boots(&self) -> Result<(), StoreError> {
        if self.is_raised() { Ok(()) } else { self.note(&this_boot()) }
    }

    fn note(&self, boot: &str) -> Result<(), StoreError> {
        let mut file = folder::touch(&self.0)?;
        let write = file.set_len(0).and_then(|()| file.write_all(boot.as_bytes()));
        write.and_then(|()| file.sync_all()).map_err(|e| StoreError::io(&self.0, e))?;
        self.0.parent().map(folder::sync_names);
        Ok(())
    }

    /// Everything is on the disk by now. What was met besides is still to be looked for.
    pub fn allay_for_later_boots(&self) {
        if !self.is_raised() {
            self.allay();
        }
    }

    pub fn allay(&self) {
        if let Err(error) = std::fs::remove_file(&self.0)
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::debug!(%error, "the store will be looked through again");
        }
    }
}

/// The id that Linux gives to each boot; empty elsewhere.
fn this_boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// Reads all of a database whose damage was noted. Damage to the index alone is none here: it is made anew.
pub(crate) fn look_through(path: &Path, sql: &Connection) -> Result<(), StoreError> {
    let said = |e: rusqlite::Error| StoreError::of(path, &e);
    if let Some(name) = schema::differs(sql).map_err(said)? {
        let detail = format!("{name} is not as this program made it");
        return Err(StoreError::Damaged { path: path.to_owned(), detail });
    }
    let verdict = match check(sql).map_err(said) {
        // A damaged full-text index can end the check: it asks for more memory than there is, or knows no version of its own.
        Err(error @ (StoreError::Sql { .. } | StoreError::IndexDamaged { .. })) => {
            tracing::warn!(%error, "the index is emptied, since nothing can be looked through with it");
            // Until it is made anew, whatever comes in between.
            Suspicion::of(path).raise();
            empty_index(sql).and_then(|()| check(sql)).map_err(said)?
        }
        other => other?,
    };
    let verdict = match verdict {
        Verdict::Indexes(detail) => {
            tracing::warn!(path = %path.display(), detail, "the indexes of tables are made anew");
            match sql.execute_batch("REINDEX") {
                // Two rows by one name: then it is the table that is damaged.
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Verdict::Damaged(detail)
                }
                other => other.and_then(|()| check(sql)).map_err(said)?,
            }
        }
        other => other,
    };
    if let Verdict::Indexes(detail) | Verdict::Damaged(detail) = verdict {
        return Err(StoreError::Damaged { path: path.to_owned(), detail });
    }
    read_texts(sql).map_err(said)
}

/// What SQLite says of a database.
enum Verdict {
    Sound,
    /// An index says otherwise than its table, which alone counts.
    Indexes(String),
    Damaged(String),
}

/// Compares pages, types and indexes. What is said of the full-text index is left to [`Store`](crate::Store).
fn check(sql: &Connection) -> rusqlite::Result<Verdict> {
    let mut check = sql.prepare("PRAGMA integrity_check(100)")?;
    let found = check.query_map([], |row| row.get::<_, String>(0))?;
    let mut verdict = Verdict::Sound;
    for detail in found {
        let detail = detail?;
        if detail == "ok" || detail.to_lowercase().contains("fts5") {
            continue;
        }
        // Such as: row 7 missing from index files_session.
        if !detail.contains(" index ") {
            return Ok(Verdict::Damaged(detail));
        }
        verdict = Verdict::Indexes(detail);
    }
    if let Verdict::Sound = verdict
        && let Some(detail) = orphan(sql)?
    {
        return Ok(Verdict::Damaged(detail));
    }
    Ok(verdict)
}

/// A row that belongs to none, since the number of a row may be damaged too. What tables of the person's own tell is no
/// matter.
fn orphan(sql: &Connection) -> rusqlite::Result<Option<String>> {
    for table in schema::belonging(schema::version(sql)?)? {
        let parent = sql
            .query_row("SELECT parent FROM pragma_foreign_key_check(?1) LIMIT 1", [&table], |row| {
                row.get::<_, String>(0)
            })
            .optional()?;
        if let Some(parent) = parent {
            return Ok(Some(format!("what a row of {table} belongs to is not in {parent}")));
        }
    }
    Ok(None)
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

/// Reads every text of every table: the check looks at pages and types, not at letters.
fn read_texts(sql: &Connection) -> rusqlite::Result<()> {
    let columns = sql
        .prepare(
            "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_xinfo(t.name) c
             WHERE t.schema = 'main' AND t.type = 'table' AND c.type = 'TEXT'",
        )?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<(String, String)>>>()?;
    for (table, column) in columns {
        let mut statement = sql.prepare(&format!("SELECT \"{column}\" FROM \"{table}\""))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            row.get_ref(0)?.as_str_or_null().map_err(rusqlite::Error::from)?;
        }
    }
    Ok(())
}

/// The path with something at its end.
pub(crate) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

//! Transcripts that are partly not stored, because the user excludes something in them. They are read anew if the
//! rules change.

use std::collections::HashSet;

use super::FileKey;
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V3: &str = "
-- A transcript of which something is not stored, since the settings exclude it. It is read anew when they change.
CREATE TABLE left_out (
    file INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE
) STRICT;
-- Earlier versions did not note which those are: where anything was excluded, it may be any.
INSERT INTO left_out (file) SELECT id FROM files WHERE EXISTS (SELECT 1 FROM meta WHERE name = 'left_out');
";

impl WriteTransaction<'_> {
    /// Notes that something in a transcript is excluded, and not stored.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn note_excluded_part(&mut self, file: FileKey) -> Result<(), StoreError> {
        self.run("INSERT OR IGNORE INTO left_out (file) VALUES (?1)", [file]).map(drop)
    }

    /// The rules have changed, so these transcripts are read again from their beginning. Their stored rows stay
    /// until then, because some transcripts may be gone.
    pub(crate) fn reread_excluded_files(&mut self) -> Result<(), StoreError> {
        self.run("DELETE FROM snapshots WHERE file IN (SELECT file FROM left_out)", [])?;
        self.run(
            "UPDATE files SET size = 0, mtime = 0, cursor = 0 WHERE id IN (SELECT file FROM left_out)",
            [],
        )?;
        Ok(())
    }
}

impl Store {
    /// The paths of transcripts in which something is excluded, and not stored.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn partly_excluded(&self) -> Result<HashSet<String>, StoreError> {
        self.with_sql(|sql| {
            // A process that only reads may open a database that an earlier program still writes.
            let there = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'left_out')";
            if !sql.query_row(there, [], |row| row.get(0))? {
                return Ok(HashSet::new());
            }
            sql.prepare_cached("SELECT path FROM files WHERE id IN (SELECT file FROM left_out)")?
                .query_map([], |row| row.get(0))?
                .collect()
        })
    }
}

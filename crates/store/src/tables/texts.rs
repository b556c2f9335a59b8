//! The texts that can be searched, and their full-text index.

use rusqlite::OptionalExtension;
pub use watchbill_core::history::rows::Role;
use watchbill_core::history::rows::Text;
use watchbill_core::time::Timestamp;

use super::{FileKey, SessionKey, at, count, time, uncount};
use crate::{Store, StoreError, WriteTransaction};

/// The index keeps no text of its own (external content) and no lengths: [`search`](crate::search) ranks its
/// matches by the texts themselves. The functions are registered with every connection.
pub(crate) const V1: &str = "
-- One text of a record: a prompt, an answer, a thought, a tool's input or result, a title.
CREATE TABLE texts (
    id      INTEGER PRIMARY KEY,
    file    INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    byte    INTEGER NOT NULL,      -- where its record begins in the file
    part    INTEGER NOT NULL,      -- which text of that record, from 0
    session INTEGER NOT NULL,      -- that of the file
    at      INTEGER,
    role    TEXT NOT NULL,         -- prompt, answer, thinking, tool_input, tool_result, summary, title, command, notice
    tool    TEXT,
    subagent TEXT,                 -- whose it is, if it is a subagent's
    cut     INTEGER NOT NULL,      -- how many bytes of it were not stored
    text    TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX texts_place ON texts (file, byte, part);

-- What the index sees: the text, the parts of its names and its Chinese, Japanese and Korean signs one by one, and
-- words that stand for session, role and tool. (index_parts and index_tags are functions of this program.)
CREATE VIEW texts_indexed AS
    SELECT id, text, index_parts(text) AS parts, index_tags(session, role, tool) AS tags FROM texts;
CREATE VIRTUAL TABLE texts_fts USING fts5 (
    text, parts, tags,
    content = 'texts_indexed', content_rowid = 'id', columnsize = 0,
    tokenize = 'unicode61 remove_diacritics 2'
);
-- The index forgets a text with the text, whoever removes it.
CREATE TRIGGER texts_removed BEFORE DELETE ON texts BEGIN
    INSERT INTO texts_fts (texts_fts, rowid, text, parts, tags) VALUES
        ('delete', old.id, old.text, index_parts(old.text), index_tags(old.session, old.role, old.tool));
END;
";

pub(crate) const V12: &str = "
-- The index sees some letters spelled out, such as ß as ss. (index_words is a function of this program.)
DROP VIEW texts_indexed;
CREATE VIEW texts_indexed AS
    SELECT id, index_words(text) AS text, index_parts(text) AS parts, index_tags(session, role, tool) AS tags FROM texts;
DROP TRIGGER texts_removed;
CREATE TRIGGER texts_removed BEFORE DELETE ON texts BEGIN
    INSERT INTO texts_fts (texts_fts, rowid, text, parts, tags) VALUES
        ('delete', old.id, index_words(old.text), index_parts(old.text), index_tags(old.session, old.role, old.tool));
END;
-- Prompts and answers were cut at 64 KiB. Files that hold one of that length are read again.
UPDATE files SET size = 0, mtime = 0, cursor = 0, head = 0, window = 0, dev = 0, inode = 0 WHERE id IN (
    SELECT file FROM texts WHERE role NOT IN ('thinking', 'tool_input', 'tool_result') AND octet_length(text) > 60000
);
";

pub(crate) const V13: &str = "
-- Prompts and answers were cut at 64 KiB, and then private text and reminders were left out. So the length of a stored text does not
-- tell. Files are read again in which the record of one may be so long: the next text is further away.
UPDATE files SET size = 0, mtime = 0, cursor = 0, head = 0, window = 0, dev = 0, inode = 0 WHERE id IN (
    SELECT t.file FROM texts t JOIN files f ON f.id = t.file
    WHERE t.role NOT IN ('thinking', 'tool_input', 'tool_result') AND t.byte + 65536 <
        coalesce((SELECT min(next.byte) FROM texts next WHERE next.file = t.file AND next.byte > t.byte), f.cursor)
);
";

/// A text as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredText {
    /// Byte offset of its record in the file.
    pub offset: u64,
    /// Which text of that record.
    pub part: u16,
    /// Time of the record.
    pub at: Option<Timestamp>,
    /// The name of its [`Role`].
    pub role: String,
    /// The tool.
    pub tool: Option<String>,
    /// The subagent, if it is a subagent's text.
    pub subagent: Option<String>,
    /// The text.
    pub text: String,
    /// How many bytes were cut off.
    pub cut: u64,
}

impl WriteTransaction<'_> {
    /// Stores a text. A search finds it once the step is committed. A text that is stored already at its place
    /// stays as it is, so reading a record twice stores it once. Returns whether it was new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_text(
        &mut self,
        file: FileKey,
        session: SessionKey,
        row: &Text<'_>,
    ) -> Result<bool, StoreError> {
        let added = self.run(
            "INSERT OR IGNORE INTO texts (file, byte, part, session, at, role, tool, subagent, cut, text)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            rusqlite::params![
                file,
                count(row.offset),
                row.part,
                session,
                at(row.at),
                row.role.as_str(),
                row.tool,
                row.agent,
                count(row.cut),
                row.text
            ],
        )?;
        if added > 0 {
            self.note_text(file, session, row)?;
        }
        Ok(added > 0)
    }

    /// Indexes the texts from the number `from` on.
    ///
    /// Not text by text: the index is flushed whenever another statement needs a journal of its own, as merging a
    /// row does. A flush for each text would cost more than everything else.
    pub(crate) fn index_from(&mut self, from: i64) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO texts_fts (rowid, text, parts, tags)
             SELECT id, text, parts, tags FROM texts_indexed WHERE id >= ?1 ORDER BY id",
            [from],
        )?;
        Ok(())
    }
}

impl Store {
    /// The texts of a file in order of their places, from the record at byte `from` on, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn texts(&self, file: FileKey, from: u64, limit: u32) -> Result<Vec<StoredText>, StoreError> {
        self.rows(
            "SELECT byte, part, at, role, tool, subagent, text, cut FROM texts
                 WHERE file = ?1 AND byte >= ?2 ORDER BY byte, part LIMIT ?3",
            (file, count(from), limit),
            |row| {
                Ok(StoredText {
                    offset: uncount(row.get(0)?),
                    part: row.get(1)?,
                    at: time(row, 2)?,
                    role: row.get(3)?,
                    tool: row.get(4)?,
                    subagent: row.get(5)?,
                    text: row.get(6)?,
                    cut: uncount(row.get(7)?),
                })
            },
        )
    }

    /// How many texts are stored, and how many of their bytes the setting has cut off.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn text_counts(&self) -> Result<(u64, u64), StoreError> {
        self.with_sql(|sql| {
            let sums = sql
                .prepare_cached("SELECT sum(texts), sum(cut_bytes) FROM files")?
                .query_row([], |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?)))
                .optional()?;
            let (texts, cut) = sums.unwrap_or_default();
            Ok((uncount(texts.unwrap_or(0)), uncount(cut.unwrap_or(0))))
        })
    }
}

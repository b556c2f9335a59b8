//! Texts: what can be searched, and the full-text index over it.

use rusqlite::OptionalExtension;
use watchbill_core::time::Timestamp;

use super::{FileKey, SessionKey, at, count, time, uncount};
use crate::text::{parts, tags};
use crate::{Step, Store, StoreError};

/// The index keeps no text of its own (external content) and no lengths: what it finds is weighed by
/// [`search`](crate::search), from the texts themselves. The functions are registered with every connection.
pub(crate) const V1: &str = "
-- One text of a record: a prompt, an answer, a thought, a tool's input or result, a title.
CREATE TABLE texts (
    id      INTEGER PRIMARY KEY,
    file    INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    byte    INTEGER NOT NULL,      -- where its record begins in the file
    part    INTEGER NOT NULL,      -- which text of that record, from 0
    session INTEGER NOT NULL,      -- that of the file
    at      INTEGER,
    role    TEXT NOT NULL,         -- user, assistant, thinking, tool_input, tool_result, summary, title
    tool    TEXT,
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
    content = 'texts_indexed', content_rowid = 'id', columnsize = 0, tokenize = 'unicode61 remove_diacritics 2'
);
-- The index forgets a text with the text, whoever removes it.
CREATE TRIGGER texts_removed BEFORE DELETE ON texts BEGIN
    INSERT INTO texts_fts (texts_fts, rowid, text, parts, tags) VALUES
        ('delete', old.id, old.text, index_parts(old.text), index_tags(old.session, old.role, old.tool));
END;
";

/// Whose a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The person: a prompt.
    User,
    /// The agent's answer.
    Assistant,
    /// What the agent thought.
    Thinking,
    /// What the agent asked a tool to do.
    ToolInput,
    /// What the tool gave back.
    ToolResult,
    /// A summary, as a compaction leaves it.
    Summary,
    /// A title.
    Title,
}

impl Role {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::User,
        Self::Assistant,
        Self::Thinking,
        Self::ToolInput,
        Self::ToolResult,
        Self::Summary,
        Self::Title,
    ];

    /// The word in the table, in JSON and in text output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Thinking => "thinking",
            Self::ToolInput => "tool_input",
            Self::ToolResult => "tool_result",
            Self::Summary => "summary",
            Self::Title => "title",
        }
    }

    /// The role that a word names.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// A text to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRow<'a> {
    /// Byte offset of its record in the file.
    pub offset: u64,
    /// Which text of that record, from zero.
    pub part: u32,
    /// Time of the record.
    pub at: Option<Timestamp>,
    /// Whose it is.
    pub role: Role,
    /// The tool, of a tool's input or result.
    pub tool: Option<&'a str>,
    /// The text, cut where the setting says.
    pub text: &'a str,
    /// How many bytes were cut off.
    pub cut: u64,
}

/// A text as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredText {
    /// Byte offset of its record in the file.
    pub offset: u64,
    /// Which text of that record.
    pub part: u32,
    /// Time of the record.
    pub at: Option<Timestamp>,
    /// Word of the role.
    pub role: String,
    /// The tool.
    pub tool: Option<String>,
    /// The text.
    pub text: String,
    /// How many bytes were cut off.
    pub cut: u64,
}

impl Step<'_> {
    /// Stores a text and indexes it. A text that is stored already at its place is left as it is: whoever reads
    /// a record twice stores it once. Says whether it was new.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn add_text(
        &mut self,
        file: FileKey,
        session: SessionKey,
        row: &TextRow<'_>,
    ) -> Result<bool, StoreError> {
        let role = row.role.word();
        let added = self.run(
            "INSERT OR IGNORE INTO texts (file, byte, part, session, at, role, tool, cut, text)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            rusqlite::params![
                file,
                count(row.offset),
                row.part,
                session,
                at(row.at),
                role,
                row.tool,
                count(row.cut),
                row.text
            ],
        )?;
        if added == 0 {
            return Ok(false);
        }
        let id = self.last_id();
        self.run(
            "INSERT INTO texts_fts (rowid, text, parts, tags) VALUES (?1, ?2, ?3, ?4)",
            (id, row.text, parts::of(row.text), tags::of(session.0, role, row.tool)),
        )?;
        self.count_text(file, row.cut);
        Ok(true)
    }
}

impl Store {
    /// The texts of a file in order of their places, from the record at byte `from` on, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn texts(&self, file: FileKey, from: u64, limit: u32) -> Result<Vec<StoredText>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached(
                "SELECT byte, part, at, role, tool, text, cut FROM texts
                 WHERE file = ?1 AND byte >= ?2 ORDER BY byte, part LIMIT ?3",
            )?
            .query_map((file, count(from), limit), |row| {
                Ok(StoredText {
                    offset: uncount(row.get(0)?),
                    part: row.get(1)?,
                    at: time(row, 2)?,
                    role: row.get(3)?,
                    tool: row.get(4)?,
                    text: row.get(5)?,
                    cut: uncount(row.get(6)?),
                })
            })?
            .collect()
        })
    }

    /// Compares the index with the texts.
    ///
    /// # Errors
    /// When the database cannot be read, or this process may not write.
    pub fn index_is_sound(&mut self) -> Result<bool, StoreError> {
        let mut step = self.step()?;
        match step.run("INSERT INTO texts_fts (texts_fts, rank) VALUES ('integrity-check', 1)", []) {
            Ok(_) => Ok(true),
            Err(StoreError::Damaged { .. }) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Makes the index anew from the stored texts.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn rebuild_index(&mut self) -> Result<(), StoreError> {
        let mut step = self.step()?;
        step.run("INSERT INTO texts_fts (texts_fts) VALUES ('rebuild')", [])?;
        step.set_meta(INDEX_VERSION, &crate::text::VERSION.to_string())?;
        step.commit()
    }

    /// How many texts are stored, and how many bytes of them were not, by the setting.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn text_counts(&self) -> Result<(u64, u64), StoreError> {
        self.asked(|sql| {
            let sums = sql
                .prepare_cached("SELECT sum(texts), sum(cut_bytes) FROM files")?
                .query_row([], |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?)))
                .optional()?;
            let (texts, cut) = sums.unwrap_or_default();
            Ok((uncount(texts.unwrap_or(0)), uncount(cut.unwrap_or(0))))
        })
    }
}

/// Name of the fact that says with which version of the functions the index was made.
pub(crate) const INDEX_VERSION: &str = "index_version";

//! Segments: a session's file from boundary to boundary.

use watchbill_core::time::Timestamp;

use super::{FileKey, at, count, time, uncount};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- A piece of a transcript between two compactions.
CREATE TABLE segments (
    file        INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    number      INTEGER NOT NULL,  -- from 0
    started_at  INTEGER,
    ended_at    INTEGER,
    byte        INTEGER NOT NULL,  -- where it begins in the file
    trigger     TEXT,              -- what caused the compaction before it: 'auto' or 'manual'
    pre_tokens  INTEGER,
    post_tokens INTEGER,
    PRIMARY KEY (file, number)
) STRICT, WITHOUT ROWID;
";

/// A segment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SegmentRow {
    /// Its number in the file, from zero.
    pub number: u32,
    /// Time of its first record.
    pub started_at: Option<Timestamp>,
    /// Time of its last record, when another segment follows.
    pub ended_at: Option<Timestamp>,
    /// Byte offset in the file at which it begins.
    pub offset: u64,
    /// What caused the compaction before it.
    pub trigger: Option<String>,
    /// Tokens in the context before that compaction.
    pub pre_tokens: Option<u64>,
    /// Tokens in the context after it.
    pub post_tokens: Option<u64>,
}

impl WriteTransaction<'_> {
    /// Stores a segment in place of the one with its number.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_segment(&mut self, file: FileKey, row: &SegmentRow) -> Result<(), StoreError> {
        let params = rusqlite::params![
            file,
            row.number,
            at(row.started_at),
            at(row.ended_at),
            count(row.offset),
            row.trigger,
            row.pre_tokens.map(count),
            row.post_tokens.map(count)
        ];
        // In two statements: a replacing one would copy the page that it changes, to be able to roll itself back.
        let changed = self.run(
            "UPDATE segments SET started_at = ?3, ended_at = ?4, byte = ?5, trigger = ?6, pre_tokens = ?7,
                post_tokens = ?8
             WHERE file = ?1 AND number = ?2",
            params,
        )?;
        if changed == 0 {
            self.run(
                "INSERT INTO segments
                    (file, number, started_at, ended_at, byte, trigger, pre_tokens, post_tokens)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                params,
            )?;
        }
        Ok(())
    }
}

impl Store {
    /// The segments of a file, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn segments(&self, file: FileKey) -> Result<Vec<SegmentRow>, StoreError> {
        self.rows(
            "SELECT number, started_at, ended_at, byte, trigger, pre_tokens, post_tokens
                 FROM segments WHERE file = ?1 ORDER BY number",
            [file],
            |row| {
                Ok(SegmentRow {
                    number: row.get(0)?,
                    started_at: time(row, 1)?,
                    ended_at: time(row, 2)?,
                    offset: uncount(row.get(3)?),
                    trigger: row.get(4)?,
                    pre_tokens: row.get::<_, Option<i64>>(5)?.map(uncount),
                    post_tokens: row.get::<_, Option<i64>>(6)?.map(uncount),
                })
            },
        )
    }
}

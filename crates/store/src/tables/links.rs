//! Links between sessions, including those that were only seen live, and the joins and splits by the user.
//!
//! The user's joins and splits have the reason `manual`. A join is `proven`. A session that the user split off is
//! `refused` and has no earlier session (an empty text).

use watchbill_core::time::Timestamp;

use super::{at, time};
use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- `later` comes from `earlier`. Either may be a session that is not stored: its transcript may be gone.
CREATE TABLE links (
    earlier    TEXT NOT NULL,   -- sessions.session_id
    later      TEXT NOT NULL,
    reason     TEXT NOT NULL,   -- compact_boundary, marker, clear, forked_from, process, shared_records, hook,
                                -- registry, terminal, cwd_recency, manual
    confidence TEXT NOT NULL,   -- proven, suggested, or refused: the person has split them
    at         INTEGER,
    PRIMARY KEY (earlier, later, reason)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_later ON links (later);
";

/// A link as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkRow {
    /// The earlier session.
    pub earlier: String,
    /// The later session.
    pub later: String,
    /// Why it is known: the name of a `core::chain` reason.
    pub reason: String,
    /// `proven`, `suggested`, or `refused` if the user has split them.
    pub confidence: String,
    /// When the later session began; for a join or split by the user, when the user did it.
    pub at: Option<Timestamp>,
}

impl WriteTransaction<'_> {
    /// Stores a link in place of the one with the same ends and reason.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_link(&mut self, row: &LinkRow) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO links (earlier, later, reason, confidence, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            (&row.earlier, &row.later, &row.reason, &row.confidence, at(row.at)),
        )?;
        Ok(())
    }

    /// Removes a link.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn remove_link(&mut self, earlier: &str, later: &str, reason: &str) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM links WHERE earlier = ?1 AND later = ?2 AND reason = ?3",
            (earlier, later, reason),
        )?;
        Ok(())
    }
}

impl Store {
    /// All links, in order of their ends.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn links(&self) -> Result<Vec<LinkRow>, StoreError> {
        self.rows(
            "SELECT earlier, later, reason, confidence, at FROM links ORDER BY earlier, later, reason",
            [],
            |row| {
                Ok(LinkRow {
                    earlier: row.get(0)?,
                    later: row.get(1)?,
                    reason: row.get(2)?,
                    confidence: row.get(3)?,
                    at: time(row, 4)?,
                })
            },
        )
    }
}

//! Statistics over everything that is stored: sessions, prompts, tools. [`crate::usage`] has the tokens.

use watchbill_core::time::Timestamp;

use crate::tables::{at, uncount};
use crate::{Store, StoreError};

/// How often a tool was called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRow {
    /// Its name.
    pub tool: String,
    /// How often it was called.
    pub calls: u64,
    /// How many of the calls failed.
    pub errors: u64,
    /// Milliseconds of all calls whose end is known.
    pub millis: u64,
}

/// The longest believable call, a year. A longer span is a mistake in the record, and the sum of a few of them
/// would overflow.
const MAX_CALL_TIME: i64 = 365 * 86_400_000;

impl Store {
    /// How often each tool was called since a time, the most used first. A call that a fork has copied counts once.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tools(&self, since: Option<Timestamp>) -> Result<Vec<ToolRow>, StoreError> {
        self.rows(
            "SELECT coalesce(tool, ''), count(*), sum(failed), sum(span) FROM (
                    SELECT max(tool) AS tool, max(coalesce(outcome = 'error', 0)) AS failed,
                        max(min(max(0, coalesce(millis, ended_at - at, 0)), ?2)) AS span
                    FROM activities WHERE ?1 IS NULL OR at >= ?1 GROUP BY call, at
                 ) GROUP BY tool ORDER BY count(*) DESC, tool",
            [at(since), Some(MAX_CALL_TIME)],
            |row| {
                Ok(ToolRow {
                    tool: row.get(0)?,
                    calls: uncount(row.get(1)?),
                    errors: uncount(row.get(2)?),
                    millis: uncount(row.get(3)?),
                })
            },
        )
    }

    /// Sessions and prompts since a time. Notices of the agent and words of other sessions are no prompts, and one that a
    /// fork has copied counts once.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_counts(&self, since: Option<Timestamp>) -> Result<(u64, u64), StoreError> {
        let query = "SELECT (SELECT count(*) FROM sessions WHERE ?1 IS NULL OR active_at >= ?1),
                        (SELECT count(*) FROM
                            (SELECT DISTINCT batch, started_at FROM batches WHERE (?1 IS NULL OR started_at >= ?1)
                                AND coalesce(origin, 'human') IN ('human', 'queued')))";
        self.only_row(query, [at(since)], |row| Ok((uncount(row.get(0)?), uncount(row.get(1)?))))
    }
}

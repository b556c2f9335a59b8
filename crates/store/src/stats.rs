//! Numbers over everything that is stored: tokens, sessions, tools.

use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use crate::tables::{at, uncount};
use crate::{Store, StoreError};

/// What the tokens are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The day (UTC).
    Day,
    /// The project.
    Project,
    /// The model.
    Model,
}

/// The tokens of one day, project or model, each request once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    /// The day as `2026-11-21`, the project or the model; `None` where it is not known.
    pub key: Option<String>,
    /// How many requests.
    pub requests: u64,
    /// Their tokens.
    pub tokens: Usage,
}

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

impl Store {
    /// Tokens since a time, each request once: by day the newest first, otherwise the largest first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tokens(&self, by: By, since: Option<Timestamp>) -> Result<Vec<TokenRow>, StoreError> {
        let (key, order) = match by {
            By::Day => ("strftime('%Y-%m-%d', at / 1000, 'unixepoch')", "key DESC"),
            By::Project => ("project", "sum(output) DESC, key"),
            By::Model => ("model", "sum(output) DESC, key"),
        };
        self.asked(|sql| {
            sql.prepare_cached(&format!(
                "SELECT {key} AS key, count(*), sum(input), sum(output), sum(cache_read), sum(cache_write)
                 FROM v_usage WHERE ?1 IS NULL OR at >= ?1 GROUP BY key ORDER BY {order}"
            ))?
            .query_map([at(since)], |row| {
                Ok(TokenRow {
                    key: row.get(0)?,
                    requests: uncount(row.get(1)?),
                    tokens: Usage {
                        input: uncount(row.get(2)?),
                        output: uncount(row.get(3)?),
                        cache_read: uncount(row.get(4)?),
                        cache_write: uncount(row.get(5)?),
                    },
                })
            })?
            .collect()
        })
    }

    /// How often each tool was called since a time, the most used first.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn tools(&self, since: Option<Timestamp>) -> Result<Vec<ToolRow>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached(
                "SELECT coalesce(tool, ''), count(*), sum(outcome = 'error'),
                    sum(max(0, coalesce(millis, ended_at - at, 0)))
                 FROM activities WHERE ?1 IS NULL OR at >= ?1 GROUP BY tool ORDER BY count(*) DESC, tool",
            )?
            .query_map([at(since)], |row| {
                Ok(ToolRow {
                    tool: row.get(0)?,
                    calls: uncount(row.get(1)?),
                    errors: uncount(row.get(2)?),
                    millis: uncount(row.get(3)?),
                })
            })?
            .collect()
        })
    }

    /// Sessions and prompts since a time.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_counts(&self, since: Option<Timestamp>) -> Result<(u64, u64), StoreError> {
        self.asked(|sql| {
            sql.prepare_cached(
                "SELECT (SELECT count(*) FROM sessions WHERE ?1 IS NULL OR active_at >= ?1),
                        (SELECT count(*) FROM batches WHERE ?1 IS NULL OR started_at >= ?1)",
            )?
            .query_row([at(since)], |row| Ok((uncount(row.get(0)?), uncount(row.get(1)?))))
        })
    }
}

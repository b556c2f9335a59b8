//! Requests to a model: the tokens of each, once.

use watchbill_core::session::RequestKey;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;

use super::{FileKey, at, bits, count};
use crate::{Step, StoreError};

pub(crate) const V1: &str = "
-- The tokens of one request, as one file tells them. A fork repeats the requests of its origin, so that sums go over
-- distinct requests: see v_usage.
CREATE TABLE requests (
    file        INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    request     INTEGER NOT NULL,  -- hash of message id and request id
    at          INTEGER,
    model       TEXT,
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    PRIMARY KEY (file, request)
) STRICT, WITHOUT ROWID;
";

/// The tokens of a request, as one record tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestRow<'a> {
    /// Names the request.
    pub key: RequestKey,
    /// When it was answered.
    pub at: Option<Timestamp>,
    /// The model that answered.
    pub model: Option<&'a str>,
    /// Its tokens.
    pub usage: Usage,
}

impl Step<'_> {
    /// Stores the tokens of a request; within a file the last record of a request wins.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn put_request(&mut self, file: FileKey, row: &RequestRow<'_>) -> Result<(), StoreError> {
        self.run(
            "INSERT OR REPLACE INTO requests
                (file, request, at, model, input, output, cache_read, cache_write)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            (
                file,
                bits(row.key.0),
                at(row.at),
                row.model,
                count(row.usage.input),
                count(row.usage.output),
                count(row.usage.cache_read),
                count(row.usage.cache_write),
            ),
        )?;
        Ok(())
    }
}

//! Requests to a model: the tokens of each.

use watchbill_core::history::rows::Request;

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
    subagent    TEXT,
    copied      INTEGER NOT NULL,  -- 1: the record says that it was copied from another session
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    PRIMARY KEY (file, request)
) STRICT, WITHOUT ROWID;
";

impl Step<'_> {
    /// Stores the tokens of a request, merged with what the same file told of it before.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn merge_request(&mut self, file: FileKey, told: &Request) -> Result<(), StoreError> {
        self.run(
            "INSERT INTO requests
                (file, request, at, model, subagent, copied, input, output, cache_read, cache_write)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (file, request) DO UPDATE SET
                at = min(coalesce(at, excluded.at), coalesce(excluded.at, at)),
                model = min(coalesce(model, excluded.model), coalesce(excluded.model, model)),
                subagent = min(coalesce(subagent, excluded.subagent), coalesce(excluded.subagent, subagent)),
                copied = min(copied, excluded.copied), input = max(input, excluded.input),
                output = max(output, excluded.output), cache_read = max(cache_read, excluded.cache_read),
                cache_write = max(cache_write, excluded.cache_write)",
            rusqlite::params![
                file,
                bits(told.key.0),
                at(told.at),
                told.model.as_deref(),
                told.agent.as_deref(),
                told.copied,
                count(told.usage.input),
                count(told.usage.output),
                count(told.usage.cache_read),
                count(told.usage.cache_write)
            ],
        )?;
        Ok(())
    }
}

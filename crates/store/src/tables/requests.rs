//! Requests to a model: the tokens of each.

use watchbill_core::history::rows::Request;

use super::{FileKey, at, bits, count};
use crate::{StoreError, WriteTransaction};

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

pub(crate) const V6: &str = "
-- No request uses more than four billion tokens of a kind. A greater count was written by mistake; since this version it
-- is cut before it is stored, so that a sum does not overflow.
UPDATE requests SET input = min(input, 4294967295), output = min(output, 4294967295),
    cache_read = min(cache_read, 4294967295), cache_write = min(cache_write, 4294967295)
WHERE max(input, output, cache_read, cache_write) > 4294967295;
";

impl WriteTransaction<'_> {
    /// Stores the tokens of a request, merged with earlier records of it in the same file.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn merge_request(&mut self, file: FileKey, request: &Request) -> Result<(), StoreError> {
        // Nearly every request is recorded once. An upsert would copy the page that it changes, to be able to roll
        // itself back.
        if self.write_request(
            "INSERT OR IGNORE INTO requests
                (file, request, at, model, subagent, copied, input, output, cache_read, cache_write)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            file,
            request,
        )? == 0
        {
            self.write_request(
                "UPDATE requests SET
                    at = min(coalesce(at, ?3), coalesce(?3, at)),
                    model = coalesce(?4, model),
                    subagent = min(coalesce(subagent, ?5), coalesce(?5, subagent)),
                    copied = min(copied, ?6), input = max(input, ?7), output = max(output, ?8),
                    cache_read = max(cache_read, ?9), cache_write = max(cache_write, ?10)
                 WHERE file = ?1 AND request = ?2",
                file,
                request,
            )?;
        }
        Ok(())
    }

    fn write_request(
        &mut self,
        sql: &'static str,
        file: FileKey,
        request: &Request,
    ) -> Result<usize, StoreError> {
        self.run(
            sql,
            rusqlite::params![
                file,
                bits(request.key.0),
                at(request.at),
                request.model.as_deref(),
                request.agent.as_deref(),
                request.copied,
                count(request.usage.input),
                count(request.usage.output),
                count(request.usage.cache_read),
                count(request.usage.cache_write)
            ],
        )
    }
}

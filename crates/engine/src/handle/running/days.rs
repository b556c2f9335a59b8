//! The day, from the store.

use watchbill_history::query::day;
use watchbill_protocol::day::Day;
use watchbill_protocol::error::{ApiError, ErrorCode};

use super::Handle;
use crate::clock::{Clock, SystemClock};

impl Handle {
    /// What each work chain did on a day; without a date, today.
    ///
    /// # Errors
    /// When it is no date, or nothing is stored.
    pub fn day(&self, date: Option<&str>) -> Result<Day, ApiError> {
        if self.is_demo {
            return Err(ApiError::new(ErrorCode::Unsupported, "the demo keeps no history"));
        }
        day::day(&self.settings(), date, SystemClock.now())
    }

    /// The byte of a session's transcript at which the newest call or prompt before a time begins.
    ///
    /// # Errors
    /// When it is no time, or nothing is stored.
    pub fn byte_at(&self, session: &str, at: &str) -> Result<Option<u64>, ApiError> {
        day::byte_at(&self.settings(), session, at)
    }
}

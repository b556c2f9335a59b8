//! The day and the usage, from the store.

use watchbill_history::query::{alerts, day, limits, usage};
use watchbill_protocol::alert::PastAlert;
use watchbill_protocol::day::Day;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::limits::LimitUse;
use watchbill_protocol::usage::UsagePage;

use super::Handle;
use crate::clock::{Clock, SystemClock};

impl Handle {
    /// What each work chain did on a day; without a date, today.
    ///
    /// # Errors
    /// When it is no date, or nothing is stored.
    pub fn day(&self, date: Option<&str>) -> Result<Day, ApiError> {
        day::day(&self.settings(), date, SystemClock.now())
    }

    /// When sessions needed the user in the last seven days, newest first.
    ///
    /// # Errors
    /// When nothing is stored, or the engine has stopped.
    pub fn past_alerts(&self) -> Result<Vec<PastAlert>, ApiError> {
        alerts::alerts(&self.settings(), SystemClock.now(), &self.roster(false)?.sessions)
    }

    /// The usage of so many days until now.
    ///
    /// # Errors
    /// When nothing is stored.
    pub fn usage(&self, days: u32) -> Result<UsagePage, ApiError> {
        usage::usage(&self.settings(), days, SystemClock.now())
    }

    /// Which work chains use up the limits of plans.
    ///
    /// # Errors
    /// When nothing is stored, or the engine has stopped.
    pub fn limit_use(&self) -> Result<Vec<LimitUse>, ApiError> {
        limits::limit_use(&self.settings(), self.roster(false)?.limits)
    }

    /// The byte of a session's transcript at which the newest call or prompt before a time begins.
    ///
    /// # Errors
    /// When it is no time, or nothing is stored.
    pub fn byte_at(&self, session: &str, at: &str) -> Result<Option<u64>, ApiError> {
        day::byte_at(&self.settings(), session, at)
    }
}

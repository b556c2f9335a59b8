//! Two clocks: the wall clock, and the monotonic clock that counts since boot.

use std::time::{SystemTime, UNIX_EPOCH};

use watchbill_core::time::Timestamp;

pub use crate::system::boot;

/// The wall clock.
pub fn wall() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Nanoseconds since boot. Sleep counts, where the system counts it.
#[cfg(unix)]
pub fn since_boot() -> u64 {
    let now = rustix::time::clock_gettime(crate::system::CLOCK);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// The wall clock, which may be set back: a monotonic clock would need calls of the system itself.
#[cfg(not(unix))]
pub fn since_boot() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(0)
}

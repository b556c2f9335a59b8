//! Two clocks: the wall clock, and the monotonic clock that counts since boot.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use watchbill_core::time::Timestamp;

/// The wall clock.
pub fn wall() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Nanoseconds since boot. Sleep counts, where the system counts it.
pub fn since_boot() -> u64 {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(all(unix, not(target_os = "linux")))]
    let clock = rustix::time::ClockId::Monotonic;
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(clock);
        u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
    }
    #[cfg(not(unix))]
    {
        // The wall clock may be set back. A monotonic clock would need calls of the system itself.
        u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos())
            .unwrap_or(0)
    }
}

/// The id of the boot that [`since_boot`] counts from, where the system has one.
pub fn boot() -> Option<Arc<str>> {
    #[cfg(target_os = "linux")]
    {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        Some(text.trim().into())
    }
    #[cfg(not(target_os = "linux"))]
    None
}

//! Waits for facts, with a bound.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Longer than any machine takes. Only a failure waits so long.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Waits until it is so.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !so() {
        assert!(Instant::now() < end, "waited for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until a look gives this.
pub fn until_is<T: PartialEq + Debug>(wanted: &T, mut look: impl FnMut() -> T) {
    let end = Instant::now() + TIMEOUT;
    loop {
        let found = look();
        if found == *wanted {
            return;
        }
        assert!(Instant::now() < end, "{found:?} and not {wanted:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

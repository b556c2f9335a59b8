//! Looks at files on threads of their own, each with a time limit: a file may lie on a dead mount.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use crate::world::counter::Counter;

/// How long a look may take.
pub(crate) const AT_MOST: Duration = Duration::from_secs(2);

/// Looks that may run at once. More than that hang on a dead mount.
const MOST_LOOKS: usize = 8;

/// Starts looks. Clones share the limit.
#[derive(Clone, Default)]
pub(crate) struct FileLooks(Counter);

impl FileLooks {
    /// Starts a look. Says whether it has begun.
    pub fn begin(&self, look: impl FnOnce() + Send + 'static) -> bool {
        let Some(counted) = self.0.count(MOST_LOOKS) else {
            tracing::warn!("{MOST_LOOKS} looks at files hang; one more is not begun");
            return false;
        };
        let spawned = std::thread::Builder::new().name("watchbill-files".into()).spawn(move || {
            let _counted = counted;
            look();
        });
        if let Err(error) = &spawned {
            tracing::warn!(%error, "no thread for a look at files");
        }
        spawned.is_ok()
    }

    /// The result of a look. `None`: it did not begin, or took too long.
    pub fn result<T: Send + 'static>(&self, look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, receiver) = sync_channel(1);
        self.begin(move || {
            // The caller may have given up waiting.
            let _ = sender.send(look());
        });
        receiver.recv_timeout(AT_MOST).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn looks_that_hang_are_limited_and_hold_nothing_up() {
        let looks = FileLooks::default();
        let (release, hang) = std::sync::mpsc::channel::<()>();
        let hang = Arc::new(std::sync::Mutex::new(hang));
        for _ in 0..MOST_LOOKS {
            let hang = Arc::clone(&hang);
            assert!(looks.begin(move || drop(hang.lock().map(|hang| hang.recv()))));
        }
        assert!(!looks.begin(|| {}), "one more");
        assert_eq!(looks.result(|| 1), None);
        drop(release);
        while looks.result(|| 1).is_none() {}
    }
}

//! Counts threads that run, up to a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of threads. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Counter(Arc<AtomicUsize>);

/// One of them. It counts until it is dropped, also by a panic.
pub(crate) struct Counted(Arc<AtomicUsize>);

impl Counter {
    /// Counts one more; `None` if as many run as may.
    pub fn count(&self, most: usize) -> Option<Counted> {
        let before = self.0.fetch_add(1, Ordering::AcqRel);
        let counted = Counted(Arc::clone(&self.0));
        (before < most).then_some(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_panics_counts_no_more() {
        let counter = Counter::default();
        let counted = counter.count(1).expect("none runs");
        assert!(counter.count(1).is_none());
        let panics = std::thread::spawn(move || {
            let _counted = counted;
            std::panic::resume_unwind(Box::new("as a thread that cannot be started"));
        });
        assert!(panics.join().is_err());
        assert!(counter.count(1).is_some());
    }
}

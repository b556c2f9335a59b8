//! The health of a data folder's hooks, for `doctor` and `hooks status`. It reads only.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use watchbill_core::time::Timestamp;

use crate::places::HookPaths;
use crate::spool;

/// The most files of one spool that are counted.
const COUNT_LIMIT: usize = 100_000;

/// Dropped events that are older than this do not matter any more: their sessions are over.
const LOSS_AGE_LIMIT: Duration = Duration::from_secs(7 * 24 * 3600);

/// Counts over the files and folders of the hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Receivers that listen now.
    pub receivers: usize,
    /// Ears of dead programs; the next receiver removes them.
    pub dead_receivers: usize,
    /// Events that wait in a spool for a receiver.
    pub waiting: usize,
    /// How many of these wait in a spare spool, because the data folder could not be written.
    pub waiting_elsewhere: usize,
    /// Files that could not be read as events and were put aside.
    pub damaged: usize,
    /// Events that were dropped, because the spool was full or nothing could be written.
    ///
    /// The count begins again after a week without a loss, if a receiver runs then.
    pub dropped: u64,
    /// When the last event was dropped, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped_at: Option<String>,
    /// Whether events are being dropped now.
    pub overfull: bool,
    /// Bytes of both journals.
    pub journal_bytes: u64,
}

/// Counts the files and folders. A missing one counts as empty.
pub fn health(places: &HookPaths) -> Health {
    let length = |path| std::fs::metadata(path).map_or(0, |found| found.len());
    let mut health = Health {
        dropped: length(places.dropped()),
        dropped_at: last_loss(places).map(|at| wall(at).to_string()),
        overfull: places.overfull().exists(),
        journal_bytes: length(places.journal()) + length(places.old_journal()),
        ..Health::default()
    };
    #[cfg(unix)]
    {
        (health.receivers, health.dead_receivers) = crate::receiver_socket::count_receivers(places);
    }
    for (number, folder) in places.spools().enumerate() {
        let counted = spool::count(&folder, COUNT_LIMIT);
        health.waiting += counted.waiting;
        health.damaged += counted.damaged;
        if number > 0 {
            health.waiting_elsewhere += counted.waiting;
        }
    }
    health
}

/// When an event was dropped last.
fn last_loss(places: &HookPaths) -> Option<SystemTime> {
    let found = std::fs::metadata(places.dropped()).ok().filter(|found| found.len() > 0)?;
    found.modified().ok()
}

fn wall(at: SystemTime) -> Timestamp {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Resets the count of dropped events after a week without one. The journal's writer calls it.
pub(crate) fn forget_old_losses(places: &HookPaths, now: SystemTime) {
    let is_old = |at: SystemTime| now.duration_since(at).is_ok_and(|age| age > LOSS_AGE_LIMIT);
    if last_loss(places).is_some_and(is_old)
        && let Err(error) = std::fs::remove_file(places.dropped())
    {
        tracing::warn!(%error, "events that were dropped long ago are still counted");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use watchbill_platform::files::private_dir;

    #[test]
    fn dropped_events_are_counted_until_a_week_without_one_has_passed() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        private_dir(places.root()).expect("a folder");
        assert_eq!((health(&places).dropped, health(&places).dropped_at), (0, None));
        std::fs::write(places.dropped(), "...").expect("written");
        let at = SystemTime::UNIX_EPOCH + Duration::from_millis(1_795_000_000_123);
        let file = std::fs::OpenOptions::new().append(true).open(places.dropped()).expect("it opens");
        file.set_modified(at).expect("its time can be set");
        let of_now = || (health(&places).dropped, health(&places).dropped_at);
        let counted = (3, Some(Timestamp::from_millis(1_795_000_000_123).to_string()));
        assert_eq!(of_now(), counted);
        forget_old_losses(&places, at + LOSS_AGE_LIMIT);
        forget_old_losses(&places, at - LOSS_AGE_LIMIT);
        assert_eq!(of_now(), counted, "nor does a clock that went back make it old");
        forget_old_losses(&places, at + LOSS_AGE_LIMIT + Duration::from_secs(1));
        assert_eq!(of_now(), (0, None));
    }
}

//! How the hooks of a data folder are doing, for `doctor` and `hooks status`: looked at from outside, nothing changed.

use serde::{Deserialize, Serialize};

use crate::places::Places;
use crate::spool;

/// Files of a spool that are counted at most.
const COUNTED: usize = 100_000;

/// What lies in the places of the hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Programs that listen now.
    pub ears: usize,
    /// Ears that dead programs left behind; the next program that listens removes them.
    pub dead_ears: usize,
    /// Events that wait for a program to listen.
    pub waiting: usize,
    /// Of these, those in a spare place, because the data folder could not be written.
    pub waiting_elsewhere: usize,
    /// Files that could not be read as events and were put aside.
    pub damaged: usize,
    /// Events that were dropped, because nobody had come for tens of thousands of others or nothing could be written.
    pub dropped: u64,
    /// Whether events are being dropped now.
    pub overfull: bool,
    /// Bytes of both journals.
    pub journal_bytes: u64,
}

/// Looks at the places. Those that are not there hold nothing.
pub fn health(places: &Places) -> Health {
    let length = |path| std::fs::metadata(path).map_or(0, |found| found.len());
    let mut health = Health {
        dropped: length(places.dropped()),
        overfull: places.overfull().exists(),
        journal_bytes: length(places.journal()) + length(places.old_journal()),
        ..Health::default()
    };
    #[cfg(unix)]
    {
        (health.ears, health.dead_ears) = crate::ear::census(places);
    }
    for (number, folder) in places.spools().enumerate() {
        let counted = spool::census(&folder, COUNTED);
        health.waiting += counted.waiting;
        health.damaged += counted.damaged;
        if number > 0 {
            health.waiting_elsewhere += counted.waiting;
        }
    }
    health
}

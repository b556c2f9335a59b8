//! Status files of the source document, as looks at the working folders found them: the newest one of each session
//! counts, and a half-written one is read again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use watchbill_core::ids::SessionId;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::status_file::{StatusFileError, StatusWitness, parse_status_file};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::layout::Place;

use crate::witnesses::folders::{FolderFile, FolderLook};

/// A torn status file is tried again after this long.
const RETRY: Millis = Millis(100);
/// A status file that stays torn for so many tries is malformed.
const RETRIES: u32 = 50;
/// A torn status file that was written longer ago than this is not being written any more.
const LONG: Millis = Millis(5_000);
/// So many status files are remembered.
const MOST_FILES: usize = 16_384;

/// The status files that were read, by session and path: two sessions may share a folder, and one may have two.
#[derive(Debug, Default)]
pub struct StatusFiles {
    read: BTreeMap<SessionId, BTreeMap<PathBuf, Slot>>,
    files: usize,
}

#[derive(Debug, Default, PartialEq)]
struct Slot {
    witness: Option<StatusWitness>,
    torn: u32,
    /// What is wrong with the file as it is now, in words.
    trouble: Option<String>,
}

impl StatusFiles {
    /// Takes in what a look at a folder found; returns the sessions of which something changed, and when to look again.
    pub fn take(&mut self, look: &FolderLook, now: Timestamp) -> (Vec<SessionId>, Option<Timestamp>) {
        let mut changed = self.forget_gone(look);
        let mut again: Option<Timestamp> = None;
        for file in &look.files {
            let Place::StatusFile { session } = &file.place else { continue };
            let slots = self.read.entry(session.clone()).or_default();
            if !slots.contains_key(&file.path) {
                if self.files >= MOST_FILES {
                    continue;
                }
                self.files += 1;
            }
            let slot = slots.entry(file.path.clone()).or_default();
            let before = slot.witness.clone();
            again = again.into_iter().chain(slot.take(file, now)).min();
            if slot.witness != before {
                changed.push(session.clone());
            }
        }
        self.read.retain(|_, slots| !slots.is_empty());
        (changed, again)
    }

    /// A file that is gone says nothing any more, unlike a marker.
    fn forget_gone(&mut self, look: &FolderLook) -> Vec<SessionId> {
        let mut changed = Vec::new();
        for (session, slots) in &mut self.read {
            let before = slots.len();
            slots.retain(|path, _| {
                path.parent() != Some(&*look.folder) || look.files.iter().any(|file| file.path == *path)
            });
            if slots.len() != before {
                self.files -= before - slots.len();
                changed.push(session.clone());
            }
        }
        changed
    }

    /// What the newest status file of a session says.
    pub fn of(&self, session: &SessionId) -> Option<&StatusWitness> {
        let witnesses = self.read.get(session)?.values().filter_map(|slot| slot.witness.as_ref());
        witnesses.max_by_key(|witness| (witness.file.updated.unwrap_or(witness.modified), witness.modified))
    }

    /// What is wrong with status files.
    pub fn problems(&self) -> impl Iterator<Item = Problem> + '_ {
        let slots = self.read.values().flatten();
        slots.filter_map(|(path, slot)| {
            let detail = slot.trouble.as_deref()?;
            let path = path.to_string_lossy().into();
            Some(Problem { path, kind: ProblemKind::MalformedStatusFile, count: 1, detail: detail.into() })
        })
    }
}

impl Slot {
    /// Says when to look again.
    fn take(&mut self, file: &FolderFile, now: Timestamp) -> Option<Timestamp> {
        let modified = file.mtime.unwrap_or(now);
        let parsed = match &file.bytes {
            Ok(bytes) => parse_status_file(bytes),
            Err(error) => {
                *self = Self {
                    trouble: Some(format!("cannot be read ({error}); it was ignored")),
                    ..Self::default()
                };
                return None;
            }
        };
        match parsed {
            Ok(file) => *self = Self { witness: Some(StatusWitness { file, modified }), ..Self::default() },
            Err(StatusFileError::Torn) => {
                self.torn += 1;
                // A file that was last written long ago is not being written: nobody need wait for its rest.
                if self.torn <= RETRIES && now.since(modified) <= LONG {
                    return Some(now + RETRY);
                }
                *self = Self {
                    trouble: Some(format!("{}; it was ignored", StatusFileError::Torn)),
                    torn: self.torn,
                    ..Self::default()
                };
            }
            Err(error) => {
                *self = Self { trouble: Some(format!("{error}; it was ignored")), ..Self::default() };
            }
        }
        None
    }
}

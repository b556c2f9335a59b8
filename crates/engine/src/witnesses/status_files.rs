//! Status files of the source document, from looks at the working folders. The newest one of each session counts, and a
//! half-written one is read again.

use std::collections::BTreeMap;
use std::path::PathBuf;

use watchbill_agents::layout::ClientPath;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::status_file::{StatusFileError, StatusWitness, parse_status_file};
use watchbill_core::time::{Millis, Timestamp};

use crate::witnesses::folders::{FolderFile, FolderLook};

/// A torn status file is read again after this time.
const RETRY: Millis = Millis(100);
/// After this many retries, a torn status file is malformed.
const RETRIES: u32 = 50;
/// If the last write of a torn status file is longer ago, its writer has ended.
const LONG: Millis = Millis(5_000);
/// Limit of status files in memory.
const MAX_FILES: usize = 16_384;

/// The status files by session and path. Two sessions may share a folder, and one session may have two files.
#[derive(Debug, Default)]
pub struct StatusFiles {
    read: BTreeMap<SessionId, BTreeMap<PathBuf, Slot>>,
    files: usize,
}

#[derive(Debug, Default, PartialEq)]
struct Slot {
    witness: Option<StatusWitness>,
    torn: u32,
    /// The file's present problem, as text.
    trouble: Option<String>,
}

impl StatusFiles {
    /// Takes in the result of a look at a folder. Gives the changed sessions, and the time to look again.
    pub fn take(&mut self, look: &FolderLook, now: Timestamp) -> (Vec<SessionId>, Option<Timestamp>) {
        let mut changed = self.forget_gone(look);
        let mut again: Option<Timestamp> = None;
        for file in &look.files {
            let ClientPath::StatusFile { session } = &file.place else { continue };
            let slots = self.read.entry(session.clone()).or_default();
            if !slots.contains_key(&file.path) {
                if self.files >= MAX_FILES {
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

    /// Unlike a marker, a status file no longer counts after it is gone.
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

    /// The newest status file of a session.
    pub fn of(&self, session: &SessionId) -> Option<&StatusWitness> {
        let witnesses = self.read.get(session)?.values().filter_map(|slot| slot.witness.as_ref());
        witnesses.max_by_key(|witness| (witness.file.updated.unwrap_or(witness.modified), witness.modified))
    }

    /// The problems of status files.
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
    /// Gives the time to look again.
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
                // If the last write is long ago, its writer has ended, so the rest will not come.
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

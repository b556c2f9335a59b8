//! Compaction markers of the source document, from looks at the working folders. Each counts exactly once, and a
//! half-written one is read again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use watchbill_agents::layout::ClientPath;
use watchbill_core::chain::lineage::Marker;
use watchbill_core::chain::marker::{MarkerError, parse_marker};
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::time::{Millis, Timestamp};

use crate::witnesses::folders::{FolderFile, FolderLook, folder_of};

/// A torn marker is read again after this time.
const RETRY: Millis = Millis(100);
/// After this many retries, a torn marker is malformed.
const RETRIES: u32 = 50;
/// If the last write of a torn marker is longer ago, its writer has ended.
const LONG: Millis = Millis(5_000);
/// Limit of markers per file name: one name may announce several compactions. Only a faulty program writes more; the
/// oldest are dropped.
const MAX_OF_ONE_NAME: usize = 256;
/// Limit of files in memory. Beyond it, deleted ones are dropped.
const MAX_FILES: usize = 16_384;

/// The markers that were read.
#[derive(Debug, Default)]
pub struct Markers {
    read: BTreeMap<PathBuf, Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    /// One file name may announce several compactions of one session, one after the other.
    markers: Vec<Marker>,
    torn: u32,
    /// The file's present problem, as text.
    trouble: Option<String>,
}

impl Markers {
    /// All markers by the path of their files, to store them: the files need not stay.
    pub fn kept(&self) -> Vec<(String, Vec<Marker>)> {
        let slots = self.read.iter().filter(|(_, slot)| !slot.markers.is_empty());
        slots.filter_map(|(path, slot)| Some((path.to_str()?.to_owned(), slot.markers.clone()))).collect()
    }

    /// Restores the stored markers.
    pub fn restore(&mut self, kept: Vec<(String, Vec<Marker>)>) {
        for (path, markers) in kept.into_iter().take(MAX_FILES) {
            self.read.entry(PathBuf::from(path)).or_default().markers = markers;
        }
    }

    /// Takes in the result of a look at a folder. Says whether a marker is new, and when to look again.
    pub fn take(&mut self, look: &FolderLook, now: Timestamp) -> (bool, Option<Timestamp>) {
        let mut new = false;
        let mut again: Option<Timestamp> = None;
        // A marker still counts after its file is gone, but the file's problem does not.
        let full = self.read.len() >= MAX_FILES;
        self.read.retain(|path, slot| {
            let gone =
                path.parent() == Some(&*look.folder) && !look.files.iter().any(|file| file.path == *path);
            if gone {
                slot.torn = 0;
                slot.trouble = None;
            }
            !(gone && (full || slot.markers.is_empty()))
        });
        for file in look.files.iter().filter(|file| matches!(file.place, ClientPath::Marker { .. })) {
            if self.read.len() >= MAX_FILES && !self.read.contains_key(&file.path) {
                continue;
            }
            let (found, retry) = self.take_file(file, now);
            new |= found;
            again = again.into_iter().chain(retry).min();
        }
        (new, again)
    }

    fn take_file(&mut self, file: &FolderFile, now: Timestamp) -> (bool, Option<Timestamp>) {
        let Some(file_name) = file.path.file_name().and_then(|name| name.to_str()) else {
            return (false, None);
        };
        let slot = self.read.entry(file.path.clone()).or_default();
        let bytes = match &file.bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                slot.trouble = Some(format!("cannot be read ({error}); it was ignored"));
                return (false, None);
            }
        };
        match parse_marker(bytes, file_name) {
            Ok(marker) => {
                slot.trouble = None;
                slot.torn = 0;
                // A file with the same content announces the same compaction; a new time announces a new one.
                if slot.markers.contains(&marker) {
                    return (false, None);
                }
                if slot.markers.len() >= MAX_OF_ONE_NAME {
                    slot.markers.remove(0);
                }
                slot.markers.push(marker);
                (true, None)
            }
            Err(MarkerError::Torn) => {
                slot.torn += 1;
                // If the last write is long ago, its writer has ended, so the rest will not come.
                let stale = file.mtime.is_some_and(|mtime| now.since(mtime) > LONG);
                if slot.torn <= RETRIES && !stale {
                    return (false, Some(now + RETRY));
                }
                slot.trouble = Some("stays half written; it was ignored".to_owned());
                (false, None)
            }
            Err(error) => {
                slot.trouble = Some(format!("{error}; it was ignored"));
                (false, None)
            }
        }
    }

    /// All markers in the working folders `cwds`. A folder whose sessions were all deleted does not count: after a
    /// restart, the engine would not even know it.
    pub fn all<'a>(&self, cwds: impl Iterator<Item = &'a Arc<str>>) -> Vec<Marker> {
        self.slots_in(cwds).flat_map(|(_, slot)| slot.markers.iter().cloned()).collect()
    }

    /// The problems of marker files in the working folders `cwds`.
    pub fn problems<'a>(&self, cwds: impl Iterator<Item = &'a Arc<str>>) -> Vec<Problem> {
        let troubled = self.slots_in(cwds).filter_map(|(path, slot)| Some((path, slot.trouble.as_deref()?)));
        troubled
            .map(|(path, trouble)| Problem {
                path: path.to_string_lossy().into(),
                kind: ProblemKind::MalformedMarker,
                count: 1,
                detail: trouble.into(),
            })
            .collect()
    }

    fn slots_in<'a>(
        &self,
        cwds: impl Iterator<Item = &'a Arc<str>>,
    ) -> impl Iterator<Item = (&PathBuf, &Slot)> {
        let mut folders = BTreeSet::new();
        if !self.read.is_empty() {
            folders.extend(cwds.collect::<BTreeSet<_>>().into_iter().map(|cwd| folder_of(cwd)));
        }
        self.read.iter().filter(move |(path, _)| path.parent().is_some_and(|folder| folders.contains(folder)))
    }
}

//! Compaction markers of the source document: found in the working folders of recent sessions, each
//! read exactly once, tried again while half written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::chain::lineage::Marker;
use watchbill_core::chain::marker::{MarkerError, parse_marker};
use watchbill_core::problem::ProblemKind;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::fs::Fs;

use crate::problems::Problems;

/// A torn marker is tried again after this long.
const RETRY: Millis = Millis(100);
/// A marker that stays torn for so many tries is malformed.
const RETRIES: u32 = 50;
/// A marker is a few hundred bytes.
const SIZE_LIMIT: u64 = 64 << 10;
/// More folders than this are not watched: a watch each is a resource of the whole system.
pub const FOLDER_LIMIT: usize = 256;

/// The markers and the folders in which they are looked for.
#[derive(Debug, Default)]
pub struct Markers {
    folders: BTreeSet<PathBuf>,
    read: BTreeMap<PathBuf, Slot>,
}

#[derive(Debug, Default)]
struct Slot {
    /// One file name may announce several compactions of one session, one after the other.
    markers: Vec<Marker>,
    torn: u32,
}

impl Markers {
    /// The `.claude` folder of a working folder is to be looked at; `true` when it is new.
    pub fn add_folder(&mut self, cwd: &str) -> Option<PathBuf> {
        let folder = Path::new(cwd).join(".claude");
        (self.folders.len() < FOLDER_LIMIT && self.folders.insert(folder.clone())).then_some(folder)
    }

    /// Whether `path` lies in a folder that is looked at.
    pub fn knows(&self, path: &Path) -> bool {
        self.folders.contains(path) || path.parent().is_some_and(|parent| self.folders.contains(parent))
    }

    /// Folders that are looked at, for a rescan.
    pub fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter()
    }

    /// Looks through a folder; returns whether a marker is new and when to look again.
    pub fn read_folder(
        &mut self,
        folder: &Path,
        now: Timestamp,
        fs: &dyn Fs,
        problems: &mut Problems,
    ) -> (bool, Option<Timestamp>) {
        let mut new = false;
        let mut again: Option<Timestamp> = None;
        for name in fs.list(folder).unwrap_or_default() {
            let path = folder.join(&name.name);
            let (found, retry) = self.read_file(&path, now, fs, problems);
            new |= found;
            again = again.into_iter().chain(retry).min();
        }
        (new, again)
    }

    fn read_file(
        &mut self,
        path: &Path,
        now: Timestamp,
        fs: &dyn Fs,
        problems: &mut Problems,
    ) -> (bool, Option<Timestamp>) {
        let Some(file_name) = path.file_name().and_then(|name| name.to_str()) else { return (false, None) };
        if !(file_name.starts_with("compacted.") && file_name.ends_with(".marker")) {
            return (false, None);
        }
        let name: Arc<str> = Arc::from(path.to_string_lossy());
        let Ok(bytes) = fs.read_small(path, SIZE_LIMIT) else { return (false, None) };
        let slot = self.read.entry(path.to_path_buf()).or_default();
        match parse_marker(&bytes, file_name) {
            Ok(marker) => {
                problems.forget(&name);
                slot.torn = 0;
                // The same announcement again is the same compaction; a new time is a new one.
                if slot.markers.contains(&marker) {
                    return (false, None);
                }
                slot.markers.push(marker);
                (true, None)
            }
            Err(MarkerError::Torn) => {
                slot.torn += 1;
                if slot.torn <= RETRIES {
                    return (false, Some(now + RETRY));
                }
                problems.set(problem(name, "stays half written; it was ignored"));
                (false, None)
            }
            Err(error) => {
                problems.set(problem(name, &format!("{error}; it was ignored")));
                (false, None)
            }
        }
    }

    /// All markers that were read.
    pub fn all(&self) -> Vec<Marker> {
        self.read.values().flat_map(|slot| slot.markers.iter().cloned()).collect()
    }
}

fn problem(path: Arc<str>, detail: &str) -> watchbill_core::problem::Problem {
    watchbill_core::problem::Problem {
        path,
        kind: ProblemKind::MalformedMarker,
        count: 1,
        detail: Arc::from(detail),
    }
}

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
/// A torn marker that was written longer ago than this is not being written any more.
const LONG: Millis = Millis(5_000);
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

    /// The folders that a change at `path` concerns: the one it is or lies in, and all below it.
    pub fn concerned(&self, path: &Path) -> Vec<PathBuf> {
        let around = path.parent().filter(|parent| self.folders.contains(*parent));
        let below = self.folders.range(path.to_path_buf()..).take_while(|folder| folder.starts_with(path));
        around.map(Path::to_path_buf).into_iter().chain(below.cloned()).collect()
    }

    /// Whether `path` is a folder that is looked at.
    pub fn is_folder(&self, path: &Path) -> bool {
        self.folders.contains(path)
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
        let names = fs.list(folder).unwrap_or_default();
        let there = |path: &Path| names.iter().any(|name| path.file_name() == Some(&name.name));
        // What was announced stays announced, but a file that is gone is no trouble any more.
        self.read.retain(|path, slot| {
            let gone = path.parent() == Some(folder) && !there(path);
            if gone {
                problems.forget(&path.to_string_lossy());
                slot.torn = 0;
            }
            !(gone && slot.markers.is_empty())
        });
        for name in &names {
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
        let bytes = match fs.read_small(path, SIZE_LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return (false, None),
            Err(error) => {
                self.read.entry(path.to_path_buf()).or_default();
                problems.set(problem(name, &format!("cannot be read ({error}); it was ignored")));
                return (false, None);
            }
        };
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
                // A file that was last written long ago is not being written: nobody need wait for its rest.
                let stale = fs.stat(path).is_ok_and(|stat| now.since(stat.mtime) > LONG);
                if slot.torn <= RETRIES && !stale {
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

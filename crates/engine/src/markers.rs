//! Compaction markers of the source document: found in the working folders of all sessions, each read
//! exactly once, tried again while half written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::chain::lineage::Marker;
use watchbill_core::chain::marker::{MarkerError, parse_marker};
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::fs::{Fs, is_gone};

/// A torn marker is tried again after this long.
const RETRY: Millis = Millis(100);
/// A marker that stays torn for so many tries is malformed.
const RETRIES: u32 = 50;
/// A torn marker that was written longer ago than this is not being written any more.
const LONG: Millis = Millis(5_000);
/// A marker is a few hundred bytes.
const SIZE_LIMIT: u64 = 64 << 10;
/// More folders than this are not watched: a watch each is a resource of the whole system.
pub const WATCH_LIMIT: usize = 256;
/// More folders than this are not read.
const FOLDER_LIMIT: usize = 4096;

/// The markers and the folders in which they are looked for.
#[derive(Debug, Default)]
pub struct Markers {
    /// Whether each is watched.
    folders: BTreeMap<PathBuf, bool>,
    watched: usize,
    read: BTreeMap<PathBuf, Slot>,
}

/// A folder that has just become one to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFolder {
    /// The folder.
    pub path: PathBuf,
    /// It is to be watched from now on.
    pub watch: bool,
}

#[derive(Debug, Default)]
struct Slot {
    /// One file name may announce several compactions of one session, one after the other.
    markers: Vec<Marker>,
    torn: u32,
    /// What is wrong with the file as it is now, in words.
    trouble: Option<String>,
}

impl Markers {
    /// The `.claude` folder of a working folder is to be looked at, and to be watched if somebody works there.
    /// Says what is new about it.
    pub fn add_folder(&mut self, cwd: &str, in_use: bool) -> Option<NewFolder> {
        let path = folder_of(cwd);
        if !path.is_absolute() {
            // It would be looked for below the folder that this program happens to run in.
            return None;
        }
        let before = self.folders.get(&path).copied();
        if before.is_none() && self.folders.len() >= FOLDER_LIMIT {
            return None;
        }
        let watched = before == Some(true) || in_use && self.watched < WATCH_LIMIT;
        if before == Some(watched) {
            return None;
        }
        self.watched += usize::from(watched);
        self.folders.insert(path.clone(), watched);
        Some(NewFolder { path, watch: watched })
    }

    /// The folders that a change at `path` concerns: the one it is or lies in, and all below it.
    pub fn concerned(&self, path: &Path) -> Vec<PathBuf> {
        let around = path.parent().filter(|parent| self.folders.contains_key(*parent));
        let folders = self.folders.range(path.to_path_buf()..).map(|(folder, _)| folder);
        let below = folders.take_while(|folder| folder.starts_with(path));
        around.map(Path::to_path_buf).into_iter().chain(below.cloned()).collect()
    }

    /// Whether `path` is a folder that is looked at.
    pub fn is_folder(&self, path: &Path) -> bool {
        self.folders.contains_key(path)
    }

    /// Folders that are looked at, for a rescan.
    pub fn folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.keys()
    }

    /// Looks through a folder; returns whether a marker is new and when to look again.
    pub fn read_folder(&mut self, folder: &Path, now: Timestamp, fs: &dyn Fs) -> (bool, Option<Timestamp>) {
        let mut new = false;
        let mut again: Option<Timestamp> = None;
        let names = fs.list(folder).unwrap_or_default();
        let there = |path: &Path| names.iter().any(|name| path.file_name() == Some(&name.name));
        // What was announced stays announced, but a file that is gone is no trouble any more.
        self.read.retain(|path, slot| {
            let gone = path.parent() == Some(folder) && !there(path);
            if gone {
                slot.torn = 0;
                slot.trouble = None;
            }
            !(gone && slot.markers.is_empty())
        });
        for name in &names {
            let path = folder.join(&name.name);
            let (found, retry) = self.read_file(&path, now, fs);
            new |= found;
            again = again.into_iter().chain(retry).min();
        }
        (new, again)
    }

    fn read_file(&mut self, path: &Path, now: Timestamp, fs: &dyn Fs) -> (bool, Option<Timestamp>) {
        let Some(file_name) = path.file_name().and_then(|name| name.to_str()) else { return (false, None) };
        if !(file_name.starts_with("compacted.") && file_name.ends_with(".marker")) {
            return (false, None);
        }
        let bytes = match fs.read_small(path, SIZE_LIMIT) {
            Ok(bytes) => bytes,
            Err(error) if is_gone(&error) => return (false, None),
            Err(error) => {
                let slot = self.read.entry(path.to_path_buf()).or_default();
                slot.trouble = Some(format!("cannot be read ({error}); it was ignored"));
                return (false, None);
            }
        };
        let slot = self.read.entry(path.to_path_buf()).or_default();
        match parse_marker(&bytes, file_name) {
            Ok(marker) => {
                slot.trouble = None;
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
                slot.trouble = Some("stays half written; it was ignored".to_owned());
                (false, None)
            }
            Err(error) => {
                slot.trouble = Some(format!("{error}; it was ignored"));
                (false, None)
            }
        }
    }

    /// All markers that were read in the working folders `cwds`. A folder in which nobody works any more, since
    /// its sessions were deleted, has nothing to say: after a restart it would not even be known.
    pub fn all<'a>(&self, cwds: impl Iterator<Item = &'a Arc<str>>) -> Vec<Marker> {
        self.slots_in(cwds).flat_map(|(_, slot)| slot.markers.iter().cloned()).collect()
    }

    /// What is wrong with marker files in the working folders `cwds`.
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

fn folder_of(cwd: &str) -> PathBuf {
    Path::new(cwd).join(".claude")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_folder_is_relative_to_nothing_that_we_know() {
        let mut markers = Markers::default();
        for cwd in ["", ".", "repo", "../repo"] {
            assert_eq!(markers.add_folder(cwd, true), None, "{cwd}");
        }
        assert_eq!(markers.folders().count(), 0);
    }
}

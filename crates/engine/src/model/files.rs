//! The known transcripts, by path.

use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::path::Path;

use rustc_hash::FxHashMap;

use crate::model::paths::FilePath;
use crate::transcripts::TrackedFile;

/// Tracked files by their paths.
#[derive(Default)]
pub struct Files {
    /// Boxed to keep the table small, because many callers look things up in it.
    by_path: FxHashMap<FilePath, Box<TrackedFile>>,
}

impl Files {
    /// The file at `path`.
    pub fn get(&self, path: &Path) -> Option<&TrackedFile> {
        self.by_path.get(path.as_os_str()).map(|file| &**file)
    }

    /// The file at `path`, mutable.
    pub fn get_mut(&mut self, path: &Path) -> Option<&mut TrackedFile> {
        self.by_path.get_mut(path.as_os_str()).map(|file| &mut **file)
    }

    /// Whether a file at `path` is known.
    pub fn contains(&self, path: &Path) -> bool {
        self.by_path.contains_key(path.as_os_str())
    }

    /// Inserts a file, and replaces the known one at `path`.
    pub fn insert(&mut self, path: FilePath, file: TrackedFile) {
        self.by_path.insert(path, Box::new(file));
    }

    /// The file at `path`; makes it if it is new.
    pub fn get_or_make(&mut self, path: &Path, make: impl FnOnce() -> TrackedFile) -> &mut TrackedFile {
        match self.by_path.entry(path.into()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => free.insert(Box::new(make())),
        }
    }

    /// Removes the file at `path` and returns it.
    pub fn remove(&mut self, path: &Path) -> Option<TrackedFile> {
        self.by_path.remove(path.as_os_str()).map(|file| *file)
    }

    /// Reserves room for so many more files, so that inserting them does not rehash the earlier ones.
    pub fn reserve(&mut self, more: usize) {
        self.by_path.reserve(more);
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    /// All paths, unordered.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.by_path.keys().map(Deref::deref)
    }

    /// All files, unordered.
    pub fn values(&self) -> impl Iterator<Item = &TrackedFile> {
        self.by_path.values().map(|file| &**file)
    }

    /// All files, unordered and mutable.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut TrackedFile> {
        self.by_path.values_mut().map(|file| &mut **file)
    }

    /// All paths and files, unordered.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &TrackedFile)> {
        self.by_path.iter().map(|(path, file)| (&**path, &**file))
    }

    /// All paths and files, unordered; the files are mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Path, &mut TrackedFile)> {
        self.by_path.iter_mut().map(|(path, file)| (&**path, &mut **file))
    }
}

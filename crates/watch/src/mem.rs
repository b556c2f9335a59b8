//! A file system in memory, with a watcher whose hints can be held back, lost and merged.
//!
//! Tests and the demo run on it. Each thing that a real disk does to a follower of files (torn lines, truncation,
//! replacement, lost events) is one call here, and nothing takes time.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use watchbill_core::time::Timestamp;

use crate::fs::{FileId, FileKind, FileStat, Fs, Name, NotRegular, ReadAt, Walk, WalkChoice, problem_of};
use crate::hints::{Hint, HintSet};

/// The file system. Clones are handles of the same one.
#[derive(Debug, Clone, Default)]
pub struct MemFs {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// Folders are entries too. A file's folders always exist.
    names: BTreeMap<PathBuf, Node>,
    last_ino: u64,
    now: i64,
    sink: Option<Arc<HintSet>>,
    paused: bool,
    pending: VecDeque<Hint>,
}

#[derive(Debug, Clone)]
struct Node {
    /// An open file lives on after it loses its name.
    body: Arc<Mutex<Body>>,
    denied: bool,
}

#[derive(Debug)]
struct Body {
    ino: u64,
    kind: FileKind,
    bytes: Vec<u8>,
    mtime: i64,
}

struct MemFile(Arc<Mutex<Body>>);

impl MemFs {
    /// An empty file system.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the clock for write times. Each write is at least a millisecond after the last.
    pub fn set_now(&self, now: Timestamp) {
        self.lock().now = now.as_millis();
    }

    /// Makes a folder and those above it.
    pub fn mkdir(&self, path: impl AsRef<Path>) {
        self.lock().ensure_dir(path.as_ref());
    }

    /// Appends to a file, creating it.
    pub fn append(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        self.change(path.as_ref(), |body| body.bytes.extend_from_slice(bytes));
    }

    /// Writes a file in place: new content, the same identity.
    pub fn write(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        self.change(path.as_ref(), |body| {
            body.bytes.clear();
            body.bytes.extend_from_slice(bytes);
        });
    }

    /// Cuts a file off, or fills it up with zeros.
    pub fn truncate(&self, path: impl AsRef<Path>, len: usize) {
        self.change(path.as_ref(), |body| body.bytes.resize(len, 0));
    }

    /// Replaces a file by another one, as a rename over it does: another identity.
    pub fn replace(&self, path: impl AsRef<Path>, bytes: &[u8]) {
        let mut state = self.lock();
        state.names.remove(path.as_ref());
        state.change(path.as_ref(), |body| body.bytes.extend_from_slice(bytes));
        state.hint(Hint::Tree(path.as_ref().to_owned()));
    }

    /// Renames a file, or a folder with its content. Identities stay.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) {
        let (from, to) = (from.as_ref(), to.as_ref());
        let mut state = self.lock();
        let moved = state.below(from);
        if let Some(parent) = to.parent() {
            state.ensure_dir(parent);
        }
        for path in moved {
            if let (Some(node), Ok(rest)) = (state.names.remove(&path), path.strip_prefix(from)) {
                // Joining an empty path would end the name with a slash.
                let path = if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) };
                state.names.insert(path, node);
            }
        }
        state.hint(Hint::Tree(from.to_owned()));
        state.hint(Hint::Tree(to.to_owned()));
    }

    /// Removes a file, or a folder with its content.
    pub fn remove(&self, path: impl AsRef<Path>) {
        let mut state = self.lock();
        for path in state.below(path.as_ref()) {
            state.names.remove(&path);
        }
        state.hint(Hint::Tree(path.as_ref().to_owned()));
    }

    /// Takes away, or gives back, the permission to read a file or a folder.
    pub fn deny(&self, path: impl AsRef<Path>, denied: bool) {
        let mut state = self.lock();
        if let Some(node) = state.names.get_mut(path.as_ref()) {
            node.denied = denied;
        }
        state.hint(Hint::File(path.as_ref().to_owned()));
    }

    /// Changes the kind of a path, for example to a pipe or a folder.
    pub fn set_kind(&self, path: impl AsRef<Path>, kind: FileKind) {
        self.change(path.as_ref(), |body| body.kind = kind);
    }

    /// The content of a file, for comparing.
    pub fn bytes(&self, path: impl AsRef<Path>) -> Option<Vec<u8>> {
        let state = self.lock();
        let node = state.names.get(path.as_ref())?;
        Some(lock(&node.body).bytes.clone())
    }

    /// From now on every change sends a hint into `hints`, as a watcher of the whole file system would.
    pub fn connect(&self, hints: Arc<HintSet>) {
        self.lock().sink = Some(hints);
    }

    /// Holds hints back until they are flushed, dropped or resumed.
    pub fn pause(&self) {
        self.lock().paused = true;
    }

    /// Sends all held hints, and sends new ones at once again.
    pub fn resume(&self) {
        let mut state = self.lock();
        state.paused = false;
        state.flush(usize::MAX);
    }

    /// Sends the `count` oldest held hints.
    pub fn flush(&self, count: usize) {
        self.lock().flush(count);
    }

    /// Loses the held hints. The changes themselves stay.
    pub fn drop_pending(&self) {
        self.lock().pending.clear();
    }

    /// Turns each held hint into one for the folder around it, as some systems do under load.
    pub fn merge_pending(&self) {
        for hint in &mut self.lock().pending {
            if let Hint::File(path) | Hint::Tree(path) = hint
                && let Some(parent) = path.parent()
            {
                *hint = Hint::Tree(parent.to_owned());
            }
        }
    }

    /// Loses the held hints and reports that, as a full queue of events does.
    pub fn overflow(&self) {
        let mut state = self.lock();
        state.pending.clear();
        state.send(Hint::Everything);
    }

    fn change(&self, path: &Path, edit: impl FnOnce(&mut Body)) {
        self.lock().change(path, edit);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    fn change(&mut self, path: &Path, edit: impl FnOnce(&mut Body)) {
        if let Some(parent) = path.parent() {
            self.ensure_dir(parent);
        }
        let now = self.tick();
        let body = self.node(path, FileKind::File);
        {
            let mut body = lock(&body);
            edit(&mut body);
            body.mtime = now;
        }
        self.hint(Hint::File(path.to_owned()));
    }

    fn ensure_dir(&mut self, path: &Path) {
        // A new folder gives one hint, for its top. A walk finds its content.
        let missing: Vec<PathBuf> = path
            .ancestors()
            .take_while(|dir| !dir.as_os_str().is_empty() && !self.names.contains_key(*dir))
            .map(Path::to_owned)
            .collect();
        for dir in &missing {
            self.node(dir, FileKind::Dir);
        }
        if let Some(top) = missing.into_iter().next_back() {
            self.hint(Hint::Tree(top));
        }
    }

    fn node(&mut self, path: &Path, kind: FileKind) -> Arc<Mutex<Body>> {
        if let Some(node) = self.names.get(path) {
            return Arc::clone(&node.body);
        }
        self.last_ino += 1;
        let body = Body { ino: self.last_ino, kind, bytes: Vec::new(), mtime: self.now };
        let body = Arc::new(Mutex::new(body));
        self.names.insert(path.to_owned(), Node { body: Arc::clone(&body), denied: false });
        body
    }

    fn tick(&mut self) -> i64 {
        self.now += 1;
        self.now
    }

    fn below(&self, path: &Path) -> Vec<PathBuf> {
        let from = path.to_owned();
        self.names
            .range(from..)
            .map(|(name, _)| name)
            .take_while(|name| name.starts_with(path))
            .cloned()
            .collect()
    }

    fn hint(&mut self, hint: Hint) {
        if self.paused {
            self.pending.push_back(hint);
        } else {
            self.send(hint);
        }
    }

    fn flush(&mut self, count: usize) {
        for _ in 0..count.min(self.pending.len()) {
            if let Some(hint) = self.pending.pop_front() {
                self.send(hint);
            }
        }
    }

    fn send(&self, hint: Hint) {
        if let Some(sink) = &self.sink {
            sink.insert(hint);
        }
    }

    /// The node of a path, unless a folder above it denies access.
    fn reach(&self, path: &Path) -> io::Result<&Node> {
        let closed = path.ancestors().skip(1).any(|dir| self.names.get(dir).is_some_and(|node| node.denied));
        if closed {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        self.names.get(path).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The same, for reading its content.
    fn readable(&self, path: &Path) -> io::Result<&Node> {
        let node = self.reach(path)?;
        if node.denied { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(node) }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        if lock(&self.readable(dir)?.body).kind != FileKind::Dir {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let mut names = Vec::new();
        for path in self.below(dir) {
            if path.parent() == Some(dir)
                && let (Some(name), Some(node)) = (path.file_name(), self.names.get(&path))
            {
                names.push(Name { name: name.to_owned(), kind: lock(&node.body).kind });
            }
        }
        Ok(names)
    }
}

impl Body {
    fn stat(&self) -> FileStat {
        FileStat {
            id: FileId { dev: 1, ino: self.ino },
            len: self.bytes.len() as u64,
            mtime: Timestamp::from_millis(self.mtime),
            kind: self.kind,
        }
    }
}

impl Fs for MemFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        let state = self.lock();
        let stat = lock(&state.reach(path)?.body).stat();
        Ok(stat)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        let state = self.lock();
        let body = Arc::clone(&state.readable(path)?.body);
        let kind = lock(&body).kind;
        if kind == FileKind::File { Ok(Box::new(MemFile(body))) } else { Err(NotRegular.into()) }
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.lock().list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        let mut walk = Walk::default();
        let mut waiting = Vec::new();
        match self.stat(top) {
            Ok(stat) if stat.kind == FileKind::Dir => {
                waiting.extend((want(top, FileKind::Dir) == WalkChoice::Visit).then(|| top.to_owned()));
            }
            Ok(stat) => walk.files.push((top.to_owned(), stat)),
            Err(error) => walk.problems.extend(problem_of(top, &error)),
        }
        while let Some(dir) = waiting.pop() {
            let names = self.list(&dir).unwrap_or_else(|error| {
                walk.problems.extend(problem_of(&dir, &error));
                Vec::new()
            });
            for Name { name, kind } in names {
                let path = dir.join(name);
                if want(&path, kind) == WalkChoice::Skip {
                    continue;
                }
                if kind == FileKind::Dir {
                    waiting.push(path);
                } else if let Ok(stat) = self.stat(&path) {
                    walk.files.push((path, stat));
                }
            }
        }
        walk
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.stat(path).map(|_| path.to_owned())
    }
}

impl ReadAt for MemFile {
    fn stat(&self) -> io::Result<FileStat> {
        Ok(lock(&self.0).stat())
    }

    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let body = lock(&self.0);
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(body.bytes.len());
        let got = buf.len().min(body.bytes.len() - from);
        buf[..got].copy_from_slice(&body.bytes[from..from + got]);
        Ok(got)
    }
}

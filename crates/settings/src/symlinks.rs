//! Resolves symbolic links, for the rules about folders that are not stored.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, fs};

use watchbill_core::history::Links;

/// How long a resolved path is kept: a link may be made, or lead elsewhere.
const FRESH: Duration = Duration::from_secs(10);
/// How many resolved paths are kept.
const PLACES: usize = 16 << 10;
/// On these systems a name has several spellings, and only the system knows the real one.
const SPELLS_FREELY: bool = cfg!(any(windows, target_os = "macos"));

/// The links of this disk. Each path is resolved once in a while, however often a caller asks.
#[derive(Default)]
pub struct DiskLinks(Mutex<LinkCache>);

/// Without the cache: two programs with the same settings show the same text.
impl fmt::Debug for DiskLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DiskLinks")
    }
}

#[derive(Default)]
struct LinkCache {
    since: Option<Instant>,
    places: HashMap<PathBuf, PathBuf>,
}

impl Links for DiskLinks {
    fn real(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        // Resolving a network share would contact another machine.
        if !path.is_absolute() || (cfg!(windows) && path.to_string_lossy().starts_with(['\\', '/'])) {
            return None;
        }
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.places.len() >= PLACES || seen.since.is_none_or(|since| since.elapsed() > FRESH) {
            *seen = LinkCache { since: Some(Instant::now()), places: HashMap::new() };
        }
        let mut real = PathBuf::new();
        for component in path.components() {
            match component {
                Component::ParentDir => drop(real.pop()),
                Component::CurDir => {}
                Component::Normal(name) => real = seen.place(real.join(name)),
                Component::Prefix(_) | Component::RootDir => real.push(component),
            }
        }
        real.into_os_string().into_string().ok()
    }
}

impl LinkCache {
    fn place(&mut self, path: PathBuf) -> PathBuf {
        if let Some(real) = self.places.get(&path) {
            return real.clone();
        }
        let is_link = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_symlink());
        let mut real = path.clone();
        if is_link || SPELLS_FREELY {
            // A link to a missing file still leads to that path.
            let goal = || Some(path.parent()?.join(fs::read_link(&path).ok()?));
            real = fs::canonicalize(&path).ok().or_else(goal).unwrap_or(real);
        }
        self.places.insert(path, real.clone());
        real
    }
}

//! A search in a running engine: whether all is stored is said by whoever keeps the history, and is looked for where nobody
//! here does.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use watchbill_engine::clock::SystemClock;
use watchbill_engine::engine::World;
use watchbill_engine::handle::{Handle, real_world, start_in};
use watchbill_protocol::search::{IndexState, SearchAnswer, SearchQuery};
use watchbill_watch::fs::{FileKind, FileStat, Fs, Name, ReadAt, Walk, Want};

use crate::thread::{line, settings, texts};

/// The disk, with a count of the walks through folders by threads that are not the engine's own.
struct CountedFs(Arc<dyn Fs>, Arc<AtomicUsize>);

impl Fs for CountedFs {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.0.stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        self.0.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.0.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
        let is_own = std::thread::current().name().is_some_and(|name| name.starts_with("watchbill-"));
        self.1.fetch_add(usize::from(!is_own), Ordering::SeqCst);
        self.0.walk(top, want)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.0.canonical(path)
    }
}

/// A running engine, and how often whoever asks it has walked through folders.
fn running(folder: &Path) -> (Handle, Arc<AtomicUsize>) {
    let World { fs, processes } = real_world();
    let walks = Arc::<AtomicUsize>::default();
    let world = World { fs: Arc::new(CountedFs(fs, Arc::clone(&walks))), processes };
    (start_in(settings(folder), world, Arc::new(SystemClock), None, Arc::default()).unwrap(), walks)
}

fn asked(engine: &Handle) -> SearchAnswer {
    engine.search(&SearchQuery { query: "there".to_owned(), ..SearchQuery::default() }).unwrap()
}

#[test]
fn whether_all_is_stored_is_known_without_a_look_by_whoever_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("s.jsonl"), line("1", "was there")).unwrap();
    let (engine, walks) = running(folder.path());
    assert_eq!(texts(&folder.path().join("data"), 1), ["was there"]);
    let until = Instant::now() + Duration::from_secs(60);
    while asked(&engine).index != IndexState::Current {
        assert!(Instant::now() < until, "all is stored, and nobody says so");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!((asked(&engine).hits.len(), walks.load(Ordering::SeqCst)), (1, 0));

    let (other, walks) = running(folder.path());
    assert_eq!((asked(&other).hits.len(), asked(&other).index), (1, IndexState::Current));
    assert!(walks.load(Ordering::SeqCst) > 0, "it does not keep the history, and has to look");
    engine.stop();
    other.stop();
}

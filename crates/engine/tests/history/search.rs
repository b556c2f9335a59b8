//! A search in a running engine. The holder of the store knows whether all is stored; another engine has to walk the
//! folders.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use watchbill_engine::clock::SystemClock;
use watchbill_engine::engine::Sources;
use watchbill_engine::handle::{Handle, real_sources, start_in};
use watchbill_protocol::search::{IndexState, SearchAnswer, SearchQuery};

use crate::counting_fs::CountingFs;
use crate::thread::{line, settings, texts};
use crate::wait::until;

/// A running engine, and a count of folder walks by the threads that ask it (not its own threads).
fn running(folder: &Path) -> (Handle, Arc<AtomicUsize>) {
    let Sources { fs, processes } = real_sources();
    let walks = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&walks);
    let fs = CountingFs::new(fs).on_walk(move |_| {
        let is_own = std::thread::current().name().is_some_and(|name| name.starts_with("watchbill-"));
        counted.fetch_add(usize::from(!is_own), Ordering::SeqCst);
    });
    let world = Sources { fs: Arc::new(fs), processes };
    (start_in(settings(folder), world, Arc::new(SystemClock), None, Arc::default()).unwrap(), walks)
}

fn asked(engine: &Handle) -> SearchAnswer {
    engine
        .search(&SearchQuery { query: "there".to_owned(), ..SearchQuery::default() }, Arc::new(|| true))
        .unwrap()
}

#[test]
fn the_holder_knows_without_a_folder_walk_whether_all_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("s.jsonl"), line("1", "was there")).unwrap();
    let (engine, walks) = running(folder.path());
    assert_eq!(texts(&folder.path().join("data"), 1), ["was there"]);
    until("the progress to say that all is stored", || asked(&engine).index == IndexState::Current);
    assert_eq!((asked(&engine).hits.len(), walks.load(Ordering::SeqCst)), (1, 0));

    let (other, walks) = running(folder.path());
    assert_eq!((asked(&other).hits.len(), asked(&other).index), (1, IndexState::Current));
    assert!(walks.load(Ordering::SeqCst) > 0, "it does not keep the history, and has to look");
    engine.stop();
    other.stop();
}

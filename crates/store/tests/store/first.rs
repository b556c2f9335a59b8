//! The usual course: a store is made, written, closed, opened again and searched.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use watchbill_store::search::Query;
use watchbill_store::{Access, DatabaseState, OpenMode, Store, StoreError};

use crate::rig::{Rig, prompt, session};

fn found(store: &Store, text: &str) -> Vec<u64> {
    store.search(&Query::new(text, 10)).unwrap().hits.iter().map(|hit| hit.offset).collect()
}

#[test]
fn stored_texts_are_found_after_closing_and_opening() {
    let rig = Rig::new();
    let mut store = rig.open();
    assert_eq!((store.access(), store.origin()), (Access::Writer, &DatabaseState::Fresh));
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    for (at, text) in [(0, "call parseLine twice"), (100, "then parse_line"), (200, "日本語のテスト")]
    {
        assert!(step.add_text(file, key, &prompt(at, text)).unwrap());
        assert!(!step.add_text(file, key, &prompt(at, text)).unwrap(), "the same place again");
    }
    step.commit().unwrap();
    let bytes = std::fs::read(store.path()).unwrap();
    assert_eq!(bytes[16..18], [0x20, 0], "pages of eight kilobytes, as the file's head says");
    drop(store);

    let mut store = rig.open();
    assert_eq!(store.origin(), &DatabaseState::Current);
    assert_eq!(found(&store, "parse_line"), [100, 0]);
    assert_eq!(found(&store, "parseLine"), [0, 100], "spelled so before the same name spelled otherwise");
    assert_eq!(found(&store, "本語"), [200]);
    assert_eq!(found(&store, "語の本"), Vec::<u64>::new());
    assert_eq!(store.text_counts().unwrap(), (3, 0));
    assert!(store.index_is_sound().unwrap());
    let mut step = store.step().unwrap();
    step.reset_file(file).unwrap();
    step.commit().unwrap();
    assert_eq!(found(&store, "parse_line"), Vec::<u64>::new());
    assert!(store.index_is_sound().unwrap());
}

#[test]
fn pages_of_hits_for_a_name_in_several_spellings_are_one_list() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    for at in 0..300 {
        let name = if at % 3 == 0 { "parseLine" } else { "parse_line" };
        step.add_text(file, key, &prompt(at, &format!("{name} {}", "again ".repeat(at as usize % 7))))
            .unwrap();
    }
    step.commit().unwrap();
    let all: Vec<u64> =
        store.search(&Query::new("parseLine", 1_000)).unwrap().hits.iter().map(|hit| hit.offset).collect();
    assert_eq!(all.len(), 300);
    assert!(all[..100].iter().all(|at| at % 3 == 0), "those that are spelled so come first");
    let mut paged = Vec::new();
    loop {
        let skip = paged.len() as u32;
        let answer = store.search(&Query { skip, ..Query::new("parseLine", 30) }).unwrap();
        paged.extend(answer.hits.iter().map(|hit| hit.offset));
        if !answer.more {
            break;
        }
    }
    assert_eq!(paged, all);
}

#[test]
fn a_search_beside_a_removal_does_not_fail() {
    let rig = Rig::new();
    let mut store = rig.open();
    let reader = store.reader().unwrap();
    let done = &AtomicBool::new(false);
    let count = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let searches = scope.spawn(move || {
            while !done.load(Ordering::Relaxed) {
                reader.search(&Query::new("parseLine", 10)).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        // On a busy machine the searches begin late.
        for _ in (0..).take_while(|n| *n < 300 || count.load(Ordering::Relaxed) < 20) {
            let mut step = store.step().unwrap();
            let (key, file) = session(&mut step, "a");
            step.add_text(file, key, &prompt(0, "call parseLine")).unwrap();
            step.commit().unwrap();
            let mut step = store.step().unwrap();
            step.remove_file(file).unwrap();
            step.commit().unwrap();
            if searches.is_finished() {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn text_without_spaces_is_found_newest_first_at_any_place_in_a_sentence() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    for at in 0..30 {
        step.add_text(file, key, &prompt(at, &format!("検索 {at}"))).unwrap();
    }
    // Two years later, with texts of the same length.
    let later = 63_000_000_000;
    for at in later..later + 30 {
        step.add_text(file, key, &prompt(at, "検索が遅い")).unwrap();
    }
    step.commit().unwrap();
    let hits = found(&store, "検索");
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|at| *at >= later), "{hits:?}");
}

#[test]
fn a_step_that_is_not_committed_leaves_nothing() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    step.add_text(file, key, &prompt(0, "gone")).unwrap();
    drop(step);
    assert_eq!(found(&store, "gone"), Vec::<u64>::new());
    assert!(store.file("/home/dev/.claude/projects/-home-dev-app/a.jsonl").unwrap().is_none());
}

#[test]
fn in_a_bulk_insert_a_dropped_step_loses_no_other_step() {
    let rig = Rig::new();
    let mut store = rig.open();
    store.begin_bulk_insert().unwrap();
    let mut keys = None;
    for (at, text, committed) in [
        (0, "one", true),
        (100, "gone", false),
        (200, "two", true),
        (300, "gone", false),
        (400, "three", true),
    ] {
        let mut step = store.step().unwrap();
        let (key, file) = *keys.get_or_insert_with(|| session(&mut step, "a"));
        step.add_text(file, key, &prompt(at, text)).unwrap();
        if committed {
            step.commit().unwrap();
        }
    }
    store.end_bulk_insert().unwrap();
    for (text, at) in [("one", 0), ("two", 200), ("three", 400)] {
        assert_eq!(found(&store, text), [at]);
    }
    assert_eq!(found(&store, "gone"), Vec::<u64>::new());
    assert!(store.index_is_sound().unwrap());
}

#[test]
fn in_a_bulk_insert_texts_of_a_second_writer_are_indexed_too() {
    let rig = Rig::new();
    let mut first = rig.open();
    first.begin_bulk_insert().unwrap();
    add(&mut first, 0, "one");
    let mut second = first.second_writer().unwrap();
    add(&mut second, 100, "two");
    first.adopt_second_writer(&second);
    drop(second);
    add(&mut first, 200, "three");
    first.end_bulk_insert().unwrap();
    for (text, at) in [("one", 0), ("two", 100), ("three", 200)] {
        assert_eq!(found(&first, text), [at]);
    }
    assert!(first.index_is_sound().unwrap());
}

/// Segments of the index, by the numbers of its pages: a page's number begins with the number of its segment.
fn pieces(store: &Store) -> i64 {
    let sql = rusqlite::Connection::open(store.path()).unwrap();
    let ask = "SELECT count(DISTINCT id >> 37) FROM texts_fts_data WHERE id >> 37 > 0";
    sql.query_row(ask, [], |row| row.get(0)).unwrap()
}

fn add(store: &mut Store, at: u64, text: &str) {
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    step.add_text(file, key, &prompt(at, text)).unwrap();
    step.commit().unwrap();
}

/// A store with 189 texts that were stored beside other work, not tidied.
fn stored_beside(rig: &Rig) -> Store {
    let mut store = rig.open();
    store.merge_in_small_parts().unwrap();
    let mut most = 0;
    for at in 0..189 {
        // Several pages each, because segments that fit into one page are merged at will.
        let words: String = (0..800).map(|word| format!(" word{at}of{word}")).collect();
        add(&mut store, at, &format!("beside{at} others{words}"));
        most = most.max(pieces(&store));
    }
    assert!((16..=32).contains(&most), "two levels of at most sixteen: {most}");
    assert!(pieces(&store) > 16, "too few to be tidied: {}", pieces(&store));
    store
}

#[test]
fn storing_beside_other_work_merges_rarely_and_is_tidied_at_the_end() {
    let rig = Rig::new();
    let mut store = stored_beside(&rig);
    assert!(!store.is_tidy().unwrap());
    while store.tidy_index(100).unwrap() {}
    assert!(store.is_tidy().unwrap());
    assert!(pieces(&store) <= 2 * 3, "of each level no more than SQLite leaves: {}", pieces(&store));
    assert_eq!(found(&store, "beside77"), [77]);
    assert_eq!(found(&store, "others").len(), 10);
    assert!(store.index_is_sound().unwrap());
}

#[test]
fn after_a_kill_later_steps_merge_the_segments_that_were_left() {
    let rig = Rig::new();
    drop(stored_beside(&rig));
    let mut store = rig.open();
    for at in 300..364 {
        add(&mut store, at, "after");
    }
    assert!(!store.is_tidy().unwrap(), "no tidying was requested");
    assert!(pieces(&store) <= 3 * 3, "of each level no more than SQLite leaves: {}", pieces(&store));
    assert_eq!(found(&store, "beside77"), [77]);
}

#[test]
fn the_second_process_only_reads() {
    let rig = Rig::new();
    assert!(matches!(Store::open(rig.folder.path(), OpenMode::Read), Err(StoreError::Absent { .. })));
    let mut first = rig.open();
    let mut second = rig.beside();
    assert_eq!(second.access(), Access::Reader { held_by: Some(std::process::id()) });
    assert!(matches!(second.step(), Err(StoreError::NotWriter { .. })));
    let mut step = first.step().unwrap();
    let (key, file) = session(&mut step, "a");
    step.add_text(file, key, &prompt(0, "seen by both")).unwrap();
    step.commit().unwrap();
    assert_eq!(found(&second, "seen"), [0]);
    assert_eq!(found(&first.reader().unwrap(), "seen"), [0]);
    drop(first);
    assert_eq!(rig.open().access(), Access::Writer);
}

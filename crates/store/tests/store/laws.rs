//! Texts may arrive in any steps, with any resets and restarts: the stored rows are the same.

use proptest::prelude::*;
use watchbill_store::search::Query;
use watchbill_store::tables::files::FileCursor;
use watchbill_store::{FileKey, SessionKey, Store};

use crate::rig::{Rig, prompt, session};

#[derive(Debug, Clone)]
enum Act {
    /// Appends so many texts to a file, in one step.
    Append(usize, u64),
    /// The same in a step that is dropped.
    GiveUp(usize, u64),
    /// The file was rewritten: reads it again from the beginning to its old length.
    Rewrite(usize),
    /// The file was rewritten, and nothing is read again yet.
    Reset(usize),
    /// Closes and opens the store.
    Restart,
    /// Begins or ends a bulk insert.
    Many(bool),
    /// The mode for storing much beside other work.
    Beside,
    /// Merges segments of the index.
    Tidy,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => (0..3usize, 1..8u64).prop_map(|(file, n)| Act::Append(file, n)),
        1 => (0..3usize, 1..8u64).prop_map(|(file, n)| Act::GiveUp(file, n)),
        1 => (0..3usize).prop_map(Act::Rewrite),
        1 => (0..3usize).prop_map(Act::Reset),
        1 => Just(Act::Restart),
        1 => any::<bool>().prop_map(Act::Many),
        1 => Just(Act::Beside),
        1 => Just(Act::Tidy),
    ]
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// The text at a place: plain words, names and characters without spaces, some of them in many texts.
fn text(file: usize, n: u64) -> String {
    format!(
        "text {n} of {} with commonWord and rare{file}x{n}, 語{}文",
        NAMES[file],
        ["本", "字"][n as usize % 2]
    )
}

fn append(store: &mut Store, file: usize, from: u64, to: u64, commit: bool) {
    let mut step = store.step().unwrap();
    let (key, number) = session(&mut step, NAMES[file]);
    for n in from..to {
        step.add_text(number, key, &prompt(n * 10, &text(file, n))).unwrap();
    }
    step.set_cursor(number, &FileCursor { offset: to * 10, ..FileCursor::default() }).unwrap();
    if commit {
        step.commit().unwrap();
    }
}

fn reset(store: &mut Store, file: usize) {
    let mut step = store.step().unwrap();
    let (_, number) = session(&mut step, NAMES[file]);
    step.reset_file(number).unwrap();
    step.commit().unwrap();
}

/// All stored texts, without the numbers of the store.
fn stored(store: &Store) -> Vec<String> {
    let mut lines = Vec::new();
    let mut files: Vec<(String, FileKey, SessionKey, u64)> = Vec::new();
    store.files(&mut |key, row| files.push((row.path, key, row.session, row.cursor.offset))).unwrap();
    files.sort();
    for (path, key, _, offset) in files {
        lines.push(format!("{path} {offset}"));
        lines.extend(store.texts(key, 0, 1_000).unwrap().iter().map(|text| format!("{text:?}")));
    }
    lines.push(format!("{:?}", store.text_counts().unwrap()));
    lines
}

/// The hits of a search, without order.
fn found(store: &Store, text: &str) -> Vec<(String, u64)> {
    let answer = store.search(&Query::new(text, 1_000)).unwrap();
    let mut hits: Vec<_> = answer.hits.into_iter().map(|hit| (hit.session_id, hit.offset)).collect();
    hits.sort();
    hits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn incremental_equals_full(acts in prop::collection::vec(act(), 1..20)) {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut lengths = [0; 3];
        for act in acts {
            match act {
                Act::Append(file, n) => {
                    // Some of them again: reading a record twice stores it once.
                    append(&mut store, file, lengths[file].max(2) - 2, lengths[file] + n, true);
                    lengths[file] += n;
                }
                Act::GiveUp(file, n) => append(&mut store, file, lengths[file], lengths[file] + n, false),
                Act::Rewrite(file) => {
                    reset(&mut store, file);
                    append(&mut store, file, 0, lengths[file], true);
                }
                Act::Reset(file) => {
                    reset(&mut store, file);
                    lengths[file] = 0;
                }
                Act::Restart => {
                    drop(store);
                    store = rig.open();
                }
                Act::Many(true) => store.begin_bulk_insert().unwrap(),
                Act::Many(false) => store.end_bulk_insert().unwrap(),
                Act::Beside => store.merge_in_small_parts().unwrap(),
                Act::Tidy => drop(store.tidy_index(100).unwrap()),
            }
        }
        // During a bulk insert the newest texts are not found yet.
        store.end_bulk_insert().unwrap();
        let other = Rig::new();
        let mut fresh = other.open();
        // A file that was only in dropped steps is not stored. A file that was reset is stored, with its cursor at
        // the beginning.
        let mut known = Vec::new();
        store.files(&mut |_, row| known.push(row.path)).unwrap();
        for (file, length) in lengths.into_iter().enumerate() {
            if known.iter().any(|path| path.ends_with(&format!("/{}.jsonl", NAMES[file]))) {
                append(&mut fresh, file, 0, length, true);
            }
        }
        prop_assert_eq!(stored(&store), stored(&fresh));
        prop_assert!(store.index_is_sound().unwrap());
        for words in ["common", "commonWord", "rare0x1", "\"of b\"", "本文", "語字", "text 3", "comm*"] {
            prop_assert_eq!(found(&store, words), found(&fresh, words), "{}", words);
        }
        store.rebuild_index().unwrap();
        prop_assert_eq!(found(&store, "本文"), found(&fresh, "本文"));
    }

    #[test]
    fn no_typed_text_is_a_syntax_error(typed in "[ -~\u{0}日本\"*^:(){}+-]{0,40}", typing in any::<bool>()) {
        let rig = Rig::new();
        let mut store = rig.open();
        append(&mut store, 0, 0, 3, true);
        let query = Query { typing, ..Query::new(&typed, 5) };
        prop_assert!(store.search(&query).is_ok());
    }
}

#[test]
fn no_text_is_found_by_its_filter_tags() {
    let rig = Rig::new();
    let mut store = rig.open();
    append(&mut store, 0, 0, 1, true);
    for typed in ["commonWord", "te\u{301}xt"] {
        assert_eq!(store.search(&Query::new(typed, 5)).unwrap().hits.len(), 1, "{typed}");
    }
    // The session is the first, and the text is a prompt. The index ignores an accent after a letter.
    for typed in [
        "s1",
        "rprompt",
        "RProm*",
        "\"s1 rprompt\"",
        "s\u{301}1",
        "r\u{30c}prompt",
        "r\u{30c}prom*",
        "s\u{301}1-rprompt",
    ] {
        assert_eq!(store.search(&Query::new(typed, 5)).unwrap().hits, [], "{typed}");
    }
}

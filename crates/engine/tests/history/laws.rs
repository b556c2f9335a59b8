//! Incremental equals full, row for row, after any sequence of appends, truncations and restarts.

use std::sync::LazyLock;

use proptest::prelude::*;

use crate::index_rig::{IndexRig, recordings};

static ALL: LazyLock<Vec<(String, String)>> = LazyLock::new(recordings);

#[derive(Debug, Clone)]
enum Op {
    /// Appends that many bytes; the cut may fall in the middle of a line or of a character.
    Append(usize),
    /// Rewrites the file, shorter by that many bytes, or empty.
    Truncate(usize),
    /// Another transcript replaces the file, up to the same length.
    Replace(prop::sample::Index),
    Restart,
    Index,
    /// A step that is lost before its commit.
    Lost,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        5 => (1usize..20_000).prop_map(Op::Append),
        1 => prop_oneof![Just(usize::MAX), 1usize..20_000].prop_map(Op::Truncate),
        1 => any::<prop::sample::Index>().prop_map(Op::Replace),
        2 => Just(Op::Restart),
        5 => Just(Op::Index),
        1 => Just(Op::Lost),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn incremental_equals_full(
        which in any::<prop::sample::Index>(),
        ops in proptest::collection::vec(op(), 1..24),
    ) {
        let (name, mut text) = which.get(&ALL[..]).clone();
        let name = name.as_str();
        let path = IndexRig::path(name);
        let mut rig = IndexRig::new();
        let mut at = 0;
        for op in ops {
            match op {
                Op::Append(more) => {
                    let end = (at + more).min(text.len());
                    rig.fs.append(&path, &text.as_bytes()[at..end]);
                    at = end;
                }
                Op::Truncate(by) if at > 0 => {
                    at -= by.min(at);
                    rig.fs.truncate(&path, at);
                }
                Op::Replace(other) if at > 0 => {
                    text.clone_from(&other.get(&ALL[..]).1);
                    at = at.min(text.len());
                    rig.fs.remove(&path);
                    rig.fs.append(&path, &text.as_bytes()[..at]);
                }
                Op::Restart => rig.restart(),
                Op::Index if at > 0 => { rig.index(name); }
                Op::Lost if at > 0 => rig.index_uncommitted(name),
                _ => {}
            }
        }
        rig.fs.append(&path, &text.as_bytes()[at..]);
        rig.index(name);
        let mut fresh = rig.emptied();
        fresh.index(name);
        prop_assert_eq!(rig.rows(), fresh.rows());
        prop_assert!(fresh.rows().len() > 5);
        prop_assert!(rig.index_is_sound() && fresh.index_is_sound());
    }
}

#[test]
fn small_budgets_give_the_same_rows() {
    for (name, text) in ALL.iter().take(6) {
        let mut rig = IndexRig::new();
        rig.append(name, text);
        let mut steps = 0;
        while rig.index_some(name, 5_000).unwrap().more {
            steps += 1;
        }
        assert!(steps > 0 || text.len() < 5_000);
        let mut fresh = rig.emptied();
        fresh.index(name);
        assert_eq!(rig.rows(), fresh.rows(), "{name}");
    }
}

#[test]
fn history_that_is_appended_again_is_stored_once_also_after_a_restart() {
    let (name, text) = &ALL[0];
    let mut rig = IndexRig::new();
    rig.append(name, text);
    rig.index(name);
    // Only the cursor differs.
    let told = |rig: &IndexRig| {
        let mut rows = rig.rows();
        rows.retain(|row| !row.contains("FileCursor"));
        rows
    };
    let once = told(&rig);
    rig.restart();
    rig.append(name, text);
    let indexed = rig.index(name);
    assert_eq!(indexed.texts, 0);
    assert_eq!(told(&rig), once);
}

#[test]
fn only_the_appended_bytes_are_read() {
    let (name, text) = ALL.iter().max_by_key(|(_, text)| text.len()).unwrap();
    let mut rig = IndexRig::new();
    rig.append(name, text);
    rig.index(name);
    assert_eq!(rig.index(name).bytes, 0, "nothing has changed");
    rig.restart();
    assert_eq!(rig.index(name).bytes, 0, "nor over a restart");
    let line =
        r#"{"type":"user","uuid":"new","timestamp":"2026-11-21T15:00:00.000Z","message":{"content":"more"}}"#;
    rig.append(name, &format!("{line}\n"));
    let indexed = rig.index(name);
    assert_eq!((indexed.bytes, indexed.records, indexed.texts), (line.len() as u64 + 1, 1, 1));
}

#[test]
fn many_small_appends_with_restarts_keep_every_id() {
    let mut rig = IndexRig::new();
    let line = |n: u32| {
        format!(
            r#"{{"type":"user","uuid":"u{n}","timestamp":"2026-11-21T15:00:00.000Z","message":{{"content":"words {n}"}}}}"#
        ) + "\n"
    };
    // 230 ids fill a part. Restarts come in the middle of a part, at a full one, and after several.
    let mut known = 0;
    for length in [1, 114, 115, 7, 500, 183] {
        if length < 200 {
            for n in known..known + length {
                rig.append("s.jsonl", &line(n));
                assert_eq!(rig.index("s.jsonl").texts, 1);
            }
        } else {
            rig.append("s.jsonl", &(known..known + length).map(line).collect::<String>());
            assert_eq!(rig.index("s.jsonl").texts, u64::from(length));
        }
        known += length;
        rig.restart();
    }
    rig.append("s.jsonl", &(0..known).map(line).collect::<String>());
    assert_eq!(rig.index("s.jsonl").texts, 0, "each of them is known");
}

//! Folds over a restart: later records give the same result as without the restart.

#![allow(clippy::disallowed_methods, reason = "the core reads no files, its tests do")]
#![allow(clippy::expect_used, reason = "a broken fixture should fail loudly")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;
use watchbill_agents::claude::records::parse_line;
use watchbill_core::ids::SessionId;
use watchbill_core::session::snapshot::SnapshotError;
use watchbill_core::session::state::Timeouts;
use watchbill_core::session::{LazyFold, SessionFold, SubagentFold};

use crate::properties::a_transcript;
use crate::script::*;

/// All facts of a fold, except the order within its tables and the deadlines that the clock fired.
fn all_of(fold: &SessionFold) -> String {
    let ledger = fold.ledger();
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {}",
        fold.reading(),
        fold.deadline(),
        fold.facts(),
        fold.pending_tools(),
        fold.lineage(),
        fold.lineage_revision(),
        fold.clock(),
        ledger.total(),
        ledger.len(),
        fold.record_count(),
    )
}

/// A fold whose pieces are stored apart, as in the engine.
struct StoredPieces {
    fold: SessionFold,
    pieces: Vec<u8>,
}

impl StoredPieces {
    fn new(id: &SessionId) -> Self {
        let mut fold = SessionFold::new(id.clone(), Timeouts::default());
        fold.note_new();
        Self { fold, pieces: Vec::new() }
    }

    /// The program ends and starts again. If `lazily`, the pieces stay aside until they are needed.
    fn restart(&mut self, lazily: bool) {
        self.pieces.extend(self.fold.take_new().unwrap_or_default());
        let id = self.fold.lineage().session.clone();
        let mut fold = SessionFold::restore(&self.fold.snapshot(), &id, Timeouts::default()).expect("ours");
        assert_eq!(all_of(&fold), all_of(&self.fold), "the head holds everything except the ids of records");
        if !lazily {
            fold.take_up(&self.pieces).expect("ours");
        }
        fold.note_new();
        self.fold = fold;
    }

    fn take_up(&mut self) {
        if self.fold.is_aside() {
            self.fold.take_up(&self.pieces).expect("ours");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_restart_anywhere_changes_nothing(
        records in a_transcript(),
        restarts in prop::collection::vec((0usize..31, any::<bool>()), 0..6),
        again_from in 0usize..31,
    ) {
        let mut kept = StoredPieces::new(&SessionId::new(SESSION));
        let mut plain = Play::new();
        let mut out = Vec::new();
        for (n, record) in records.iter().enumerate() {
            for (_, lazily) in restarts.iter().filter(|(place, _)| *place == n) {
                kept.restart(*lazily);
            }
            kept.take_up();
            kept.fold.apply(record, &mut out);
            plain.apply(record);
            prop_assert_eq!(all_of(&kept.fold), all_of(&plain.fold));
        }
        prop_assert_eq!(&out, &plain.out, "the same effects on the way");
        // Copied history is still known, and the clock fires the same deadlines.
        kept.restart(true);
        kept.take_up();
        for record in records.iter().skip(again_from) {
            kept.fold.apply(record, &mut out);
            plain.apply(record);
        }
        for secs in [4.0, 62.0, 700.0, 200_000.0] {
            kept.fold.advance(at(secs), &mut out);
            plain.advance(secs);
            prop_assert_eq!(all_of(&kept.fold), all_of(&plain.fold));
        }
        prop_assert_eq!(out, plain.out);
    }

    /// A resting fold gives the same results as a decoded one, for any calls in any order.
    #[test]
    fn a_resting_fold_equals_a_decoded_one(
        records in a_transcript(),
        asked in prop::collection::vec((0u8..8, 0u32..400), 0..12),
    ) {
        let mut kept = StoredPieces::new(&SessionId::new(SESSION));
        for record in &records {
            kept.fold.apply(record, &mut Vec::new());
        }
        let (id, bytes) = (SessionId::new(SESSION), kept.fold.snapshot());
        let mut plain = SessionFold::restore(&bytes, &id, Timeouts::default()).expect("ours");
        let mut rests = LazyFold::restore(&bytes, &id, Timeouts::default()).expect("ours");
        for (what, secs) in asked {
            let (when, mut out) = (at(f64::from(secs)), Vec::new());
            match what {
                0 => (plain.note_new(), rests.note_new()),
                1 => (plain.subagent_active(when, &mut out), rests.subagent_active(when, &mut out)),
                2 => (plain.correct_clock(when), rests.turn_back(when)),
                3 => {
                    let idle = watchbill_core::time::Millis::from_secs(i64::from(secs));
                    let timeouts = Timeouts { idle, ..Timeouts::default() };
                    (plain.set_timeouts(timeouts), rests.set_timeouts(timeouts))
                }
                4 => (plain.advance(when, &mut out), rests.advance(when, &mut out)),
                5 => (drop(all_of(&plain)), drop(all_of(&rests))),
                6 => ((), rests.rest()),
                _ => ((), ()),
            };
            prop_assert_eq!(plain.lineage(), rests.lineage());
            prop_assert_eq!(plain.lineage_revision(), rests.lineage_revision());
            prop_assert_eq!((plain.cwd(), plain.ledger().len()), (rests.cwd(), rests.requests()));
            prop_assert_eq!(plain.facts().created_at, rests.created_at());
            prop_assert_eq!(plain.facts().last_activity_at, rests.last_activity_at());
        }
        prop_assert_eq!(all_of(&plain), all_of(&rests));
        if plain.is_aside() {
            plain.take_up(&kept.fold.take_new().unwrap_or_default()).expect("ours");
        }
        prop_assert_eq!(plain.snapshot(), rests.snapshot());
    }

    #[test]
    fn damage_is_refused_without_a_panic(
        records in a_transcript(),
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
        cut in any::<prop::sample::Index>(),
    ) {
        let mut kept = StoredPieces::new(&SessionId::new(SESSION));
        for record in &records {
            kept.fold.apply(record, &mut Vec::new());
        }
        let pieces = kept.fold.take_new().unwrap_or_default();
        let head = kept.fold.snapshot();
        let id = SessionId::new(SESSION);
        for (bytes, is_head) in [(head.clone(), true), (pieces, false)] {
            if bytes.is_empty() {
                continue;
            }
            let mut flipped = bytes.clone();
            flipped[at.index(bytes.len())] ^= 1 << bit;
            for broken in [flipped, bytes[..cut.index(bytes.len())].to_vec()] {
                let refused = if is_head {
                    SessionFold::restore(&broken, &id, Timeouts::default()).err()
                } else {
                    let mut fold = SessionFold::restore(&head, &id, Timeouts::default()).expect("ours");
                    fold.take_up(&broken).err()
                };
                prop_assert!(refused.is_some(), "damage was not noticed");
            }
        }
    }

    #[test]
    fn arbitrary_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let id = SessionId::new(SESSION);
        prop_assert!(SessionFold::restore(&bytes, &id, Timeouts::default()).is_err());
        prop_assert!(SubagentFold::restore(&bytes, "a").is_err());
    }
}

/// Every transcript of every recording, whole.
fn transcripts() -> Vec<(String, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings");
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("the recordings") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a recording");
        for op in
            text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("an operation"))
        {
            let path = op["path"].as_str().unwrap_or_default();
            if op["op"] == "append" && path.starts_with("projects/") && path.ends_with(".jsonl") {
                let file = files.entry(format!("{name} {path}")).or_default();
                file.push_str(op["text"].as_str().expect("lines"));
            }
        }
    }
    files.into_iter().collect()
}

#[test]
fn recorded_transcripts_survive_a_restart_after_any_line() {
    let mut restarts = 0;
    for (name, text) in transcripts() {
        let stem = name.rsplit('/').next().expect("a file").trim_end_matches(".jsonl").to_owned();
        if name.contains("/subagents/") {
            let mut plain = SubagentFold::new(&stem);
            let (mut kept, mut pieces) = (SubagentFold::new(&stem), Vec::new());
            kept.note_new();
            for line in text.lines() {
                pieces.extend(kept.take_new().unwrap_or_default());
                kept = SubagentFold::restore(&kept.snapshot(), &stem).expect("ours");
                kept.take_up(&pieces).expect("ours");
                kept.note_new();
                parse_line(line.as_bytes(), &mut |record, _| {
                    kept.apply(&record);
                    plain.apply(&record);
                });
                assert_eq!(kept.snapshot(), plain.snapshot(), "{name}");
                restarts += 1;
            }
            continue;
        }
        let id = SessionId::new(&stem);
        let mut plain = SessionFold::new(id.clone(), Timeouts::default());
        let mut kept = StoredPieces::new(&id);
        let (mut told, mut kept_told) = (Vec::new(), Vec::new());
        for line in text.lines() {
            kept.restart(restarts % 2 == 0);
            kept.take_up();
            parse_line(line.as_bytes(), &mut |record, _| {
                kept.fold.apply(&record, &mut kept_told);
                plain.apply(&record, &mut told);
            });
            assert_eq!(kept.fold.snapshot(), plain.snapshot(), "{name}");
            restarts += 1;
        }
        assert_eq!(all_of(&kept.fold), all_of(&plain), "{name}");
        assert_eq!(kept_told, told, "{name}");
    }
    assert!(restarts > 500, "only {restarts} lines were found in the recordings");
}

#[test]
fn a_snapshot_belongs_to_one_session_and_one_version() {
    let play = Play::of([prompt(0.0, "go")]);
    let bytes = play.fold.snapshot();
    let restore = |bytes: &[u8], id: &str| {
        let id = SessionId::new(id);
        let rests = LazyFold::restore(bytes, &id, Timeouts::default()).map(drop);
        assert_eq!(rests, SessionFold::restore(bytes, &id, Timeouts::default()).map(drop));
        rests
    };
    assert!(restore(&bytes, SESSION).is_ok());
    assert_eq!(restore(&bytes, "another").err(), Some(SnapshotError::Damaged));
    let mut other = bytes;
    other[4] ^= 1;
    assert!(matches!(restore(&other, SESSION), Err(SnapshotError::OtherVersion { .. })));
    assert_eq!(restore(&[], SESSION).err(), Some(SnapshotError::Damaged));
}

#[test]
fn changed_timeouts_count_at_once() {
    let play = Play::of([prompt(0.0, "go")]);
    let timeouts = Timeouts { stale: watchbill_core::time::Millis::from_secs(7), ..Timeouts::default() };
    let fold = SessionFold::restore(&play.fold.snapshot(), &SessionId::new(SESSION), timeouts).expect("ours");
    assert_eq!(fold.deadline(), Some(at(7.0)));
}

#[test]
fn the_data_of_a_record_is_small() {
    let mut fold = SessionFold::new(SessionId::new(SESSION), Timeouts::default());
    fold.note_new();
    let mut records = 0;
    for (_, text) in transcripts() {
        for line in text.lines() {
            parse_line(line.as_bytes(), &mut |record, _| fold.apply(&record, &mut Vec::new()));
        }
        records = fold.record_count();
    }
    let pieces = fold.take_new().expect("something was read").len();
    assert!(pieces <= records * 20, "{pieces} bytes for {records} records");
    assert!(fold.snapshot().len() < 16 << 10, "the head has {} bytes", fold.snapshot().len());
    assert_eq!(fold.take_new(), None, "a piece is given out once");
}

/// If this test fails, the form has changed: raise `VERSION` in `session/snapshot/seal.rs` and accept the new form.
#[test]
fn the_form_is_the_one_of_this_version() {
    let mut forms = format!("version {}\n", watchbill_core::session::snapshot::VERSION);
    for (name, text) in transcripts() {
        let id = SessionId::new("s");
        let mut fold = SessionFold::new(id, Timeouts::default());
        fold.note_new();
        for line in text.lines() {
            parse_line(line.as_bytes(), &mut |record, _| fold.apply(&record, &mut Vec::new()));
        }
        // The hash leaves out the header, because it holds the release and the checksum.
        let hash = |bytes: &[u8]| {
            bytes.iter().skip(16).fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
            })
        };
        let (head, pieces) = (fold.snapshot(), fold.take_new().unwrap_or_default());
        let name = name.split(' ').next().unwrap_or_default();
        forms += &format!("{name}: {} {:x}, {} {:x}\n", head.len(), hash(&head), pieces.len(), hash(&pieces));
    }
    insta::assert_snapshot!(forms);
}

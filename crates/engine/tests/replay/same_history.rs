//! The history of states is the same however the bytes arrive, watched or not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use watchbill_agents::layout::classify;
use watchbill_core::session::Effect;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;
use watchbill_engine::alone::single_look::look;
use watchbill_engine::clock::ManualClock;
use watchbill_engine::demo::replay::{Operation, Recording};
use watchbill_engine::engine::{Engine, Outlook};
use watchbill_engine::transcripts::{Fold, TrackedFile};
use watchbill_engine::world::problems::Problems;
use watchbill_protocol::roster::TrackedSession;
use watchbill_settings::Settings;
use watchbill_watch::mem::MemFs;

use crate::play::Witnesses;
use crate::play::{Player, all};

/// The final text of every transcript of a recording, subagents' too.
fn transcripts(recording: &Recording) -> BTreeMap<PathBuf, String> {
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    for (_, operation) in &recording.operations {
        match operation {
            Operation::Append { path, text } if classify(path).is_some_and(|place| place.is_transcript()) => {
                texts.entry(path.clone()).or_default().push_str(text);
            }
            _ => {}
        }
    }
    texts
}

/// All results of reading one transcript.
#[derive(Debug, PartialEq)]
struct History {
    effects: Vec<Effect>,
    /// The fold's answers afterwards, as text.
    outcome: String,
    problems: Vec<String>,
}

/// Reads `pieces`, each appended by itself.
fn history<'a>(path: &Path, pieces: impl IntoIterator<Item = &'a [u8]>) -> History {
    let fs = MemFs::new();
    let mut file = TrackedFile::new(classify(path).unwrap(), Timeouts::default(), None);
    let (mut scratch, mut problems, mut effects) = (Vec::new(), Problems::default(), Vec::new());
    for piece in pieces {
        fs.append(path, piece);
        file.read(&fs, path, u64::MAX, &mut scratch, &mut problems, &mut effects).unwrap();
    }
    let outcome = match file.fold() {
        Fold::Main(fold) => format!(
            "{:#?}\n{:#?}\n{:#?}\n{:#?}\n{:?}\n{:?}",
            fold.reading(),
            fold.facts(),
            fold.pending_tools(),
            fold.lineage(),
            fold.ledger().total(),
            fold.deadline(),
        ),
        Fold::Agent(fold) => format!("{fold:?}"),
    };
    let problems = problems.list().map(|problem| format!("{problem:?}")).collect();
    History { effects, outcome, problems }
}

/// Runs `test` for some random values, the same ones in each run.
fn sample<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value)) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    runner
        .run(strategy, |value| {
            test(value);
            Ok(())
        })
        .unwrap();
}

#[test]
fn line_by_line_is_the_same_as_whole() {
    let mut transitions = 0;
    for named in all() {
        for (path, text) in transcripts(&named.recording) {
            let whole = history(&path, [text.as_bytes()]);
            transitions += whole.effects.len();
            let lines = history(&path, text.split_inclusive('\n').map(str::as_bytes));
            assert_eq!(lines, whole, "{}: {}", named.name, path.display());
        }
    }
    assert!(transitions > 150, "the recordings hold turns: {transitions}");
}

#[test]
fn random_pieces_are_the_same_as_whole() {
    let all: Vec<_> = all().iter().flat_map(|named| transcripts(&named.recording)).collect();
    let wholes: Vec<_> = all.iter().map(|(path, text)| history(path, [text.as_bytes()])).collect();
    sample(4, &prop::collection::vec(1usize..40_000, 1..30), |cuts| {
        for ((path, text), whole) in all.iter().zip(&wholes) {
            let mut rest = text.as_bytes();
            let mut cuts = cuts.iter().cycle();
            let pieces = std::iter::from_fn(|| {
                let (piece, later) = rest.split_at((*cuts.next()?).min(rest.len()));
                rest = later;
                (!piece.is_empty()).then_some(piece)
            });
            assert_eq!(history(path, pieces), *whole, "{}", path.display());
        }
    });
}

#[test]
fn unknown_fields_and_types_change_nothing_but_their_count() {
    let all: Vec<_> = all().iter().flat_map(|named| transcripts(&named.recording)).collect();
    sample(4, &prop::collection::vec(0u8..12, 1..60), |dice| {
        for (path, text) in &all {
            let mut odd = String::with_capacity(text.len() + 4096);
            let mut unknown = 0;
            for (line, die) in text.lines().zip(dice.iter().cycle()) {
                if *die == 0 {
                    unknown += 1;
                    odd.push_str(r#"{"type":"omen","timestamp":"2031-01-01T00:00:00.000Z","uuid":"0","sessionId":"x"}"#);
                    odd.push('\n');
                }
                let line = match die {
                    1..=4 => line.replacen('{', r#"{"omen":{"type":"user","n":[1,{"uuid":null}]},"#, 1),
                    5..=7 => line.replacen(r#""message":{"#, r#""message":{"omen":"end_turn","#, 1),
                    _ => line.to_owned(),
                };
                odd.push_str(&line);
                odd.push('\n');
            }
            let plain = history(path, [text.as_bytes()]);
            let odd = history(path, [odd.as_bytes()]);
            assert_eq!((&odd.effects, &odd.outcome), (&plain.effects, &plain.outcome), "{}", path.display());
            assert_eq!(plain.problems, Vec::<String>::new(), "{}", path.display());
            assert_eq!(odd.problems.len(), usize::from(unknown > 0), "{:?}", odd.problems);
            assert!(odd.problems.iter().all(|problem| problem.contains(&format!("count: {unknown}"))));
        }
    });
}

#[test]
fn history_that_is_appended_again_changes_nothing() {
    for named in all() {
        for (path, text) in transcripts(&named.recording) {
            let once = history(&path, [text.as_bytes()]);
            let twice = history(&path, [text.as_bytes(), text.as_bytes()]);
            assert_eq!(twice, once, "{}: {}", named.name, path.display());
        }
    }
}

/// The rows of an engine, by session. Only the program that saw a turn end knows that the user has not looked at it since.
fn rows(engine: &Engine) -> BTreeMap<String, TrackedSession> {
    let rows = engine.current(true).rows.iter();
    let plain = |row: TrackedSession| (row.session_id.clone(), TrackedSession { unseen: None, ..row });
    rows.map(|row| plain(row.session())).collect()
}

/// A cold start over the same files at the same moment.
fn cold(player: &Player<'_>, live: bool) -> Engine {
    let settings = Settings::for_roots(vec![player.stage.root.clone()]);
    let outlook = Outlook { live, until: None };
    look(settings, player.stage.world(), outlook, &ManualClock::new(player.now))
}

#[test]
fn watched_files_equal_a_cold_start() {
    for named in all() {
        let mut player = Player::new(&named.recording, Witnesses::FILES);
        let every = (named.recording.operations.len() / 6).max(1);
        for (n, (at, operation)) in named.recording.operations.iter().enumerate() {
            player.act(*at, operation, &mut |_, _, _| {});
            if n % every == 0 {
                assert_eq!(rows(&player.engine), rows(&cold(&player, false)), "{} at {at:?}", named.name);
            }
        }
        for later in [4, 30, 300, 3600] {
            let until = named.recording.begin + named.recording.length() + Millis::from_secs(later);
            player.run_to(until, &mut |_, _, _| {});
            assert_eq!(rows(&player.engine), rows(&cold(&player, false)), "{} {later} s later", named.name);
        }
    }
}

#[test]
fn sessions_watched_live_equal_a_cold_start() {
    let mut compared = 0;
    for named in all() {
        let mut player = Player::new(&named.recording, Witnesses::REGISTRY);
        let every = (named.recording.operations.len() / 6).max(1);
        for (n, (at, operation)) in named.recording.operations.iter().enumerate() {
            player.act(*at, operation, &mut |_, _, _| {});
            // A registry file in the middle of a rewrite is no evidence for a program that starts just then.
            let torn = matches!(operation, Operation::Write { path, text }
                if path.starts_with("sessions") && serde_json::from_str::<serde_json::Value>(text).is_err());
            if n % every != 0 || torn {
                continue;
            }
            let found = rows(&cold(&player, true));
            for (id, row) in rows(&player.engine).iter().filter(|(_, row)| row.pid.is_some()) {
                let cold =
                    found.get(id).unwrap_or_else(|| panic!("{}: {id} is missing at {at:?}", named.name));
                let words = |row: &TrackedSession| {
                    (
                        row.state.clone(),
                        row.state_kind.clone(),
                        row.state_reason.clone(),
                        row.pending_tools.clone(),
                    )
                };
                assert_eq!(words(row), words(cold), "{} at {at:?}", named.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 50, "{compared}");
}

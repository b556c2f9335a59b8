//! Laws of merging, splitting and repeating.

use proptest::prelude::*;
use watchbill_core::history::{Activity, Batch, BatchOrigin, BatchStatus, CallOutcome, Ended};
use watchbill_core::time::Timestamp;

use crate::fixtures::{self, Transcript};
use crate::model::Reader;

/// Read once, because a property uses them many times.
fn transcripts() -> &'static [Transcript] {
    static ALL: std::sync::LazyLock<Vec<Transcript>> = std::sync::LazyLock::new(fixtures::transcripts);
    &ALL
}

fn at() -> impl Strategy<Value = Option<Timestamp>> {
    proptest::option::of((0i64..5_000).prop_map(Timestamp::from_millis))
}

fn word() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("[ab]{0,3}")
}

fn status() -> impl Strategy<Value = BatchStatus> {
    proptest::sample::select(vec![
        BatchStatus::Active,
        BatchStatus::Completed,
        BatchStatus::Interrupted,
        BatchStatus::Failed,
    ])
}

prop_compose! {
    fn batch()(
        origin in proptest::option::of(proptest::sample::select(vec![BatchOrigin::Human, BatchOrigin::Queued])),
        (prompt, error) in (word(), word()),
        flags in any::<(bool, bool)>(),
        (started_at, last_activity_at) in (at(), at()),
        offset in proptest::option::of(0u64..3),
        ended in proptest::option::of((status(), 0i64..5_000)),
        response in proptest::option::of((0i64..3, "[ab]{0,2}")),
    ) -> Batch {
        Batch {
            origin,
            prompt,
            private: flags.0,
            started_at,
            offset,
            last_activity_at,
            ended: ended.map(|(status, at)| Ended { status, at: Timestamp::from_millis(at), error }),
            response: response.map(|(at, text)| (Timestamp::from_millis(at), text)),
            plan: flags.1,
            ..Batch::new("b".into())
        }
    }
}

prop_compose! {
    fn activity()(
        (batch, agent, tool) in (word(), word(), word()),
        (target, input, error) in (word(), word(), word()),
        (begun, ended_at) in (at(), at()),
        outcome in proptest::option::of(proptest::sample::select(vec![
            CallOutcome::Pending, CallOutcome::Lost, CallOutcome::Background, CallOutcome::Ok, CallOutcome::Error, CallOutcome::Denied,
        ])),
        duration_ms in proptest::option::of(0u64..3),
    ) -> Activity {
        Activity {
            batch: batch.map(Into::into),
            agent: agent.map(Into::into),
            tool: tool.map(Into::into),
            target,
            input,
            error,
            at: begun,
            ended_at,
            outcome,
            duration_ms,
            ..Activity::new("a".into())
        }
    }
}

proptest! {
    #[test]
    fn reports_of_a_batch_merge_in_any_order(a in batch(), b in batch(), c in batch()) {
        let merged = |order: [&Batch; 4]| {
            let mut all = Batch::new("b".into());
            order.into_iter().for_each(|one| all.merge(one));
            all
        };
        let once = merged([&a, &b, &c, &c]);
        prop_assert_eq!(&once, &merged([&c, &b, &a, &b]));
        prop_assert_eq!(&once, &merged([&b, &a, &a, &c]));
        let mut later = a.clone();
        let mut bc = b.clone();
        bc.merge(&c);
        later.merge(&bc);
        prop_assert_eq!(&once, &later);
    }

    #[test]
    fn reports_of_a_call_merge_in_any_order(a in activity(), b in activity(), c in activity()) {
        let merged = |order: [&Activity; 4]| {
            let mut all = Activity::new("a".into());
            order.into_iter().for_each(|one| all.merge(one));
            all
        };
        let once = merged([&a, &b, &c, &c]);
        prop_assert_eq!(&once, &merged([&c, &b, &a, &b]));
        prop_assert_eq!(&once, &merged([&b, &a, &a, &c]));
        let mut later = a.clone();
        let mut bc = b.clone();
        bc.merge(&c);
        later.merge(&bc);
        prop_assert_eq!(&once, &later);
    }

    #[test]
    fn any_split_with_restarts_equals_the_whole(which in any::<prop::sample::Index>(), stops in proptest::collection::btree_set(0usize..400, 0..12)) {
        let transcript = which.get(transcripts());
        let whole = read(&transcript.name, &transcript.text, &|_| false);
        let split = read(&transcript.name, &transcript.text, &|line| stops.contains(&line));
        prop_assert_eq!(whole.model, split.model);
    }
}

/// Reads a transcript. After the lines that `stop` names, the fold is settled, stored and restored.
fn read(name: &str, text: &str, stop: &dyn Fn(usize) -> bool) -> Reader {
    let agent = name.rsplit_once("/agent-").map(|(_, rest)| rest.trim_end_matches(".jsonl"));
    let session = match agent {
        Some(_) => name.split('/').rev().nth(2),
        None => name.rsplit('/').next().map(|file| file.trim_end_matches(".jsonl")),
    };
    let mut reader = Reader::new(session.expect("a path"), agent);
    let mut offset = 0;
    for (n, line) in text.split_inclusive('\n').enumerate() {
        reader.line(offset, line.trim_end().as_bytes());
        offset += line.len() as u64;
        if stop(n) {
            reader.settle();
            reader.restart();
        }
    }
    reader.settle();
    reader
}

#[test]
fn a_restart_after_every_line_changes_nothing() {
    for transcript in transcripts() {
        let whole = read(&transcript.name, &transcript.text, &|_| false);
        let split = read(&transcript.name, &transcript.text, &|_| true);
        assert_eq!(whole.model, split.model, "{}", transcript.name);
    }
}

#[test]
fn records_at_another_offset_change_nothing() {
    for transcript in transcripts() {
        let mut reader = read(&transcript.name, &transcript.text, &|_| false);
        let once = reader.model.clone();
        // A second compaction appends history again: the same records at another place.
        reader.text(transcript.text.len() as u64, &transcript.text);
        reader.settle();
        assert_eq!(once, reader.model, "{} appended again", transcript.name);
    }
}

#[test]
fn lines_before_the_cursor_change_nothing_without_known_records() {
    for transcript in transcripts() {
        let mut reader = read(&transcript.name, &transcript.text, &|_| false);
        let once = reader.model.clone();
        let mut again = Reader::new(reader.history.session().as_str(), reader.history.agent().map(|a| &**a));
        again.history = reader.history.clone();
        again.text(0, &transcript.text);
        again.settle();
        assert_eq!(again.model.texts.len(), 0, "{}", transcript.name);
        reader.settle();
        assert_eq!(once, reader.model);
    }
}

#[test]
fn the_snapshot_is_under_two_kilobytes() {
    for transcript in transcripts() {
        let mut reader = read(&transcript.name, &transcript.text, &|_| false);
        reader.settle();
        let bytes = reader.history.snapshot();
        assert!(bytes.len() < 2_048, "{}: {} bytes", transcript.name, bytes.len());
    }
}

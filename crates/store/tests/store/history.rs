//! The history's rows: reports in parts, in any order and from several files give one row.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::history::rows::{
    Activity, Batch, BatchOrigin, BatchStatus, CallOutcome, Ended, Execution, PlanEvent, PlanEventKind,
    Request,
};
use watchbill_core::session::RequestKey;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;
use watchbill_store::Store;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::usage::UsageRow;

use crate::rig::{Rig, forget, session};

const DAY: i64 = 86_400_000;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(ms)
}

/// Reports of one prompt by the transcript, by hooks, and by reading it twice.
fn reports() -> Vec<Batch> {
    let named = |batch: Batch| Batch { id: "p1".into(), ..batch };
    vec![
        named(Batch {
            origin: Some(BatchOrigin::Human),
            prompt: Some("fix the bug, please".into()),
            started_at: Some(at(100)),
            offset: Some(7),
            ..Batch::default()
        }),
        named(Batch { prompt: Some("fix the bug".into()), started_at: Some(at(101)), ..Batch::default() }),
        named(Batch {
            ended: Some(Ended { status: BatchStatus::Active, at: at(120), error: None }),
            response: Some((at(120), "looking".into())),
            ..Batch::default()
        }),
        named(Batch {
            ended: Some(Ended { status: BatchStatus::Completed, at: at(900), error: None }),
            response: Some((at(890), "done".into())),
            plan: true,
            ..Batch::default()
        }),
    ]
}

fn calls() -> Vec<Activity> {
    let named = |activity: Activity| Activity { id: "toolu_1".into(), ..activity };
    vec![
        named(Activity {
            tool: Some("Bash".into()),
            target: Some("cargo test".into()),
            at: Some(at(110)),
            offset: Some(50),
            outcome: Some(CallOutcome::Pending),
            ..Activity::default()
        }),
        named(Activity {
            batch: Some("p1".into()),
            outcome: Some(CallOutcome::Error),
            ended_at: Some(at(400)),
            error: Some("exit 1".into()),
            result_offset: Some(90),
            ..Activity::default()
        }),
        named(Activity { duration_ms: Some(250), outcome: Some(CallOutcome::Ok), ..Activity::default() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn reports_in_any_order_and_steps_give_the_same_row(
        batches in Just(reports()).prop_shuffle(),
        activities in Just(calls()).prop_shuffle(),
        again in prop::collection::vec((any::<bool>(), 0..3usize), 0..4),
    ) {
        let rig = Rig::new();
        let mut store = rig.open();
        let change = |store: &mut Store, batch: Option<&Batch>, activity: Option<&Activity>, by_hook: bool| {
            let mut step = store.step().unwrap();
            let (key, file) = session(&mut step, "a");
            let file = (!by_hook).then_some(file);
            if let Some(batch) = batch {
                step.merge_batch(key, file, batch).unwrap();
            }
            if let Some(activity) = activity {
                step.merge_activity(key, file, activity).unwrap();
            }
            step.commit().unwrap();
            key
        };
        let mut key = None;
        for (n, batch) in batches.iter().enumerate() {
            key = Some(change(&mut store, Some(batch), activities.get(n), n % 2 == 1));
        }
        for (restart, n) in again {
            if restart {
                drop(store);
                store = rig.open();
            }
            change(&mut store, batches.get(n), activities.get(n), false);
        }
        let mut batch = Batch::new("p1".into());
        reports().iter().for_each(|change| batch.merge(change));
        let mut activity = Activity::new("toolu_1".into());
        calls().iter().for_each(|change| activity.merge(change));
        let stored = store.batches(key.unwrap()).unwrap();
        prop_assert_eq!(stored.iter().map(|row| &row.batch).collect::<Vec<_>>(), vec![&batch]);
        prop_assert!(stored.iter().all(|row| row.file.is_some()), "one of them was the transcript");
        let stored = store.activities(key.unwrap()).unwrap();
        prop_assert_eq!(stored.iter().map(|row| &row.activity).collect::<Vec<_>>(), vec![&activity]);
        prop_assert_eq!(store.batches_to_recover(key.unwrap(), true).unwrap().len(), 0);
        prop_assert_eq!(store.orphaned_activities(key.unwrap()).unwrap().len(), 0);
        // Its turn is over, but the session has not ended.
        prop_assert_eq!(store.unfinished_sessions().unwrap(), [key.unwrap()]);
    }
}

fn request(key: u64, ms: i64, output: u64, copied: bool) -> Request {
    let usage = Usage { input: 10, output, cache_read: 0, cache_write: 0 };
    Request { key: RequestKey(key), at: Some(at(ms)), model: Some("opus".into()), usage, agent: None, copied }
}

/// An origin, and a fork that repeats its first two requests.
fn forked(store: &mut Store) {
    let mut step = store.step().unwrap();
    for name in ["fork", "origin"] {
        step.put_session(&SessionRow {
            session_id: name.into(),
            project: Some(format!("-home-dev-{name}")),
            ..SessionRow::default()
        })
        .unwrap();
    }
    // The fork is read first, which must not decide whose request it is.
    let (_, fork) = session(&mut step, "fork");
    for change in [request(1, 5, 7, true), request(u64::MAX, 6, 20, true), request(3, DAY, 4, false)] {
        step.merge_request(fork, &change).unwrap();
    }
    let (_, origin) = session(&mut step, "origin");
    // A placeholder, and then the real count.
    for change in [request(1, 5, 1, false), request(1, 5, 7, false), request(u64::MAX, 6, 20, false)] {
        step.merge_request(origin, &change).unwrap();
    }
    step.commit().unwrap();
}

#[test]
fn each_request_counts_once_for_the_session_in_which_it_was_first_seen() {
    let rig = Rig::new();
    let mut store = rig.open();
    forked(&mut store);
    let row = |key: &str, requests, output| (key.to_owned(), requests, output);
    let by_day = |row: &UsageRow| row.day.unwrap().to_string();
    let by_project = |row: &UsageRow| row.folder.clone().unwrap();
    assert_eq!(sums(&store, None, by_day), [row("0", 2, 27), row("1", 1, 4)]);
    assert_eq!(sums(&store, None, by_project), [row("-home-dev-origin", 2, 27), row("-home-dev-fork", 1, 4)]);
    assert_eq!(
        sums(&store, Some(at(6)), |row| row.model.as_deref().unwrap().to_owned()),
        [row("opus", 2, 24)]
    );
    // The view for users gives the same numbers.
    let sql = rusqlite::Connection::open(store.path()).unwrap();
    let view: Vec<(String, u64, u64)> = sql
        .prepare(
            "SELECT project, count(*), sum(output) FROM v_usage GROUP BY project ORDER BY sum(output) DESC",
        )
        .unwrap()
        .query_map([], |row| {
            Ok((row.get(0)?, u64::from(row.get::<_, u32>(1)?), u64::from(row.get::<_, u32>(2)?)))
        })
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(view, sums(&store, None, by_project));
}

/// Requests and tokens of output by a key, the most output first.
fn sums(
    store: &Store,
    since: Option<Timestamp>,
    key: impl Fn(&UsageRow) -> String,
) -> Vec<(String, u64, u64)> {
    let mut day_of = |at: Timestamp| usize::try_from(at.as_millis() / DAY).unwrap();
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for row in store.usage(since, &mut day_of, None).unwrap() {
        let sum = sums.entry(key(&row)).or_default();
        *sum = (sum.0 + row.requests, sum.1 + row.tokens.output);
    }
    let mut sums: Vec<_> =
        sums.into_iter().map(|(key, (requests, output))| (key, requests, output)).collect();
    sums.sort_by_key(|row| std::cmp::Reverse(row.2));
    sums
}

#[test]
fn a_project_is_named_by_its_folder() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    let sessions = [
        // One of these sessions was launched in the folder that gave the name.
        ("a", "-home-dev-my-app", Some("/home/dev/my.app"), 1),
        ("b", "-home-dev-my-app", Some("/home/dev/my.app/src"), 2),
        ("c", "-home-dev-my-app", None, 3),
        // Neither folder gave the name.
        ("d", "-home-dev-moved", Some("/srv/old"), 4),
        ("e", "-home-dev-moved", Some("/srv/new"), 5),
        ("f", "-home-dev-silent", None, 6),
        ("g", "-home-dev----", Some("/home/dev/日本"), 7),
        // Another folder with the same name as the first.
        ("h", "-home-dev-my-app", Some("/home/dev/my-app"), 8),
    ];
    for (n, (name, project, cwd, active)) in sessions.into_iter().enumerate() {
        step.put_session(&SessionRow {
            session_id: name.into(),
            project: Some(project.into()),
            cwd: cwd.map(str::to_owned),
            active_at: Some(at(active)),
            ..SessionRow::default()
        })
        .unwrap();
        let (_, file) = session(&mut step, name);
        step.merge_request(file, &request(n as u64, 5, 1 << n, false)).unwrap();
    }
    step.commit().unwrap();
    let rows = sums(&store, None, |row| row.folder.clone().unwrap());
    let rows: Vec<_> = rows.iter().map(|row| (&*row.0, row.1)).collect();
    let named = [
        ("/home/dev/my-app", 1),
        ("/home/dev/日本", 1),
        ("-home-dev-silent", 1),
        ("/srv/new", 1),
        ("/srv/old", 1),
        ("/home/dev/my.app", 3),
    ];
    assert_eq!(rows, named);
}

#[test]
fn copies_in_a_fork_count_once() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    for name in ["origin", "fork"] {
        let (session, file) = session(&mut step, name);
        for telling in reports() {
            step.merge_batch(session, Some(file), &telling).unwrap();
        }
        for call in calls() {
            step.merge_activity(session, Some(file), &call).unwrap();
        }
        // Later records of each session have their own ids. The same id at another time is another call.
        let own = Batch { id: name.into(), started_at: Some(at(1_000)), ..Batch::default() };
        step.merge_batch(session, Some(file), &own).unwrap();
        let later = at(if name == "fork" { 2_000 } else { 1_000 });
        let own =
            Activity { id: "t1".into(), tool: Some("Edit".into()), at: Some(later), ..Activity::default() };
        step.merge_activity(session, Some(file), &own).unwrap();
    }
    step.commit().unwrap();
    let tools = |since| -> Vec<(String, u64)> {
        store.tools(since).unwrap().into_iter().map(|row| (row.tool, row.calls)).collect()
    };
    assert_eq!(tools(None), [("Edit".to_owned(), 2), ("Bash".to_owned(), 1)]);
    assert_eq!(tools(Some(at(1_500))), [("Edit".to_owned(), 1)]);
    assert_eq!(store.session_counts(None).unwrap().1, 3);
}

#[test]
fn a_forgotten_origin_leaves_its_requests_to_the_fork() {
    let rig = Rig::new();
    let mut store = rig.open();
    forked(&mut store);
    let what = watchbill_store::removal::Forget::Session(watchbill_core::ids::SessionId::new("origin"));
    forget(&mut store, &what, at(0), &mut |_| ()).unwrap();
    let rows = sums(&store, None, |row| row.folder.clone().unwrap());
    assert_eq!((rows.len(), rows[0].1, rows[0].2), (1, 3, 31));
}

#[test]
fn plan_versions_are_sorted_by_time_and_have_the_events_of_their_time() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "a");
    let change = |ms, content: Option<&str>, word| PlanEvent {
        plan: "/home/dev/.claude/plans/otter.md".into(),
        path: Some("/home/dev/.claude/plans/otter.md".into()),
        at: Some(at(ms)),
        batch: Some("p1".into()),
        content: content.map(str::to_owned),
        given: None,
        word,
    };
    // Out of order, and one of them twice.
    for (ms, content, word) in [
        (300, None, PlanEventKind::Approved),
        (200, Some("second"), PlanEventKind::Written),
        (100, Some("first"), PlanEventKind::Written),
        (150, None, PlanEventKind::Rejected),
        (250, Some("second"), PlanEventKind::Proposed),
        (100, Some("first"), PlanEventKind::Written),
    ] {
        step.merge_plan(key, Some(file), &change(ms, content, word)).unwrap();
    }
    let execution =
        Execution { plan: None, content: Some("second".into()), batch: "p2".into(), at: Some(at(400)) };
    step.merge_execution(key, Some(file), &execution).unwrap();
    step.commit().unwrap();
    let plans = store.plans(key).unwrap();
    let shown: Vec<_> = plans
        .iter()
        .map(|plan| {
            (plan.version, &*plan.content, plan.words.iter().map(|(_, word)| *word).collect::<Vec<_>>())
        })
        .collect();
    assert_eq!(
        shown,
        [
            (1, "first", vec![PlanEventKind::Written, PlanEventKind::Rejected]),
            (2, "second", vec![PlanEventKind::Written, PlanEventKind::Proposed, PlanEventKind::Approved]),
        ]
    );
    assert_eq!(store.executions(key).unwrap(), [execution]);
    assert_eq!(plans[0].batch, Some(Arc::from("p1")));
}

#[test]
fn what_hooks_said_of_a_turn_goes_when_its_prompt_turns_out_to_be_private() {
    for private_first in [true, false] {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, "a");
        let call = Activity {
            batch: Some("p".into()),
            tool: Some("Bash".into()),
            target: Some("S3CRET".into()),
            file: Some("/S3CRET".into()),
            input: Some("S3CRET".into()),
            error: Some("S3CRET".into()),
            reason: Some("S3CRET".into()),
            ..Activity::new("c".into())
        };
        let failed = Some(Ended { status: BatchStatus::Failed, at: at(9), error: Some("limit".into()) });
        let answered =
            Batch { response: Some((at(8), "S3CRET".into())), ended: failed, ..Batch::new("p".into()) };
        let private = Batch { private: true, ..Batch::new("p".into()) };
        if private_first {
            step.merge_batch(key, Some(file), &private).unwrap();
            assert!(step.is_private(key, "p").unwrap());
            step.merge_batch(key, None, &answered).unwrap();
        } else {
            step.merge_activity(key, None, &call).unwrap();
            step.merge_batch(key, None, &answered).unwrap();
            step.merge_batch(key, Some(file), &private).unwrap();
        }
        step.commit().unwrap();
        let batch = store.batches(key).unwrap().remove(0).batch;
        assert_eq!((batch.response, batch.ended.and_then(|ended| ended.error)), (None, Some("limit".into())));
        let calls = store.activities(key).unwrap();
        assert!(!format!("{calls:?}").contains("S3CRET"), "{calls:?}");
        assert!(calls.iter().all(|call| call.activity.tool.as_deref() == Some("Bash")));
    }
}

#[test]
fn of_two_prompts_of_one_millisecond_the_later_report_is_the_newest() {
    for ids in [["a", "b"], ["b", "a"]] {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        let (key, _) = session(&mut step, "s");
        for id in ids {
            let batch = Batch { started_at: Some(at(5)), ..Batch::new(id.into()) };
            step.merge_batch(key, None, &batch).unwrap();
        }
        let newest = step.newest_batch(&watchbill_core::ids::SessionId::new("s")).unwrap();
        assert_eq!(newest.as_deref(), Some(ids[1]));
    }
}

#[test]
fn a_prompt_with_another_id_leaves_nothing_under_the_first_one() {
    for is_known in [false, true] {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, "a");
        step.merge_batch(key, None, &Batch::new("hook 1".into())).unwrap();
        let call = Activity {
            batch: Some("hook 1".into()),
            tool: Some("Read".into()),
            target: Some("S3CRET".into()),
            ..Activity::new("c".into())
        };
        step.merge_activity(key, None, &call).unwrap();
        step.queue_model_job(key, "hook 1", at(1)).unwrap();
        if is_known {
            // The record came first, and is private.
            let private = Batch { private: true, ..Batch::new("p1".into()) };
            step.merge_batch(key, Some(file), &private).unwrap();
            step.queue_model_job(key, "p1", at(2)).unwrap();
        }
        step.name_batch(key, "hook 1", "p1").unwrap();
        step.commit().unwrap();
        let calls = store.activities(key).unwrap();
        assert_eq!(calls[0].activity.batch.as_deref(), Some("p1"));
        assert_eq!(calls[0].activity.target.is_none(), is_known, "{calls:?}");
        let jobs = store.model_jobs_to_choose(at(9)).unwrap();
        assert_eq!(jobs.iter().map(|job| &*job.batch).collect::<Vec<_>>(), ["p1"]);
    }
}

#[test]
fn a_hook_that_names_no_turn_keeps_no_text_of_a_private_one() {
    // Clients before 2.1.196. The record knows the turn, and says no text; or recovery finds the turn.
    let call = |batch: Option<&str>, text: Option<&str>| Activity {
        batch: batch.map(Into::into),
        tool: Some("Read".into()),
        target: text.map(Into::into),
        file: text.map(Into::into),
        input: text.map(Into::into),
        error: text.map(Into::into),
        ..Activity::new("c".into())
    };
    let (hook, record) = (call(None, Some("S3CRET")), call(Some("p"), None));
    for order in
        [&["hook", "record"][..], &["record", "hook"], &["hook", "recovery"], &["hook", "record", "hook"]]
    {
        for private_last in [false, true] {
            let rig = Rig::new();
            let mut store = rig.open();
            let mut step = store.step().unwrap();
            let (key, file) = session(&mut step, "a");
            let private = Batch { private: true, ..Batch::new("p".into()) };
            if !private_last {
                step.merge_batch(key, Some(file), &private).unwrap();
            }
            for from in order {
                match *from {
                    "hook" => step.merge_activity(key, None, &hook).unwrap(),
                    "record" => step.merge_activity(key, Some(file), &record).unwrap(),
                    _ => step.adopt_activity(key, "c", "p").unwrap(),
                }
            }
            if private_last {
                step.merge_batch(key, Some(file), &private).unwrap();
            }
            step.commit().unwrap();
            let calls = format!("{:?}", store.activities(key).unwrap());
            assert!(!calls.contains("S3CRET") && calls.contains("Read"), "{order:?} {private_last} {calls}");
        }
    }
}

#[test]
fn a_hook_and_a_record_of_one_event_of_a_plan_are_one_row() {
    for hooks_first in [true, false] {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, "a");
        let event = |ms| PlanEvent {
            plan: "/home/dev/.claude/plans/otter.md".into(),
            path: None,
            at: Some(at(ms)),
            batch: Some("p1".into()),
            content: Some("1. x".into()),
            given: None,
            word: PlanEventKind::Written,
        };
        let mut reports = [(None, 1_040), (None, 2_500), (Some(file), 1_000), (Some(file), 2_400)];
        if !hooks_first {
            reports.reverse();
        }
        for (file, ms) in reports {
            step.merge_plan(key, file, &event(ms)).unwrap();
        }
        step.commit().unwrap();
        let written = PlanEventKind::Written;
        assert_eq!(
            store.plans(key).unwrap()[0].words,
            [(Some(at(1_000)), written), (Some(at(2_400)), written)]
        );
    }
}

/// Counts that no real request has, as a program before schema 6 has stored them. That schema has no `memory_edits`,
/// to which a later one adds columns, and no other column that a later one adds.
fn absurd(rig: &Rig) {
    let mut store = rig.open();
    forked(&mut store);
    drop(store);
    let sql = rusqlite::Connection::open(rig.folder.path().join("watchbill.db")).unwrap();
    sql.execute_batch(&format!(
        "UPDATE requests SET input = {most}, output = {most}, cache_read = {most}, cache_write = {most};
         UPDATE sessions SET project = 'p';
         ALTER TABLE activities DROP COLUMN reason;
         ALTER TABLE memory_due DROP COLUMN batch;
         ALTER TABLE memory_sessions DROP COLUMN rules;
         DROP VIEW session_summaries; DROP VIEW observations; DROP VIEW user_prompts; DROP VIEW sdk_sessions;
         DROP VIEW v_session_ends;
         ALTER TABLE sessions DROP COLUMN completed_at;
         ALTER TABLE memory_sessions DROP COLUMN open_ends;
         DROP TABLE memory_edits;
         PRAGMA user_version = 5;",
        most = i64::MAX
    ))
    .unwrap();
}

#[test]
fn absurd_token_counts_do_not_break_the_sums() {
    let rig = Rig::new();
    absurd(&rig);
    let store = rig.open();
    let most = u64::from(u32::MAX);
    let rows = store.usage(None, &mut |_| 0, None).unwrap();
    assert_eq!(rows.iter().map(|row| row.tokens.output).sum::<u64>(), 3 * most, "{rows:?}");
    let sql = rusqlite::Connection::open(store.path()).unwrap();
    let sum = "SELECT sum(input), sum(output), sum(cache_read), sum(cache_write) FROM v_usage_by_day";
    let sums: [u64; 4] = sql
        .query_row(sum, [], |row| Ok([0, 1, 2, 3].map(|at| row.get::<_, i64>(at).unwrap().cast_unsigned())))
        .unwrap();
    assert_eq!(sums, [3 * most; 4]);
}

#[test]
fn absurd_call_durations_do_not_break_the_sums() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "s");
    for n in 0..3 {
        let change = Activity {
            id: format!("c{n}").into(),
            tool: Some("Bash".into()),
            at: Some(at(5)),
            duration_ms: Some(if n == 0 { 7 } else { u64::MAX }),
            ..Activity::default()
        };
        step.merge_activity(key, Some(file), &change).unwrap();
    }
    step.commit().unwrap();
    let tools = store.tools(None).unwrap();
    assert_eq!((tools[0].calls, tools[0].millis), (3, 2 * 365 * 86_400_000 + 7));
}

//! The tables of the claude-recall document as views, over a session that was stored as the history stores it.

use rusqlite::Connection;
use rusqlite::types::Value;
use watchbill_core::history::rows::{Activity, Batch, BatchStatus, CallOutcome, Ended, Role, Text};
use watchbill_core::ids::SessionId;
use watchbill_core::memory::model::queue::JobState;
use watchbill_core::memory::{Edit, EditKind, Importance, MemoryKind, Signal, Summary};
use watchbill_core::time::Timestamp;
use watchbill_store::tables::hook_events::HookEventRow;
use watchbill_store::tables::memories::ProjectPlace;
use watchbill_store::tables::model_jobs::JobEnd;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::{SessionKey, Store, WriteTransaction};

use crate::rig::{Rig, session};

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_795_262_400_000 + ms)
}

fn turn(step: &mut WriteTransaction<'_>, key: SessionKey, id: &str, ms: i64, prompt: &str, answer: &str) {
    let (_, file) = session(step, "s");
    let batch = Batch {
        id: id.into(),
        prompt: Some(prompt.to_owned()),
        started_at: Some(at(ms)),
        offset: Some(ms.unsigned_abs()),
        ended: Some(Ended { status: BatchStatus::Completed, at: at(ms + 900), error: None }),
        response: Some((at(ms + 900), answer.to_owned())),
        ..Batch::default()
    };
    step.merge_batch(key, Some(file), &batch).unwrap();
}

fn call(
    step: &mut WriteTransaction<'_>,
    key: SessionKey,
    ms: i64,
    batch: &str,
    tool: &str,
    file: Option<&str>,
    target: &str,
) {
    let (_, transcript) = session(step, "s");
    let activity = Activity {
        id: format!("c{ms}").into(),
        batch: Some(batch.into()),
        tool: Some(tool.into()),
        target: Some(target.to_owned()),
        file: file.map(str::to_owned),
        input: Some(format!(r#"{{"target":"{target}"}}"#)),
        at: Some(at(ms)),
        offset: Some(ms.unsigned_abs()),
        outcome: Some(CallOutcome::Ok),
        result_offset: Some(ms.unsigned_abs() + 1),
        ..Activity::default()
    };
    step.merge_activity(key, Some(transcript), &activity).unwrap();
    let text = "what the tool said";
    let result = Text {
        offset: ms.unsigned_abs() + 1,
        part: 0,
        record: None,
        at: Some(at(ms)),
        role: Role::ToolResult,
        tool: Some(tool),
        agent: None,
        copied: false,
        text,
        cut: 0,
    };
    step.add_text(transcript, key, &result).unwrap();
}

/// A session with two turns, a read file, a changed one, and two memories of which one was rejected.
fn stored(store: &mut Store) -> SessionKey {
    let mut step = store.step().unwrap();
    let row = SessionRow {
        session_id: "s".into(),
        project: Some("-srv-app".into()),
        cwd: Some("/srv/app".into()),
        created_at: Some(at(0)),
        active_at: Some(at(5_000)),
        state: Some("waiting_for_input".into()),
        ..SessionRow::default()
    };
    step.put_session(&row).unwrap();
    let (key, _) = session(&mut step, "s");
    turn(&mut step, key, "p1", 100, "The pager skips rows", "Found it.");
    turn(&mut step, key, "p2", 2_000, "Fix it", "Fixed. Next: the reader.");
    call(&mut step, key, 200, "p1", "Read", Some("/srv/app/reader.rs"), "reader.rs");
    call(&mut step, key, 2_100, "p2", "Read", Some("/srv/app/pager.rs"), "pager.rs");
    call(&mut step, key, 2_200, "p2", "Edit", Some("/srv/app/pager.rs"), "pager.rs");
    call(&mut step, key, 2_300, "p2", "Bash", None, "cargo test");
    let found = |id, text: &str, suspect| Signal {
        id,
        kind: MemoryKind::Correction,
        text: text.to_owned(),
        path: None,
        symptom: None,
        importance: Importance::High,
        suspect,
        batch: "p2".into(),
        byte: None,
        at: at(2_000),
        times: 1,
    };
    let place = ProjectPlace { project: 7, place: "/srv/app".into(), root: "/srv/app".into() };
    let found =
        [found(1, "rows begin at 0", false), found(2, "rejected", false), found(3, "a proposal", true)];
    step.put_evidence(key, &place, &found, None).unwrap();
    step.put_open_ends(key, &["Next: the reader.".to_owned()]).unwrap();
    let edit =
        Edit { memory: 2, what: EditKind::Rejected, at: at(3_000), text: None, path: None, mark: None };
    step.put_memory_edit(7, &edit).unwrap();
    step.commit().unwrap();
    key
}

/// The rows of a query on a connection that knows nothing of this program.
fn rows(rig: &Rig, query: &str) -> Vec<Vec<String>> {
    let sql = Connection::open(rig.folder.path().join("watchbill.db")).unwrap();
    let mut statement = sql.prepare(query).unwrap();
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..columns)
            .map(|at| {
                Ok(match row.get(at)? {
                    Value::Null => "-".to_owned(),
                    Value::Integer(number) => number.to_string(),
                    Value::Text(text) => text,
                    other => format!("{other:?}"),
                })
            })
            .collect::<rusqlite::Result<Vec<String>>>()
    });
    rows.unwrap().map(Result::unwrap).collect()
}

#[test]
fn a_session_has_a_row_in_each_table_of_the_document() {
    let rig = Rig::new();
    stored(&mut rig.open());
    assert_eq!(
        rows(
            &rig,
            "SELECT claude_session_id, project, first_user_prompt, prompt_counter, status, created_at, updated_at FROM sdk_sessions"
        ),
        [["s", "app", "The pager skips rows", "2", "active", "2026-11-21T12:00:00Z", "2026-11-21T12:00:05Z"]]
    );
    assert_eq!(
        rows(
            &rig,
            "SELECT claude_session_id, prompt_number, prompt_text FROM user_prompts ORDER BY prompt_number"
        ),
        [["s", "1", "The pager skips rows"], ["s", "2", "Fix it"]]
    );
    let observations = rows(
        &rig,
        "SELECT tool_use_id, tool_name, tool_input_json, tool_response_text, compressed_observation, prompt_number
         FROM observations ORDER BY created_at, tool_use_id",
    );
    assert_eq!(observations.len(), 4);
    let first =
        ["c200", "Read", r#"{"target":"reader.rs"}"#, "what the tool said", "Read reader.rs: ok", "1"];
    assert_eq!(observations[0], first);
    assert!(observations[1..].iter().all(|row| row[5] == "2"), "{observations:?}");
    assert_eq!(
        rows(&rig, "SELECT request, investigated, learned, completed, next_steps FROM session_summaries"),
        [[
            "The pager skips rows",
            "/srv/app/reader.rs",
            "rows begin at 0",
            "/srv/app/pager.rs",
            "Next: the reader."
        ]]
    );
    // What the model said counts until the session goes on.
    let mut store = rig.open();
    let key = store.session_key(&SessionId::new("s")).unwrap().unwrap();
    let summary = Summary { request: "Mend the pager".to_owned(), ..Summary::default() };
    let made = || rows(&rig, "SELECT request, learned, made_by FROM session_summaries");
    for (upto, wanted) in
        [(9_999, ["Mend the pager", "", "model"]), (1, ["The pager skips rows", "rows begin at 0", "rules"])]
    {
        let mut step = store.step().unwrap();
        step.put_summary(key, at(upto), "Pager", &summary).unwrap();
        step.commit().unwrap();
        assert_eq!(made(), [wanted], "{upto}");
    }
}

/// The schema's diagram in the document, without its comments.
const DIAGRAM: &str = include_str!("../../../../tests/fixtures/sources/claude-recall-schema.mmd");

#[test]
fn each_column_and_each_join_of_the_documents_diagram_works() {
    let rig = Rig::new();
    stored(&mut rig.open());
    let id = rows(&rig, "SELECT id FROM sessions")[0][0].clone();
    let mut table = "";
    let (mut columns, mut joins) = (0, 0);
    for line in DIAGRAM.lines() {
        if let Some((one, many)) = line.split_once(" ||--o{ ") {
            let many = many.split_whitespace().next().unwrap();
            let join = format!(
                "SELECT DISTINCT m.session_id, o.claude_session_id FROM {one} o JOIN {many} m ON m.session_id = o.id"
            );
            assert_eq!(rows(&rig, &join), [[id.clone(), "s".to_owned()]], "{join}");
            joins += 1;
        } else if let Some(name) = line.strip_suffix(" {") {
            table = name;
        } else if let [_, column, ..] = line.split_whitespace().collect::<Vec<_>>()[..] {
            let filled = rows(
                &rig,
                &format!("SELECT count({column}), count(*), count(DISTINCT {column}) FROM {table}"),
            );
            let [filled, all, distinct] = &filled[0][..] else { panic!("{filled:?}") };
            assert!(filled == all || column == "completed_at", "{table}.{column}: {filled} of {all}");
            assert!(distinct == all || !line.contains("PK"), "{table}.{column}: {distinct} of {all}");
            columns += 1;
        }
    }
    assert_eq!((columns, joins), (29, 3));
}

#[test]
fn a_project_is_the_last_part_of_the_working_folder() {
    let rig = Rig::new();
    let mut store = rig.open();
    for (cwd, project) in [
        (Some("/srv/app"), "app"),
        (Some("/srv/app/"), "app"),
        (Some("/srv/app/app"), "app"),
        (Some("app"), "app"),
        (Some("/srv/a\\b"), "a\\b"),
        (Some("/srv/ein Ordner's"), "ein Ordner's"),
        (Some("C:\\src\\app"), "app"),
        (Some("C:\\src\\app\\"), "app"),
        (Some("/"), "-folder"),
        (None, "-folder"),
    ] {
        let mut step = store.step().unwrap();
        step.put_session(&SessionRow {
            session_id: "s".into(),
            project: Some("-folder".into()),
            cwd: cwd.map(str::to_owned),
            ..SessionRow::default()
        })
        .unwrap();
        step.commit().unwrap();
        let found = store.document_session("s").unwrap().unwrap().project;
        assert_eq!(found.as_deref(), Some(project), "{cwd:?}");
    }
}

#[test]
fn the_state_of_a_session_is_derived() {
    let rig = Rig::new();
    let mut store = rig.open();
    let status = |store: &Store, id: &str| store.document_session(id).unwrap().unwrap().status;
    let heard = |event: &str, ms| HookEventRow {
        at: at(ms),
        event: event.into(),
        tool: None,
        call: None,
        prompt: None,
        detail: None,
    };
    let mut step = store.step().unwrap();
    let (key, _) = session(&mut step, "s");
    step.add_hook_event(key, &heard("SessionStart", 0)).unwrap();
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "initialized", "no prompt yet");

    let mut step = store.step().unwrap();
    let started = Batch {
        ended: Some(Ended { status: BatchStatus::Active, at: at(100), error: None }),
        started_at: Some(at(100)),
        ..Batch::new("p1".into())
    };
    step.merge_batch(key, None, &started).unwrap();
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "active", "a prompt, and no tool yet");
    let mut step = store.step().unwrap();
    call(&mut step, key, 200, "p1", "Read", None, "reader.rs");
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "observation queued", "a tool ran");

    let mut step = store.step().unwrap();
    turn(&mut step, key, "p1", 100, "Fix it", "Fixed.");
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "summarizing", "the turn is over, and the rules have not seen it");
    let mut step = store.step().unwrap();
    step.clear_memory_due(key).unwrap();
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "active", "they have");

    let mut step = store.step().unwrap();
    step.queue_model_job(key, "p1", at(1_000)).unwrap();
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "observation queued");
    let job = store.model_jobs_to_choose(at(1_000)).unwrap().remove(0);
    let mut step = store.step().unwrap();
    step.begin_model_job(&job, at(1_000)).unwrap();
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "summarizing");
    let mut step = store.step().unwrap();
    let (state, error) = (JobState::Skipped, None);
    let end = JobEnd { state, tries: 0, millis: 0, tokens_in: 0, tokens_out: 0, micro_usd: 0, error };
    assert!(step.end_model_job(&job, &end, at(1_000)).unwrap());
    assert!(!step.end_model_job(&job, &end, at(1_000)).unwrap(), "it ends once");
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "active");

    let mut step = store.step().unwrap();
    step.add_hook_event(key, &heard("SessionEnd", 2_000)).unwrap();
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "completed", "a program said so over HTTP");
    let ended = store.document_session("s").unwrap().unwrap().completed_at;
    assert_eq!(ended.as_deref(), Some("2026-11-21T12:00:02Z"));

    let mut step = store.step().unwrap();
    turn(&mut step, key, "p2", 3_000, "And this", "Done.");
    step.clear_memory_due(key).unwrap();
    step.commit().unwrap();
    assert_eq!(status(&store, "s"), "active", "it was resumed");

    for (row, expected) in [
        (SessionRow { state: Some("idle".into()), ..SessionRow::default() }, "active"),
        (SessionRow { state: Some("ended".into()), ..SessionRow::default() }, "completed"),
        (
            SessionRow {
                state: Some("idle".into()),
                superseded_by: Some("t".into()),
                ..SessionRow::default()
            },
            "completed",
        ),
    ] {
        let mut step = store.step().unwrap();
        step.put_session(&SessionRow { session_id: "s".into(), ..row }).unwrap();
        step.commit().unwrap();
        assert_eq!(status(&store, "s"), expected);
    }
    assert_eq!(store.document_session("unknown").unwrap(), None);
}

#[test]
fn the_newest_rows_of_a_long_session_are_read_and_no_more() {
    let rig = Rig::new();
    let mut store = rig.open();
    let key = stored(&mut store);
    let calls = store.newest_activities(key, None, 3).unwrap();
    let ids: Vec<&str> = calls.iter().map(|call| &*call.activity.id).collect();
    assert_eq!(ids, ["c2100", "c2200", "c2300"], "the newest, in their order");
    assert!(calls.iter().all(|call| call.activity.input.is_none() && call.activity.target.is_some()));
    let turn = |most| store.newest_activities(key, Some("p2"), most).unwrap();
    let (all, newest) = (turn(u32::MAX), turn(2));
    assert!(all.len() > 2 && all.iter().all(|call| call.activity.batch.as_deref() == Some("p2")));
    assert_eq!(newest, all[all.len() - 2..], "the newest of a turn, and no more");
    let turns = store.newest_batches(key, 1).unwrap();
    assert_eq!(turns.iter().map(|turn| &*turn.batch.id).collect::<Vec<_>>(), ["p2"]);
    assert_eq!(store.newest_batches(key, 10).unwrap(), store.batches(key).unwrap());
    let all = store.batches_to_recover(key, false).unwrap();
    assert!(all.iter().all(|turn| turn.batch.prompt.is_none() && turn.batch.response.is_none()), "no texts");
    assert_eq!((all.len(), store.batches_to_recover(key, true).unwrap().len()), (2, 0), "both have ended");
    assert_eq!(store.last_sign(key).unwrap(), Some(at(5_000)), "the newest activity of the session");
}

//! Memories go with the sessions that show them, and the user's decisions stay.

use std::collections::BTreeSet;

use watchbill_core::history::Exclude;
use watchbill_core::history::rows::{Activity, Batch, BatchStatus, Ended, Role, Text};
use watchbill_core::ids::SessionId;
use watchbill_core::memory::likeness::words;
use watchbill_core::memory::{Edit, EditKind, Importance, Mark, MemoryKind, Signal, gather};
use watchbill_core::time::Timestamp;
use watchbill_store::removal::Forget;
use watchbill_store::tables::memories::ProjectPlace;
use watchbill_store::tables::said::SaidRow;
use watchbill_store::{SessionKey, Store};

use crate::rig::{Rig, forget, session};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const PROJECT: u64 = 0xfeed_feed_feed_feed;

fn place() -> ProjectPlace {
    ProjectPlace { project: PROJECT, place: "/home/dev/app/.git".into(), root: "/home/dev/app".into() }
}

fn finding(id: u64, text: &str) -> Signal {
    Signal {
        id,
        kind: MemoryKind::Correction,
        text: text.to_owned(),
        path: Some("src/log.rs".to_owned()),
        symptom: None,
        importance: Importance::High,
        suspect: false,
        batch: "b".into(),
        byte: Some(3),
        at: NOW,
        times: 1,
    }
}

/// Stores a session with these findings.
fn shows(store: &mut Store, id: &str, found: &[Signal]) -> SessionKey {
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, id);
    step.note_folder(file, "/home/dev/app").unwrap();
    step.put_evidence(key, &place(), found, None).unwrap();
    step.commit().unwrap();
    key
}

fn texts(store: &Store) -> Vec<String> {
    let (evidence, edits) = store.memories_of_project(PROJECT).unwrap();
    gather(&evidence, &edits).into_iter().map(|memory| memory.text).collect()
}

fn in_bytes(rig: &Rig, needle: &str) -> bool {
    std::fs::read_dir(rig.folder.path()).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        path.is_file() && memchr::memmem::find(&std::fs::read(path).unwrap(), needle.as_bytes()).is_some()
    })
}

#[test]
fn a_memory_goes_with_the_last_session_that_shows_it_and_leaves_no_byte() {
    let rig = Rig::new();
    let mut store = rig.open();
    shows(&mut store, "one", &[finding(1, "sharedsecret words"), finding(2, "onlysecret words")]);
    let told = shows(&mut store, "two", &[finding(1, "sharedsecret words")]);
    let mut step = store.step().unwrap();
    let said = |memory, line: &str| SaidRow {
        memory,
        source: Some("one".into()),
        answer: "a".into(),
        at: NOW,
        event: "PostToolUse".into(),
        place: Some("src/log.rs".into()),
        line: line.into(),
        printed: false,
        lost: false,
    };
    step.put_said(told, &said(2, "onlysecret line")).unwrap();
    step.note_printed("a").unwrap();
    let edit = |memory, text: &str| Edit {
        memory,
        what: EditKind::Edited,
        at: NOW,
        text: Some(text.to_owned()),
        path: None,
        mark: None,
    };
    step.put_memory_edit(PROJECT, &edit(2, "onlysecret edited")).unwrap();
    step.commit().unwrap();
    assert!(in_bytes(&rig, "onlysecret") && store.said(told).unwrap()[0].printed);
    assert_eq!(texts(&store), ["sharedsecret words", "onlysecret edited"]);
    forget(&mut store, &Forget::Session(SessionId::new("one")), NOW, &mut |_| ()).unwrap();
    assert_eq!(texts(&store), ["sharedsecret words"]);
    assert_eq!(store.said(told).unwrap(), [], "what was said to another session goes too");
    assert_eq!(store.word_frequencies(PROJECT, &words("onlysecret")).unwrap().len(), 0);
    assert!(!in_bytes(&rig, "onlysecret") && in_bytes(&rig, "sharedsecret"));
}

#[test]
fn evidence_of_a_session_is_replaced_and_the_same_evidence_changes_nothing() {
    let rig = Rig::new();
    let mut store = rig.open();
    shows(&mut store, "one", &[finding(1, "first"), finding(2, "second")]);
    let before = store.memories_of_project(PROJECT).unwrap();
    shows(&mut store, "one", &[finding(1, "first"), finding(2, "second")]);
    assert_eq!(store.memories_of_project(PROJECT).unwrap(), before);
    shows(&mut store, "one", &[finding(2, "second")]);
    assert_eq!(texts(&store), ["second"]);
}

#[test]
fn a_forgotten_memory_never_comes_back_and_a_rejected_one_stays_rejected() {
    let rig = Rig::new();
    let mut store = rig.open();
    shows(&mut store, "one", &[finding(1, "gonesecret"), finding(2, "kept")]);
    let mut step = store.step().unwrap();
    for (memory, what) in [(1, EditKind::Forgotten), (2, EditKind::Rejected)] {
        step.put_memory_edit(PROJECT, &Edit { memory, what, at: NOW, text: None, path: None, mark: None })
            .unwrap();
    }
    step.commit().unwrap();
    shows(&mut store, "two", &[finding(1, "gonesecret"), finding(2, "kept")]);
    let (evidence, edits) = store.memories_of_project(PROJECT).unwrap();
    let left = gather(&evidence, &edits);
    assert_eq!((left.len(), left[0].decision), (1, Some(EditKind::Rejected)));
    store.finish_wiping().unwrap();
    assert!(!in_bytes(&rig, "gonesecret"));
}

#[test]
fn an_ended_turn_makes_its_session_due_and_a_running_one_does_not() {
    let rig = Rig::new();
    let mut store = rig.open();
    let turn = |status| {
        let mut batch = Batch::new("b".into());
        batch.ended = Some(Ended { status, at: NOW, error: None });
        batch
    };
    let mut step = store.step().unwrap();
    let (key, file) = session(&mut step, "one");
    step.merge_batch(key, Some(file), &turn(BatchStatus::Active)).unwrap();
    step.commit().unwrap();
    assert_eq!(store.memory_due(9).unwrap(), []);
    let mut step = store.step().unwrap();
    step.merge_batch(key, Some(file), &turn(BatchStatus::Completed)).unwrap();
    step.commit().unwrap();
    assert_eq!(store.memory_due(9).unwrap(), [(key, vec!["b".into()])]);
    shows(&mut store, "one", &[]);
    assert_eq!(store.memory_due(9).unwrap(), []);
    // A call that had no turn is found to be of this one.
    let mut step = store.step().unwrap();
    step.merge_activity(key, None, &Activity::new("c".into())).unwrap();
    step.adopt_activity(key, "c", "b").unwrap();
    step.commit().unwrap();
    assert_eq!(store.memory_due(9).unwrap(), [(key, vec!["b".into()])]);
}

#[test]
fn excluding_a_path_removes_what_was_learned_in_the_session_that_names_it() {
    // Hooks alone tell of a call that no file names.
    for is_of_file in [true, false] {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, "one");
        let mut call = Activity::new("c".into());
        (call.tool, call.file) = (Some("Read".into()), Some("/srv/secret/a.rs".into()));
        step.merge_activity(key, is_of_file.then_some(file), &call).unwrap();
        step.commit().unwrap();
        shows(&mut store, "one", &[finding(1, "hiddensecret words")]);
        let rules = Exclude::new(["/srv/secret".to_owned()]);
        let selection = store.select_excluded(&rules, Default::default(), Vec::new()).unwrap();
        store.remove(&selection, NOW, &mut |_| ()).unwrap();
        assert_eq!((texts(&store), store.memory_due(9).unwrap()), (Vec::new(), vec![(key, Vec::new())]));
        assert!(!in_bytes(&rig, "hiddensecret"));
    }
}

#[test]
fn a_prompt_finds_memories_by_any_of_its_rarer_words() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut all: Vec<Signal> = (10..40).map(|n| finding(n, &format!("common talk {n}x"))).collect();
    all.push(finding(1, "common rotation of the journal"));
    shows(&mut store, "one", &all);
    let asked = words("how does the journal's rotation work in common");
    let frequencies = store.word_frequencies(PROJECT, &asked).unwrap();
    assert_eq!((frequencies["common"], frequencies["rotation"]), (31, 1), "{frequencies:?}");
    let rare: std::collections::BTreeMap<String, u64> =
        frequencies.into_iter().filter(|(_, n)| *n < 5).collect();
    assert_eq!(store.memories_with_words(PROJECT, &rare).unwrap(), BTreeSet::from([1]));
}

#[test]
fn a_memory_that_the_user_marked_names_its_record_and_goes_with_the_session() {
    let rig = Rig::new();
    let mut store = rig.open();
    let key = shows(&mut store, "one", &[]);
    let at = |ms| Timestamp::from_millis(NOW.as_millis() + ms);
    let mut step = store.step().unwrap();
    let (_, file) = session(&mut step, "one");
    let turn = Batch {
        id: "b1".into(),
        prompt: Some("why".into()),
        started_at: Some(at(0)),
        offset: Some(40),
        ..Batch::default()
    };
    step.merge_batch(key, Some(file), &turn).unwrap();
    let answer = Text {
        offset: 90,
        part: 0,
        record: None,
        at: Some(at(7)),
        role: Role::Answer,
        tool: None,
        agent: None,
        copied: false,
        text: "because",
        cut: 0,
    };
    step.add_text(file, key, &answer).unwrap();
    step.commit().unwrap();
    let one = SessionId::new("one");
    let place = |mark: Option<Mark>| mark.map(|mark| (mark.batch.to_string(), mark.byte));
    assert_eq!(place(store.mark_at(&one, at(0)).unwrap()), Some(("b1".into(), Some(40))), "the prompt");
    assert_eq!(place(store.mark_at(&one, at(7)).unwrap()), Some(("b1".into(), Some(90))), "an answer");
    assert_eq!(
        place(store.mark_at(&one, at(9)).unwrap()),
        Some(("b1".into(), None)),
        "its turn alone is known"
    );
    assert_eq!(place(store.mark_at(&one, at(-1)).unwrap()), Some((String::new(), None)), "before all turns");
    assert_eq!(store.mark_at(&SessionId::new("none"), at(0)).unwrap(), None);

    let mark = store.mark_at(&one, at(7)).unwrap();
    let edit = |memory, mark| Edit {
        memory,
        what: EditKind::Added,
        at: NOW,
        text: Some("markedsecret".to_owned()),
        path: None,
        mark,
    };
    let mut step = store.step().unwrap();
    step.put_memory_edit(PROJECT, &edit(1, mark.clone())).unwrap();
    step.put_memory_edit(PROJECT, &Edit { text: Some("typed".into()), ..edit(2, None) }).unwrap();
    step.commit().unwrap();
    let (evidence, edits) = store.memories_of_project(PROJECT).unwrap();
    assert_eq!(edits.iter().map(|edit| edit.mark.clone()).collect::<Vec<_>>(), [mark, None]);
    let sources: Vec<Option<String>> =
        gather(&evidence, &edits).into_iter().map(|memory| memory.source.map(|id| id.to_string())).collect();
    assert_eq!(sources, [Some("one".into()), None]);

    forget(&mut store, &Forget::Sessions(vec![one]), NOW, &mut |_| ()).unwrap();
    assert_eq!(texts(&store), ["typed"], "what the user typed belongs to no session");
    drop(store);
    assert!(!in_bytes(&rig, "markedsecret"));
}

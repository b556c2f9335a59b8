//! A forgotten session is gone: rows, index, archive, bytes.

use std::collections::BTreeSet;

use watchbill_core::ids::{ChainId, SessionId};
use watchbill_core::time::Timestamp;
use watchbill_store::Store;
use watchbill_store::archive::{Archive, Original};
use watchbill_store::removal::{Forget, Stage};
use watchbill_store::search::Query;
use watchbill_store::tables::archive::ArchiveRow;
use watchbill_store::tables::links::LinkRow;
use watchbill_store::tables::sessions::SessionRow;
use watchbill_store::tables::snoozed_or_put_away::SnoozeRow;

use crate::rig::{Rig, forget, prompt, session};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// Three sessions at different times. Each has its own words in every place that stores words.
fn filled(rig: &Rig) -> Store {
    let mut store = rig.open();
    for (n, name) in ["old", "middle", "young"].into_iter().enumerate() {
        let mut step = store.step().unwrap();
        let (key, file) = session(&mut step, name);
        for at in 0..50 {
            let text = format!("{name}secret{at} parse{name}Line 私{name}");
            step.add_text(file, key, &prompt(1_000 * (n as u64 + 1) + at, &text)).unwrap();
        }
        step.put_session(&SessionRow {
            session_id: name.into(),
            title: Some(format!("{name}secret title")),
            active_at: Some(Timestamp::from_millis(1_000 * (n as i64 + 1) + 50)),
            chain_id: Some(format!("chain-{name}")),
            ..SessionRow::default()
        })
        .unwrap();
        step.name_chain(&format!("chain-{name}"), Some(&format!("{name}secret chain"))).unwrap();
        step.put_link(&LinkRow {
            earlier: "old".into(),
            later: name.into(),
            reason: "clear".into(),
            confidence: "proven".into(),
            at: None,
        })
        .unwrap();
        let snoozed = SnoozeRow { session_id: name.into(), snoozed_until: Some(NOW), away: None };
        step.put_snooze(&snoozed).unwrap();
        step.put_archived(&ArchiveRow {
            path: format!("/home/dev/{name}.jsonl"),
            session_id: name.into(),
            subagent: None,
            file: format!("{name}.zst"),
            bytes: 1,
            stored: 1,
            hash: String::new(),
            mtime: NOW,
            archived_at: NOW,
            dev: 0,
            inode: 0,
        })
        .unwrap();
        step.commit().unwrap();
        std::fs::create_dir_all(store.archive_folder()).unwrap();
        std::fs::write(store.archive_folder().join(format!("{name}.zst")), "x").unwrap();
    }
    store
}

/// Whether any file of the data folder contains these bytes.
fn in_bytes(rig: &Rig, needle: &str) -> bool {
    std::fs::read_dir(rig.folder.path()).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        path.is_file() && memchr::memmem::find(&std::fs::read(path).unwrap(), needle.as_bytes()).is_some()
    })
}

fn hits(store: &Store, text: &str) -> usize {
    store.search(&Query::new(text, 100)).unwrap().hits.len()
}

#[test]
fn forgetting_many_sessions_reports_progress_and_removes_all() {
    let rig = Rig::new();
    let mut store = filled(&rig);
    let mut step = store.step().unwrap();
    for n in 0..300 {
        let (key, file) = session(&mut step, &format!("many{n}"));
        step.add_text(file, key, &prompt(500, &format!("manysecret{n}"))).unwrap();
    }
    step.commit().unwrap();
    let mut told = Vec::new();
    let what = Forget::Before(Timestamp::from_millis(1_500));
    let gone = forget(&mut store, &what, NOW, &mut |stage| told.push(stage)).unwrap();
    // One of the three is that old too.
    let all = 301;
    assert_eq!((gone.sessions.len(), gone.texts), (all, 350));
    let removing = |done| Stage::Removing { done, all };
    assert_eq!(told, [removing(0), removing(128), removing(256), Stage::Wiping]);
    assert_eq!((hits(&store, "manysecret*"), hits(&store, "middlesecret*")), (0, 50));
    assert!(store.index_is_sound().unwrap() && !in_bytes(&rig, "manysecret"));
    let left = ["many", "old", "middle", "young"].map(|begin| store.session_ids(begin, 9).unwrap().len());
    assert_eq!(left, [0, 0, 1, 1]);
}

#[test]
fn a_forgotten_session_is_gone_from_rows_index_archive_and_bytes() {
    let rig = Rig::new();
    let mut store = filled(&rig);
    assert!(in_bytes(&rig, "oldsecret"));
    let what = Forget::Session(SessionId::new("old"));
    let would = store.select_forgotten(&what).unwrap().forecast;
    assert_eq!((would.files, would.texts, would.archived.clone()), (1, 50, ["old.zst".to_owned()].into()));
    let gone = forget(&mut store, &what, NOW, &mut |_| ()).unwrap();
    assert_eq!(gone, would);
    assert_eq!((hits(&store, "oldsecret*"), hits(&store, "私old"), hits(&store, "parseoldLine")), (0, 0, 0));
    assert_eq!(hits(&store, "middlesecret*"), 50);
    assert!(store.index_is_sound().unwrap());
    assert!(!store.archive_folder().join("old.zst").exists());
    assert!(store.archive_folder().join("young.zst").exists());
    assert_eq!(store.links().unwrap(), []);
    assert_eq!(store.chain_names().unwrap().len(), 2);
    assert_eq!(store.all_set_aside().unwrap().len(), 2);
    assert_eq!(store.forgotten().unwrap(), [SessionId::new("old")]);
    for needle in ["oldsecret", "parseold", "私old"] {
        assert!(!in_bytes(&rig, needle), "{needle}");
    }
    assert!(in_bytes(&rig, "middlesecret"), "the looking finds what is there");
    assert_eq!(forget(&mut store, &what, NOW, &mut |_| ()).unwrap().sessions, BTreeSet::new());
    assert_eq!(store.remember_again(None).unwrap(), 1);
    assert_eq!(store.forgotten().unwrap(), []);
}

#[test]
fn nothing_is_removed_if_the_forgotten_list_cannot_be_written() {
    let rig = Rig::new();
    let mut store = filled(&rig);
    let in_the_way = rig.folder.path().join("watchbill.db.forgotten.new");
    std::fs::create_dir(&in_the_way).unwrap();
    let what = Forget::Session(SessionId::new("old"));
    let refused = forget(&mut store, &what, NOW, &mut |_| ()).unwrap_err();
    assert!(refused.to_string().contains("watchbill.db.forgotten.new"), "{refused}");
    let archived = store.archive_folder().join("old.zst");
    assert!(archived.exists() && hits(&store, "oldsecret*") == 50);
    std::fs::remove_dir(&in_the_way).unwrap();
    forget(&mut store, &what, NOW, &mut |_| ()).unwrap();
    assert!(!archived.exists() && hits(&store, "oldsecret*") == 0);
}

#[test]
fn all_sessions_before_a_time_are_forgotten() {
    let rig = Rig::new();
    let mut store = filled(&rig);
    let gone = forget(&mut store, &Forget::Before(Timestamp::from_millis(2_500)), NOW, &mut |_| ()).unwrap();
    assert_eq!((gone.sessions, gone.texts), (["middle", "old"].map(str::to_owned).into(), 100));
    assert!(!in_bytes(&rig, "oldsecret") && !in_bytes(&rig, "middlesecret"));
    assert_eq!(hits(&store, "youngsecret*"), 50);
}

#[test]
fn a_reader_delays_wiping_to_the_next_start() {
    let rig = Rig::new();
    let mut store = filled(&rig);
    let reader = rusqlite::Connection::open(store.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM texts").unwrap();
    reader.query_row("SELECT count(*) FROM texts", [], |row| row.get::<_, i64>(0)).unwrap();
    let gone = forget(&mut store, &Forget::Session(SessionId::new("old")), NOW, &mut |_| ()).unwrap();
    assert!(gone.wiped_later);
    assert_eq!(hits(&store, "oldsecret*"), 0, "no query finds it");
    assert!(in_bytes(&rig, "oldsecret"));
    drop(reader);
    drop(store);
    // Opening a store does not wipe, because that takes seconds. A caller with time does it.
    let mut store = rig.open();
    assert!(store.is_wiping_due().unwrap());
    store.finish_wiping().unwrap();
    assert!(!store.is_wiping_due().unwrap() && !in_bytes(&rig, "oldsecret"));
}

/// A session in a chain, linked to others by its transcript or by the user.
fn in_chain(step: &mut watchbill_store::WriteTransaction<'_>, id: &str, chain: &ChainId) {
    let row = SessionRow {
        session_id: id.into(),
        chain_id: Some(chain.to_string()),
        active_at: Some(NOW),
        ..SessionRow::default()
    };
    step.put_session(&row).unwrap();
}

#[test]
fn a_chain_name_goes_with_the_session_that_was_named() {
    let begun = |id: &str| ChainId::derive(&SessionId::new(id));
    // The forgotten sessions, the link between the later and the earlier session, and the names that stay.
    let table: [(&[&str], &str, &[&str]); 7] = [
        (&["late"], "manual", &["name of early"]),
        (&["late"], "clear", &["name of early"]),
        (&["early"], "manual", &["name of late"]),
        (&["early"], "clear", &["name of early", "name of late"]),
        (&["early", "late"], "manual", &[]),
        (&["early", "late"], "clear", &[]),
        (&["elsewhere"], "manual", &["name of early", "name of late"]),
    ];
    for (gone, reason, stay) in table {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut step = store.step().unwrap();
        // Both were named before they were linked. From then on both are in the chain of the earlier one.
        for id in ["early", "late"] {
            in_chain(&mut step, id, &begun("early"));
            step.name_chain(begun(id).as_str(), Some(&format!("name of {id}"))).unwrap();
        }
        in_chain(&mut step, "elsewhere", &begun("elsewhere"));
        let (earlier, later) = ("early".into(), "late".into());
        let confidence = "proven".into();
        step.put_link(&LinkRow { earlier, later, reason: reason.into(), confidence, at: Some(NOW) }).unwrap();
        step.commit().unwrap();
        let what = Forget::Sessions(gone.iter().map(|id| SessionId::new(id)).collect());
        forget(&mut store, &what, NOW, &mut |_| ()).unwrap();
        let mut names: Vec<String> = store.chain_names().unwrap().into_iter().map(|(_, name)| name).collect();
        names.sort();
        assert_eq!(names, stay, "{gone:?} {reason}");
        for id in gone {
            let is_named = stay.contains(&&*format!("name of {id}"));
            assert_eq!(in_bytes(&rig, &format!("name of {id}")), is_named, "{gone:?} {reason}");
        }
    }
}

#[test]
fn the_forecast_of_a_removal_is_right_even_for_archive_files_without_rows() {
    let pack = |rig: &Rig, id: &str, days: i64| {
        let path = format!("/home/dev/.claude/projects/p/{id}.jsonl");
        let mtime = Timestamp::from_millis(days * 86_400_000);
        let original =
            Original { path: &path, session_id: id, subagent: None, mtime, id: (7, 8), meta: None };
        let mut bytes = std::io::Cursor::new(format!("{{\"text\":\"{id}secret\"}}\n").into_bytes());
        Archive::new(rig.folder.path()).pack(&original, &mut bytes, None, 3, NOW).unwrap().row
    };
    for what in [
        Forget::Session(SessionId::new("alone")),
        Forget::Session(SessionId::new("old")),
        Forget::Sessions(vec![SessionId::new("alone"), SessionId::new("old")]),
        Forget::Before(Timestamp::from_millis(2 * 86_400_000)),
    ] {
        let rig = Rig::new();
        let mut store = filled(&rig);
        // The first start examines the archive. These files came later, as a kill leaves them.
        for (id, days) in [("alone", 1), ("old", 1), ("young-alone", 5)] {
            pack(&rig, id, days);
        }
        let reader = store.reader().unwrap();
        let would = reader.select_forgotten(&what).unwrap().forecast;
        drop(reader);
        assert!(would.archived.iter().any(|file| file.ends_with(".0.jsonl.zst")), "{what:?}: {would:?}");
        assert_eq!(forget(&mut store, &what, NOW, &mut |_| ()).unwrap(), would, "{what:?}");
        let told = store.session_ids_of_strays("").unwrap().len() + store.all_archived().unwrap().len();
        assert_eq!(told, std::fs::read_dir(store.archive_folder()).unwrap().count(), "{what:?}");
    }
}

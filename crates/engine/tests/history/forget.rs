//! A forgotten session is in no byte of the data folder. Only its id stays: in the list of ids not to be stored
//! again, and in a copy of that list. A damaged list does not let the session back in.

use std::path::{Path, PathBuf};

use watchbill_core::chain::lineage::Marker;
use watchbill_core::ids::SessionId;
use watchbill_core::session::snapshot::to_bytes;
use watchbill_core::time::Timestamp;
use watchbill_engine::alone::forget::{ForgetWhat, forget};
use watchbill_engine::alone::index::{Options, run};
use watchbill_engine::handle::{real_sources, start};
use watchbill_engine::persist::changes::SeenFacts;
use watchbill_hooks::envelope::Envelope;
use watchbill_hooks::places::HookPaths;
use watchbill_hooks::{Options as ReceiverOptions, Receiver, spool};
use watchbill_settings::Settings;
use watchbill_store::search::Query;
use watchbill_store::tables::snoozed_or_put_away::SnoozeRow;
use watchbill_store::{OpenMode, Store};

use crate::thread::released;
use crate::wait::until;

const GONE: &str = "0a0a0a0a-0000-4000-8000-000000000001";
const STAYS: &str = "0b0b0b0b-0000-4000-8000-000000000002";
const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn write(root: &Path, session: &str, word: &str) {
    let project = root.join("claude/projects").join(word);
    std::fs::create_dir_all(&project).unwrap();
    let line = format!(
        r#"{{"type":"user","uuid":"{session}","sessionId":"{session}","cwd":"/home/dev/{word}","timestamp":"2026-10-01T15:00:00.000Z","message":{{"content":"{word} words"}}}}"#
    );
    let title = format!(r#"{{"type":"custom-title","customTitle":"{word} title","sessionId":"{session}"}}"#);
    std::fs::write(project.join(format!("{session}.jsonl")), format!("{line}\n{title}\n")).unwrap();
}

/// A name, a snooze and a hook event of one session.
fn fill(data: &Path, session: &str, word: &str) {
    let mut store = Store::open(data, OpenMode::WriteOrRead).unwrap();
    let key = store.session_key(&SessionId::new(session)).unwrap().unwrap();
    let mut chain = None;
    store
        .sessions(&mut |other, row| {
            if other == key {
                chain = row.chain_id;
            }
        })
        .unwrap();
    let mut step = store.step().unwrap();
    step.name_chain(&chain.unwrap(), Some(&format!("{word} name"))).unwrap();
    step.note_hook_folder(key, &format!("/home/dev/{word}/named-by-hook")).unwrap();
    step.put_snooze(&SnoozeRow { session_id: session.into(), snoozed_until: Some(NOW), away: None }).unwrap();
    step.commit().unwrap();
    let payload = format!(
        r#"{{"session_id":"{session}","hook_event_name":"UserPromptSubmit","prompt":"{word} prompt"}}"#
    );
    let id = u128::from(session.as_bytes()[1]);
    let at = watchbill_platform::clock::wall();
    let event = Envelope::new(id, at, 1);
    spool::write(&HookPaths::new(data).spool(), &event, &event.encode(payload.as_bytes())).unwrap();
}

/// The files below a folder that contain a word, each as often as the word occurs.
fn found(folder: &Path, word: &str) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            all.extend(found(&path, word));
        } else if let Ok(bytes) = std::fs::read(&path) {
            let times = bytes.windows(word.len()).filter(|piece| *piece == word.as_bytes()).count();
            all.extend(std::iter::repeat_n(path, times));
        }
    }
    all
}

/// Each session with the word in its transcript.
const TWO: [(&str, &str); 2] = [(GONE, "goneword"), (STAYS, "staysword")];

/// A store with two sessions, and its data folder.
fn two_stored(folder: &tempfile::TempDir) -> (Settings, std::path::PathBuf) {
    let root = folder.path().canonicalize().unwrap();
    let mut settings = Settings::for_roots(vec![root.join("claude")]);
    let data = root.join("data");
    settings.data_dir = Some(data.clone());
    TWO.iter().for_each(|(session, word)| write(&root, session, word));
    run(&settings, &real_sources(), Options::default(), &mut |_| true).unwrap();
    (settings, data)
}

#[test]
fn only_the_id_of_a_forgotten_session_stays_also_while_a_receiver_listens() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, data) = two_stored(&folder);
    TWO.iter().for_each(|(session, word)| fill(&data, session, word));
    let marker = |session: &str, word: &str| {
        let marker = Marker {
            session: SessionId::new(session),
            cwd: format!("/home/dev/{word}").into(),
            compacted_at: NOW,
        };
        (format!("/home/dev/{word}/compacted.{session}.marker"), vec![marker])
    };
    let beside = |of: &str, other: &str| (SessionId::new(of), [(SessionId::new(other), true)].into());
    let facts = SeenFacts {
        moves: Vec::new(),
        markers: vec![marker(GONE, "goneword"), marker(STAYS, "staysword")],
        neighbours: [beside(GONE, STAYS), beside(STAYS, GONE), beside("another", STAYS)].into(),
    };
    let mut store = Store::open(&data, OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    step.put_fact("facts", &to_bytes(&facts)).unwrap();
    step.commit().unwrap();
    drop(store);
    // The receiver moves events from the spool into the journal, and goes on listening.
    let (told, heard) = std::sync::mpsc::channel();
    let receiver =
        Receiver::open_at(HookPaths::without_spares(&data), ReceiverOptions::default(), move |event| {
            let _ = told.send(event.origin.id);
        })
        .unwrap();
    for _ in 0..2 {
        heard.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    }
    assert!(found(&data, "goneword").len() > 5, "{:?}", found(&data, "goneword"));
    assert!(
        found(&data, GONE).iter().any(|path| path.ends_with("hooks/journal")),
        "{:?}",
        found(&data, GONE)
    );

    let report =
        forget(&settings, &ForgetWhat::Sessions(vec![GONE.to_owned()]), false, NOW, &mut |_| ()).unwrap();
    assert_eq!((report.sessions.len(), report.wiped_later), (1, false));
    assert_eq!(found(&data, "goneword"), Vec::<PathBuf>::new());
    let mut named = found(&data, GONE);
    named.sort();
    assert_eq!(named, [data.join("watchbill.db"), data.join("watchbill.db.forgotten")]);
    assert!(found(&data, "staysword").len() > 5, "{:?}", found(&data, "staysword"));
    let store = Store::open(&data, OpenMode::Read).unwrap();
    let kept: SeenFacts =
        watchbill_core::session::snapshot::from_bytes(&store.fact("facts").unwrap().unwrap()).unwrap();
    assert_eq!(kept.markers, [marker(STAYS, "staysword")]);
    assert_eq!(kept.neighbours, [beside("another", STAYS)].into());
    drop(receiver);
}

#[test]
fn a_session_stays_forgotten_when_the_list_of_forgotten_ids_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let (settings, data) = two_stored(&folder);
    forget(&settings, &ForgetWhat::Sessions(vec![GONE.to_owned()]), false, NOW, &mut |_| ()).unwrap();
    // Damages only the letters of the id, which SQLite does not check; everything else is whole.
    let database = data.join("watchbill.db");
    let mut bytes = std::fs::read(&database).unwrap();
    let at = bytes.windows(GONE.len()).position(|piece| piece == GONE.as_bytes()).unwrap();
    bytes[at..at + GONE.len()].fill(0xff);
    std::fs::write(&database, bytes).unwrap();
    assert!(Store::open(&data, OpenMode::Read).unwrap().forgotten().is_err());

    let engine = start(settings).unwrap();
    let is_found =
        |store: &Store| store.search(&Query::new("staysword", 9)).is_ok_and(|found| !found.hits.is_empty());
    let is_new = |store: &Store| store.forgotten().is_ok();
    until("what may be stored to be", || {
        Store::open(&data, OpenMode::Read).is_ok_and(|store| is_new(&store) && is_found(&store))
    });
    let more =
        r#"{"type":"custom-title","customTitle":"goneword again","sessionId":"GONE"}"#.replace("GONE", GONE);
    let path =
        folder.path().canonicalize().unwrap().join("claude/projects/goneword").join(format!("{GONE}.jsonl"));
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{more}\n")).unwrap();
    let shown = || engine.roster(true).unwrap().sessions;
    until("it to be shown, as everything that is there", || {
        shown().iter().any(|row| row.title.as_deref() == Some("goneword again"))
    });
    engine.stop();
    drop(engine);
    released(&data);
    assert_eq!(found(&data, "goneword"), Vec::<PathBuf>::new());
    let store = Store::open(&data, OpenMode::Read).unwrap();
    assert_eq!(store.forgotten().unwrap(), [SessionId::new(GONE)]);
    assert!(store.session_key(&SessionId::new(STAYS)).unwrap().is_some());
}

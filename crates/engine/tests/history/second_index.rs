//! A second index stores of sessions that are new, and of those that have gone on, what a first one would have stored.

use std::path::Path;

use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;
use watchbill_engine::index::{Indexed, Options, run};
use watchbill_store::{Mode, Store};

use crate::schemas::{SESSION, TRANSCRIPT, house, rows};

#[test]
fn a_second_index_equals_a_first_one() {
    let folder = tempfile::tempdir().unwrap();
    let (twice, once) = (folder.path().join("twice"), folder.path().join("once"));
    let (mut settings, world, fs) = house(&twice);
    // What is known must have a row at once, whenever this runs: a session at rest gets its row later.
    settings.recent = Millis::from_secs(100 * 365 * 24 * 3600);
    run(&settings, &world, Options::default(), &mut |_| true).unwrap();

    let other = SESSION.replace("0a000000", "0c000000");
    let path = Path::new("/home/dev/.claude/projects/-home-dev-work").join(format!("{other}.jsonl"));
    let text = TRANSCRIPT.replace(SESSION, &other).replace("\"u", "\"w").replace("\"id\":\"m", "\"id\":\"n");
    fs.append(path, text.as_bytes());
    run(&settings, &world, Options::default(), &mut |_| true).unwrap();

    let mut fresh = settings;
    fresh.data_dir = Some(once.clone());
    run(&fresh, &world, Options::default(), &mut |_| true).unwrap();
    let wanted = rows(&Store::open(&once, Mode::Read).unwrap());
    let titled =
        |rows: &[String]| rows.iter().filter(|row| row.starts_with(&other)).cloned().collect::<Vec<_>>();
    assert!(titled(&wanted).iter().any(|row| row.contains("/home/dev/work")), "{wanted:#?}");
    let mut got = rows(&Store::open(&twice, Mode::Read).unwrap());
    let mut wanted = wanted;
    // The second one met the files in another order.
    got.sort();
    wanted.sort();
    assert_eq!(got, wanted);
}

#[test]
fn an_index_that_was_ended_before_it_made_rows_leaves_them_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let (twice, once) = (folder.path().join("twice"), folder.path().join("once"));
    // All of it is long ago: such sessions rest from a start on, unless they have no rows yet.
    let (settings, world, fs) = house(&twice);
    for digit in ["c", "d"] {
        let other = SESSION.replace("0a000000", &format!("0{digit}000000"));
        let path = Path::new("/home/dev/.claude/projects/-home-dev-work").join(format!("{other}.jsonl"));
        let uuids = TRANSCRIPT.replace("\"u", &format!("\"{digit}"));
        let text = uuids.replace(SESSION, &other).replace("\"id\":\"m", &format!("\"id\":\"{digit}"));
        fs.append(path, text.as_bytes());
    }
    let mut files = 0;
    let ended = run(&settings, &world, Options::default(), &mut |_| {
        files += 1;
        files < 3
    });
    assert!(matches!(ended, Ok(Indexed::Here(report)) if report.interrupted));
    let without_rows = |data: &Path| Store::open(data, Mode::Read).unwrap().without_rows().unwrap();
    assert!(without_rows(&twice).is_some_and(|sessions| sessions.len() >= 2), "{:?}", without_rows(&twice));

    run(&settings, &world, Options::default(), &mut |_| true).unwrap();
    assert_eq!(without_rows(&twice), None);
    let mut fresh = settings;
    fresh.data_dir = Some(once.clone());
    run(&fresh, &world, Options::default(), &mut |_| true).unwrap();
    let sorted = |data: &Path| {
        let mut rows = rows(&Store::open(data, Mode::Read).unwrap());
        rows.sort();
        rows
    };
    assert_eq!(sorted(&twice), sorted(&once));
}

#[test]
fn of_more_sessions_than_get_their_rows_at_once_all_get_them_and_none_is_news() {
    const SESSIONS: usize = 4_200;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, fs) = house(&data);
    for n in 0..SESSIONS {
        let id = format!("0e000000-0000-4000-8000-{n:012}");
        let path = Path::new("/home/dev/.claude/projects/-home-dev-many").join(format!("{id}.jsonl"));
        let line = format!(
            r#"{{"type":"user","uuid":"{n}","sessionId":"{id}","cwd":"/home/dev/many","timestamp":"2026-11-20T15:00:00.000Z","message":{{"content":"asked {n}"}}}}"#
        );
        fs.append(path, format!("{line}\n").as_bytes());
    }
    run(&settings, &world, Options::default(), &mut |_| true).unwrap();
    let store = Store::open(&data, Mode::Read).unwrap();
    let (mut titled, mut transitions) = (0, 0);
    store
        .sessions(&mut |key, row| {
            titled += usize::from(row.title.is_some_and(|title| title.starts_with("asked ")));
            transitions += store.transitions(key, 9).unwrap().len();
        })
        .unwrap();
    assert_eq!((titled, transitions, store.without_rows().unwrap()), (SESSIONS, 0, None));
}

#[test]
fn a_session_at_rest_whose_work_goes_on_in_a_new_one_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let (settings, world, fs) = house(&data);
    run(&settings, &world, Options::default(), &mut |_| true).unwrap();
    // Long ago its process has gone on in another session, of which nothing was known.
    let other = SESSION.replace("0a000000", "0c000000");
    let path = Path::new("/home/dev/.claude/projects/-home-dev-work").join(format!("{other}.jsonl"));
    let own = format!(r#""sessionId":"{SESSION}""#);
    let text = TRANSCRIPT.replace(&own, &format!(r#""session_id":"{SESSION}","sessionId":"{other}""#));
    let text = text.replace("\"u", "\"w").replace("\"id\":\"m", "\"id\":\"n").replace("T15:", "T16:");
    fs.append(path, text.as_bytes());
    run(&settings, &world, Options::default(), &mut |_| true).unwrap();
    let store = Store::open(&data, Mode::Read).unwrap();
    let row = |id: &str| {
        let key = store.session_key(&SessionId::new(id)).unwrap().unwrap();
        store.session_of(key).unwrap().unwrap()
    };
    assert_eq!(row(SESSION).superseded_by.as_deref(), Some(&*other));
    assert_eq!(row(SESSION).chain_id, row(&other).chain_id);
}

//! A walk lists all sessions without showing the lines of any. Only a reading does that.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::{Agent, Root};
use watchbill_core::time::Millis;
use watchbill_engine::alone::single_look::{look, look_at_recent};
use watchbill_engine::clock::{Clock, ManualClock};
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::world::archive::with_archive;
use watchbill_history::database_fs::DatabaseFs;
use watchbill_settings::Settings;
use watchbill_watch::fs::{FileStat, Fs, StdFs};
use watchbill_watch::process::FakeProcesses;
use watchbill_watch::tail::Tail;

use crate::house::{House, play};

/// The transcripts of the played session, and of one that was over two days before and has a subagent.
fn house() -> House {
    let house = play("01-approve-deny", true, |_, _, _| {});
    let then = (house.now - Millis::from_secs(2 * 24 * 3600)).as_millis();
    for (id, parent) in [("ses_old", "NULL"), ("ses_child", "'ses_old'")] {
        let rows = format!(
            "INSERT INTO session (id, parent_id, directory, title, version, time_created, time_updated)
                VALUES ('{id}', {parent}, '/o', 'Old', '1', {then}, {then});
             INSERT INTO message VALUES ('msg_{id}', '{id}', {then}, {then}, '{{\"role\": \"user\"}}');
             INSERT INTO part VALUES ('prt_{id}', 'msg_{id}', '{id}', {then}, {then}, '{{\"type\": \"text\", \"text\": \"go\"}}');"
        );
        house.sql.execute_batch(&rows).unwrap();
    }
    house
}

fn walk(fs: &dyn Fs, house: &House) -> Vec<(PathBuf, FileStat)> {
    let walk = fs.walk(&house.root().join("opencode.db"), &mut |_, _| true.into());
    assert!(walk.problems.is_empty(), "{:?}", walk.problems);
    walk.files
}

fn read(fs: &DatabaseFs, path: &Path) -> (Tail, Vec<u8>) {
    let (mut tail, mut bytes) = (Tail::default(), Vec::new());
    tail.read(fs, path, &mut Vec::new(), u64::MAX, &mut || (), &mut |_, new| bytes.extend(new)).unwrap();
    (tail, bytes)
}

#[test]
fn a_walk_asks_for_no_part_and_a_reading_tells_the_length() {
    let house = house();
    let fs = DatabaseFs::over(Arc::new(StdFs), None);
    house.sql.execute("ALTER TABLE part RENAME TO hidden", []).unwrap();
    let listed = walk(&fs, &house);
    assert_eq!(listed.len(), 3);
    house.sql.execute("ALTER TABLE hidden RENAME TO part", []).unwrap();
    for (path, _) in &listed {
        let (mut tail, bytes) = read(&fs, path);
        assert!(bytes.ends_with(b"\n"), "{}", path.display());
        let known = fs.stat(path).unwrap();
        assert_eq!(known.len, bytes.len() as u64);
        let again = tail.read(
            &fs,
            path,
            &mut Vec::new(),
            u64::MAX,
            &mut || panic!("it was not rewritten"),
            &mut |_, _| panic!("nothing is new"),
        );
        assert_eq!(again.unwrap().bytes_read, 0);
    }
    let known: Vec<FileStat> = listed.iter().map(|(path, _)| fs.stat(path).unwrap()).collect();
    assert_eq!(walk(&fs, &house).into_iter().map(|(_, stat)| stat).collect::<Vec<_>>(), known);
}

#[test]
fn a_look_at_recent_sessions_reads_no_old_one_and_counts_it() {
    let house = house();
    let looked = |look: fn(Settings, Sources, Outlook, &dyn Clock) -> Engine| {
        let settings = Settings::for_roots(vec![Root::new(Agent::Opencode, house.root())]);
        let processes = Arc::new(FakeProcesses::new());
        let world = with_archive(Sources { fs: Arc::new(StdFs), processes }, &settings);
        let before = walk(&*world.fs, &house);
        let engine = look(settings, world.clone(), Outlook::LIVE, &ManualClock::new(house.now));
        let after = walk(&*world.fs, &house);
        (engine, before.iter().zip(&after).filter(|(before, after)| before == after).count())
    };
    let ((all, unread_of_all), (recent, unread)) = (looked(look), looked(look_at_recent));
    assert_eq!((unread_of_all, unread), (0, 2));
    let shown = |engine: &Engine| {
        let rows = engine.current(false).rows.iter().map(|row| row.session().session_id.clone());
        (rows.collect::<Vec<_>>(), engine.count_all())
    };
    assert_eq!(shown(&recent), shown(&all));
    assert_eq!((shown(&all).0.len(), all.count_all()), (1, 2));
}

//! Stored state over a restart: how little is read again, and facts that no file holds any more.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use watchbill_core::attention::AttentionEvent;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;
use watchbill_engine::engine::StoredStates;
use watchbill_engine::input::{Input, Output};
use watchbill_engine::persist::Persist;
use watchbill_history::SharedStore;
use watchbill_store::tables::engine_states::StateRow;
use watchbill_store::{OpenMode, Store};

use crate::house::{House, agent, registry_file, transcript};
use crate::records::{SessionWriter, marker, registry, session};

/// A house with a store, and a session of some records with a subagent.
fn house_with_store() -> (House, SessionWriter) {
    let mut house = House::new();
    house.attach_store();
    let author = SessionWriter::new(&session(1), "/repo");
    for n in 1..40 {
        let at = house.now;
        let text = if n % 2 == 1 { author.prompt(n, at) } else { author.answer(n, at) };
        house.append(&author, &text);
    }
    let text = author.answer(100, house.now);
    house.stage.fs.append(agent("p", &author.session, "a1"), text.as_bytes());
    house.catch_up();
    (house, author)
}

#[test]
fn a_restart_without_changes_reads_nothing() {
    let (mut house, author) = house_with_store();
    house.wait(Millis::from_secs(5));
    let before = house.all().sessions;
    house.reboot();
    assert_eq!(house.all().sessions, before, "the rows are there before anything is looked at");
    assert!(house.all().reading, "and it is said that they may be old");
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    assert_eq!((house.engine.work().bytes, house.engine.work().records), (0, 0));
    assert_eq!(house.all().sessions, before);
    assert_eq!(house.tokens(&author), 200, "and the tokens of both files count once");
}

#[test]
fn only_the_new_bytes_of_a_grown_file_are_read() {
    let (mut house, author) = house_with_store();
    let line = author.prompt(200, house.now);
    house.append(&author, &line[..30]);
    house.catch_up();
    house.wait(Millis::from_secs(3_600));
    house.reboot();
    house.append(&author, &line[30..]);
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    let work = house.engine.work();
    assert_eq!((work.bytes, work.records), (line.len() as u64, 1), "the unfinished line from its beginning");
    // Copied records are recognised again.
    let copied = house.stage.fs.bytes(transcript("p", &author.session)).unwrap();
    house.stage.fs.append(transcript("p", &author.session), &copied);
    let tokens = house.tokens(&author);
    house.look_again();
    assert_eq!(house.tokens(&author), tokens);
    assert_eq!(
        house.engine.main_file(&SessionId::new(&author.session)).unwrap().1.main().unwrap().record_count(),
        40
    );
}

/// Whether the engine has the record ids of the session in memory.
fn has_record_ids(house: &House, author: &SessionWriter) -> bool {
    !house.engine.main_file(&SessionId::new(&author.session)).unwrap().1.is_evicted()
}

#[test]
fn a_quiet_sessions_record_ids_are_evicted_until_it_is_written_again() {
    let (mut house, author) = house_with_store();
    assert!(has_record_ids(&house, &author));
    let others: Vec<SessionWriter> = (2..9).map(|n| SessionWriter::new(&session(n), "/repo")).collect();
    for round in 0..20 {
        house.wait(Millis::from_secs(5));
        for other in &others {
            let text = other.prompt(1_000 + round, house.now);
            house.append(other, &text);
            house.catch_up();
        }
    }
    assert!(!has_record_ids(&house, &author), "others write, and it has been quiet for a minute and a half");
    assert!(others.iter().all(|other| has_record_ids(&house, other)));
    // Its client writes again, and copies the earlier records.
    let copied = house.stage.fs.bytes(transcript("p", &author.session)).unwrap();
    let line = author.answer(300, house.now);
    let (before, tokens) = (house.engine.work().bytes, house.tokens(&author));
    house.stage.fs.append(transcript("p", &author.session), &copied);
    house.append(&author, &line);
    house.catch_up();
    assert_eq!(
        house.engine.work().bytes - before,
        (copied.len() + line.len()) as u64,
        "only what is new is read"
    );
    assert!(has_record_ids(&house, &author));
    assert_eq!(house.tokens(&author) - tokens, 10, "and of that only what was not there before counts");
    let cold = house.cold().current(true).rows.iter().map(|row| row.session()).collect::<Vec<_>>();
    assert_eq!(house.all().sessions, cold);
}

#[test]
fn the_origin_that_a_fork_was_compared_with_is_evicted_too() {
    let (mut house, author) = house_with_store();
    let (fork, other) = (SessionWriter::new(&session(9), "/repo"), SessionWriter::new(&session(2), "/repo"));
    let history = house.stage.fs.bytes(transcript("p", &author.session)).unwrap();
    house.append(&fork, &fork.fork(&author, &String::from_utf8(history).unwrap()));
    house.catch_up();
    let mut record = 2_000;
    let mut others_write = |house: &mut House| {
        for _ in 0..20 {
            record += 1;
            house.wait(Millis::from_secs(5));
            house.append(&other, &other.prompt(record, house.now));
            house.catch_up();
        }
    };
    others_write(&mut house);
    assert!(!has_record_ids(&house, &author) && !has_record_ids(&house, &fork));
    house.append(&fork, &fork.answer(3_000, house.now));
    house.catch_up();
    assert!(has_record_ids(&house, &author), "its requests are compared with the fork's");
    others_write(&mut house);
    assert!(!has_record_ids(&house, &fork));
    assert!(!has_record_ids(&house, &author), "no record was added to it");
}

/// Counts how often the engine asks the store for evicted data.
struct CountingRecall(Arc<SharedStore>, AtomicUsize);

impl StoredStates for CountingRecall {
    fn recall(&self, path: &Path) -> Option<StateRow> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.recall(path)
    }
}

#[test]
fn a_worker_sharing_requests_with_a_busy_session_is_not_restored_at_each_record() {
    let (mut house, author) = house_with_store();
    let history = house.stage.fs.bytes(transcript("p", &author.session)).unwrap();
    house.stage.fs.append(agent("p", &author.session, "acompact-1"), &history);
    house.catch_up();
    let tokens = house.tokens(&author);
    let counted =
        Arc::new(CountingRecall(house.memory.as_ref().unwrap().persist.shared_store(), AtomicUsize::new(0)));
    house.engine.set_recall(Arc::clone(&counted) as Arc<dyn StoredStates>);
    house.wait(Millis::from_secs(3_600));
    let begun = house.now;
    for n in 0..60 {
        house.wait(Millis::from_secs(1));
        let line = author.answer(500 + n, house.now);
        house.append(&author, &line);
        house.catch_up();
    }
    assert_eq!(house.tokens(&author), tokens + 600, "the worker's requests are its session's own");
    let spent = house.now.since(begun);
    let times = counted.1.load(Ordering::Relaxed);
    assert!((1..=6).contains(&times), "{times} times in {spent:?}, of two files");
}

#[test]
fn needs_that_arose_while_the_program_was_down_raise_no_alert() {
    let (mut house, author) = house_with_store();
    house.stage.hints.take();
    house.append(&author, &author.call(300, house.now));
    house.now = house.now + Millis::from_secs(60);
    let from = house.out.len();
    house.reboot();
    house.step(Input::ScanEnded(Vec::new()));
    let told = |out: &[Output]| {
        out.iter().filter(|out| matches!(out, Output::Attention(AttentionEvent::Raised { .. }))).count()
    };
    assert_eq!(told(&house.out[from..]), 0);
    house.look_again();
    let cold = house.cold().current(true).rows.iter().map(|row| row.session()).collect::<Vec<_>>();
    assert_eq!(house.all().sessions, cold);
}

#[test]
fn a_registry_move_is_remembered_after_its_file_is_gone() {
    let mut house = House::new();
    house.attach_store();
    let (before, after) =
        (SessionWriter::new(&session(1), "/repo"), SessionWriter::new(&session(2), "/repo"));
    let at = house.now;
    house.run(7, "1");
    for (n, author) in [(1, &before), (3, &after)] {
        house.append(author, &(author.prompt(n, at) + &author.answer(n + 1, at)));
        house.stage.fs.write(registry_file(7), registry(7, "1", author, "idle", at, at).as_bytes());
        house.catch_up();
    }
    let chains = |house: &House| -> Vec<String> {
        house.engine.chains().iter().map(|chain| format!("{chain:?}")).collect()
    };
    let linked = chains(&house);
    assert_eq!(house.row(&before).work_chain_id, house.row(&after).work_chain_id);
    house.kill(7, "1");
    house.stage.fs.remove(registry_file(7));
    house.look_again();
    house.reboot();
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    assert_eq!(chains(&house), linked, "the move of a process that is gone");
}

#[test]
fn a_removed_marker_still_supersedes() {
    let mut house = House::new();
    house.attach_store();
    let (old, new) = (SessionWriter::new(&session(1), "/repo"), SessionWriter::new(&session(2), "/repo"));
    house.append(&old, &(old.prompt(1, house.now) + &old.answer(2, house.now)));
    house.catch_up();
    house.wait(Millis::from_secs(20));
    let path = format!("/repo/.claude/compacted.{}.marker", new.session);
    house.stage.fs.write(&path, marker(&new.session, "/repo", house.now).as_bytes());
    house.append(&new, &(new.prompt(3, house.now) + &new.answer(4, house.now)));
    house.catch_up();
    house.look_again();
    let superseded = house.row(&old).superseded;
    assert!(superseded.is_some(), "the marker counts");
    house.stage.fs.remove(&path);
    house.look_again();
    house.reboot();
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    assert_eq!(house.row(&old).superseded, superseded);

    // It goes on: then it is a head again, in the same chain.
    let chain = house.row(&new).work_chain_id;
    house.wait(Millis::from_secs(300));
    house.append(&old, &(old.prompt(5, house.now) + &old.answer(6, house.now)));
    house.catch_up();
    let heads = |house: &House| (house.row(&old).superseded, house.row(&new).work_chain_id);
    assert_eq!(heads(&house), (None, chain.clone()));
    house.reboot();
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    assert_eq!(heads(&house), (None, chain));
}

#[test]
fn a_sibling_whose_process_ends_after_a_compaction_takes_no_ones_place() {
    let mut house = House::new();
    house.attach_store();
    let [old, new, sibling] = [1, 2, 3].map(|n| SessionWriter::new(&session(n), "/repo"));
    let say = |house: &mut House, author: &SessionWriter| {
        let n = house.number();
        house.append(author, &(author.prompt(n, house.now) + &author.answer(n + 1000, house.now)));
        house.catch_up();
    };
    house.run(7, "1");
    let text = registry(7, "1", &sibling, "idle", house.now, house.now);
    house.stage.fs.write(registry_file(7), text.as_bytes());
    say(&mut house, &old);
    house.wait(Millis::from_secs(20));
    say(&mut house, &sibling);
    house.wait(Millis::from_secs(20));
    let path = format!("/repo/.claude/compacted.{}.marker", new.session);
    house.stage.fs.write(&path, marker(&new.session, "/repo", house.now).as_bytes());
    say(&mut house, &new);
    house.look_again();
    let restart = |house: &mut House| {
        house.reboot();
        house.step(Input::ScanEnded(Vec::new()));
        house.look_again();
    };
    let told = |house: &House| {
        let row = |author| house.row(author);
        (row(&old).superseded_by, row(&sibling).superseded_by, row(&new).work_chain_id)
    };
    let chain = house.row(&old).work_chain_id;
    assert_eq!(told(&house), (Some(new.session.clone()), None, chain.clone()));
    house.kill(7, "1");
    house.stage.fs.remove(registry_file(7));
    for step in 0..4 {
        house.look_again();
        assert_eq!(told(&house), (Some(new.session.clone()), None, chain.clone()), "{step}");
        house.wait(Millis::from_secs(300));
        match step {
            1 => say(&mut house, &sibling),
            _ => restart(&mut house),
        }
    }
    say(&mut house, &old);
    for _ in 0..2 {
        assert_eq!(told(&house), (None, None, chain.clone()), "it goes on, and both are heads");
        assert_eq!(house.row(&old).work_chain_id, chain);
        restart(&mut house);
    }
}

#[test]
fn a_second_program_reads_and_takes_over_when_the_first_has_ended() {
    let (mut house, author) = house_with_store();
    let folder = house.memory.as_ref().unwrap().folder.path().to_path_buf();
    let mut second = House::on(house.stage.clone());
    second.now = house.now;
    let mut persist = Persist::open(&folder, OpenMode::WriteOrRead);
    assert!(!persist.writes());
    assert_eq!(persist.load(&mut second.engine), 2);
    second.step(Input::ScanEnded(Vec::new()));
    assert_eq!(second.find(&author), house.find(&author));
    persist.save(&mut second.engine, second.now);
    assert!(!persist.writes(), "the first one is there");
    // The first program ends, and more is written. The second one does not ask for the lock all the time.
    let _folder = house.end();
    second.append(&author, &author.prompt(400, second.now));
    second.look_again();
    second.wait(Millis::from_secs(30));
    persist.save(&mut second.engine, second.now);
    assert!(persist.writes());
    let expected = second.find(&author);
    let mut third = House::on(house.stage.clone());
    // A third program knows all of it.
    third.now = second.now;
    drop((second, persist));
    Persist::open(&folder, OpenMode::WriteOrRead).load(&mut third.engine);
    third.step(Input::ScanEnded(Vec::new()));
    third.look_again();
    assert_eq!(third.engine.work().bytes, 0);
    assert_eq!(third.find(&author), expected);
}

#[test]
fn damaged_stored_state_costs_only_another_reading() {
    for damage in [b"".as_slice(), b"no head of ours at all", &[0xff; 900]] {
        let (mut house, author) = house_with_store();
        let expected = house.all().sessions;
        let folder = house.end().unwrap();
        let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        let mut step = store.step().unwrap();
        let path = transcript("p", &author.session);
        step.put_state(path.to_str().unwrap(), &author.session, damage, None, false).unwrap();
        step.put_fact("facts", damage).unwrap();
        step.commit().unwrap();
        drop(store);
        let mut persist = Persist::open(folder.path(), OpenMode::WriteOrRead);
        let mut again = House::on(house.stage.clone());
        again.now = house.now;
        assert_eq!(persist.load(&mut again.engine), 1, "the subagent's");
        again.step(Input::ScanEnded(Vec::new()));
        again.look_again();
        assert_eq!(again.all().sessions, expected);
    }
}

#[test]
fn missing_stored_pieces_are_noticed_when_they_are_needed() {
    let (mut house, author) = house_with_store();
    let folder = house.end().unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let path = transcript("p", &author.session);
    let head = store.state(path.to_str().unwrap()).unwrap().unwrap().head;
    let mut step = store.step().unwrap();
    step.put_state(path.to_str().unwrap(), &author.session, &head, None, true).unwrap();
    step.commit().unwrap();
    drop(store);
    let mut persist = Persist::open(folder.path(), OpenMode::WriteOrRead);
    let mut again = House::on(house.stage.clone());
    again.now = house.now;
    persist.load(&mut again.engine);
    again.step(Input::ScanEnded(Vec::new()));
    again.append(&author, &author.prompt(500, again.now));
    again.look_again();
    assert_eq!(
        again.engine.main_file(&SessionId::new(&author.session)).unwrap().1.main().unwrap().record_count(),
        40
    );
    assert_eq!(
        again.all().sessions,
        house.cold().current(true).rows.iter().map(|row| row.session()).collect::<Vec<_>>()
    );
}

#[test]
fn without_a_store_the_engine_goes_on_and_reports_a_problem() {
    let folder = tempfile::TempDir::new().unwrap();
    let not_a_folder = folder.path().join("file");
    std::fs::write(&not_a_folder, b"in the way").unwrap();
    let mut persist = Persist::open(&not_a_folder, OpenMode::WriteOrRead);
    let mut house = House::new();
    persist.load(&mut house.engine);
    let author = SessionWriter::new(&session(1), "/repo");
    house.append(&author, &author.prompt(1, house.now));
    house.catch_up();
    persist.save(&mut house.engine, house.now);
    house.step(Input::Deadline);
    assert_eq!(house.row(&author).state, "working");
    let problems = house.problems();
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].kind, "store");
    // The user makes room: everything is stored after all, without a restart.
    std::fs::remove_file(&not_a_folder).unwrap();
    house.wait(Millis::from_secs(30));
    persist.save(&mut house.engine, house.now);
    house.step(Input::Deadline);
    assert!(persist.writes());
    assert_eq!(house.problems(), []);
    persist.save(&mut house.engine, house.now);
    drop(persist);
    let mut again = House::on(house.stage.clone());
    assert_eq!(Persist::open(&not_a_folder, OpenMode::WriteOrRead).load(&mut again.engine), 1);
}

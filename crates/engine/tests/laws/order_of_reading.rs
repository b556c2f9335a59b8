//! Related files may be read in any order, and may move: nothing is counted twice, nothing is lost.

use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::input::Input;
use watchbill_engine::transcripts::{LoadOptions, load};

use crate::house::{House, ROOT, agent, snapshot, transcript};
use crate::records::{SessionWriter, marker, session};

fn author(n: usize) -> SessionWriter {
    SessionWriter::new(&session(n), "/repo")
}

#[test]
fn a_fork_that_is_read_before_its_origin_counts_only_its_own_requests() {
    let mut house = House::new();
    let (origin, fork) = (author(1), author(2));
    let history = origin.answer(house.number(), house.now) + &origin.answer(house.number(), house.now);
    let copied = fork.fork(&origin, &history);
    // The copy arrives in two parts, and its origin is read last.
    let (first, rest) = copied.split_at(copied.find('\n').unwrap() + 1);
    house.append(&fork, first);
    house.catch_up();
    house.append(&fork, rest);
    house.catch_up();
    assert_eq!(house.tokens(&fork), 20, "no other session has them");
    house.append(&origin, &history);
    house.catch_up();
    assert_eq!((house.tokens(&origin), house.tokens(&fork)), (20, 0));
    let line = fork.answer(house.number(), house.now);
    house.append(&fork, &line);
    house.catch_up();
    assert_eq!((house.tokens(&origin), house.tokens(&fork)), (20, 10));
    house.stage.fs.remove(transcript("p", &origin.session));
    house.catch_up();
    assert_eq!(house.tokens(&fork), 30, "now the fork is all that is left of them");
}

#[test]
fn a_compaction_worker_that_is_read_before_its_parent_counts_only_its_own_requests() {
    let mut house = House::new();
    let parent = author(1);
    let history = parent.answer(house.number(), house.now) + &parent.answer(house.number(), house.now);
    let own = parent.answer(house.number(), house.now);
    house.stage.fs.append(agent("p", &parent.session, "acompact-9"), (history.clone() + &own).as_bytes());
    house.catch_up();
    house.append(&parent, &history);
    house.catch_up();
    assert_eq!(house.tokens(&parent), 30);
}

#[test]
fn a_subagent_counts_with_its_parent_in_either_order() {
    for subagent_first in [true, false] {
        let mut house = House::new();
        let parent = author(1);
        let lines = [parent.answer(house.number(), house.now), parent.answer(house.number(), house.now)];
        let paths = [agent("p", &parent.session, "a7"), transcript("p", &parent.session)];
        let order = if subagent_first { [0, 1] } else { [1, 0] };
        for n in order {
            house.stage.fs.append(&paths[n], lines[n].as_bytes());
            house.catch_up();
        }
        let row = house.row(&parent);
        assert_eq!(row.tokens.unwrap().input, 20);
        assert_eq!(row.subagents.unwrap().total, 1);
        house.stage.fs.remove(&paths[0]);
        house.catch_up();
        assert_eq!(house.tokens(&parent), 10);
    }
}

#[test]
fn a_finished_subagent_is_not_running_in_any_order_of_reading() {
    for meta_first in [true, false] {
        let mut house = House::new();
        let parent = author(1);
        let line = parent.prompt(house.number(), house.now);
        house.append(&parent, &line);
        house.run(7, "1");
        let text = crate::records::registry(7, "1", &parent, "busy", house.now, house.now);
        house.stage.fs.write(crate::house::registry_file(7), text.as_bytes());
        let path = agent("p", &parent.session, "a7");
        let line = parent.call(house.number(), house.now);
        let write_meta = |house: &House| {
            house.stage.fs.write(path.with_extension("meta.json"), br#"{"agentType":"x","finished":true}"#);
        };
        if meta_first {
            write_meta(&house);
            house.catch_up();
        }
        house.stage.fs.append(&path, line.as_bytes());
        house.catch_up();
        if !meta_first {
            assert_eq!(house.row(&parent).subagents.unwrap().running, 1);
            write_meta(&house);
            house.catch_up();
        }
        assert_eq!(house.row(&parent).subagents.unwrap().running, 0, "meta first: {meta_first}");
        let cold = house.cold();
        let row = cold.row(&watchbill_core::ids::SessionId::new(&parent.session)).unwrap();
        assert_eq!(row.subagents.running, 0, "for who starts now");
    }
}

#[test]
fn an_old_clients_subagent_that_names_another_parent_moves_to_it() {
    let mut house = House::new();
    let flat = format!("{ROOT}/projects/p/agent-0a1b.jsonl");
    for n in [1, 2] {
        let line = author(n).prompt(house.number(), house.now);
        house.append(&author(n), &line);
    }
    house.stage.fs.write(&flat, b"");
    house.catch_up();
    for n in [1, 2] {
        let line = author(n).answer(house.number(), house.now);
        house.stage.fs.write(&flat, line.as_bytes());
        house.catch_up();
        assert_eq!((house.tokens(&author(n)), house.tokens(&author(3 - n))), (10, 0));
    }
    house.stage.fs.write(&flat, b"");
    house.catch_up();
    assert_eq!((house.tokens(&author(1)), house.tokens(&author(2))), (0, 0), "an empty file names no author");
}

#[test]
fn a_session_that_moves_to_another_project_stays_one_row() {
    let mut house = House::new();
    let moving = author(1);
    let line = moving.answer(house.number(), house.now);
    house.append(&moving, &line);
    house.catch_up();
    house.stage.fs.rename(transcript("p", &moving.session), transcript("q", &moving.session));
    house.catch_up();
    let rows = house.all().sessions;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].project_id.as_deref(), Some("q"));
    assert_eq!(rows[0].tokens.unwrap().input, 10);
    let line = moving.prompt(house.number(), house.now);
    house.stage.fs.append(transcript("q", &moving.session), line.as_bytes());
    house.catch_up();
    assert_eq!(house.row(&moving).state, "working");
}

#[test]
fn a_replaced_transcript_keeps_nothing_of_the_old_one() {
    let mut house = House::new();
    let old = author(1);
    let text =
        old.prompt(house.number(), house.now) + "nonsense\n" + &old.boundary(house.number(), house.now);
    house.append(&old, &text);
    house.catch_up();
    assert_eq!(house.row(&old).segment_count, 2);
    let elsewhere = SessionWriter::new(&old.session, "/elsewhere");
    house.stage.fs.mkdir("/elsewhere/.git");
    let text = elsewhere.answer(house.number(), house.now);
    house.stage.fs.replace(transcript("p", &old.session), text.as_bytes());
    house.catch_up();
    let row = house.row(&old);
    assert_eq!((row.segment_count, row.cwd.as_deref()), (1, Some("/elsewhere")));
    assert_eq!(row.repo_root.as_deref(), Some("/elsewhere"));
    assert_eq!(house.problems(), []);
}

#[test]
fn a_file_that_changes_while_it_is_loaded_is_read_to_its_end() {
    let mut house = House::before_first_scan();
    let (kept, gone) = (author(1), author(2));
    let mut loaded = Vec::new();
    for author in [&kept, &gone] {
        let line = author.answer(house.number(), house.now);
        house.append(author, &line);
        let path = transcript("p", &author.session);
        let place = watchbill_agents::layout::classify(path.strip_prefix(ROOT).unwrap()).unwrap();
        let fs = house.engine.fs();
        loaded.push(load(fs, path, place, LoadOptions::default(), &mut Vec::new(), &|| true));
    }
    let line = kept.prompt(house.number(), house.now);
    house.append(&kept, &line);
    house.stage.fs.remove(transcript("p", &gone.session));
    house.catch_up();
    assert_eq!(house.all().sessions, [], "the first scan will tell");
    house.step(Input::Loaded(loaded));
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    assert_eq!(house.row(&kept).state, "working");
    assert_eq!(house.tokens(&kept), 10);
    assert_eq!(house.find(&gone), None);
}

/// Hands sessions over as a first scan does.
fn read(house: &mut House, authors: &[SessionWriter], at: Timestamp) {
    let mut loaded = Vec::new();
    for author in authors {
        let line = author.prompt(house.number(), at);
        house.append(author, &line);
        let path = transcript("p", &author.session);
        let place = watchbill_agents::layout::classify(path.strip_prefix(ROOT).unwrap()).unwrap();
        let fs = house.engine.fs();
        loaded.push(load(fs, path, place, LoadOptions::default(), &mut Vec::new(), &|| true));
    }
    house.step(Input::Loaded(loaded));
}

/// Three hundred sessions of a folder with a marker, which may tie any of them, and one more. One more session is too
/// few to resolve the ties again.
fn one_more_of_many(house: &mut House, at: Timestamp) -> SessionWriter {
    let authors: Vec<SessionWriter> = (1..=301).map(author).collect();
    let text = marker(&session(900), "/repo", at);
    house.stage.fs.write(format!("/repo/.claude/compacted.{}.marker", session(900)), text.as_bytes());
    read(house, &authors[..300], at);
    read(house, &authors[300..], at);
    author(301)
}

#[test]
fn a_session_at_rest_gets_its_row_and_chain_when_there_is_time() {
    let mut house = House::before_first_scan();
    house.slow_scans = true;
    let long_ago = house.now - Millis::from_secs(3 * 86_400);
    let last = one_more_of_many(&mut house, long_ago);
    let rows = house.engine.work().rows;
    house.step(Input::ScanEnded(Vec::new()));
    assert!(house.engine.chains().of(&SessionId::new(&last.session)).is_some());
    assert_eq!((house.engine.work().rows, house.engine.is_waking()), (rows, true));
    house.step(Input::Wake(1));
    assert_eq!((house.engine.work().rows, house.engine.is_waking()), (rows + 1, false));
    assert_eq!(house.all().sessions, snapshot(&house.cold().current(true)).sessions);
}

#[test]
fn a_query_during_the_first_scan_finds_the_chains_resolved() {
    let mut house = House::before_first_scan();
    let now = house.now;
    let last = SessionId::new(&one_more_of_many(&mut house, now).session);
    assert!(house.engine.chains().of(&last).is_none(), "one more of three hundred waits for others");
    house.engine.wake_all();
    assert!(house.engine.chains().of(&last).is_some());
}

#[test]
fn a_session_without_possible_ties_gets_its_chain_at_once() {
    let mut house = House::before_first_scan();
    let now = house.now;
    let authors: Vec<SessionWriter> = (1..=301).map(author).collect();
    read(&mut house, &authors[..300], now);
    let chains = house.engine.work().chains;
    read(&mut house, &authors[300..], now);
    assert!(house.engine.chains().of(&SessionId::new(&authors[300].session)).is_some());
    assert_eq!(house.engine.work().chains, chains + 1);
    house.step(Input::ScanEnded(Vec::new()));
    assert_eq!(house.engine.work().chains, chains + 1, "and no chain is resolved again");
}

#[test]
fn a_marker_that_is_renamed_into_its_place_is_read() {
    let mut house = House::new();
    let (before, after) = (author(1), author(2));
    let line = before.prompt(house.number(), house.now);
    house.append(&before, &line);
    house.catch_up();
    house.wait(Millis::from_secs(5));
    let text = marker(&after.session, "/repo", house.now);
    house.stage.fs.write("/repo/.claude/tmp.1", text.as_bytes());
    let name = format!("/repo/.claude/compacted.{}.marker", after.session);
    house.stage.fs.rename("/repo/.claude/tmp.1", name);
    house.catch_up();
    house.wait(Millis::from_secs(1));
    let line = after.prompt(house.number(), house.now);
    house.append(&after, &line);
    house.catch_up();
    let (old, new) = (house.row(&before), house.row(&after));
    assert_eq!(old.superseded_by.as_deref(), Some(after.session.as_str()));
    assert_eq!(old.work_chain_id, new.work_chain_id);
    // An engine that starts a week later resolves the same chains, when no session was active in that folder for
    // long.
    house.wait(Millis::from_secs(7 * 86_400));
    let cold = house.cold();
    assert_eq!(cold.chain(&before.session), house.engine.chain(&after.session));
}

#[test]
fn sessions_in_the_home_folder_are_read_like_others() {
    let mut house = House::new();
    // The working folder's `.claude` is the agent's own folder.
    let at_home = SessionWriter::new(&session(1), "/home/dev");
    let line = at_home.prompt(house.number(), house.now);
    house.append(&at_home, &line);
    house.catch_up();
    // The hint for a new project is a hint for its tree.
    let other = author(2);
    let line = other.prompt(house.number(), house.now);
    house.stage.fs.append(transcript("new", &other.session), line.as_bytes());
    house.stage.hints.take();
    let tree = watchbill_watch::hints::Hint::Tree(format!("{ROOT}/projects").into());
    house.hint([tree].into());
    assert_eq!(house.row(&other).state, "working");
    let text = marker(&session(3), "/home/dev", house.now);
    house.stage.fs.write(format!("{ROOT}/compacted.{}.marker", session(3)), &text.as_bytes()[..9]);
    house.catch_up();
    house.wait(Millis::from_secs(60));
    let name = format!("{ROOT}/compacted.{}.marker", session(3));
    assert!(house.problem(&name, "malformed_marker").is_some());
    house.stage.fs.remove(&name);
    house.catch_up();
    assert_eq!(house.problems(), []);
}

//! Forks: chains of their own, linked to their origin, without superseding any session.

use watchbill_core::chain::LinkConfidence::Proven;
use watchbill_core::chain::{Chains, LinkReason};

use crate::facts::*;

fn assert_fork(chains: &Chains, origin: &str, fork: &str) {
    assert_eq!(chains.link(origin, fork), Some((LinkReason::ForkedFrom, Proven)));
    assert_eq!(chains.chain(fork).id, chain_id(fork), "a fork's chain is named by the fork itself");
    assert_eq!(chains.over_by(origin), None, "a fork supersedes no session");
    let shown = |name| chains.chain(name).links.iter().any(|l| l.from == id(origin) && l.to == id(fork));
    assert!(shown(origin) && shown(fork), "the link is visible from both ends");
}

#[test]
fn forked_from_makes_a_branch() {
    let chains = World::of([
        session("o", &[(0, 100)]).own(),
        session("f", &[(110, 200)]).copies("o", 0).forked_from("o"),
    ])
    .chains();
    assert_eq!(chains.len(), 2);
    assert_fork(&chains, "o", "f");
}

#[test]
fn a_current_fork_session_has_copied_history_and_no_forked_from() {
    // Client 2.1.329: the copied records keep their uuids and their `session_id`, times are the original's.
    let fork = session("f", &[(0, 100), (300, 310)]).copies("o", 0).own_start_unknown().process(&["o"]).own();
    let chains = World::of([session("o", &[(0, 100)]).own(), fork]).chains();
    assert_eq!(chains.len(), 2);
    assert_fork(&chains, "o", "f");
}

#[test]
fn forks_of_one_origin_are_siblings() {
    let world = World::of([
        session("f1", &[(110, 200)]).copies("o", 0).process(&["o"]).own(),
        session("f2", &[(210, 300)]).copies("o", 0).process(&["o"]).own(),
        session("f3", &[(310, 400)]).copies("o", 0).fork(),
    ]);
    let chains = world.clone().and(session("o", &[(0, 100)]).own()).chains();
    assert_eq!(chains.len(), 4);
    for fork in ["f1", "f2", "f3"] {
        assert_fork(&chains, "o", fork);
    }

    // Without the origin's file the first two are still siblings of each other.
    let chains = world.chains();
    assert_eq!(chains.link("o", "f1"), Some((LinkReason::ForkedFrom, Proven)));
    assert_eq!(chains.link("o", "f2"), Some((LinkReason::ForkedFrom, Proven)));
    assert_eq!(chains.link("f1", "f2"), None);
    for fork in ["f1", "f2", "f3"] {
        assert_eq!(chains.chain(fork).id, chain_id(fork), "with or without the origin");
    }
}

#[test]
fn a_fork_of_a_fork_comes_from_the_nearer_one() {
    let chains = World::of([
        session("o", &[(0, 100)]).own(),
        session("f", &[(110, 200)]).copies("o", 0).process(&["o"]).own(),
        session("g", &[(210, 300)]).copies("o", 0).process(&["o", "f"]).own(),
    ])
    .chains();
    assert_fork(&chains, "o", "f");
    assert_fork(&chains, "f", "g");
}

#[test]
fn a_fork_of_a_cleared_session_copies_the_clear_too() {
    // b began by /clear in a's process; its fork's file has the same head and the same `session_id`.
    let chains = World::of([
        session("a", &[(0, 100)]).own(),
        session("b", &[(110, 200)]).process(&["a"]).cleared(),
        session("0-fork", &[(110, 200), (300, 310)]).copies("b", 110).process(&["a"]).cleared().own(),
    ])
    .chains();
    assert_eq!(chains.sessions("a"), ["a", "b"]);
    assert_fork(&chains, "b", "0-fork");
}

#[test]
fn clear_in_a_fork_stays_with_the_fork() {
    let chains = World::of([
        session("o", &[(0, 100), (400, 450)]).own(),
        session("f", &[(110, 200)]).copies("o", 0).process(&["o"]).own(),
        session("g", &[(210, 300)]).process(&["f"]).cleared(),
        session("p", &[(460, 500)]).process(&["o"]).cleared(),
    ])
    .chains();
    assert_eq!(chains.sessions("f"), ["f", "g"]);
    assert_eq!(
        chains.sessions("o"),
        ["o", "p"],
        "the fork's copied records do not make it one of o's process"
    );
    assert_eq!(chains.chain("g").id, chain_id("f"));
}

#[test]
fn a_fork_after_a_compaction_may_begin_with_the_boundary() {
    let origin = session("o", &[(0, 300)]).own().compacted(&[100]);
    let boundary = origin.0.boundaries[0];
    let mut fork = session("f", &[(400, 500)]).own().process(&["o"]);
    fork.0.first_record = Some(boundary);
    let chains = World::of([origin, fork]).chains();
    assert_fork(&chains, "o", "f");
}

#[test]
fn a_branch_inside_the_process_is_named_by_the_registry() {
    // The fork's file does not hold the copied history and names no other session.
    let chains = World::of([session("o", &[(0, 100)]), session("f", &[(110, 200)]).fork()])
        .moved(7, "o", "f", 111)
        .chains();
    assert_fork(&chains, "o", "f");
}

#[test]
fn a_fork_of_an_unknown_session_begins_its_own_chain() {
    let chains =
        World::of([session("o", &[(0, 100)]), session("f", &[(111, 200)]).fork()]).marker("f", 110).chains();
    assert_eq!(chains.sessions("f"), ["f"], "its origin is lost, and a marker must not guess another");
    assert_eq!(chains.over_by("o"), None);
}

#[test]
fn the_forks_copied_compactions_are_part_of_its_file() {
    let mut fork = session("f", &[(400, 500)]).copies("o", 0).forked_from("o").compacted(&[100]);
    let origin = session("o", &[(0, 300)]).compacted(&[100]);
    fork.0.boundaries = origin.0.boundaries.clone();
    let chains = World::of([origin, fork]).chains();
    assert_eq!(chains.chain("o").compaction_count, 1);
    assert_eq!(chains.chain("f").compaction_count, 1);
}

#[test]
fn clear_after_a_branch_inside_the_process_comes_from_the_branch() {
    // No process began with f: it is a branch in o's process, which is in f when /clear comes.
    let chains = World::of([
        session("o", &[(0, 100)]).own(),
        session("f", &[(110, 200)]).copies("o", 0).process(&["o"]),
        session("g", &[(210, 300)]).process(&["o"]).cleared(),
    ])
    .chains();
    assert_eq!(chains.sessions("g"), ["f", "g"]);
    assert_eq!(chains.link("f", "g"), Some((LinkReason::Clear, Proven)));
    assert_eq!(chains.over_by("o"), None);
}

#[test]
fn a_fork_of_a_lost_session_is_not_given_to_another_of_its_process() {
    // o's file is gone; b began by /clear in o's process. f may be a fork of o, which no file can show any more.
    let chains = World::of([
        session("b", &[(0, 50)]).process(&["o"]).cleared(),
        session("f", &[(110, 200)]).process(&["o"]).own(),
    ])
    .chains();
    assert_eq!(chains.sessions("f"), ["f"]);
    assert_eq!(chains.over_by("b"), None);
}

#[test]
fn shared_records_outweigh_the_process_id_in_them() {
    // o went on in r's process; its fork copied o's records, which name r.
    let chains = World::of([
        session("r", &[(0, 50)]).own(),
        session("o", &[(60, 100)]).process(&["r"]),
        session("f", &[(200, 300)]).copies("o", 60).process(&["r"]).own(),
    ])
    .chains();
    assert_eq!(chains.link("r", "o"), Some((LinkReason::Process, Proven)));
    assert_fork(&chains, "o", "f");
}

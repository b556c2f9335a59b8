//! Compactions: inside a file, into a new id with a marker, and copied history by old agents.

use watchbill_core::chain::LinkConfidence::{Proven, Suggested};
use watchbill_core::chain::{LinkReason, MoveCause};

use crate::facts::*;

#[test]
fn two_tabs_in_one_repository_are_two_chains() {
    // The source document's example: a → b → c in one tab, x → y → z in the other.
    let chains = World::of([
        session("a", &[(0, 100)]),
        session("b", &[(101, 200)]),
        session("c", &[(201, 300)]),
        session("x", &[(5, 150)]),
        session("y", &[(151, 250)]),
        session("z", &[(251, 290)]),
    ])
    .marker("b", 101)
    .marker("c", 201)
    .marker("y", 151)
    .marker("z", 251)
    .terminal("a", "tab 1")
    .terminal("b", "tab 1")
    .terminal("c", "tab 1")
    .terminal("x", "tab 2")
    .terminal("y", "tab 2")
    .terminal("z", "tab 2")
    .chains();

    assert_eq!(chains.len(), 2);
    assert_eq!(chains.sessions("a"), ["a", "b", "c"]);
    assert_eq!(chains.sessions("x"), ["x", "y", "z"]);
    assert_eq!(chains.chain("c").id, chain_id("a"), "the id stays over compactions");
    assert_eq!(chains.chain("a").head, id("c"));
    assert_eq!(chains.chain("x").head, id("z"));
    assert_eq!([chains.over_by("a"), chains.over_by("b"), chains.over_by("c")], [Some("b"), Some("c"), None]);
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Marker, Proven)));
    assert_eq!(chains.chain("a").compaction_count, 2);
    assert_eq!(chains.chain("x").segment_count, 3);
}

#[test]
fn without_terminals_a_busy_sibling_is_not_superseded() {
    // The other tab goes on working after the compaction, so it is not the session that was compacted.
    let chains =
        World::of([session("a", &[(0, 100)]), session("b", &[(111, 200)]), session("x", &[(5, 150)])])
            .marker("b", 110)
            .chains();

    assert_eq!(chains.sessions("b"), ["a", "b"]);
    assert_eq!(chains.link("a", "b"), Some((LinkReason::CwdRecency, Suggested)));
    assert_eq!(chains.sessions("x"), ["x"]);
    assert_eq!(chains.over_by("x"), None);
}

#[test]
fn a_session_of_an_agent_without_markers_is_no_predecessor() {
    // It stopped at the compaction, later than the true predecessor.
    let other = session("x", &[(5, 109)]);
    let sessions = [session("a", &[(0, 100)]), session("b", &[(111, 200)])];
    let chains = World::of([sessions.to_vec(), vec![other.clone()]].concat());
    assert_eq!(chains.marker("b", 110).chains().over_by("x"), Some("b"), "the rule is needed");
    let chains = World::of([sessions.to_vec(), vec![other.of_other_agent()]].concat());
    let chains = chains.marker("b", 110).chains();
    assert_eq!((chains.sessions("b"), chains.over_by("x")), (vec!["a", "b"], None));
}

#[test]
fn a_later_process_does_not_undo_what_was_seen_at_the_compaction() {
    let world = World::of([session("a", &[(0, 100)]), session("b", &[(111, 200)])])
        .marker("b", 110)
        .terminal("a", "tab 1")
        .terminal("b", "tab 1");
    assert_eq!(world.chains().sessions("b"), ["a", "b"]);
    // No program saw how an older process came to the session.
    assert_eq!(world.restarted().live_since("a", 50).chains().sessions("b"), ["a", "b"]);
}

#[test]
fn without_terminals_a_sibling_with_a_process_is_not_superseded() {
    // The sibling was active later than the predecessor, but its own process is still on it.
    let world = World::of([session("a", &[(0, 90)]), session("b", &[(111, 200)]), session("x", &[(5, 108)])])
        .marker("b", 110);
    assert_eq!(
        world.chains().over_by("x"),
        Some("b"),
        "the most recently active of the folder, as a suggestion"
    );

    let world = world.live("x");
    // Later, its process ends, and it may have gone on before.
    let works_on = World {
        lineages: [&world.lineages[..2], &[session("x", &[(5, 108), (300, 301)]).0]].concat(),
        ..world.clone()
    };
    for world in [world.clone(), world.restarted(), works_on.clone(), works_on.restarted()] {
        let chains = world.chains();
        assert_eq!(chains.over_by("x"), None);
        assert_eq!(chains.over_by("a"), Some("b"));
        assert_eq!(chains.sessions("x"), ["x"]);
    }
}

#[test]
fn a_restart_forgets_no_terminal_that_a_compaction_was_seen_in() {
    // After a restart, the terminals of processes that ended are unknown.
    let world = World::of([session("a", &[(0, 90)]), session("b", &[(111, 200)]), session("x", &[(5, 108)])])
        .marker("b", 110)
        .terminal("a", "tab 1")
        .terminal("b", "tab 1")
        .terminal("x", "tab 2");
    let goes_on = |world: &World| World {
        lineages: [&[session("a", &[(0, 90), (300, 301)]).0], &world.lineages[1..]].concat(),
        ..world.clone()
    };
    for world in [world.clone(), goes_on(&world), world.restarted(), goes_on(&world.restarted())] {
        let chains = world.chains();
        assert_eq!(chains.link("a", "b"), Some((LinkReason::Marker, Proven)));
        assert_eq!(chains.sessions("x"), ["x"]);
    }
    // Without the predecessor, the other terminal's session does not take its place.
    let mut alone = World { lineages: world.lineages[1..].to_vec(), ..world };
    for _ in 0..2 {
        assert_eq!(alone.chains().sessions("x"), ["x"]);
        alone = alone.restarted();
    }
}

#[test]
fn a_session_that_began_later_is_no_predecessor() {
    // Session `b` is young. Its marker is about a compaction inside its file, or `a` is the one that was compacted.
    for (own, compacted, sibling) in
        [(100, 101, 100), (100, 101, 101), (100, 101, 102), (100, 100, 102), (103, 101, 102)]
    {
        for tab in [None, Some("tab 1")] {
            for older in [false, true] {
                let mut sessions = vec![session("b", &[(own, 200)]), session("x", &[(sibling, sibling)])];
                if older {
                    sessions.push(session("a", &[(0, 90)]));
                }
                let mut world = World::of(sessions).marker("b", compacted);
                if let Some(tab) = tab {
                    world = world.terminal("a", tab).terminal("b", tab).terminal("x", tab);
                }
                let chains = world.chains();
                let case = format!("{own} {compacted} {sibling} {tab:?} {older}");
                assert_eq!(chains.over_by("x"), None, "{case}");
                assert_eq!(chains.sessions("x"), ["x"], "{case}");
                assert_eq!(chains.over_by("a"), older.then_some("b"), "{case}");
            }
        }
    }
}

#[test]
fn with_a_known_terminal_only_its_sessions_are_candidates() {
    let world = World::of([session("b", &[(111, 200)]), session("x", &[(5, 108)])])
        .marker("b", 110)
        .terminal("b", "tab 1")
        .terminal("x", "tab 2");
    assert_eq!(world.chains().sessions("b"), ["b"], "no candidate, no guess");

    // After a restart the terminal of a session whose process has ended is unknown.
    let chains = world.and(session("a", &[(0, 90)])).chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::CwdRecency, Suggested)));
}

#[test]
fn a_terminal_beats_the_folder() {
    // The agent changed its folder: the marker lies elsewhere, the terminal is the same.
    let chains = World::of([
        session("a", &[(0, 90)]),
        session("b", &[(111, 200)]),
        session("x", &[(5, 108)]).cwds(&["/repo/ui"]),
    ])
    .marker_in("b", 110, "/repo/ui")
    .terminal("a", "tab 1")
    .terminal("b", "tab 1")
    .chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Marker, Proven)));
    assert_eq!(chains.sessions("x"), ["x"]);
}

#[test]
fn another_folder_is_no_candidate() {
    let chains = World::of([session("a", &[(0, 90)]).cwds(&["/other"]), session("b", &[(111, 200)])])
        .marker("b", 110)
        .chains();
    assert_eq!(chains.len(), 2);
    assert_eq!(chains.chain("b").compaction_count, 1, "the announcement itself is a fact");
    assert_eq!(chains.chain("a").compaction_count, 0);
}

#[test]
fn a_proven_link_beats_the_rule_of_thumb() {
    // The registry saw the process go from a to b; x was active later and would have been guessed.
    let chains =
        World::of([session("a", &[(0, 90)]), session("b", &[(111, 200)]), session("x", &[(5, 108)])])
            .marker("b", 110)
            .moved(10, "a", "b", 111)
            .chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Registry, Proven)));
    assert_eq!(chains.chain("b").compaction_count, 1, "the marker still counts");
    assert_eq!(chains.over_by("x"), None);
}

#[test]
fn a_session_superseded_by_proof_is_no_candidate() {
    let chains = World::of([
        session("a", &[(0, 90)]).own(),
        session("a2", &[(95, 96)]).process(&["a"]).cleared(),
        session("b", &[(111, 200)]),
    ])
    .marker("b", 110)
    .live("a2")
    .chains();
    assert_eq!(chains.sessions("b"), ["b"]);
    assert_eq!(chains.sessions("a"), ["a", "a2"]);
}

#[test]
fn one_predecessor_is_not_given_to_two_markers() {
    let chains =
        World::of([session("a", &[(0, 90)]), session("b", &[(111, 112)]), session("c", &[(121, 200)])])
            .marker("b", 110)
            .marker("c", 120)
            .chains();
    assert_eq!(chains.sessions("a"), ["a", "b", "c"]);
    assert_eq!(chains.link("a", "b"), Some((LinkReason::CwdRecency, Suggested)));
    assert_eq!(chains.link("b", "c"), Some((LinkReason::CwdRecency, Suggested)));

    // b works on, so c does not come from it; a is taken.
    let chains =
        World::of([session("a", &[(0, 90)]), session("b", &[(111, 300)]), session("c", &[(121, 200)])])
            .marker("b", 110)
            .marker("c", 120)
            .chains();
    assert_eq!(chains.sessions("a"), ["a", "b"]);
    assert_eq!(chains.sessions("c"), ["c"]);
}

#[test]
fn a_new_file_may_be_a_little_older_than_its_marker() {
    // The summary is written first, then the hook runs.
    let world = World::of([session("a", &[(0, 90)]), session("b", &[(109, 200)])]);
    assert_eq!(world.clone().marker("b", 110).chains().over_by("a"), Some("b"));
    assert_eq!(world.marker("b", 112).chains().over_by("a"), None, "a session that was there before");
}

#[test]
fn a_marker_waits_for_its_session() {
    let world = World::of([session("a", &[(0, 90)])]).marker("b", 110);
    assert_eq!(world.chains().over_by("a"), None, "a successor without a row supersedes no session");
    assert_eq!(world.clone().live("b").chains().over_by("a"), None, "nor one without a word in it");
    let chains = world.and(session("b", &[(111, 112)])).chains();
    assert_eq!(chains.over_by("a"), Some("b"));
}

#[test]
fn a_predecessor_that_goes_on_is_a_head_again_and_stays_in_the_chain() {
    for (tab, known) in [(true, (LinkReason::Marker, Proven)), (false, (LinkReason::CwdRecency, Suggested))] {
        // A session that ended long ago in the same folder is no better predecessor.
        let old = || session("old", &[(-9000, -8000)]);
        let mut world =
            World::of([old(), session("a", &[(0, 90)]), session("b", &[(111, 200)])]).marker("b", 110);
        if tab {
            world = world.terminal("a", "tab 1").terminal("b", "tab 1").terminal("old", "tab 1");
        }
        assert_eq!(world.chains().over_by("a"), Some("b"));
        let goes_on = |spans: &[(i64, i64)]| World {
            lineages: [old(), session("a", spans), session("b", &[(111, 200)])].map(|told| told.0).into(),
            ..world.clone()
        };
        // Records up to two seconds later are the last ones on their way to the file.
        assert_eq!(goes_on(&[(0, 112)]).chains().over_by("a"), Some("b"));
        let gone_on = goes_on(&[(0, 90), (300, 301)]);
        let again = gone_on.clone().moved(7, "nobody", "a", 299);
        for world in [gone_on.clone(), gone_on.live_since("a", 290), again.live_since("a", -10)] {
            let chains = world.chains();
            assert_eq!([chains.over_by("a"), chains.over_by("old")], [None, None], "{tab}");
            assert_eq!(chains.link("a", "b"), Some(known));
            assert_eq!(chains.sessions("b"), ["a", "b"]);
            assert_eq!(chains.chain("b").id, chain_id("a"), "the id stays");
            assert_eq!(chains.chain("a").compaction_count, 1);
        }
    }
}

#[test]
fn a_predecessor_that_goes_on_and_is_left_again_stays_in_the_chain() {
    // It is compacted a second time, or ends with `/clear`.
    let world = World::of([
        session("a", &[(0, 90), (300, 400)]),
        session("b", &[(111, 200)]),
        session("c", &[(411, 500)]).process(&["a"]).cleared(),
    ])
    .marker("b", 110);
    let cleared = world.chains();
    let compacted = World::of([
        session("a", &[(0, 90), (300, 400)]),
        session("b", &[(111, 200)]),
        session("c", &[(411, 500)]),
    ])
    .marker("b", 110)
    .marker("c", 410);
    // Of two sessions, the one that was active last before the compaction is the predecessor.
    for chains in [cleared, compacted.chains()] {
        assert_eq!(chains.sessions("c"), ["a", "b", "c"]);
        assert_eq!(chains.over_by("a"), Some("c"));
        assert_eq!(chains.over_by("b"), None);
        assert_eq!(chains.link("a", "b"), Some((LinkReason::CwdRecency, Suggested)));
    }
    // Without activity between the two, the process never left `a` until `/clear`.
    let mut world = world;
    world.lineages[0] = session("a", &[(0, 90)]).0;
    assert_eq!(world.chains().sessions("b"), ["b"]);
}

#[test]
fn a_terminal_counts_as_it_was_at_the_compaction() {
    // After the compaction, `a` was resumed in another tab, and `x` in the tab of `b`.
    let chains = World::of([
        session("a", &[(0, 90), (300, 301)]),
        session("b", &[(111, 200)]),
        session("x", &[(5, 108), (400, 401)]),
    ])
    .marker("b", 110)
    .terminal("a", "tab 1")
    .terminal("b", "tab 1")
    .terminal("x", "tab 2")
    .terminal_since("a", "tab 2", 299)
    .terminal_since("x", "tab 1", 399)
    .chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Marker, Proven)));
    assert_eq!(chains.sessions("x"), ["x"]);
}

#[test]
fn a_new_file_that_begins_with_a_boundary_is_linked() {
    // The boundary may carry the time at which the compaction began.
    for start in [80, 105, 110, 112] {
        for marker in [true, false] {
            let mut new = session("b", &[(start, 200)]).compacted(&[start]);
            new.0.segments[0].ended_at = Some(at(start));
            let mut world = World::of([session("a", &[(0, start - 1)]), new]);
            world = match marker {
                true => world.marker("b", 110),
                false => world.hook_move("a", "b", 110, MoveCause::Compact),
            };
            let chains = world.chains();
            let chain = chains.chain("b");
            if !marker && start < 105 {
                continue;
            }
            assert_eq!(chain.sessions, [id("a"), id("b")], "{start} {marker}");
            assert_eq!(chains.over_by("a"), Some("b"));
            assert_eq!((chain.compaction_count, chain.segment_count), (1, 2), "{start} {marker}");
        }
    }
}

#[test]
fn a_boundary_later_in_a_new_file_is_a_compaction_of_its_own() {
    let chains =
        World::of([session("a", &[(0, 90)]), session("b", &[(111, 300)]).compacted(&[150])]).marker("b", 110);
    for chains in [chains.chains(), chains.marker("b", 150).chains()] {
        assert_eq!(chains.sessions("b"), ["a", "b"]);
        assert_eq!((chains.chain("b").compaction_count, chains.chain("b").segment_count), (2, 3));
    }
}

#[test]
fn a_marker_of_the_sessions_own_id_is_a_compaction_inside_its_file() {
    // Seen in the wild: a session started at 21:03 and a marker at 21:21 with the same id.
    let chains = World::of([session("a", &[(0, 1080), (1140, 1200)]), session("sibling", &[(0, 1079)])])
        .marker("a", 1100)
        .chains();
    assert_eq!(chains.over_by("sibling"), None, "a compaction never supersedes a sibling's session");
    let chain = chains.chain("a");
    assert_eq!(chain.sessions, [id("a")]);
    assert_eq!((chain.compaction_count, chain.segment_count), (1, 2));
    let spans: Vec<_> = chain.segments.iter().map(|(_, s)| (s.started_at, s.ended_at)).collect();
    assert_eq!(spans, [(Some(at(0)), Some(at(1100))), (Some(at(1100)), Some(at(1200)))]);
    assert!(chain.segments[0].1.boundary.is_some());
    assert_eq!(chains.link("a", "a"), Some((LinkReason::Marker, Proven)));
}

#[test]
fn a_boundary_and_its_marker_are_one_compaction() {
    let world = World::of([session("a", &[(0, 300)]).compacted(&[100])]);
    for secs in [45, 99, 100, 130, 159] {
        let chains = world.clone().marker("a", secs).chains();
        assert_eq!(chains.chain("a").compaction_count, 1, "marker at {secs}");
        assert_eq!(chains.chain("a").segment_count, 2, "marker at {secs}");
        assert_eq!(chains.link("a", "a"), Some((LinkReason::CompactBoundary, Proven)));
    }
    let chain = world.marker("a", 250).chains();
    assert_eq!(chain.chain("a").compaction_count, 2, "a marker far from the boundary is another compaction");
}

#[test]
fn a_boundary_after_hours_of_silence_explains_its_marker() {
    // The last record before the compaction is hours old, the first one after it comes with the next reply.
    let mut lineage = session("a", &[(0, 10), (20_000, 20_010)]).compacted(&[20_000]);
    lineage.0.segments[0].ended_at = Some(at(10));
    let chains = World::of([lineage]).marker("a", 15_000).chains();
    assert_eq!(chains.chain("a").compaction_count, 1);
}

#[test]
fn the_same_announcement_counts_once() {
    // The hook's folder changes with the agent's, and hooks of two settings files fire for one compaction.
    let chains = World::of([session("a", &[(0, 300)])])
        .marker("a", 200)
        .marker("a", 200)
        .marker_in("a", 200, "/repo/packages/ui")
        .marker_in("a", 201, "/repo/packages/daemon")
        .chains();
    assert_eq!(chains.chain("a").compaction_count, 1);
    assert_eq!(chains.chain("a").segment_count, 2);
}

#[test]
fn two_quick_compactions_of_one_id_are_two() {
    let chains = World::of([session("a", &[(0, 300)])]).marker("a", 200).marker("a", 230).chains();
    assert_eq!(chains.chain("a").compaction_count, 2);
    assert_eq!(chains.chain("a").segment_count, 3);
}

#[test]
fn after_its_first_marker_a_new_session_compacts_inside_its_file() {
    let chains = World::of([session("a", &[(0, 90)]), session("b", &[(101, 500)])])
        .marker("b", 100)
        .marker("b", 400)
        .chains();
    assert_eq!(chains.sessions("a"), ["a", "b"]);
    assert_eq!(chains.chain("a").compaction_count, 2);
    assert_eq!(chains.chain("a").segment_count, 3);
}

#[test]
fn a_compaction_by_an_old_client_continues_the_chain() {
    // Regime C: a new file that begins with the records of the old file under the old id.
    let chains = World::of([
        session("old", &[(0, 100)]),
        session("new", &[(101, 200)]).copies("old", 0).foreign(&["old"]),
    ])
    .chains();
    assert_eq!(chains.sessions("new"), ["old", "new"]);
    assert_eq!(chains.link("old", "new"), Some((LinkReason::SharedRecords, Proven)));
    assert_eq!(chains.over_by("old"), Some("new"));
    assert_eq!(chains.chain("new").compaction_count, 0, "a resume of an old client looks the same");
}

#[test]
fn copied_history_beats_a_marker_and_is_counted_once() {
    let chains = World::of([
        session("old", &[(0, 100)]),
        session("new", &[(111, 200)]).copies("old", 0).foreign(&["old"]),
        session("sibling", &[(0, 105)]),
    ])
    .marker("new", 110)
    .chains();
    assert_eq!(chains.link("old", "new"), Some((LinkReason::SharedRecords, Proven)));
    assert_eq!(chains.over_by("sibling"), None);
    assert_eq!(chains.chain("new").compaction_count, 1);
}

#[test]
fn copied_boundaries_are_counted_where_they_happened() {
    let old = session("old", &[(0, 100)]).compacted(&[50]);
    let mut new = session("new", &[(101, 300)]).copies("old", 0).foreign(&["old"]).compacted(&[50, 200]);
    new.0.boundaries[0] = old.0.boundaries[0];
    new.0.segments[0].started_at = Some(at(0));
    let chains = World::of([old, new]).chains();
    let chain = chains.chain("new");
    assert_eq!(chain.compaction_count, 2);
    let names: Vec<_> = chain.segments.iter().map(|(s, _)| s.as_str()).collect();
    assert_eq!(names, ["old", "old", "new", "new"]);
}

#[test]
fn an_original_that_goes_on_makes_the_copy_a_fork() {
    let chains = World::of([
        session("old", &[(0, 100), (400, 500)]),
        session("new", &[(101, 200)]).copies("old", 0).foreign(&["old"]),
    ])
    .chains();
    assert_eq!(chains.len(), 2);
    assert_eq!(chains.link("old", "new"), Some((LinkReason::ForkedFrom, Proven)));
    assert_eq!(chains.over_by("old"), None);
    assert_eq!(chains.chain("new").id, chain_id("new"));
}

#[test]
fn the_order_of_ids_decides_only_where_nothing_else_does() {
    // Neither names the other: the one that began first is the original, with any ids.
    let chains = World::of([session("z", &[(0, 100)]), session("a", &[(101, 200)]).copies("z", 0)]).chains();
    assert_eq!(chains.sessions("a"), ["z", "a"]);
    assert_eq!(chains.over_by("z"), Some("a"));
}

#[test]
fn a_copy_of_an_old_client_stays_one_when_a_new_client_resumes_it() {
    let new = session("new", &[(101, 200)]).copies("old", 0).foreign(&["old"]);
    let resumed = session("new", &[(101, 200), (90_000, 90_100)]).copies("old", 0).foreign(&["old"]).own();
    for copy in [new, resumed] {
        let chains = World::of([session("old", &[(0, 100)]), copy]).chains();
        assert_eq!(chains.link("old", "new"), Some((LinkReason::SharedRecords, Proven)));
        assert_eq!(chains.chain("new").id, chain_id("old"));
    }
}

#[test]
fn two_resumes_of_one_session_by_an_old_client_are_two_heads_of_one_chain() {
    let chains = World::of([
        session("old", &[(0, 100)]),
        session("one", &[(101, 200)]).copies("old", 0).foreign(&["old"]),
        session("two", &[(301, 400)]).copies("old", 0).foreign(&["old"]),
    ])
    .chains();
    assert_eq!(chains.sessions("old"), ["old", "one", "two"]);
    assert_eq!(
        [chains.over_by("old"), chains.over_by("one"), chains.over_by("two")],
        [Some("one"), None, None]
    );
    assert_eq!(chains.chain("one").head, id("two"), "the one active last");
}

#[test]
fn a_copy_without_its_original_begins_a_chain_and_keeps_the_link() {
    let chains = World::of([session("new", &[(101, 200)]).copies("old", 0).foreign(&["old"])]).chains();
    assert_eq!(chains.chain("new").id, chain_id("new"));
    assert_eq!(chains.link("old", "new"), Some((LinkReason::SharedRecords, Proven)));
}

#[test]
fn copied_compactions_without_boundary_records_are_recognized_by_time() {
    // Client 1.0.x wrote only a summary, which has no id of a boundary.
    let mut old = session("old", &[(0, 100)]).compacted(&[50]);
    let mut new = session("new", &[(101, 300)]).copies("old", 0).foreign(&["old"]).compacted(&[50, 200]);
    old.0.boundaries.clear();
    new.0.boundaries.clear();
    let chains = World::of([old, new]).chains();
    assert_eq!(chains.chain("new").compaction_count, 2);
    assert_eq!(chains.chain("new").segment_count, 4);
}

//! The numbered edge cases of identity and lifetime that concern chains.

use watchbill_core::chain::LinkConfidence::{Proven, Suggested};
use watchbill_core::chain::{LineageFacts, LinkReason, Segment, SessionGroups};

use crate::facts::*;

#[test]
fn edge_35_the_same_id_resumed_is_the_same_session() {
    // Resumed by another process days later: one file, one session, no segment more.
    let chains = World::of([session("a", &[(0, 100), (200_000, 200_100)]).own()]).live("a").chains();
    assert_eq!(chains.sessions("a"), ["a"]);
    assert_eq!(chains.chain("a").segment_count, 1);
    assert!(chains.chain("a").links.is_empty());
}

#[test]
fn edge_36_two_processes_on_one_session_are_one_row_of_one_chain() {
    // Both processes moved to it, one of them from another session.
    let chains = World::of([session("a", &[(0, 300)]).own(), session("b", &[(0, 120)]).own()])
        .moved(7, "b", "a", 150)
        .moved(8, "nobody", "a", 160)
        .live("a")
        .chains();
    assert_eq!(chains.sessions("a"), ["a"]);
    assert_eq!(chains.sessions("b"), ["b"]);
    assert_eq!(chains.over_by("b"), None);
}

#[test]
fn edge_37_clear_with_a_registry_that_keeps_the_old_session() {
    let chains =
        World::of([session("a", &[(0, 100)]).own(), session("b", &[(110, 200)]).process(&["a"]).cleared()])
            .live("a")
            .chains();
    assert_eq!(chains.sessions("b"), ["a", "b"]);
    assert_eq!(chains.over_by("a"), None, "the registry is believed");
}

#[test]
fn edge_38_compaction_a_in_one_file() {
    let chains = World::of([session("a", &[(0, 900)]).own().compacted(&[100, 500])]).chains();
    let chain = chains.chain("a");
    assert_eq!((chain.compaction_count, chain.segment_count), (2, 3));
    let reasons: Vec<_> = chain.links.iter().map(|l| (l.reason, l.confidence, l.at)).collect();
    assert_eq!(
        reasons,
        [
            (LinkReason::CompactBoundary, Proven, Some(at(100))),
            (LinkReason::CompactBoundary, Proven, Some(at(500)))
        ]
    );
    assert!(chain.links.iter().all(|l| l.from == l.to));
    assert!(chain.superseded.is_empty());
}

#[test]
fn edge_38_compaction_b_into_a_new_file_with_nothing_but_the_title() {
    let old = session("old", &[(0, 100)]).own().title("the work");
    let new = session("new", &[(111, 200)]).own().title("the work");
    let chains = World::of([old.clone(), new.clone()]).chains();
    assert_eq!(chains.len(), 2, "an equal title is no evidence");

    let chains = World::of([old, new]).marker("new", 110).chains();
    assert_eq!(chains.sessions("new"), ["old", "new"]);
    assert_eq!(chains.link("old", "new"), Some((LinkReason::CwdRecency, Suggested)));
    let chain = chains.chain("new");
    assert_eq!((chain.name.as_deref(), chain.compaction_count), (Some("the work"), 1));
}

#[test]
fn edge_38_compaction_b_before_the_new_file_has_a_time() {
    // Its first two lines are titles, which carry none.
    let mut new = session("new", &[]).title("the work");
    new.0.first_record = None;
    new.0.segments = vec![Segment { started_at: None, ended_at: None, boundary: None }];
    let chains = World::of([session("old", &[(0, 100)]).title("the work"), new]).marker("new", 110).chains();
    assert_eq!(chains.over_by("old"), Some("new"));
    assert_eq!(chains.chain("old").head, id("new"));
}

#[test]
fn edge_38_compaction_c_of_old_clients_over_several_files() {
    let chains = World::of([
        session("a", &[(0, 100)]),
        session("b", &[(101, 200)]).copies("a", 0).foreign(&["a"]),
        session("c", &[(201, 300)]).copies("a", 0).foreign(&["a", "b"]),
    ])
    .chains();
    assert_eq!(chains.sessions("c"), ["a", "b", "c"]);
    assert_eq!(chains.link("b", "c"), Some((LinkReason::SharedRecords, Proven)), "from the nearer one");
    assert_eq!(chains.chain("a").head, id("c"));
    assert_eq!(chains.chain("c").id, chain_id("a"));
}

#[test]
fn edge_39_a_compact_summary_is_a_segment_and_no_session() {
    // Client 1.0.x writes no boundary record, only the summary: a boundary without an id.
    let mut lineage = session("a", &[(0, 900)]).compacted(&[100]);
    lineage.0.boundaries.clear();
    let chains = World::of([lineage]).chains();
    assert_eq!(chains.len(), 1);
    assert_eq!((chains.chain("a").compaction_count, chains.chain("a").segment_count), (1, 2));
}

#[test]
fn edge_40_history_appended_again_to_its_own_file_ties_nothing() {
    // The second /compact of one process repeats the history: the same boundary ids twice in one file.
    let mut lineage = session("a", &[(0, 900)]).own().compacted(&[100, 500]);
    lineage.0.boundaries[1] = lineage.0.boundaries[0];
    let chains = World::of([lineage, session("b", &[(0, 900)]).own()]).chains();
    assert_eq!(chains.len(), 2);
    assert!(chains.chain("a").links.iter().all(|l| l.reason == LinkReason::CompactBoundary));
}

#[test]
fn edge_40_copied_history_in_a_fork_supersedes_no_session() {
    let chains = World::of([
        session("o", &[(0, 100)]).own(),
        session("f", &[(0, 100), (300, 310)]).copies("o", 0).own_start_unknown().process(&["o"]).own(),
    ])
    .chains();
    assert_eq!(chains.over_by("o"), None);
    assert_eq!(chains.link("o", "f"), Some((LinkReason::ForkedFrom, Proven)));
}

#[test]
fn edge_41_a_rewind_stays_inside_its_session() {
    // The abandoned records stay in the file; the first record and the session are the same.
    let before = World::of([session("a", &[(0, 100)]).own()]).chains();
    let after = World::of([session("a", &[(0, 100), (200, 300)]).own()]).chains();
    assert_eq!(before.chain("a").id, after.chain("a").id);
    assert_eq!(after.chain("a").segment_count, 1);
    assert_eq!(after.len(), 1);
}

#[test]
fn edge_45_two_sessions_in_one_folder_are_two_chains() {
    // One stops the moment the other begins, with the same title: still no evidence ties them.
    let chains =
        World::of([session("a", &[(0, 100)]).own().title("t"), session("b", &[(100, 200)]).own().title("t")])
            .live("b")
            .chains();
    assert_eq!(chains.len(), 2);
    assert_eq!(chains.over_by("a"), None);
}

#[test]
fn edge_46_the_markers_folder_may_be_one_the_agent_went_to() {
    let wanderer = session("a", &[(0, 100)]).cwds(&["/repo", "/repo/packages/ui"]);
    let chains =
        World::of([wanderer, session("b", &[(111, 200)])]).marker_in("b", 110, "/repo/packages/ui/").chains();
    assert_eq!(chains.over_by("a"), Some("b"));
}

#[test]
fn edge_46_a_folder_that_only_looks_alike_is_another() {
    let chains = World::of([session("a", &[(0, 100)]).cwds(&["/repo2"]), session("b", &[(111, 200)])])
        .marker_in("b", 110, "/repo")
        .chains();
    assert_eq!(chains.over_by("a"), None);
}

#[test]
fn contradicting_facts_end_in_a_forest() {
    // Mutual forks, a fork of itself, a process that is its own, mutual processes, a ring of joins.
    let chains = World::of([
        session("a", &[(0, 10)]).forked_from("b"),
        session("b", &[(20, 30)]).forked_from("a"),
        session("c", &[(0, 10)]).forked_from("c").process(&["c"]).foreign(&["c"]),
        session("d", &[(0, 10)]).process(&["e"]).cleared(),
        session("e", &[(20, 30)]).process(&["d"]).cleared(),
    ])
    .join("c", "c", 0)
    .moved(7, "c", "c", 5)
    .chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::ForkedFrom, Proven)), "the older one is the origin");
    assert_eq!(chains.link("b", "a"), None);
    assert_eq!(chains.sessions("c"), ["c"]);
    assert!(chains.chain("c").links.is_empty());
    assert_eq!(chains.sessions("d"), ["d", "e"]);

    let ring = World::of([session("a", &[(0, 10)]), session("b", &[(20, 30)]), session("c", &[(40, 50)])])
        .join("a", "b", 0)
        .join("b", "c", 1)
        .join("c", "a", 2)
        .chains();
    assert_eq!(ring.sessions("a"), ["a", "b", "c"]);
    assert_eq!(ring.chain("a").head, id("c"));
}

#[test]
fn one_session_under_two_roots_is_one_session() {
    let short = session("a", &[(0, 100)]);
    let long = session("a", &[(0, 100), (200, 300)]).compacted(&[250]);
    let one = World::of([short.clone(), long.clone()]).chains();
    assert_eq!(one.len(), 1);
    assert_eq!(one.chain("a").segment_count, 2, "the transcript that reaches further counts");
    assert_eq!(one, World::of([long, short]).chains());
}

#[test]
fn ties_group_only_sessions_with_something_in_common() {
    let world = World::of([
        session("a", &[(0, 10)]),
        session("b", &[(20, 30)]).process(&["a"]),
        session("c", &[(0, 10)]),
        session("d", &[(20, 30)]).cwds(&["/other"]),
        session("e", &[(40, 50)]).copies("d", 20).cwds(&["/other"]),
    ]);
    let mut ties = SessionGroups::default();
    world.lineages.iter().for_each(|lineage| ties.add(lineage));
    let group = |ties: &mut SessionGroups, of: &str, most| {
        let mut group = ties.groups_of([&id(of)], most)?;
        group.sort();
        Some(group)
    };
    assert_eq!(group(&mut ties, "b", 2), Some(vec![id("a"), id("b")]));
    assert_eq!(group(&mut ties, "c", 2), Some(vec![id("c")]), "one folder ties no sessions");
    assert_eq!(group(&mut ties, "d", 2), Some(vec![id("d"), id("e")]));
    let marked = world.marker("c", 60);
    ties.add_facts(&LineageFacts { markers: &marked.markers, ..LineageFacts::of(&[]) });
    assert_eq!(group(&mut ties, "b", 2), None, "more than two by now");
    assert_eq!(
        group(&mut ties, "b", 3),
        Some(vec![id("a"), id("b"), id("c")]),
        "a marker may tie its folder's"
    );
}

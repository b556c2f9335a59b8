//! New sessions inside a running process: `/clear`, registry moves, the records' own process id.

use watchbill_core::chain::LinkConfidence::Proven;
use watchbill_core::chain::LinkReason;

use crate::facts::*;

/// a → /clear → b → /clear → c, all in the process that began with a.
fn three_clears() -> World {
    World::of([
        session("a", &[(0, 100)]).own(),
        session("b", &[(110, 200)]).process(&["a"]).cleared(),
        session("c", &[(3600, 3700)]).process(&["a"]).cleared(),
    ])
}

#[test]
fn clear_goes_on_in_the_same_chain_without_a_compaction() {
    let chains = three_clears().chains();
    assert_eq!(chains.sessions("a"), ["a", "b", "c"]);
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Clear, Proven)));
    assert_eq!(
        chains.link("b", "c"),
        Some((LinkReason::Clear, Proven)),
        "from the one before, not from the first"
    );
    assert_eq!([chains.over_by("a"), chains.over_by("b"), chains.over_by("c")], [Some("b"), Some("c"), None]);
    let chain = chains.chain("b");
    assert_eq!((chain.id.clone(), chain.head.as_str()), (chain_id("a"), "c"));
    assert_eq!((chain.compaction_count, chain.segment_count), (0, 3));
}

#[test]
fn clear_from_a_resumed_session_comes_from_that_one() {
    // A day later a is resumed, worked in and cleared.
    let mut world = three_clears();
    world.lineages[0] = session("a", &[(0, 100), (90_000, 90_500)]).own().0;
    let chains = world.clone().chains();
    assert_eq!(chains.over_by("a"), None, "work went on in it after b began");
    assert_eq!(chains.chain("a").head, id("a"));
    assert_eq!(chains.over_by("b"), Some("c"));

    let chains = world.and(session("d", &[(90_600, 90_700)]).process(&["a"]).cleared()).chains();
    assert_eq!(chains.sessions("d"), ["a", "b", "c", "d"]);
    assert_eq!(chains.link("a", "d"), Some((LinkReason::Clear, Proven)));
    assert_eq!(chains.over_by("a"), Some("d"));
    assert_eq!(chains.over_by("c"), None, "no session continues c");
    assert_eq!(chains.chain("a").head, id("d"));
}

#[test]
fn clear_soon_after_a_resume_comes_from_the_resumed_session() {
    // a → /clear → b → /resume a → prompt → /clear → c, all within a minute: a has one span.
    let chains = World::of([
        session("a", &[(0, 50)]).own(),
        session("b", &[(10, 20)]).process(&["a"]).cleared(),
        session("c", &[(52, 60)]).process(&["a"]).cleared(),
    ])
    .chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Clear, Proven)));
    assert_eq!(chains.link("a", "c"), Some((LinkReason::Clear, Proven)));
    assert_eq!(chains.over_by("a"), Some("c"));
    assert_eq!(chains.over_by("b"), None);
}

#[test]
fn the_registry_names_the_direct_predecessor() {
    // By activity alone b would be the predecessor of c; the registry showed that the process came from a.
    let chains = World::of([
        session("a", &[(0, 100)]).own(),
        session("b", &[(110, 200)]).process(&["a"]).cleared(),
        session("c", &[(300, 310)]).process(&["a"]).cleared(),
    ])
    .moved(7, "a", "b", 110)
    .moved(7, "b", "a", 250)
    .moved(7, "a", "c", 300)
    .chains();
    assert_eq!(chains.link("a", "c"), Some((LinkReason::Clear, Proven)));
    assert_eq!(chains.over_by("b"), None);
}

#[test]
fn the_chain_keeps_its_id_when_its_first_file_is_cleaned_up() {
    let mut world = three_clears();
    world.lineages.remove(0);
    let chains = world.chains();
    assert_eq!(chains.sessions("b"), ["b", "c"]);
    assert_eq!(chains.chain("c").id, chain_id("a"));
    assert_eq!(chains.of(&id("a")), None, "a session without file and process is none");
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Clear, Proven)), "the link is shown all the same");
}

#[test]
fn clear_without_any_evidence_is_not_guessed() {
    let chains = World::of([session("a", &[(0, 100)]), session("b", &[(101, 200)]).cleared()]).chains();
    assert_eq!(chains.len(), 2);
}

#[test]
fn clear_with_contradictory_times_still_uses_its_process_id() {
    let chains =
        World::of([session("a", &[(500, 600)]).own(), session("b", &[(10, 20)]).process(&["a"]).cleared()])
            .chains();
    assert_eq!(chains.sessions("a"), ["a", "b"]);
    assert_eq!(chains.over_by("a"), None, "it was active after that");
}

#[test]
fn the_process_id_field_ties_without_clear() {
    let chains =
        World::of([session("a", &[(0, 100)]).own(), session("b", &[(110, 200)]).process(&["a"])]).chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Process, Proven)));
    assert_eq!(chains.over_by("a"), Some("b"));

    // A resume of an older session inside a newer process opened nothing.
    let chains = World::of([
        session("new", &[(500, 600)]).own(),
        session("old", &[(0, 100), (601, 700)]).process(&["new"]),
    ])
    .chains();
    assert_eq!(chains.len(), 2);
}

#[test]
fn a_registry_move_to_a_new_session_is_proof() {
    let chains =
        World::of([session("a", &[(0, 100)]), session("b", &[(118, 200)])]).moved(7, "a", "b", 120).chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Registry, Proven)));
    let chains = World::of([session("a", &[(0, 100)]), session("b", &[(118, 200)]).cleared()])
        .moved(7, "a", "b", 120)
        .chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Clear, Proven)));
}

#[test]
fn a_registry_move_to_an_old_session_is_a_resume() {
    let chains = World::of([session("a", &[(0, 100)]), session("old", &[(-900, -800), (130, 200)])])
        .moved(7, "a", "old", 120)
        .chains();
    assert_eq!(chains.len(), 2);
    assert_eq!(chains.over_by("a"), None);
}

#[test]
fn a_registry_move_to_a_session_without_a_file() {
    let world = World::of([session("a", &[(0, 100)])]).moved(7, "a", "b", 120);
    assert_eq!(world.chains().over_by("a"), None, "b has no row");
    let chains = world.live("b").chains();
    assert_eq!(chains.sessions("b"), ["a", "b"]);
    assert_eq!(chains.over_by("a"), Some("b"));
    assert_eq!(chains.chain("b").head, id("b"));
    assert_eq!(chains.chain("b").segment_count, 1, "b has no records yet");
}

#[test]
fn the_throw_away_id_of_continue_ties_nothing() {
    // `claude --continue` shows an id of no session for a moment.
    let chains =
        World::of([session("a", &[(0, 100), (210, 220)])]).moved(7, "nobody", "a", 200).live("a").chains();
    assert_eq!(chains.sessions("a"), ["a"]);
    assert_eq!(chains.len(), 1);
    assert!(chains.chain("a").links.is_empty());
}

#[test]
fn a_process_on_the_cleared_session_makes_it_a_head_again() {
    let chains = three_clears().live("a").live("c").chains();
    assert_eq!(chains.over_by("a"), None, "resumed in another terminal, nothing typed yet");
    assert_eq!(chains.over_by("b"), Some("c"));
    assert_eq!(chains.chain("a").head, id("c"), "of the two heads the one active last");
}

#[test]
fn manual_joins_and_splits_override_other_evidence() {
    let world = World::of([session("a", &[(0, 100)]), session("b", &[(200, 300)])]);
    let joined = world.clone().join("a", "b", 1000);
    let chains = joined.chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Manual, Proven)));
    assert_eq!(chains.over_by("a"), Some("b"));
    assert_eq!(joined.split("b", 1001).chains().len(), 2, "the newest word counts");

    let guessed = World::of([session("a", &[(0, 100)]), session("b", &[(111, 300)])]).marker("b", 110);
    assert_eq!(guessed.chains().len(), 1);
    let undone = guessed.split("b", 1000).chains();
    assert_eq!(undone.len(), 2, "a suggestion can be undone");
    assert_eq!(undone.over_by("a"), None);
}

#[test]
fn the_newest_title_names_the_chain() {
    let mut world = three_clears();
    assert_eq!(world.chains().chain("a").name, None);
    world.lineages[0].custom_title = Some("first".into());
    assert_eq!(world.chains().chain("c").name.as_deref(), Some("first"));
    world.lineages[1].custom_title = Some("second".into());
    assert_eq!(world.chains().chain("c").name.as_deref(), Some("second"));
}

#[test]
fn clear_prefers_a_session_that_stopped_to_one_that_goes_on() {
    // Another process works in a again while b is cleared.
    let told = |b: (i64, i64), c: i64| {
        World::of([
            session("a", &[(0, 500)]).own(),
            session("b", &[b]).process(&["a"]).cleared(),
            session("c", &[(c, c + 10)]).process(&["a"]).cleared(),
        ])
        .chains()
    };
    let chains = told((110, 190), 200);
    assert_eq!(chains.link("b", "c"), Some((LinkReason::Clear, Proven)));
    assert_eq!(chains.over_by("a"), None);
    // But b was left long before, and a was active within the last minute.
    let chains = told((110, 120), 400);
    assert_eq!(chains.link("a", "c"), Some((LinkReason::Clear, Proven)));
    assert_eq!(chains.over_by("b"), None);
}

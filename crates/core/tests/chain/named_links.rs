//! Sessions whose records, or whose process, name the session in which the work goes on.

use watchbill_core::chain::LinkConfidence::Proven;
use watchbill_core::chain::{LinkReason, SessionGroups};

use crate::facts::*;

/// `name` says that its work goes on in `to` since then.
fn continued(name: LineageBuilder, to: &str, since: Option<i64>) -> LineageBuilder {
    let mut told = name;
    told.0.continued_in = Some((id(to), since.map(at)));
    told
}

#[test]
fn a_session_that_names_its_successor_is_superseded() {
    let copy = || session("new", &[(0, 100), (110, 200)]).copies("old", 0).process(&["old"]).own();
    for new in [
        // A copy of its records, as client 2.1.332 makes it; with times that cannot be told apart; a summary of it.
        copy(),
        copy().own_start_unknown(),
        copy().fork(),
        session("new", &[(110, 200)]).own(),
    ] {
        let world = World::of([continued(session("old", &[(0, 100)]).own(), "new", Some(105)), new]);
        let chains = world.chains();
        assert_eq!(chains.link("old", "new"), Some((LinkReason::ContinuedIn, Proven)));
        assert_eq!((chains.len(), chains.over_by("old")), (1, Some("new")));
        assert_eq!(chains.chain("new").head, id("new"));
    }
}

#[test]
fn a_session_that_goes_on_after_it_named_a_successor_is_not_superseded() {
    let new = || session("new", &[(0, 100), (110, 200)]).copies("old", 0).process(&["old"]);
    let went_on = session("old", &[(0, 100), (300, 310)]).own();
    for old in [continued(went_on.clone(), "new", Some(105)), continued(went_on, "new", None)] {
        let chains = World::of([old, new()]).chains();
        assert_eq!(chains.link("old", "new"), Some((LinkReason::ContinuedIn, Proven)));
        assert_eq!(chains.over_by("old"), None);
    }
    // A process is on it.
    let old = continued(session("old", &[(0, 100)]).own(), "new", Some(105));
    assert_eq!(World::of([old.clone(), new()]).live("old").chains().over_by("old"), None);
    // Nothing of the successor is there.
    let alone = World::of([old]).chains();
    assert_eq!((alone.over_by("old"), alone.len()), (None, 1));
}

#[test]
fn a_return_to_a_superseded_session_is_noticed() {
    let old = continued(session("old", &[(0, 100)]).own(), "new", Some(105));
    let world = World::of([old, session("new", &[(0, 100)]).copies("old", 0).own_start_unknown()]);
    let mut ties = SessionGroups::default();
    world.lineages.iter().for_each(|lineage| ties.add(lineage));
    assert!(ties.may_precede(&id("old"), Some(at(100))), "its next activity may make it a head again");
}

#[test]
fn a_plan_that_another_session_carries_out_is_one_chain() {
    let mut carries_out = session("b", &[(120, 200)]).own();
    carries_out.0.plan_of = Some(id("a"));
    let world = World::of([session("a", &[(0, 100)]).own(), carries_out]);
    let chains = world.chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::ContinuedIn, Proven)));
    assert_eq!((chains.len(), chains.over_by("a")), (1, Some("b")));

    let mut back = world;
    back.lineages[0].spans.push((at(300), at(310)));
    assert_eq!(back.chains().over_by("a"), None, "the user went back to it");
}

#[test]
fn a_parked_session_goes_on_in_the_one_that_its_process_shows() {
    let new = session("new", &[(0, 100), (130, 200)]).copies("old", 0).process(&["old"]).own();
    let mut world = World::of([session("old", &[(0, 100)]).own(), new]).moved(7, "old", "new", 110);
    assert_ne!(world.chains().over_by("old"), Some("new"), "a move to a session with a past proves nothing");
    world.moves[0].parked = true;
    let chains = world.chains();
    assert_eq!(chains.link("old", "new"), Some((LinkReason::Registry, Proven)));
    assert_eq!((chains.len(), chains.over_by("old")), (1, Some("new")));
}

#[test]
fn another_agent_goes_on_with_the_work() {
    let world = World::of([
        session("a", &[(0, 100)]).own(),
        session("b", &[(120, 200)]),
        session("c", &[(220, 230)]),
    ])
    .switched("a", "b", 110, false)
    .switched("b", "c", 210, false);
    let chains = world.chains();
    assert_eq!(chains.sessions("c"), ["a", "b", "c"]);
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Switched, Proven)));
    assert_eq!((chains.over_by("a"), chains.over_by("b"), chains.over_by("c")), (Some("b"), Some("c"), None));
    // The user goes back to one.
    assert_eq!(world.clone().live("b").chains().over_by("b"), None);
    let mut back = world.clone();
    back.lineages[0].spans.push((at(300), at(310)));
    let chains = back.chains();
    assert_eq!((chains.over_by("a"), &chains.chain("c").head, chains.len()), (None, &id("a"), 1));
    // The first is forgotten, and the chain keeps its id. So it does while nothing is known of the last.
    let mut rest = world.clone();
    rest.lineages.remove(0);
    assert_eq!((rest.chains().sessions("c"), &rest.chains().chain("c").id), (vec!["b", "c"], &chain_id("a")));
    rest.lineages.pop();
    assert_eq!((rest.chains().over_by("b"), rest.chains().len()), (None, 1));
    // Without the middle the ends have nothing in common.
    let split = world.clone().split("b", 300).chains();
    assert_eq!((split.sessions("a"), split.sessions("c")), (vec!["a"], vec!["b", "c"]));
}

#[test]
fn a_copy_in_another_agent_begins_a_chain() {
    let world = World::of([session("a", &[(0, 100)]).own(), session("b", &[(120, 200)])]);
    let chains = world.switched("a", "b", 110, true).chains();
    assert_eq!(chains.link("a", "b"), Some((LinkReason::Switched, Proven)));
    assert_eq!((chains.len(), chains.over_by("a")), (2, None));
    assert!(chains.chain("a").links.iter().any(|link| link.to == id("b")), "both show it");
}

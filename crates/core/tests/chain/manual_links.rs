//! The user's commands on chains: join, split, accept, undo, name.

use std::sync::Arc;

use proptest::prelude::*;
use watchbill_core::chain::LinkConfidence::{Proven, Suggested};
use watchbill_core::chain::{Chains, LinkReason, ManualLink};
use watchbill_core::ids::{ChainId, SessionId};
use watchbill_core::time::Timestamp;
use watchbill_core::user::{
    CommandFacts, CommandRefusal, EditChange, SessionCommand, UserEdits, changes_of_command,
};

use crate::facts::*;
use crate::properties::any_world;

/// A world on which the user gives commands.
struct CommandWorld {
    world: World,
    user_edits: UserEdits,
    now: i64,
}

impl CommandWorld {
    fn new(world: World) -> Self {
        let mut user_edits = UserEdits::default();
        world.manual.iter().for_each(|link| user_edits.apply(EditChange::AddLink(link.clone())));
        let mut desk = Self { world, user_edits, now: 1_000 };
        desk.settle();
        desk
    }

    fn settle(&mut self) {
        self.world.manual = self.user_edits.links().iter().cloned().collect();
        self.world.names = self.user_edits.names().clone();
    }

    fn chains(&self) -> Chains {
        self.world.chains()
    }

    fn began(&self, session: &SessionId) -> Option<Timestamp> {
        self.world.lineages.iter().find(|l| l.session == *session)?.own_started_at
    }

    fn carry_out(&mut self, word: SessionCommand) -> Result<(), CommandRefusal> {
        self.now += 10;
        let known = CommandFacts {
            now: at(self.now),
            user_edits: &self.user_edits,
            chains: &self.chains(),
            began: &|session| self.began(session),
            row: None,
        };
        let changes = changes_of_command(&known, &word)?;
        changes.into_iter().for_each(|change| self.user_edits.apply(change));
        self.settle();
        Ok(())
    }

    fn name(&mut self, of: &str, name: Option<&str>) {
        self.carry_out(SessionCommand::Name { session: id(of), name: name.map(str::to_owned) })
            .expect("a name is always taken");
    }

    fn join(&mut self, a: &str, b: &str) -> Result<(), CommandRefusal> {
        self.carry_out(SessionCommand::Join { session: id(a), with: id(b) })
    }
}

fn two() -> CommandWorld {
    CommandWorld::new(World::of([
        session("a", &[(0, 100)]).own().title("by the agent"),
        session("b", &[(200, 300)]).own(),
    ]))
}

#[test]
fn a_join_continues_in_the_later_session_in_either_argument_order() {
    for (one, other) in [("a", "b"), ("b", "a")] {
        let mut desk = two();
        desk.join(one, other).unwrap();
        let chains = desk.chains();
        assert_eq!(chains.sessions("a"), ["a", "b"]);
        assert_eq!(chains.over_by("a"), Some("b"));
        assert_eq!(chains.link("a", "b"), Some((LinkReason::Manual, Proven)));
        assert_eq!(chains.chain("b").id, chain_id("a"));
    }
}

#[test]
fn a_join_links_to_the_session_that_was_current_when_the_later_chain_began() {
    let early = session("early", &[(0, 100)]).own();
    let late = session("late", &[(400, 500)]).own().process(&["early"]).cleared();
    let mut desk = CommandWorld::new(World::of([early, late, session("between", &[(200, 300)]).own()]));
    assert_eq!(desk.chains().sessions("early"), ["early", "late"]);
    desk.join("late", "between").unwrap();
    let chains = desk.chains();
    assert_eq!(chains.link("early", "between"), Some((LinkReason::Manual, Proven)));
    assert_eq!(chains.sessions("late"), ["early", "between", "late"]);
}

#[test]
fn a_joined_session_that_still_works_is_not_superseded() {
    let world = World::of([session("a", &[(0, 1_000)]).own(), session("b", &[(200, 300)]).own()]);
    let mut desk = CommandWorld::new(world.live("a"));
    desk.join("a", "b").unwrap();
    let chains = desk.chains();
    assert_eq!(chains.over_by("a"), None, "to hide work is worse than to show two rows");
    assert_eq!(chains.chain("b").id, chain_id("a"));
}

#[test]
fn a_chain_is_not_joined_with_itself() {
    let mut desk = two();
    assert_eq!(desk.join("a", "a"), Err(CommandRefusal::OneChain(id("a"), id("a"))));
    desk.join("a", "b").unwrap();
    assert_eq!(desk.join("b", "a"), Err(CommandRefusal::OneChain(id("b"), id("a"))));
    assert_eq!(desk.join("b", "nobody"), Err(CommandRefusal::Unknown(id("nobody"))));
}

#[test]
fn a_split_outweighs_every_proof() {
    let cleared = session("b", &[(110, 200)]).process(&["a"]).cleared();
    let mut desk =
        CommandWorld::new(World::of([session("a", &[(0, 100)]).own(), cleared]).moved(7, "a", "b", 111));
    assert_eq!(desk.chains().over_by("a"), Some("b"));
    desk.carry_out(SessionCommand::Split { session: id("b") }).unwrap();
    let chains = desk.chains();
    assert_eq!((chains.sessions("a"), chains.sessions("b")), (vec!["a"], vec!["b"]));
    assert_eq!(chains.over_by("a"), None);
    assert_eq!(
        desk.carry_out(SessionCommand::Split { session: id("b") }),
        Err(CommandRefusal::BeginsChain(id("b")))
    );
    desk.carry_out(SessionCommand::Undo { session: id("b") }).unwrap();
    assert_eq!(desk.chains().over_by("a"), Some("b"), "the proof was there all the time");
    assert_eq!(
        desk.carry_out(SessionCommand::Undo { session: id("b") }),
        Err(CommandRefusal::NothingToUndo(id("b")))
    );
}

#[test]
fn a_suggestion_is_accepted_or_never_made_again() {
    let told = [session("a", &[(0, 100)]).own(), session("b", &[(111, 200)]).own()];
    let suggested = || CommandWorld::new(World::of(told.clone()).marker("b", 110));
    assert_eq!(suggested().chains().link("a", "b"), Some((LinkReason::CwdRecency, Suggested)));

    let mut desk = suggested();
    desk.carry_out(SessionCommand::Accept { session: id("b") }).unwrap();
    assert_eq!(desk.chains().link("a", "b"), Some((LinkReason::Manual, Proven)));
    assert_eq!(
        desk.carry_out(SessionCommand::Accept { session: id("b") }),
        Err(CommandRefusal::NotSuggested(id("b")))
    );

    let mut desk = suggested();
    desk.carry_out(SessionCommand::Split { session: id("b") }).unwrap();
    assert_eq!(desk.chains().link("a", "b"), None);
    desk.world = desk.world.and(session("c", &[(0, 105)]).own()).marker("b", 112);
    assert_eq!(desk.chains().sessions("b"), ["b"], "nor is another one suggested");
}

#[test]
fn joining_and_splitting_a_fork_restores_it() {
    let fork = session("f", &[(200, 300)]).copies("a", 0).forked_from("a");
    let mut desk = CommandWorld::new(World::of([session("a", &[(0, 100)]).own(), fork]));
    let before = desk.chains();
    assert_eq!(before.link("a", "f"), Some((LinkReason::ForkedFrom, Proven)));
    desk.join("a", "f").unwrap();
    assert_eq!(desk.chains().sessions("a"), ["a", "f"]);
    desk.carry_out(SessionCommand::Split { session: id("f") }).unwrap();
    assert_eq!(desk.chains(), before);
}

#[test]
fn a_manual_name_holds_until_it_is_removed() {
    let mut desk = two();
    desk.name("a", Some("  the\n release "));
    assert_eq!(desk.chains().chain("a").name.as_deref(), Some("the release"));
    desk.name("a", Some(" "));
    assert_eq!(desk.chains().chain("a").name.as_deref(), Some("by the agent"), "its own title again");
}

#[test]
fn a_name_goes_with_its_part_of_a_joined_chain() {
    let mut desk = two();
    desk.name("b", Some("second half"));
    desk.join("a", "b").unwrap();
    assert_eq!(desk.chains().chain("a").name.as_deref(), Some("second half"), "no name is lost by a join");
    desk.name("b", Some("all of it"));
    assert_eq!(desk.chains().chain("a").name.as_deref(), Some("all of it"));
    desk.carry_out(SessionCommand::Undo { session: id("a") }).unwrap();
    let chains = desk.chains();
    assert_eq!(chains.chain("a").name.as_deref(), Some("all of it"));
    assert_eq!(chains.chain("b").name.as_deref(), Some("second half"));
    desk.join("a", "b").unwrap();
    desk.name("a", None);
    assert_eq!(desk.chains().chain("a").name.as_deref(), Some("by the agent"), "every name of it is gone");
}

#[test]
fn the_beginning_of_a_joined_chain_stays_when_its_transcript_is_gone() {
    let mut desk = two();
    desk.join("a", "b").unwrap();
    desk.name("a", Some("the release"));
    desk.world.lineages.retain(|lineage| lineage.session != id("a"));
    let chains = desk.chains();
    assert_eq!(chains.sessions("b"), ["b"]);
    assert_eq!(
        (chains.chain("b").id.clone(), chains.chain("b").name.as_deref()),
        (chain_id("a"), Some("the release"))
    );
}

#[test]
fn the_newest_command_counts_even_if_the_clock_was_set_back() {
    let mut desk = two();
    desk.join("a", "b").unwrap();
    desk.now = -5_000;
    desk.carry_out(SessionCommand::Split { session: id("b") }).unwrap();
    assert_eq!(desk.chains().sessions("a"), ["a"]);
}

#[test]
fn a_repeated_link_replaces_the_earlier_one() {
    let mut user_edits = UserEdits::default();
    let join = |secs| ManualLink::Join { at: at(secs), from: id("a"), to: id("b") };
    user_edits.apply(EditChange::AddLink(join(1)));
    user_edits.apply(EditChange::AddLink(join(9)));
    assert_eq!(user_edits.links().iter().collect::<Vec<_>>(), [&join(9)]);
    user_edits.apply(EditChange::SetChainName(chain_id("a"), Some(Arc::from("x"))));
    user_edits.apply(EditChange::SetChainName(chain_id("a"), None));
    assert!(user_edits.names().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn undoing_a_join_restores_the_chains(world in any_world(), a in 0..9usize, b in 0..9usize) {
        let mut desk = CommandWorld::new(world);
        let before = desk.chains();
        let (a, b) = (format!("s{a}"), format!("s{b}"));
        if desk.join(&a, &b).is_ok() {
            let after = desk.chains();
            // Commands of the same time, and a fork that came from both, may contradict the join; then the engine
            // refuses it.
            if after.chain(&a).id == after.chain(&b).id {
                desk.carry_out(SessionCommand::Undo { session: id(&a) }).unwrap();
                prop_assert_eq!(desk.chains(), before);
            }
        }
    }

    #[test]
    fn splitting_after_a_join_restores_the_chains(world in any_world(), a in 0..9usize, b in 0..9usize) {
        let mut desk = CommandWorld::new(World { manual: Vec::new(), ..world });
        let before = desk.chains();
        let (a, b) = (format!("s{a}"), format!("s{b}"));
        if desk.join(&a, &b).is_ok() {
            let Some(ManualLink::Join { to, .. }) = desk.user_edits.links().first().cloned() else {
                return Err(TestCaseError::fail("a join is a join"));
            };
            // A chain whose first session is gone has another beginning, which only an undo restores.
            let begins = before.of(&to).is_some_and(|chain| chain.id == ChainId::derive(&to));
            if begins && desk.carry_out(SessionCommand::Split { session: to }).is_ok() {
                prop_assert_eq!(desk.chains(), before);
            }
        }
    }

    #[test]
    fn every_command_leaves_sound_chains(
        world in any_world(),
        said in proptest::collection::vec((0..4usize, 0..9usize, 0..9usize), 0..12),
    ) {
        let mut desk = CommandWorld::new(world);
        let sessions: usize = desk.chains().iter().map(|chain| chain.sessions.len()).sum();
        for (what, a, b) in said {
            let (session, with) = (id(&format!("s{a}")), id(&format!("s{b}")));
            // Refused or not: no session is lost, and no session comes from itself.
            let _ = desk.carry_out(match what {
                0 => SessionCommand::Join { session, with },
                1 => SessionCommand::Split { session },
                2 => SessionCommand::Undo { session },
                _ => SessionCommand::Accept { session },
            });
            let chains = desk.chains();
            prop_assert_eq!(chains.iter().map(|chain| chain.sessions.len()).sum::<usize>(), sessions);
            for chain in &chains {
                for session in &chain.sessions {
                    let walk = std::iter::successors(Some(session), |at| {
                        chain.links.iter().find(|link| link.to == **at && link.from != **at).map(|link| &link.from)
                    });
                    prop_assert!(walk.take(12).count() < 12, "a walk to the origin ends");
                }
            }
        }
    }
}

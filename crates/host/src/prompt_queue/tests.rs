//! The queue under all orders of what happens to it.

use proptest::prelude::*;

use super::*;

fn ended(reason: &str) -> OwnWhat {
    OwnWhat::TurnEnd { reason: reason.to_owned(), tokens: None, prompts: Vec::new() }
}

fn id(command: Option<OwnCommand>) -> Option<String> {
    match command {
        Some(OwnCommand::Prompt { id, .. }) => Some(id),
        _ => None,
    }
}

#[test]
fn each_failure_holds_and_only_the_user_releases() {
    for reason in ["interrupted", "error", "limit", "login", "max_turns", "a word of a later version"] {
        let mut queue = PromptQueue::default();
        queue.take("a", "text", &[], PromptWhen::Queue, true);
        assert_eq!(queue.note(&ended(reason)).len(), 1, "{reason}");
        assert!(!queue.has_work() && queue.next().is_none(), "{reason}");
        assert_eq!(queue.take("b", "text", &[], PromptWhen::Queue, false).len(), 1);
        assert!(queue.next().is_none(), "it waits behind what waits");
        assert_eq!(queue.release().len(), 1);
        assert_eq!((id(queue.next()), id(queue.next())), (Some("a".to_owned()), Some("b".to_owned())));
    }
    let mut queue = PromptQueue::default();
    assert!(queue.note(&ended("interrupted")).is_empty(), "nothing waits, so nothing is held");
    queue.take("a", "text", &[], PromptWhen::Queue, false);
    assert_eq!(id(queue.next()), Some("a".to_owned()));
}

#[test]
fn an_interrupt_of_what_was_only_sent_is_not_kept_for_the_next_turn() {
    let mut queue = PromptQueue::default();
    let prompt = |id: &str, place| OwnWhat::Prompt { id: id.into(), text: id.into(), images: 0, place };
    queue.take("a", "a", &[], PromptWhen::Queue, false);
    queue.next();
    queue.note(&prompt("a", PromptPlace::Sent));
    queue.interrupting();
    queue.note(&prompt("a", PromptPlace::Dropped));
    queue.take("b", "b", &[], PromptWhen::Queue, false);
    queue.next();
    queue.note(&prompt("b", PromptPlace::Sent));
    queue.note(&OwnWhat::TurnStart);
    queue.take("c", "c", &[], PromptWhen::Queue, true);
    let acts = queue.take("d", "d", &[], PromptWhen::Now, true);
    assert!(acts.contains(&Act::Interrupt), "a prompt for now interrupts the turn: {acts:?}");
    assert_eq!(
        queue.note(&ended("interrupted")).len(),
        1,
        "the turn ended by another hand: what waits is held"
    );
}

#[test]
fn an_interrupt_counts_for_the_turn_that_a_sent_prompt_begins() {
    let mut queue = PromptQueue::default();
    queue.take("a", "a", &[], PromptWhen::Queue, false);
    queue.next();
    let prompt = |place| OwnWhat::Prompt { id: "a".into(), text: "a".into(), images: 0, place };
    queue.note(&prompt(PromptPlace::Sent));
    queue.interrupting();
    queue.take("b", "b", &[], PromptWhen::Queue, true);
    queue.note(&OwnWhat::TurnStart);
    queue.note(&prompt(PromptPlace::Started));
    queue.note(&prompt(PromptPlace::Dropped));
    assert!(queue.note(&ended("interrupted")).is_empty(), "the user held nothing");
}

#[test]
fn what_the_user_released_stays_released() {
    let mut queue = PromptQueue::default();
    queue.take("a", "text", &[], PromptWhen::Queue, true);
    queue.hold("interrupted");
    queue.interrupting();
    queue.release();
    assert!(queue.note(&ended("interrupted")).is_empty());
    assert_eq!(id(queue.next()), Some("a".to_owned()));
}

#[test]
fn a_prompt_for_now_passes_a_held_queue() {
    let mut queue = PromptQueue::default();
    queue.take("a", "text", &[], PromptWhen::Queue, true);
    queue.note(&ended("error"));
    queue.take("b", "text", &[], PromptWhen::Now, false);
    assert_eq!(id(queue.next()), Some("b".to_owned()));
    assert_eq!(id(queue.next()), None);
}

#[test]
fn a_dead_agent_leaves_sent_prompts_at_an_unknown_place() {
    let mut queue = PromptQueue::default();
    for name in ["sent", "started", "waits"] {
        queue.take(name, name, &[], PromptWhen::Queue, false);
    }
    for (name, place) in [("sent", PromptPlace::Sent), ("started", PromptPlace::Started)] {
        assert_eq!(id(queue.next()).as_deref(), Some(name));
        queue.note(&OwnWhat::Prompt { id: name.into(), text: name.into(), images: 0, place });
    }
    let acts = queue.agent_gone();
    let text = "sent".to_owned();
    let lost = OwnWhat::Prompt { id: text.clone(), text, images: 0, place: PromptPlace::Unknown };
    assert_eq!(acts[0], Act::Tell(lost));
    assert_eq!(acts.len(), 2, "and the queue is held");
    assert!(queue.take("sent", "sent", &[], PromptWhen::Queue, false).is_empty(), "never again");
}

#[derive(Debug, Clone)]
enum Step {
    Take(u8, PromptWhen),
    Next,
    Unqueue(u8),
    Clear,
    Hold,
    Release,
    Ended(bool),
    Gone,
}

fn step() -> impl Strategy<Value = Step> {
    let when = prop_oneof![Just(PromptWhen::Queue), Just(PromptWhen::Steer), Just(PromptWhen::Now)];
    prop_oneof![
        4 => (0..12_u8, when).prop_map(|(name, when)| Step::Take(name, when)),
        4 => Just(Step::Next),
        1 => (0..12_u8).prop_map(Step::Unqueue),
        1 => Just(Step::Clear),
        1 => Just(Step::Hold),
        2 => Just(Step::Release),
        2 => any::<bool>().prop_map(Step::Ended),
        1 => Just(Step::Gone),
    ]
}

proptest! {
    #[test]
    fn each_prompt_is_handed_over_at_most_once(steps in proptest::collection::vec(step(), 0..60)) {
        let (mut queue, mut runs, mut handed) = (PromptQueue::default(), false, Vec::new());
        for step in steps {
            let acts = match step {
                Step::Take(name, when) => queue.take(&name.to_string(), "text", &[], when, runs),
                Step::Next if !runs => queue.next().map(Act::Hand).into_iter().collect(),
                Step::Next => Vec::new(),
                Step::Unqueue(name) => queue.unqueue(&name.to_string()).unwrap_or_default(),
                Step::Clear => queue.clear(),
                Step::Hold => queue.hold("error"),
                Step::Release => queue.release(),
                Step::Ended(well) => {
                    runs = false;
                    queue.note(&ended(if well { "completed" } else { "interrupted" }))
                }
                Step::Gone => {
                    runs = false;
                    queue.agent_gone()
                }
            };
            for act in acts {
                match act {
                    Act::Hand(OwnCommand::Prompt { id, .. }) => {
                        runs = true;
                        let place = PromptPlace::Sent;
                        queue.note(&OwnWhat::Prompt { id: id.clone(), text: String::new(), images: 0, place });
                        prop_assert!(!handed.contains(&id), "{} twice", id);
                        handed.push(id);
                    }
                    Act::Interrupt => queue.interrupting(),
                    _ => {}
                }
            }
        }
    }
}

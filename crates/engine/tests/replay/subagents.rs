//! Subagents with transcripts of their own are nested at the call that started them, running or done.

use watchbill_core::time::Millis;
use watchbill_engine::engine::Engine;
use watchbill_history::query::Gate;
use watchbill_history::query::timeline::{ItemRange, TimelineReader};
use watchbill_protocol::timeline::{Subagent, Timeline, TimelineItem, What};

use crate::play::Witnesses;
use crate::play::{NamedRecording, Player, all};

fn named(name: &str) -> NamedRecording {
    all().into_iter().find(|named| named.name == name).unwrap()
}

fn session(engine: &Engine) -> String {
    engine.current(true).rows[0].session().session_id.clone()
}

fn subagents(items: &[TimelineItem]) -> Vec<(u64, &Subagent)> {
    let calls = items.iter().filter_map(|item| match &item.what {
        What::Tool { subagent: Some(subagent), .. } => Some((item.index, subagent)),
        _ => None,
    });
    calls.collect()
}

#[test]
fn a_subagents_items_are_nested_at_its_call_and_shift_no_index() {
    for name in ["07a-subagent-foreground", "07b-subagent-background"] {
        let named = named(name);
        let mut player = Player::new(&named.recording, Witnesses::REGISTRY);
        for (at, operation) in &named.recording.operations {
            player.act(*at, operation, &mut |_, _, _| {});
        }
        let plan = player.engine.timeline_plan(&Gate::default(), &session(&player.engine)).unwrap();
        assert_eq!(plan.agents.len(), 1, "{name}");
        let fs = player.engine.fs();
        let mut reader = TimelineReader::default();
        let plain = reader.read(fs, &plan, ItemRange::new(Some(0), 100)).unwrap();
        let nested = reader.read(fs, &plan, ItemRange::new(Some(0), 100).nested()).unwrap();
        assert_eq!((plain.total, plain.items.len()), (nested.total, nested.items.len()), "{name}");

        let (index, subagent) = subagents(&nested.items)[0];
        let agent = subagent.agent_id.clone();
        assert_eq!(
            subagents(&plain.items)[0],
            (index, &Subagent { agent_id: agent.clone(), total: None, items: vec![] })
        );
        assert_eq!(subagent.total, Some(subagent.items.len() as u64), "{name}");
        assert!(subagent.items.len() > 2, "{name}: a prompt, calls, an answer");
        assert!(matches!(subagent.items[0].what, What::Prompt { .. }), "{name}");
        let indexes: Vec<u64> = subagent.items.iter().map(|item| item.index).collect();
        assert_eq!(indexes, (0..subagent.items.len() as u64).collect::<Vec<_>>(), "its own count");

        let own: Timeline = reader.read_agent(fs, &plan, &agent, ItemRange::new(Some(1), 2)).unwrap();
        assert_eq!((own.agent_id.as_deref(), own.from), (Some(&*agent), 1));
        assert_eq!(own.items, subagent.items[1..3], "{name}");
        assert!(reader.read_agent(fs, &plan, "nobody", ItemRange::new(None, 1)).is_err());
    }
}

#[test]
fn a_running_subagent_is_found_by_its_meta_file() {
    let named = named("07b-subagent-background");
    let mut player = Player::new(&named.recording, Witnesses::REGISTRY);
    let mut seen = false;
    for (at, operation) in &named.recording.operations {
        player.act(*at, operation, &mut |_, _, _| {});
        if player.engine.current(true).rows.is_empty() {
            continue;
        }
        let plan = player.engine.timeline_plan(&Gate::default(), &session(&player.engine)).unwrap();
        let timeline =
            TimelineReader::default().read(player.engine.fs(), &plan, ItemRange::new(Some(0), 100)).unwrap();
        let calls = subagents(&timeline.items);
        let pending = calls.iter().any(|(index, _)| {
            let What::Tool { outcome, .. } = &timeline.items[usize::try_from(*index).unwrap()].what else {
                return false;
            };
            outcome == "pending"
        });
        seen |= pending;
    }
    assert!(seen, "between its start and the word that it was launched");
}

#[test]
fn every_record_has_a_timeline_place_also_in_subagents() {
    for named in all() {
        let mut player = Player::new(&named.recording, Witnesses::REGISTRY);
        player.stage.act_until(&named.recording, Millis::from_secs(100_000));
        let hints = player.stage.hints.take();
        player.engine.step(player.now, watchbill_engine::input::Input::Hints(hints));
        for row in player.engine.current(true).rows {
            let plan = player.engine.timeline_plan(&Gate::default(), &row.session().session_id).unwrap();
            let fs = player.engine.fs();
            let mut reader = TimelineReader::default();
            let timeline = reader.read(fs, &plan, ItemRange::whole()).unwrap();
            for (agent, path) in plan
                .parts
                .iter()
                .filter(|(session, ..)| *session == plan.session)
                .map(|(_, path, _)| (None, path))
                .chain(plan.agents.iter().map(|file| (Some(&*file.agent), &file.path)))
            {
                let text = fs.read_small(path, 1 << 30).unwrap();
                let mut offset = 0;
                for line in text.split_inclusive(|byte| *byte == b'\n') {
                    let place = reader.place(fs, &plan, agent, offset).unwrap();
                    let place_of = |items: &[TimelineItem], index: u64| -> Option<TimelineItem> {
                        items.get(usize::try_from(index).unwrap()).cloned()
                    };
                    let item = place_of(&timeline.items, place.index);
                    if timeline.total > 0 {
                        assert!(item.is_some(), "{}: {place:?} of {}", named.name, timeline.total);
                    }
                    for step in &place.within {
                        assert_eq!(agent, Some(&*step.agent_id));
                        let Some(TimelineItem { what: What::Tool { subagent: Some(subagent), .. }, .. }) =
                            &item
                        else {
                            panic!("{}: {place:?} is not at the call", named.name)
                        };
                        assert!(place_of(&subagent.items, step.index).is_some(), "{}", named.name);
                    }
                    offset += line.len() as u64;
                }
            }
        }
    }
}

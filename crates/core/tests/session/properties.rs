//! Properties of every transcript, however odd.

use proptest::prelude::*;
use watchbill_core::session::state::StateKind;
use watchbill_core::session::{Effect, Reading};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::{
    Body, CompactTrigger, Denial, PromptOrigin, QueueOperation, Record, StopReason, System,
};

use crate::script::*;

/// Any record that can move a turn, at a time that may go back a little.
fn a_body() -> impl Strategy<Value = Body<'static>> {
    let id = prop_oneof![Just("a"), Just("b"), Just("c")];
    let tool = prop_oneof![Just("Bash"), Just("Read"), Just("Edit"), Just("AskUserQuestion"), Just("Agent")];
    let stop = prop_oneof![Just(None), Just(Some(StopReason::ToolUse)), Just(Some(StopReason::EndTurn))];
    let mode = prop_oneof![Just(None), Just(Some("auto")), Just(Some("acceptEdits")), Just(Some("default"))];
    prop_oneof![
        3 => mode.prop_map(|mode| prompt_body("go", PromptOrigin::Human, mode, None)),
        1 => Just(prompt_body("<task-notification>", PromptOrigin::TaskNotification, None, Some("t1"))),
        4 => (id.clone(), tool).prop_map(|(id, tool)| {
            Body::Assistant(assistant(call(id, tool, false), Some(StopReason::ToolUse)))
        }),
        3 => stop.prop_map(|stop| Body::Assistant(assistant(
            watchbill_core::transcript::record::Block::Text("so".into()), stop))),
        4 => (id.clone(), any::<bool>(), any::<bool>()).prop_map(|(id, agent, task)| {
            let mut result = result(id);
            result.async_agent = agent.then_some("t1".into());
            result.background_task = task.then_some("t2".into());
            Body::ToolResults(vec![result])
        }),
        1 => id.prop_map(|id| {
            let mut result = result(id);
            result.denied = Some(Denial::User);
            Body::ToolResults(vec![result])
        }),
        1 => Just(Body::Interrupt),
        1 => Just(Body::Progress),
        1 => (0u32..3).prop_map(|pending_agents| Body::System(System::TurnDuration { pending_agents })),
        1 => Just(Body::System(System::Retry { attempt: Some(1), max: None, in_ms: Some(5_000), status: None })),
        1 => any::<bool>().prop_map(Body::Compaction),
        1 => Just(Body::ApiError { kind: None, text: "no".into() }),
        1 => prop_oneof![Just(CompactTrigger::Auto), Just(CompactTrigger::Manual)]
            .prop_map(|trigger| boundary(0.0, trigger).body),
        1 => Just(Body::Attachment(
            watchbill_core::transcript::record::Attachment::SessionStart { source: "resume".into() })),
    ]
}

/// A transcript: gaps from nothing to hours, now and then a step back, now and then no time at all.
pub fn a_transcript() -> impl Strategy<Value = Vec<Record<'static>>> {
    let gap = prop_oneof![
        6 => 0.0..4.0f64,
        2 => 4.0..70.0f64,
        1 => 500.0..5_000.0f64,
        1 => -30.0..0.0f64,
    ];
    prop::collection::vec((a_body(), gap, prop::bool::weighted(0.95)), 0..30).prop_map(|steps| {
        let mut secs = 0.0;
        steps
            .into_iter()
            .map(|(body, gap, timed)| {
                secs += gap;
                with(record(secs, body), |envelope| envelope.at = envelope.at.filter(|_| timed))
            })
            .collect()
    })
}

/// All facts that a reader of the fold can see, except the effects on the way.
fn seen(play: &Play) -> (Reading, String, String, Option<Timestamp>) {
    (
        play.reading(),
        format!("{:?}", play.fold.facts()),
        format!("{:?} {:?}", play.fold.pending_tools(), play.fold.lineage()),
        play.fold.deadline(),
    )
}

/// Seconds after the last record of any generated transcript.
const MUCH_LATER: f64 = 200_000.0;

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn records_without_facts_change_nothing_at_any_place(
        records in a_transcript(),
        places in prop::collection::vec((0usize..31, 0.0..1e9f64, any::<bool>()), 0..6),
    ) {
        let plain = Play::of(records.clone());
        let mut mixed = records;
        for (place, secs, unknown) in places {
            let body = if unknown { Body::Unknown("new".into()) } else { Body::Irrelevant };
            mixed.insert(place.min(mixed.len()), record(secs, body));
        }
        let mixed = Play::of(mixed);
        prop_assert_eq!(seen(&mixed), seen(&plain));
        prop_assert_eq!(mixed.out, plain.out);
    }

    #[test]
    fn records_appended_again_change_nothing(records in a_transcript(), from in 0usize..30) {
        let mut play = Play::of(records.clone());
        let before = (seen(&play), play.fold.ledger().total(), play.out.len());
        for record in records.iter().skip(from) {
            play.apply(record);
        }
        prop_assert_eq!((seen(&play), play.fold.ledger().total(), play.out.len()), before);
    }

    #[test]
    fn advancing_the_clock_between_records_changes_nothing_later(
        records in a_transcript(),
        looks in prop::collection::vec((0usize..31, -20.0..700.0f64), 0..12),
    ) {
        let mut cold = Play::of(records.clone());
        let mut live = Play::new();
        let mut newest: Option<Timestamp> = None;
        for (n, record) in records.iter().enumerate() {
            for (_, ahead) in looks.iter().filter(|(place, _)| *place == n) {
                let now = live.fold.clock().map_or(at(*ahead), |clock| {
                    Timestamp::from_millis(clock.as_millis() + (*ahead * 1000.0) as i64)
                });
                live.fold.advance(now, &mut live.out);
                newest = newest.max(Some(now));
            }
            live.apply(record);
        }
        // Compare both at the same time.
        if let Some(newest) = newest {
            cold.fold.advance(newest, &mut cold.out);
        }
        prop_assert_eq!(seen(&live), seen(&cold));
        cold.advance(MUCH_LATER);
        live.advance(MUCH_LATER);
        prop_assert_eq!(seen(&live), seen(&cold));
        prop_assert_eq!(live.now(), IDLE);
    }

    /// The engine reads a subagent's file before or after that of its session, by chance.
    #[test]
    fn the_order_of_reading_subagents_changes_nothing(
        records in a_transcript(),
        stirs in prop::collection::vec((0usize..31, -20.0..700.0f64), 0..12),
        looks in any::<bool>(),
    ) {
        let mut live = Play::new();
        let mut heard = Vec::new();
        for (n, record) in records.iter().enumerate() {
            for (_, ahead) in stirs.iter().filter(|(place, _)| *place == n) {
                let when = Timestamp::from_millis(
                    live.fold.clock().unwrap_or(at(0.0)).as_millis() + (*ahead * 1000.0) as i64,
                );
                live.fold.subagent_active(when, &mut live.out);
                if looks {
                    live.fold.advance(when, &mut live.out);
                }
                heard.push(when);
            }
            live.apply(record);
        }
        let mut cold = Play::of(records.clone());
        heard.iter().rev().for_each(|when| cold.fold.subagent_active(*when, &mut cold.out));
        if let Some(newest) = heard.iter().max().filter(|_| looks) {
            cold.fold.advance(*newest, &mut cold.out);
        }
        prop_assert_eq!(seen(&live), seen(&cold));
        cold.advance(MUCH_LATER);
        live.advance(MUCH_LATER);
        prop_assert_eq!(seen(&live), seen(&cold));
    }

    #[test]
    fn reported_transitions_match_the_shown_state(
        records in a_transcript(),
        look in 0.0..10_000.0f64,
        note_subagent_activity in prop::option::of(0.0..1_000.0f64),
    ) {
        let mut play = Play::new();
        let mut told = IDLE;
        for (n, record) in records.iter().enumerate() {
            if n == records.len() / 3 && let Some(note_subagent_activity) = note_subagent_activity {
                play.fold.subagent_active(at(note_subagent_activity), &mut play.out);
            }
            if n == records.len() / 2 {
                play.advance(look);
            }
            play.apply(record);
            for Effect::Transition { from, to, kind, .. } in play.out.drain(..) {
                prop_assert_eq!(from, told.0, "transitions follow on one another");
                prop_assert!((to, kind) != told, "a transition changes something");
                told = (to, kind);
            }
            prop_assert_eq!(play.now(), told);
        }
    }

    #[test]
    fn a_deadline_always_lies_ahead_and_always_moves_something(records in a_transcript()) {
        let mut play = Play::of(records);
        let mut steps = 0;
        while let Some(deadline) = play.fold.deadline() {
            prop_assert!(play.fold.clock().is_none_or(|clock| deadline > clock), "the past has fired");
            let before = play.now();
            play.fold.advance(deadline, &mut play.out);
            prop_assert_ne!(play.now(), before);
            prop_assert!(play.reading().by_timeout);
            steps += 1;
            prop_assert!(steps <= 2, "to a question or an end, then to idle");
        }
        prop_assert_eq!(play.now(), IDLE);
    }

    #[test]
    fn times_of_any_size_in_any_order_do_no_harm(
        steps in prop::collection::vec((a_body(), any::<i64>(), any::<i64>()), 0..20),
    ) {
        let mut play = Play::new();
        for (body, time, clock) in steps {
            play.apply(&with(record(0.0, body), |envelope| envelope.at = Some(Timestamp::from_millis(time))));
            play.fold.advance(Timestamp::from_millis(clock), &mut play.out);
            let reading = play.reading();
            prop_assert!(!reading.detail.is_empty());
            prop_assert_eq!(reading.kind == Some(StateKind::Permission) && !reading.by_timeout, false);
        }
    }

    #[test]
    fn the_queue_never_goes_below_zero(operations in prop::collection::vec(0u8..5, 0..40)) {
        let mut play = Play::of([prompt(0.0, "go")]);
        let mut waiting = 0u32;
        for operation in operations {
            play.apply(&queue(1.0, match operation {
                0 => { waiting += 1; QueueOperation::Enqueue { text: "x".into() } }
                1 => { waiting = waiting.saturating_sub(1); QueueOperation::Dequeue }
                2 => { waiting = waiting.saturating_sub(1); QueueOperation::Remove }
                3 => { waiting = 0; QueueOperation::PopAll }
                _ => QueueOperation::Other,
            }));
            prop_assert_eq!(play.fold.facts().queued_prompts, waiting);
        }
    }
}

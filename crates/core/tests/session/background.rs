//! Work that outlives its turn: shells and subagents.

use watchbill_core::session::state::StateKind;
use watchbill_core::transcript::record::{Attachment, Body, QueueOperation};

use crate::script::*;

/// A turn that leaves a subagent behind.
fn delegated() -> Vec<watchbill_core::transcript::record::Record<'static>> {
    vec![prompt(0.0, "delegate"), calls(1.0, "a", "Agent"), result_with_agent(1.3, "a", "agent-1")]
}

/// The text of a notice.
const NOTICE: &str = "<task-notification>\n<task-id>agent-1</task-id>\n<status>completed</status>\n";

#[test]
fn edge_31_a_background_shell_leaves_the_turn_ended() {
    let mut play = Play::of([
        prompt(0.0, "start the server"),
        calls(1.0, "a", "Bash"),
        result_with_task(1.3, "a", "b1"),
        answer_ends(2.0, "It runs."),
        turn_over(2.1),
    ]);
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.fold.facts().background_tasks, 1);
    play.apply(&notification(30.0, "b1"));
    assert_eq!(play.now(), WORKING, "edge 33: it wakes the agent");
    assert_eq!(play.fold.facts().background_tasks, 0);
    assert_eq!(play.fold.facts().goal.as_deref(), Some("start the server"));
}

#[test]
fn edge_31_a_killed_shell_no_longer_runs() {
    let mut play =
        Play::of([prompt(0.0, "go"), calls(1.0, "a", "Bash"), result_with_task(1.3, "a", "make it so")]);
    assert_eq!(play.fold.facts().background_tasks, 1);
    play.apply(&calls(5.0, "k", "KillShell"));
    assert_eq!(play.fold.facts().background_tasks, 0, "the call names the shell it kills");
}

#[test]
fn edge_32_a_turn_whose_subagents_go_on_is_not_finished() {
    let mut play = Play::of(delegated());
    play.apply(&answer_ends(2.0, "It is running in the background."));
    assert_eq!(play.now(), BACKGROUND);
    play.apply(&turn_over_with(2.1, 1));
    assert_eq!(play.now(), BACKGROUND);
    assert_eq!(play.reading().detail, "the turn ended, one subagent works on");
    assert_eq!(play.reading().since, at(2.0));
    assert_eq!(play.fold.facts().subagents_running, 1);
    assert_eq!(play.advance(300.0).now(), BACKGROUND, "its silence in this file says nothing");

    // The agent's order: queued, taken out of the queue, then the prompt.
    play.apply(&queue(301.0, QueueOperation::Enqueue { text: NOTICE.into() }));
    assert_eq!(play.now(), BACKGROUND, "nothing is finished before the agent has answered");
    assert_eq!(play.fold.facts().queued_prompts, 0, "the user did not type it");
    play.apply(&queue(301.1, QueueOperation::Dequeue));
    play.apply(&notification(301.2, "agent-1"));
    assert_eq!(play.now(), WORKING);
    play.apply(&answer_ends(303.0, "Got its result."));
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.fold.facts().subagents_running, 0);
    assert_eq!(play.fold.facts().subagents_launched, 1);
    assert_eq!(
        play.path(),
        [WORKING, BACKGROUND, WORKING, ENDED],
        "one end, when there is something to look at"
    );
}

#[test]
fn edge_32_an_unanswered_notice_does_not_keep_the_turn_open() {
    let mut play = Play::of(delegated());
    play.apply(&answer_ends(2.0, "It is running."));
    play.apply(&queue(301.0, QueueOperation::Enqueue { text: NOTICE.into() }));
    assert_eq!(play.advance(302.0).now(), BACKGROUND);
    assert_eq!(play.advance(361.0).now(), ENDED);
    assert!(play.reading().by_timeout);
}

#[test]
fn edge_32_a_notice_taken_into_the_running_turn() {
    let mut play = Play::of(delegated());
    play.apply(&record(
        1.8,
        Body::Attachment(Attachment::QueuedCommand { text: NOTICE.into(), private: false }),
    ));
    assert_eq!(play.fold.facts().subagents_running, 0);
    play.apply(&answer_ends(2.0, "Both are done."));
    assert_eq!(play.now(), ENDED);
}

#[test]
fn edge_32_the_clients_count_is_believed() {
    // Launches that the transcript does not show, such as those of a woken subagent.
    let mut play = Play::of([prompt(0.0, "go"), turn_over_with(2.0, 2)]);
    assert_eq!(play.now(), BACKGROUND);
    assert_eq!(play.fold.facts().subagents_running, 2);
    play.apply(&notification(9.0, "agent-7"));
    play.apply(&answer_ends(10.0, "one is done"));
    assert_eq!(play.now(), BACKGROUND);
    play.apply(&turn_over(10.1));
    assert_eq!(play.now(), ENDED, "a client that counts and reports no count has none");
}

#[test]
fn edge_32_a_late_count_reopens_a_turn_that_a_text_closed() {
    let mut play = Play::of([prompt(0.0, "go"), answer_ends(2.0, "delegated")]);
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.apply(&turn_over_with(2.1, 1)).now(), BACKGROUND);
}

#[test]
fn an_interrupt_outweighs_subagents() {
    let mut play = Play::of(delegated());
    play.apply(&interrupt(3.0));
    assert_eq!(play.now().1, Some(StateKind::Interrupted), "the user is there and is next");
}

#[test]
fn background_work_dies_with_its_process() {
    let mut play = Play::of(delegated());
    play.apply(&answer_ends(2.0, "It is running."));
    play.apply(&session_start(100.0, "resume"));
    assert_eq!(play.fold.facts().subagents_running, 0);
    play.apply(&prompt(101.0, "again"));
    assert_eq!(play.apply(&answer_ends(102.0, "done")).now(), ENDED);
    let compacted = Play::of({
        let mut records = delegated();
        records.push(session_start(3.0, "compact"));
        records
    });
    assert_eq!(compacted.fold.facts().subagents_running, 1, "a compaction starts no process");
}

#[test]
fn a_session_with_lost_subagents_becomes_idle() {
    let mut play = Play::of(delegated());
    play.apply(&answer_ends(2.0, "It is running."));
    assert_eq!(play.advance(602.0).now(), IDLE);
}

#[test]
fn a_session_whose_subagents_write_is_not_idle() {
    let mut play = Play::of(delegated());
    play.apply(&answer_ends(2.0, "It is running."));
    play.fold.subagent_active(at(500.0), &mut play.out);
    assert_eq!(play.advance(700.0).now(), BACKGROUND);
    assert_eq!(play.advance(1_100.0).now(), IDLE);
    play.fold.subagent_active(at(1_099.0), &mut play.out);
    assert_eq!(play.now(), BACKGROUND, "the write before the deadline was read after it");
    assert_eq!(play.path(), [WORKING, BACKGROUND, IDLE, BACKGROUND]);
    play.fold.subagent_active(at(3.0), &mut play.out);
    assert_eq!(play.fold.deadline(), Some(at(1_699.0)), "an earlier write changes nothing");
    assert_eq!(play.fold.facts().last_activity_at, Some(at(2.0)));
}

#[test]
fn a_subagents_write_neither_begins_nor_keeps_a_turn() {
    let mut play = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done")]);
    play.fold.subagent_active(at(500.0), &mut play.out);
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.advance(601.0).now(), IDLE);
    play.fold.subagent_active(at(602.0), &mut play.out);
    assert_eq!(play.now(), IDLE);
}

#[test]
fn a_new_prompt_restarts_the_time_even_if_a_subagent_wrote() {
    let records = [prompt(0.0, "go"), prompt(70.0, "and now this")];
    let mut live = Play::of(records[..1].to_vec());
    live.fold.subagent_active(at(50.0), &mut live.out);
    assert_eq!(live.advance(69.0).now(), WORKING, "a subagent is at work, so this silence is no end");
    live.apply(&records[1]);
    assert_eq!(live.reading().since, at(70.0));
    let mut cold = Play::of(records.to_vec());
    cold.fold.subagent_active(at(50.0), &mut cold.out);
    assert_eq!(cold.reading(), live.reading());
    assert_eq!(live.path(), [WORKING], "a state that never held is not reported");
}

#[test]
fn a_turn_that_goes_on_after_a_long_silence_has_never_stopped() {
    let delegates = [prompt(0.0, "go"), calls(1.0, "a", "Agent"), returns(900.0, "a")];
    let mut live = Play::of(delegates[..2].to_vec());
    live.fold.subagent_active(at(599.0), &mut live.out);
    assert_eq!(live.advance(800.0).now(), WORKING);
    live.apply(&delegates[2]);
    assert_eq!((live.now(), live.reading().since), (WORKING, at(0.0)));
    assert_eq!(Play::of(delegates.to_vec()).reading(), live.reading(), "a cold fold gives the same");

    let mut silent = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done"), prompt(2.0, "more")]);
    assert_eq!(silent.advance(70.0).now(), ENDED, "inferred");
    silent.apply(&answer_goes_on(80.0, "still at it"));
    assert_eq!((silent.now(), silent.reading().since), (WORKING, at(2.0)), "the guess was wrong");
    silent.advance(200.0);
    silent.apply(&prompt(300.0, "again"));
    assert_eq!(silent.reading().since, at(300.0), "a prompt is no part of the turn before it");
}

#[test]
fn a_process_that_starts_after_the_clock_was_set_back_leaves_nothing_running() {
    let mut records = delegated();
    records.push(prompt(-5_000.0, "again"));
    // Written after the first prompt, and stamped before it.
    records.push(session_start(-5_011.0, "resume"));
    assert_eq!(Play::of(records).fold.facts().subagents_running, 0);
}

#[test]
fn silent_records_do_not_end_the_work_of_subagents() {
    for quiet in silent_records(705.0) {
        let mut live = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Agent")]);
        live.fold.subagent_active(at(690.0), &mut live.out);
        live.advance(700.0).apply(&quiet);
        assert_eq!((live.now(), live.reading().since), (WORKING, at(0.0)), "{:?}", quiet.body);
        assert_eq!(live.path(), [WORKING], "a state that never held is not reported");
        live.fold.subagent_active(at(900.0), &mut live.out);
        assert_eq!(live.advance(1499.0).now(), WORKING, "{:?}", quiet.body);
        assert_eq!((live.advance(1501.0).now(), live.reading().since), (IDLE, at(1500.0)));
    }

    let mut apart = Play::of(delegated());
    apart.apply(&answer_ends(2.0, "It is running in the background."));
    apart.fold.subagent_active(at(690.0), &mut apart.out);
    apart.apply(&silent_records(705.0)[5]).advance(706.0);
    assert_eq!((apart.now(), apart.reading().since), (BACKGROUND, at(2.0)), "as it was before the silence");
    assert_eq!(apart.path().last(), Some(&BACKGROUND));
}

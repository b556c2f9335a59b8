//! Real transcripts in cases that naive readers get wrong. The numbers are those of the project's list of edge
//! cases.

use watchbill_core::session::state::{Confidence, State, StateKind};
use watchbill_core::transcript::record::{
    Block, Body, CompactTrigger, Denial, PromptOrigin, QueueOperation, StopReason, System,
};

use crate::script::*;

#[test]
fn edge_01_a_long_command_is_only_inferred_to_wait() {
    let mut play = Play::of([prompt(0.0, "build"), calls(1.0, "a", "Bash")]);
    play.advance(300.0);
    assert_eq!(play.now(), PERMISSION);
    assert_eq!(play.reading().confidence, Confidence::Inferred, "no alert may rest on this");
    play.apply(&returns(1_200.0, "a"));
    assert_eq!(play.now(), WORKING);
}

#[test]
fn edge_01_tools_that_never_ask_stay_working() {
    for tool in ["Read", "Grep", "Glob", "TodoWrite", "Task", "Agent", "Skill", "ToolSearch", "TaskUpdate"] {
        let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", tool)]);
        assert_eq!(
            play.advance(500.0).now(),
            WORKING,
            "{tool}: a call without a result explains the silence"
        );
    }
    let mut play =
        Play::of([prompt(0.0, "go"), answer(1.0, call("a", "Bash", true), Some(StopReason::ToolUse))]);
    assert_eq!(play.advance(500.0).now(), WORKING, "a background call is answered at once");
}

#[test]
fn edge_01_a_heartbeat_shows_that_the_tool_runs() {
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Bash")]);
    play.advance(7.0);
    play.apply(&record(8.0, Body::Progress));
    assert_eq!(play.now(), WORKING);
    assert_eq!(play.fold.deadline(), Some(at(13.0)));
    assert_eq!(play.fold.facts().last_activity_at, Some(at(8.0)));
    let after = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done"), record(2.0, Body::Progress)]);
    assert_eq!(after.now(), ENDED, "a hook's progress after the end is no new turn");
}

#[test]
fn edge_05_a_rejected_call_ends_with_the_interrupt_that_follows() {
    let play = Play::of([
        prompt(0.0, "go"),
        calls(1.0, "a", "Bash"),
        refused(20.0, "a", Denial::User),
        interrupt(20.005),
    ]);
    assert_eq!(play.now(), INTERRUPTED);
    assert!(play.fold.pending_tools().is_empty());
    let late = Play::of([
        prompt(0.0, "go"),
        calls(1.0, "a", "Bash"),
        interrupt(20.0),
        refused(20.1, "a", Denial::User),
    ]);
    assert_eq!(late.now(), INTERRUPTED, "the order of the two does not matter");
}

#[test]
fn edge_06_parallel_calls_are_answered_one_by_one() {
    let mut play = Play::of([
        prompt(0.0, "go"),
        calls(1.0, "a", "Bash"),
        calls(1.1, "b", "Bash"),
        calls(1.2, "c", "Read"),
    ]);
    play.advance(7.0);
    assert_eq!(play.now(), PERMISSION);
    play.apply(&returns(8.0, "b"));
    assert_eq!(play.now(), PERMISSION, "a is still without a result");
    let ids: Vec<_> = play.fold.pending_tools().iter().map(|tool| tool.id.to_string()).collect();
    assert_eq!(ids, ["a", "c"]);
    play.apply(&returns(9.0, "a"));
    assert_eq!(play.now(), WORKING, "Read never asks");
    assert_eq!(play.advance(300.0).now(), WORKING);
}

#[test]
fn edge_08_a_subagents_records_do_not_move_the_parent() {
    let side = |record| with(record, |envelope| envelope.sidechain = true);
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Task")]);
    for record in [
        side(prompt(2.0, "look")),
        side(calls(3.0, "x", "AskUserQuestion")),
        side(answer_ends(4.0, "found")),
        side(turn_over(5.0)),
        side(interrupt(6.0)),
        side(fails(7.0, "server_error", "no")),
    ] {
        play.apply(&record);
        assert_eq!(play.now(), WORKING, "{record:?}");
    }
    assert_eq!(play.fold.pending_tools().len(), 1);
    assert_eq!(play.fold.facts().goal.as_deref(), Some("go"));
    assert_eq!(play.fold.facts().last_activity_at, Some(at(7.0)), "but they show that the turn is alive");
    let mut after = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done")]);
    after.apply(&side(calls(9.0, "x", "Bash")));
    assert_eq!(after.now(), ENDED);
    assert_eq!(after.fold.facts().last_activity_at, Some(at(1.0)));
}

#[test]
fn edge_09_a_question_waits_for_the_user_at_once() {
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "AskUserQuestion")]);
    assert_eq!(play.now(), QUESTION);
    let reading = play.reading();
    assert_eq!((reading.since, reading.by_timeout), (at(1.0), false));
    assert_eq!(reading.confidence, Confidence::Observed);
    assert_eq!(reading.detail, "asks: make it so");
    assert_eq!(play.apply(&returns(100.0, "a")).now(), WORKING);
}

#[test]
fn edge_10_a_plan_waits_for_the_user_at_once() {
    let mut play = Play::of([prompt_in(0.0, "plan"), calls(1.0, "a", "ExitPlanMode")]);
    assert_eq!(play.now(), PLAN);
    assert_eq!(play.apply(&returns(100.0, "a")).now(), WORKING);
}

#[test]
fn edge_12_a_mode_that_never_asks_is_believed() {
    for mode in ["auto", "bypassPermissions", "dontAsk"] {
        let mut play = Play::of([prompt_in(0.0, mode), calls(1.0, "a", "Bash")]);
        assert_eq!(play.advance(500.0).now(), WORKING, "{mode}");
    }
    let mut play = Play::of([prompt_in(0.0, "acceptEdits"), calls(1.0, "a", "Edit")]);
    assert_eq!(play.advance(500.0).now(), WORKING);
    let mut play = Play::of([prompt_in(0.0, "acceptEdits"), calls(1.0, "a", "Bash")]);
    assert_eq!(play.advance(500.0).now(), PERMISSION);
    let mut play = Play::of([prompt_in(0.0, "auto"), calls(1.0, "a", "AskUserQuestion")]);
    assert_eq!(play.advance(1.0).now(), QUESTION, "a question is one in every mode");
}

#[test]
fn edge_12_a_change_of_mode_counts_from_then_on() {
    let mut play = Play::of([prompt_in(0.0, "default"), calls(1.0, "a", "Bash")]);
    play.advance(7.0);
    assert_eq!(play.now(), PERMISSION);
    play.apply(&bare(Body::PermissionMode("auto".into())));
    assert_eq!(play.now(), WORKING);
    assert_eq!(play.fold.facts().permission_mode.as_deref(), Some("auto"));
    assert_eq!(play.fold.facts().last_activity_at, Some(at(1.0)), "a mode record is no activity");
    play.apply(&bare(Body::PermissionMode("default".into())));
    assert_eq!(play.now(), PERMISSION);
}

#[test]
fn edge_13_a_refusal_by_rule_goes_on_working() {
    let play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Bash"), refused(2.0, "a", Denial::Policy)]);
    assert_eq!(play.now(), WORKING);
}

#[test]
fn edge_14_a_question_in_words_is_the_end_of_a_turn() {
    let play = Play::of([prompt(0.0, "go"), answer_ends(3.0, "Shall I go on?"), turn_over(3.2)]);
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.path(), [WORKING, ENDED], "turn_duration adds nothing");
}

#[test]
fn edge_15_a_stop_hook_that_blocks_makes_the_turn_go_on() {
    let mut play = Play::of([
        prompt(0.0, "go"),
        answer_ends(3.0, "done"),
        record(3.1, Body::System(System::StopHookSummary { prevented: true })),
        record(3.2, Body::Meta),
    ]);
    assert_eq!(play.now(), ENDED);
    play.apply(&answer_goes_on(5.0, "so I run the tests"));
    assert_eq!(play.now(), WORKING, "an answer without a prompt is work all the same");
    assert_eq!(play.apply(&calls(5.1, "a", "Read")).now(), WORKING);
}

#[test]
fn edge_16_a_stop_hooks_summary_is_not_the_end() {
    let play = Play::of([
        prompt(0.0, "go"),
        answer_goes_on(3.0, "well"),
        record(3.1, Body::System(System::StopHookSummary { prevented: false })),
    ]);
    assert_eq!(play.now(), WORKING);
}

#[test]
fn edge_17_the_stop_reason_alone_ends_a_turn() {
    for stop in [StopReason::EndTurn, StopReason::StopSequence, StopReason::MaxTokens, StopReason::Refusal] {
        let play = Play::of([prompt(0.0, "go"), answer(1.0, Block::Text("x".into()), Some(stop))]);
        assert_eq!(play.now(), ENDED, "{stop:?}");
    }
    for stop in [None, Some(StopReason::ToolUse), Some(StopReason::Other)] {
        let play = Play::of([prompt(0.0, "go"), answer(1.0, Block::Text("x".into()), stop)]);
        assert_eq!(play.now(), WORKING, "{stop:?}");
    }
}

#[test]
fn edge_17_thinking_with_the_final_reason_is_not_the_end() {
    let mut play = Play::of([prompt(0.0, "go"), answer(1.0, Block::Thinking, Some(StopReason::EndTurn))]);
    assert_eq!(play.now(), WORKING);
    assert_eq!(play.apply(&answer_ends(2.0, "done")).now(), ENDED);
    let mut late = assistant(Block::Thinking, Some(StopReason::EndTurn));
    late.message_id = Some("msg_at_2".into());
    play.apply(&record(2.1, Body::Assistant(late)));
    assert_eq!(play.now(), ENDED, "a late block of the message that ended the turn begins none");
}

#[test]
fn edge_18_an_interrupt_settles_at_once() {
    let mut play = Play::of([prompt(0.0, "go"), answer_goes_on(1.0, "well"), interrupt(2.0)]);
    assert_eq!(play.now(), INTERRUPTED);
    let mut cut = assistant(Block::Text("half a sen".into()), None);
    cut.aborted = true;
    play.apply(&record(2.1, Body::Assistant(cut)));
    assert_eq!(play.now(), INTERRUPTED, "what was cut off may be written late");
    let pasted = Play::of([prompt(0.0, "[Request interrupted by user]")]);
    assert_eq!(pasted.now(), WORKING, "a pasted lookalike reaches us as a prompt");
}

#[test]
fn edge_19_a_turn_without_a_recorded_end_times_out() {
    let mut play = Play::of([prompt(0.0, "go")]);
    play.advance(60.0);
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.reading().confidence, Confidence::Inferred);
}

#[test]
fn edge_20_a_queued_prompt_is_counted_and_starts_nothing() {
    let mut play = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done")]);
    play.apply(&queue(2.0, QueueOperation::Enqueue { text: "then this".into() }));
    play.apply(&queue(2.1, QueueOperation::Enqueue { text: "and that".into() }));
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.fold.facts().queued_prompts, 2);
    assert_eq!(play.fold.facts().last_activity_at, Some(at(1.0)));
    play.apply(&queue(2.2, QueueOperation::Dequeue));
    assert_eq!(play.now(), ENDED, "the prompt record that follows starts the turn");
    assert_eq!(play.fold.facts().queued_prompts, 1);
    play.apply(&queue(2.3, QueueOperation::PopAll));
    play.apply(&queue(2.4, QueueOperation::Remove));
    assert_eq!(play.fold.facts().queued_prompts, 0);
}

#[test]
fn edges_21_and_24_silent_records_change_no_state() {
    for (story, before) in [
        ("new", Play::new()),
        ("working", Play::of([prompt(0.0, "go")])),
        ("ended", Play::of([prompt(0.0, "go"), answer_ends(1.0, "done")])),
        ("asked", Play::of([prompt(0.0, "go"), calls(1.0, "a", "AskUserQuestion")])),
    ] {
        for record in silent_records(2.0) {
            let mut play = Play { fold: before.fold.clone(), out: Vec::new() };
            play.apply(&record);
            assert_eq!(play.reading().state, before.reading().state, "{story}: {record:?}");
            assert_eq!(
                play.reading().since,
                if story == "new" { play.reading().since } else { before.reading().since }
            );
            assert_eq!(
                play.fold.facts().last_activity_at,
                before.fold.facts().last_activity_at,
                "{story}: {record:?}"
            );
        }
    }
}

#[test]
fn edge_22_a_prompt_of_images_alone_is_a_prompt() {
    let play = Play::of([prompt(0.0, ""), answer_ends(1.0, "nice"), prompt(5.0, "and now the text")]);
    assert_eq!(play.path(), [WORKING, ENDED, WORKING]);
    assert_eq!(play.fold.facts().goal.as_deref(), Some("and now the text"));
}

#[test]
fn edge_23_a_notification_starts_a_turn_and_sets_no_goal() {
    for origin in [PromptOrigin::TaskNotification, PromptOrigin::Peer] {
        let play = Play::of([record(0.0, prompt_body("<task-notification>", origin, None, Some("b1")))]);
        assert_eq!(play.now(), WORKING, "{origin:?}");
        assert_eq!(play.fold.facts().goal, None, "{origin:?}");
    }
}

#[test]
fn edge_25_a_retry_is_work() {
    let retry = System::Retry { attempt: Some(3), max: Some(10), in_ms: Some(30_000), status: Some(429) };
    let mut play = Play::of([prompt(0.0, "go"), record(1.0, Body::System(retry))]);
    assert_eq!(play.now(), (State::Working, Some(StateKind::Retrying)));
    assert_eq!(play.reading().detail, "retrying, 429, 3 of 10");
    assert_eq!(play.reading().since, at(0.0), "it is the same work");
    assert_eq!(play.fold.deadline(), Some(at(91.0)), "no record is expected before the retry");
    assert_eq!(play.apply(&answer_goes_on(35.0, "here I am")).now(), WORKING);
    assert_eq!(play.fold.deadline(), Some(at(95.0)));
}

#[test]
fn edge_25_a_compaction_is_work_and_what_was_before_goes_on() {
    let compacting = (State::Working, Some(StateKind::Compacting));
    let compacts = |secs, runs| record(secs, Body::Compaction(runs));
    let mut turn = Play::of([prompt(0.0, "go"), compacts(1.0, true)]);
    assert_eq!(turn.now(), compacting);
    assert_eq!(turn.reading().since, at(0.0), "it is the same work");
    assert_eq!(turn.advance(500.0).now(), compacting, "it writes nothing for long");
    assert_eq!(turn.apply(&compacts(500.5, false)).now(), WORKING, "the turn goes on");
    assert_eq!(turn.apply(&answer_ends(501.0, "done")).now(), ENDED);

    let mut alone = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done"), compacts(2.0, true)]);
    assert_eq!(alone.now(), compacting);
    assert_eq!(alone.apply(&boundary(3.0, CompactTrigger::Unknown)).now(), compacting);
    assert_eq!(alone.apply(&compacts(3.0, false)).now(), ENDED, "no turn ran, and none does");
    assert_eq!(alone.apply(&prompt(4.0, "on")).now(), WORKING);
    assert_eq!(alone.apply(&compacts(5.0, false)).now(), WORKING, "that is the end of none");

    let mut typed = Play::of([compacts(0.0, true), prompt(1.0, "now")]);
    assert_eq!(typed.apply(&compacts(2.0, false)).now(), WORKING, "the turn that began meanwhile goes on");
    let mut killed = Play::of([compacts(0.0, true)]);
    assert_eq!(killed.advance(599.0).now(), compacting);
    assert_ne!(killed.advance(600.0).now(), compacting);
    let mut asks = Play::of([prompt(0.0, "go"), calls(1.0, "a", "AskUserQuestion"), compacts(2.0, true)]);
    assert_eq!(asks.now(), QUESTION, "a question stays open");
    assert_eq!(asks.apply(&compacts(3.0, false)).now(), QUESTION);
}

#[test]
fn edge_26_an_error_ends_the_turn_and_stays_one() {
    let mut play = Play::of([
        prompt(0.0, "go"),
        calls(1.0, "a", "Bash"),
        fails(2.0, "server_error", "API Error: Repeated 529 Overloaded errors.\nTry again."),
    ]);
    let error = (State::WaitingForInput, Some(StateKind::Error));
    assert_eq!(play.now(), error);
    assert_eq!(play.reading().detail, "API Error: Repeated 529 Overloaded errors.");
    assert!(play.fold.pending_tools().is_empty());
    play.apply(&turn_over(2.1));
    assert_eq!(play.now(), error, "turn_duration follows and explains nothing");
    assert_eq!(play.path(), [WORKING, error]);
    assert_eq!(play.apply(&prompt(9.0, "again")).now(), WORKING);
}

#[test]
fn edge_27_a_usage_limit_differs_from_a_passing_rate_limit() {
    for (kind, text, limit) in [
        ("rate_limit", "You've hit your session limit · resets 3pm", true),
        ("rate_limit", "Claude AI usage limit reached|1795000000", true),
        ("rate_limit", "5-hour limit reached ∙ resets 5am", true),
        ("rate_limit", "You're out of extra usage · resets 9pm", true),
        ("rate_limit", "You're out of extra usage · resets Nov 25, 9pm (Europe/Berlin)", true),
        ("billing_error", "You're out of extra usage", true),
        ("rate_limit", "You've hit your weekly limit · resets Mon 9:00 AM", true),
        ("rate_limit", "You've reached your Opus usage for this week", true),
        ("rate_limit", "You've used all your included usage · resets 9pm", true),
        ("rate_limit", "Claude usage limit reached. Your limit will reset at 3pm (America/New_York).", true),
        ("billing_error", "Credit balance is too low", false),
        ("rate_limit", "API Error: Request rejected (429) · this may be a temporary capacity issue", false),
        ("rate_limit", "Extra usage is required for 1M context · run /extra-usage to enable", false),
        ("rate_limit", "API Error: 429 too many requests", false),
        ("server_error", "usage limit", false),
        ("invalid_request", "Prompt is too long: the limit is reached", false),
    ] {
        let play = Play::of([prompt(0.0, "go"), fails(1.0, kind, text)]);
        let expected = if limit { StateKind::Limit } else { StateKind::Error };
        assert_eq!(play.now(), (State::WaitingForInput, Some(expected)), "{text}");
    }
}

#[test]
fn edge_28_a_turn_longer_than_any_window() {
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "first", "Bash")]);
    for n in 0..5_000 {
        play.apply(&answer_goes_on(1.0 + f64::from(n) / 10_000.0, "…"));
    }
    assert_eq!(play.fold.pending_tools().len(), 1, "the call at its start is still known");
    assert_eq!(play.fold.facts().goal.as_deref(), Some("go"));
}

#[test]
fn edge_29_a_whole_turn_between_two_reads_is_reported_in_full() {
    let mut play = Play::new();
    play.advance(10.0);
    for record in [prompt(11.0, "go"), answer_ends(12.0, "done"), turn_over(12.1)] {
        play.apply(&record);
    }
    assert_eq!(play.path(), [WORKING, ENDED]);
    assert_eq!(play.reading().since, at(12.0), "with the records' own times");
}

#[test]
fn edge_39_a_compaction_summary_is_no_prompt() {
    let mut play = Play::of([
        prompt(0.0, "go"),
        answer_ends(1.0, "done"),
        boundary(50.0, CompactTrigger::Manual),
        record(49.5, Body::CompactSummary),
        record(40.0, Body::Meta),
        record(40.0, Body::LocalCommand { name: Some("/compact".into()) }),
        record(50.1, Body::LocalCommand { name: None }),
    ]);
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.advance(500.0).now(), ENDED, "and no turn waits to become stale");
    let mut stale =
        Play::of([prompt(0.0, "go"), answer_goes_on(1.0, "well"), boundary(50.0, CompactTrigger::Manual)]);
    assert_eq!(stale.now(), ENDED, "a compaction by hand means that no turn runs");
    assert_eq!(stale.apply(&prompt(60.0, "more")).now(), WORKING);
}

#[test]
fn edge_39_an_automatic_compaction_in_the_middle_of_a_turn() {
    let mut play = Play::of([
        prompt(0.0, "go"),
        calls(1.0, "a", "Read"),
        returns(1.5, "a"),
        boundary(30.0, CompactTrigger::Auto),
        record(29.5, Body::CompactSummary),
    ]);
    assert_eq!(play.now(), WORKING);
    assert_eq!(play.fold.facts().context_used, Some(3_000));
    assert_eq!(play.apply(&answer_ends(31.0, "done")).now(), ENDED);
    let quiet = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done"), boundary(2.0, CompactTrigger::Auto)]);
    assert_eq!(quiet.now(), ENDED, "nor does it begin one");
}

#[test]
fn edge_40_history_appended_again_changes_nothing() {
    let history =
        [prompt(0.0, "go"), calls(1.0, "a", "AskUserQuestion"), returns(2.0, "a"), answer_ends(3.0, "done")];
    let mut play = Play::of(history.clone());
    let (told, total) = (play.out.len(), play.fold.ledger().total());
    for record in &history {
        play.apply(record);
    }
    assert_eq!(play.now(), ENDED);
    assert_eq!(play.out.len(), told);
    assert_eq!(play.fold.ledger().total(), total);
    assert_eq!(play.fold.record_count(), 4);
    assert!(play.fold.has_record(history[0].envelope.uuid.expect("an id")));
}

#[test]
fn edge_41_a_rewind_leaves_nothing_pending() {
    let play = Play::of([
        prompt(0.0, "go"),
        calls(1.0, "a", "Bash"),
        calls(1.1, "b", "AskUserQuestion"),
        prompt(20.0, "no, otherwise"),
    ]);
    assert_eq!(play.now(), WORKING);
    assert!(play.fold.pending_tools().is_empty(), "the abandoned branch stays in the file, not in the state");
}

#[test]
fn orphaned_calls_end_with_their_turn() {
    let open = [prompt(0.0, "go"), calls(1.0, "a", "Bash")];
    for end in [turn_over(2.0), interrupt(2.0), answer_ends(2.0, "done"), fails(2.0, "server_error", "no")] {
        let mut play = Play::of(open.clone());
        play.apply(&end);
        assert!(play.fold.pending_tools().is_empty(), "{end:?}");
        let state = play.now();
        play.apply(&returns(2.5, "a"));
        assert_eq!(play.now(), state, "a result that comes late is no new turn: {end:?}");
    }
}

#[test]
fn a_resumed_session_forgets_calls_of_the_old_process() {
    let mut play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "AskUserQuestion")]);
    assert_eq!(play.now(), QUESTION);
    play.apply(&session_start(20.0, "resume"));
    assert_eq!(play.now(), WORKING, "the question is gone");
    assert_eq!(play.advance(61.0).now(), ENDED, "and the old turn becomes stale");
    assert!(play.fold.pending_tools().is_empty());
    // The hook's record may be written after the first call of the new process.
    let late =
        Play::of([prompt(99.0, "go"), calls(101.0, "b", "AskUserQuestion"), session_start(98.0, "resume")]);
    assert_eq!(late.now(), QUESTION);
}

#[test]
fn texts_of_the_client_itself_begin_no_turn() {
    let mut remark = assistant(Block::Text("No response requested.".into()), Some(StopReason::StopSequence));
    remark.model = Some("<synthetic>".into());
    let mut play = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done")]);
    play.advance(2_000.0);
    play.apply(&record(2_001.0, Body::Assistant(remark.clone())));
    assert_eq!(play.now(), IDLE);
    assert_eq!(play.fold.facts().last_activity_at, Some(at(1.0)));
    assert_eq!(play.fold.facts().model.as_deref(), Some("claude-opus-5-5"));
    let mut play = Play::of([prompt(0.0, "go"), record(1.0, Body::Assistant(remark))]);
    assert_eq!(play.now(), ENDED, "in a turn it ends it");
    assert!(play.fold.ledger().is_empty(), "and costs no tokens");
    play.advance(2.0);
}

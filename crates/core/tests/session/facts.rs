//! The facts that a row shows besides the state.

use watchbill_core::transcript::record::{Block, Body, Denial, StopReason, TitleKind, ToolResult, Usage};

use crate::script::*;

#[test]
fn a_turn_whose_prompt_is_private_as_a_whole_gives_no_summary() {
    let mut records = vec![prompt(0.0, "<private>all of it</private>"), answer_ends(2.0, "It is done.")];
    // A notice goes on with the turn.
    records.extend([notification(2.5, "b"), answer_ends(2.8, "It came.")]);
    assert_eq!(Play::of(records.clone()).fold.facts().summary, None);
    records.extend([prompt(3.0, "and this"), answer_ends(4.0, "That too.")]);
    assert_eq!(Play::of(records).fold.facts().summary.as_deref(), Some("That too."));
}

#[test]
fn the_summary_has_no_reminder_of_the_agent() {
    for (text, summary) in [
        ("<system-reminder>be brief</system-reminder>\n## Fixed", Some("Fixed")),
        ("Fixed <system-reminder>be\nbrief</system-reminder>it", Some("Fixed it")),
        ("`<system-reminder>` begins a reminder", Some("`<system-reminder>` begins a reminder")),
        ("<system-reminder>be brief</system-reminder>", None),
    ] {
        let play = Play::of([prompt(0.0, "go"), answer_ends(2.0, text)]);
        assert_eq!(play.fold.facts().summary.as_deref(), summary, "{text}");
    }
}

#[test]
fn the_goal_is_the_first_prompt_and_the_summary_the_newest_answer() {
    let play = Play::of([
        prompt(0.0, "Fix the\n  parser, please"),
        answer_goes_on(1.0, "I look."),
        answer_ends(2.0, "## Fixed\n\nThe torn tail is kept."),
        prompt(9.0, "thanks"),
    ]);
    let facts = play.fold.facts();
    assert_eq!(facts.goal.as_deref(), Some("Fix the parser, please"));
    assert_eq!(facts.summary.as_deref(), Some("Fixed"));
    assert_eq!(facts.created_at, Some(at(0.0)));
    assert_eq!(facts.last_activity_at, Some(at(9.0)));
    assert_eq!(facts.branch.as_deref(), Some("main"));
    assert_eq!(facts.version.as_deref(), Some("2.1.329"));
    assert_eq!(facts.model.as_deref(), Some("claude-opus-5-5"));
    assert_eq!(facts.context_used, Some(4_330));
    assert_eq!(play.fold.cwd().map(|cwd| &**cwd), Some("/home/dev/work"));
}

#[test]
fn the_last_title_of_the_strongest_kind_is_shown() {
    let mut play = Play::of([title(TitleKind::Summary, "of another session")]);
    assert_eq!(play.fold.facts().title().as_deref(), Some("of another session"), "better than nothing");
    for (record, shown) in [
        (prompt(0.0, "the goal"), "the goal"),
        (title(TitleKind::Ai, "by the model"), "by the model"),
        (title(TitleKind::Custom, "mine"), "mine"),
        (title(TitleKind::AgentName, "a name"), "mine"),
        (title(TitleKind::Ai, "by the model again"), "mine"),
        (title(TitleKind::Custom, "mine\nagain"), "mine again"),
    ] {
        play.apply(&record);
        assert_eq!(play.fold.facts().title().as_deref(), Some(shown));
    }
    assert_eq!(play.fold.facts().last_activity_at, Some(at(0.0)), "titles are no activity");
}

#[test]
fn the_pull_request_is_the_newest() {
    let link = |number| record(1.0, Body::PullRequest { number, url: "https://example.invalid/pr".into() });
    let play = Play::of([prompt(0.0, "go"), link(7), link(8)]);
    let pull_request = play.fold.facts().pull_request.clone().map(|(number, _)| number);
    assert_eq!(pull_request, Some(8));
}

#[test]
fn tokens_count_once_for_each_request() {
    let mut first = assistant(Block::Thinking, Some(StopReason::ToolUse));
    first.usage = Some(Usage { input: 10, output: 1, cache_read: 0, cache_write: 0 });
    let mut last = assistant(call("a", "Bash", false), Some(StopReason::ToolUse));
    last.usage = Some(Usage { input: 10, output: 500, cache_read: 0, cache_write: 0 });
    let mut other = assistant(Block::Text("done".into()), Some(StopReason::EndTurn));
    other.message_id = Some("msg_2".into());
    other.usage = Some(Usage { input: 5, output: 50, cache_read: 0, cache_write: 0 });
    let play = Play::of([
        prompt(0.0, "go"),
        record(1.0, Body::Assistant(first)),
        record(1.1, Body::Assistant(last)),
        returns(2.0, "a"),
        record(3.0, Body::Assistant(other)),
    ]);
    assert_eq!(play.fold.ledger().len(), 2);
    assert_eq!(play.fold.ledger().total(), Usage { input: 15, output: 550, cache_read: 0, cache_write: 0 });
}

#[test]
fn pending_tools_carry_their_targets() {
    let play = Play::of([prompt(0.0, "go"), calls(1.0, "a", "Bash")]);
    let [tool] = &play.fold.pending_tools()[..] else { panic!("one call") };
    assert_eq!((&*tool.id, &*tool.tool, &*tool.target, tool.since), ("a", "Bash", "make it so", at(1.0)));
    assert_eq!(play.reading().detail, "Bash is running: make it so");
}

#[test]
fn the_reviewers_refusals_are_counted_with_their_calls() {
    use watchbill_core::session::refusals::RefusalKind;
    let blocked = Denial::Reviewer(RefusalKind::Blocked);
    let mut play = Play::of([
        prompt(0.0, "go"),
        calls(1.0, "a", "Bash"),
        refused(2.0, "a", blocked),
        calls(3.0, "b", "Bash"),
        refused(4.0, "b", Denial::User),
        calls(5.0, "c", "Write"),
        refused(6.0, "c", blocked),
    ]);
    let shown = |play: &Play| play.fold.facts().refusals.shown().cloned().unwrap();
    let told = shown(&play);
    assert_eq!(
        (told.count, told.in_a_row, told.row_since),
        (2, 2, at(2.0)),
        "the user's refusal is another matter"
    );
    assert_eq!((&*told.last.tool, &*told.last.target, told.last.at), ("Write", "make it so", at(6.0)));
    assert!(play.fold.has_targets());
    play.fold.forget_targets();
    assert_eq!((&*shown(&play).last.target, play.fold.has_targets()), ("", false));
    play.apply(&prompt(9.0, "try again"));
    assert_eq!((shown(&play).count, shown(&play).in_a_row), (2, 0));
}

#[test]
fn words_of_a_refusal_in_a_foreign_text_are_not_counted() {
    use watchbill_core::session::refusals::RefusalKind;
    let denied = Some(Denial::Reviewer(RefusalKind::Blocked));
    for (tool, counts) in [("Bash", true), ("mcp__web__read", false), ("WebFetch", false)] {
        let told = ToolResult { is_error: true, denied, denied_by_text: true, ..result("a") };
        let records = [prompt(0.0, "go"), calls(1.0, "a", tool), record(2.0, Body::ToolResults(vec![told]))];
        assert_eq!(Play::of(records).fold.facts().refusals.shown().is_some(), counts, "{tool}");
    }
}

//! The facts for the chain resolver.

use watchbill_core::chain::lineage::{BeganBy, SPAN_LIMIT};
use watchbill_core::transcript::record::{Body, CompactTrigger, TitleKind};

use crate::script::*;

const OTHER: &str = "22222222-2222-4222-8222-222222222222";

#[test]
fn a_title_that_names_the_chain_is_one_harmless_line() {
    let text = "deploy\n\u{1b}[2J now ".repeat(40).into();
    let title = Body::Title { kind: TitleKind::Custom, text };
    let play = Play::of([prompt(0.0, "hi"), bare(title)]);
    let title = play.fold.lineage().custom_title.as_deref().expect("titled");
    assert!(title.starts_with("deploy [2J now deploy") && !title.contains(char::is_control), "{title}");
    assert_eq!(title.chars().count(), 200);
}

#[test]
fn an_ordinary_session_names_only_itself() {
    let first = prompt(0.0, "go");
    let id = first.envelope.uuid;
    let play = Play::of([title(TitleKind::Ai, "x"), first, answer_ends(1.0, "done")]);
    let lineage = play.fold.lineage();
    assert_eq!(lineage.session.as_str(), SESSION);
    assert_eq!(lineage.first_record, id);
    assert_eq!((lineage.started_at, lineage.own_started_at), (Some(at(0.0)), Some(at(0.0))));
    assert_eq!(lineage.spans, [(at(0.0), at(1.0))]);
    assert_eq!(lineage.cwds.iter().map(|cwd| &**cwd).collect::<Vec<_>>(), ["/home/dev/work"]);
    assert!(lineage.foreign_sessions.is_empty() && lineage.process_sessions.is_empty());
    assert_eq!(lineage.began_by, None);
    let [segment] = &lineage.segments[..] else { panic!("{:?}", lineage.segments) };
    assert_eq!((segment.started_at, segment.ended_at), (Some(at(0.0)), Some(at(1.0))));
    assert!(segment.boundary.is_none());
}

#[test]
fn each_boundary_begins_a_segment() {
    let cut = boundary(50.0, CompactTrigger::Manual);
    let id = cut.envelope.uuid.expect("an id");
    let play = Play::of([
        prompt(0.0, "go"),
        answer_ends(1.0, "done"),
        cut,
        record(49.0, Body::CompactSummary),
        prompt(60.0, "more"),
    ]);
    let lineage = play.fold.lineage();
    assert_eq!(lineage.boundaries, [id]);
    let [first, second] = &lineage.segments[..] else { panic!("{:?}", lineage.segments) };
    assert_eq!(
        first.boundary.map(|b| (b.trigger, b.pre_tokens)),
        Some((CompactTrigger::Manual, Some(150_000)))
    );
    assert_eq!((first.started_at, first.ended_at), (Some(at(0.0)), Some(at(50.0))));
    assert_eq!((second.started_at, second.ended_at), (Some(at(50.0)), Some(at(60.0))));
}

#[test]
fn a_summary_without_a_boundary_cuts_too_unless_it_opens_the_file() {
    let play = Play::of([prompt(0.0, "go"), record(9.0, Body::CompactSummary), prompt(10.0, "more")]);
    let segments = &play.fold.lineage().segments;
    assert_eq!(segments.len(), 2);
    assert_eq!(segments[0].boundary.map(|b| b.trigger), Some(CompactTrigger::Unknown));
    let opened = Play::of([record(9.0, Body::CompactSummary), prompt(10.0, "more")]);
    assert_eq!(opened.fold.lineage().segments.len(), 1);
}

#[test]
fn a_session_after_clear_names_the_process_and_the_command() {
    let own = |record| with(record, |envelope| envelope.process_session_id = Some(OTHER.into()));
    let mut play = Play::of([
        record(0.0, Body::Meta),
        record(0.1, Body::LocalCommand { name: Some("/clear".into()) }),
        prompt(5.0, "second"),
        own(answer_ends(6.0, "done")),
        own(prompt(7.0, "third")),
    ]);
    let lineage = play.fold.lineage();
    assert_eq!(lineage.began_by, Some(BeganBy::Clear));
    assert_eq!(lineage.process_sessions.iter().map(|id| id.as_str()).collect::<Vec<_>>(), [OTHER]);
    assert!(!lineage.own_process_session);
    // A later resume runs in a process of its own.
    play.apply(&with(answer_ends(100.0, "x"), |e| e.process_session_id = Some(SESSION.into())));
    assert!(play.fold.lineage().own_process_session);
    assert_eq!(play.fold.lineage().own_started_at, Some(at(0.0)), "all of it is the session's own");
}

#[test]
fn clear_in_the_middle_is_no_beginning() {
    let play = Play::of([
        prompt(0.0, "go"),
        answer_ends(1.0, "done"),
        record(2.0, Body::LocalCommand { name: Some("/clear".into()) }),
        session_start(2.1, "clear"),
    ]);
    assert_eq!(play.fold.lineage().began_by, None);
    assert_eq!(Play::of([session_start(0.0, "clear")]).fold.lineage().began_by, Some(BeganBy::Clear));
}

#[test]
fn a_fork_that_marks_its_copies() {
    let copied = |record| with(record, |envelope| envelope.forked_from = Some(OTHER.into()));
    let play = Play::of([
        copied(record(0.0, Body::LocalCommand { name: Some("/clear".into()) })),
        copied(prompt(0.1, "go")),
        copied(answer_ends(1.0, "done")),
        prompt(500.0, "on my own"),
    ]);
    let lineage = play.fold.lineage();
    assert_eq!(lineage.forked_from.as_ref().map(|id| id.as_str()), Some(OTHER));
    assert_eq!(lineage.began_by, Some(BeganBy::Fork), "the copied /clear is not ours");
    assert_eq!((lineage.started_at, lineage.own_started_at), (Some(at(0.0)), Some(at(500.0))));
    assert_eq!(lineage.spans, [(at(500.0), at(500.0))], "copied work is not this session's activity");
}

#[test]
fn a_fork_shown_only_by_its_process() {
    let by =
        |record, id: &'static str| with(record, |envelope| envelope.process_session_id = Some(id.into()));
    let play = Play::of([
        prompt(0.0, "go"),
        by(answer_ends(1.0, "done"), OTHER),
        prompt(500.0, "on my own"),
        by(answer_ends(501.0, "yes"), SESSION),
    ]);
    let lineage = play.fold.lineage();
    assert_eq!(lineage.own_started_at, Some(at(500.0)));
    assert!(lineage.own_process_session);
}

#[test]
fn history_copied_by_old_clients_keeps_its_sessions_name() {
    let play = Play::of([
        with(prompt(0.0, "go"), |envelope| envelope.session_id = Some(OTHER.into())),
        prompt(9.0, "more"),
    ]);
    let lineage = play.fold.lineage();
    assert_eq!(lineage.foreign_sessions.iter().map(|id| id.as_str()).collect::<Vec<_>>(), [OTHER]);
    assert_eq!(lineage.own_started_at, Some(at(9.0)));
}

#[test]
fn subagents_are_no_lineage() {
    let play = Play::of([
        with(prompt(0.0, "look"), |envelope| {
            envelope.sidechain = true;
            envelope.session_id = Some(OTHER.into());
        }),
        prompt(1.0, "go"),
    ]);
    assert_eq!(play.fold.lineage().started_at, Some(at(1.0)));
    assert!(play.fold.lineage().foreign_sessions.is_empty());
}

#[test]
fn spans_are_split_by_silence_and_bounded() {
    let mut play = Play::of([prompt(0.0, "go"), answer_ends(59.0, "done"), prompt(119.0, "more")]);
    assert_eq!(play.fold.lineage().spans, [(at(0.0), at(59.0)), (at(119.0), at(119.0))]);
    for n in 0..200 {
        play.apply(&prompt(1_000.0 + f64::from(n) * 100.0, "again"));
    }
    let spans = &play.fold.lineage().spans;
    assert_eq!(spans.len(), SPAN_LIMIT);
    assert_eq!(spans[0].0, at(0.0));
    assert_eq!(spans[SPAN_LIMIT - 1], (at(20_900.0), at(20_900.0)));
    assert!(spans.windows(2).all(|pair| pair[0].1 < pair[1].0), "in order and apart");
}

#[test]
fn the_revision_rises_with_facts_and_not_with_time() {
    let mut play = Play::of([prompt(0.0, "go"), answer_ends(1.0, "done")]);
    let before = play.fold.lineage_revision();
    for n in 2..50 {
        play.apply(&prompt(f64::from(n) * 100.0, "more"));
    }
    assert_eq!(play.fold.lineage_revision(), before, "spans and the end of a segment are no news");
    let mut last = before;
    for (story, record) in [
        ("cwd", with(prompt(9_000.0, "x"), |e| e.cwd = Some("/elsewhere".into()))),
        ("process", with(prompt(9_001.0, "x"), |e| e.process_session_id = Some(OTHER.into()))),
        ("boundary", boundary(9_002.0, CompactTrigger::Auto)),
        ("title", title(TitleKind::Custom, "mine")),
        ("fork", with(prompt(9_003.0, "x"), |e| e.forked_from = Some(OTHER.into()))),
        ("foreign", with(prompt(9_004.0, "x"), |e| e.session_id = Some(OTHER.into()))),
    ] {
        play.apply(&record);
        assert!(play.fold.lineage_revision() > last, "{story}");
        last = play.fold.lineage_revision();
    }
    play.apply(&title(TitleKind::Custom, "mine"));
    assert_eq!(play.fold.lineage_revision(), last, "the same again is no news");
}

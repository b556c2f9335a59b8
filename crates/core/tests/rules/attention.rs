//! The one policy of which sessions need the user, and what it reports.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::tz::TimeZone;
use proptest::prelude::*;
use watchbill_core::attention::{
    ALERT_DWELL, Attention, AttentionEvent, AttentionSettings, COUNT_DWELL, Counts, Episode, Need,
    QuietHours, Sighting, Silence, need,
};
use watchbill_core::ids::SessionId;
use watchbill_core::roster::{Group, group};
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::{Millis, Timestamp};

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millis(1_770_000_000_000 + ms)
}

fn seen(need: Option<Need>, since: i64) -> Sighting {
    Sighting {
        session: SessionId::new("a"),
        need,
        since: at(since),
        inferred: false,
        name: Arc::from("api-server"),
        wants: Arc::from("wants to run `npm publish`"),
        title: None,
        projects: [Some(Arc::from("api-server")), Some(Arc::from("/home/dev/api-server")), None, None],
        superseded: false,
        rests: false,
    }
}

fn watching() -> Attention {
    let mut attention = Attention::new(AttentionSettings::default());
    attention.begin(at(0));
    assert_eq!(attention.advance(at(0)), []);
    attention
}

/// The raised episodes, as (need, text, silence).
fn raised(outcomes: &[AttentionEvent]) -> Vec<(Need, String, Option<Silence>)> {
    let of = |outcome| match outcome {
        &AttentionEvent::Raised { ref episode, silence } => {
            Some((episode.need, format!("{} {}", episode.name, episode.wants), silence))
        }
        _ => None,
    };
    outcomes.iter().filter_map(of).collect()
}

fn counted(outcomes: &[AttentionEvent]) -> Option<u32> {
    outcomes.iter().rev().find_map(|outcome| match outcome {
        AttentionEvent::Counted(counts) => Some(counts.total()),
        _ => None,
    })
}

#[test]
fn an_approval_counts_after_one_second_and_is_reported_after_two() {
    let mut attention = watching();
    attention.apply_sighting(at(1_000), seen(Some(Need::Approval), 1_000));
    assert_eq!(attention.advance(at(1_000)), []);
    assert_eq!(attention.deadline(at(1_000)), Some(at(1_000) + COUNT_DWELL));
    let out = attention.advance(at(2_000));
    assert_eq!((counted(&out), raised(&out)), (Some(1), vec![]));
    assert_eq!(attention.deadline(at(2_000)), Some(at(1_000) + ALERT_DWELL));
    let out = attention.advance(at(3_000));
    assert_eq!(raised(&out), [(Need::Approval, "api-server wants to run `npm publish`".to_owned(), None)]);
    assert_eq!((attention.deadline(at(3_000)), attention.advance(at(9_000))), (None, vec![]));
    attention.apply_sighting(at(9_500), seen(None, 9_500));
    let out = attention.advance(at(9_500));
    assert!(matches!(out[0], AttentionEvent::Cleared { need: Need::Approval, .. }), "{out:?}");
    assert_eq!(counted(&out), Some(0));
}

#[test]
fn edge_02_an_automatic_answer_is_neither_counted_nor_reported() {
    for answered_after in [90, 900] {
        let mut attention = watching();
        attention.apply_sighting(at(1_000), seen(Some(Need::Approval), 1_000));
        let mut out = attention.advance(at(1_000));
        attention.apply_sighting(at(1_000 + answered_after), seen(None, 1_000 + answered_after));
        for ms in (1_000 + answered_after..10_000).step_by(50) {
            out.extend(attention.advance(at(ms)));
        }
        assert_eq!(out, [], "answered after {answered_after} ms");
    }
}

#[test]
fn a_need_seen_a_little_late_is_reported_despite_a_second_begin() {
    let mut attention = watching();
    attention.begin(at(5_000));
    assert_eq!(attention.advance(at(5_000)), []);
    attention.apply_sighting(at(5_010), seen(Some(Need::Approval), 4_990));
    assert_eq!(raised(&attention.advance(at(9_000))).len(), 1);
}

#[test]
fn events_at_the_moment_when_watching_begins_are_reported() {
    // In the same millisecond, and a moment before it by a late witness.
    for since in [0, -1_500] {
        let mut attention = watching();
        attention.apply_sighting(at(5), seen(Some(Need::Finished), since));
        assert_eq!(raised(&attention.advance(at(9_000))).len(), 1, "{since}");
    }
    // The session was seen at work before. So its need is news, however late its file was read.
    let mut attention = Attention::new(AttentionSettings::default());
    attention.apply_sighting(at(-20_000), seen(None, -20_000));
    attention.begin(at(0));
    attention.apply_sighting(at(5), seen(Some(Need::Approval), -9_000));
    assert_eq!(raised(&attention.advance(at(9_000))).len(), 1);
    // A session that vanished and came back is like one that is found late.
    attention.apply_sighting(at(10_000), seen(None, 10_000));
    attention.remove_session(at(11_000), &SessionId::new("a"));
    attention.apply_sighting(at(12_000), seen(Some(Need::Approval), -9_000));
    assert_eq!(raised(&attention.advance(at(20_000))), []);
}

/// The sessions that summaries name.
fn summed_up(outcomes: &[AttentionEvent]) -> Vec<Vec<&str>> {
    let mut all = Vec::new();
    for outcome in outcomes {
        if let AttentionEvent::AlreadySo(episodes) = outcome {
            all.push(episodes.iter().map(|one| one.session.as_str()).collect());
        }
    }
    all
}

/// Needs that a mute or quiet hours keep silent; one of them is over before the silence ends.
fn kept_silent(attention: &mut Attention) {
    let of = |id, need, since| Sighting { session: SessionId::new(id), ..seen(Some(need), since) };
    attention.apply_sighting(at(2_000), of("b", Need::Plan, 2_000));
    attention.apply_sighting(at(3_000), of("a", Need::Approval, 3_000));
    attention.apply_sighting(at(3_000), of("over", Need::Question, 3_000));
    attention.apply_sighting(at(3_000), of("done", Need::Finished, 3_000));
    let out = attention.advance(at(10_000));
    let silent = raised(&out).iter().filter(|(.., silence)| silence.is_some()).count();
    assert_eq!((silent, summed_up(&out).len()), (4, 0), "{out:?}");
    attention.remove_session(at(20_000), &SessionId::new("over"));
    attention.advance(at(20_000));
}

#[test]
fn one_summary_lists_what_still_waits_when_a_mute_ends() {
    for taken_back in [false, true] {
        let mut attention = watching();
        attention.set_muted_until(Some(at(60_000)));
        kept_silent(&mut attention);
        assert_eq!(attention.deadline(at(20_000)), Some(at(60_000)));
        assert_eq!(attention.advance(at(59_999)), []);
        if taken_back {
            attention.set_muted_until(None);
        }
        let now = if taken_back { at(30_000) } else { at(60_000) };
        assert_eq!(attention.deadline(now), Some(now));
        assert_eq!(summed_up(&attention.advance(now)), [["b", "a"]]);
        assert_eq!((attention.deadline(now), attention.advance(at(90_000))), (None, vec![]), "once");
        attention.remove_session(at(91_000), &SessionId::new("a"));
        assert!(matches!(attention.advance(at(91_000))[0], AttentionEvent::Cleared { .. }));
    }
}

#[test]
fn a_mute_holds_the_summary_back_when_quiet_hours_end() {
    let start = at(0).as_millis() / 60_000 % 1_440;
    let minute = |later: i64| u16::try_from((start + later) % 1_440).expect("a minute of the day");
    // The second begins before the first has ended.
    let quiet = [(0, 10), (8, 20)].map(|(from, to)| QuietHours { from: minute(from), to: minute(to) });
    let mut attention =
        Attention::new(AttentionSettings { quiet: quiet.into(), ..AttentionSettings::default() });
    attention.begin(at(0));
    kept_silent(&mut attention);
    let over = Timestamp::from_millis(at(0).as_millis() / 60_000 * 60_000 + 20 * 60_000);
    assert_eq!(attention.deadline(at(20_000)), Some(over));
    attention.set_muted_until(Some(over + Millis(5_000)));
    assert_eq!(attention.advance(over), []);
    attention.set_in_front(BTreeSet::from([SessionId::new("b")]));
    assert_eq!(summed_up(&attention.advance(over + Millis(5_000))), [["a"]], "the other one is looked at");
}

#[test]
fn old_needs_at_a_muted_start_are_reported_when_the_mute_ends() {
    let mut attention = Attention::new(AttentionSettings::default());
    attention.apply_sighting(at(-50_000), seen(Some(Need::Approval), -60_000));
    attention.set_muted_until(Some(at(60_000)));
    attention.begin(at(0));
    assert_eq!(summed_up(&attention.advance(at(10))), Vec::<Vec<&str>>::new());
    assert_eq!(attention.deadline(at(10)), Some(at(60_000)));
    assert_eq!(summed_up(&attention.advance(at(60_000))), [["a"]]);
    assert_eq!(attention.advance(at(90_000)), []);
}

#[test]
fn quiet_hours_end_by_the_local_clock() {
    let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
    for (hours, zone, from, want) in [
        (&["22:00-07:00"][..], berlin, "2026-01-11T20:59:59Z", Some("2026-01-11T20:59:59Z")),
        (&["22:00-07:00"], berlin, "2026-01-11T21:00:30Z", Some("2026-01-12T06:00:00Z")),
        (&["22:00-24:00", "00:00-07:00"], berlin, "2026-01-11T21:00:30Z", Some("2026-01-12T06:00:00Z")),
        // The night when the clock is set forward, the night when it is set back, and an end in the hour that is
        // skipped.
        (&["22:00-07:00"], berlin, "2026-03-28T22:00:00Z", Some("2026-03-29T05:00:00Z")),
        (&["22:00-07:00"], berlin, "2026-10-24T22:00:00Z", Some("2026-10-25T06:00:00Z")),
        (&["22:00-02:30"], berlin, "2026-03-28T22:00:00Z", Some("2026-03-29T01:00:00Z")),
        (&["00:00-24:00"], berlin, "2026-01-11T21:00:30Z", None),
    ] {
        let settings = AttentionSettings {
            quiet: hours.iter().filter_map(|hours| QuietHours::parse(hours)).collect(),
            zone: TimeZone::posix(zone).expect("a rule"),
            ..AttentionSettings::default()
        };
        let until = settings.quiet_until(Timestamp::parse(from).expect("a time"));
        assert_eq!(until, want.and_then(Timestamp::parse), "{hours:?} {from}");
    }
}

#[test]
fn an_episode_is_reported_once_even_if_its_witnesses_differ_in_time() {
    let mut attention = watching();
    let mut out = Vec::new();
    for (now, since) in [(1_000, 1_000), (1_032, 1_032), (3_000, 1_032), (5_000, 1_000), (8_000, 2_900)] {
        attention.apply_sighting(at(now), seen(Some(Need::Approval), since));
        out.extend(attention.advance(at(now)));
    }
    out.extend(attention.advance(at(60_000)));
    assert_eq!(raised(&out).len(), 1, "{out:?}");
}

#[test]
fn another_request_is_another_episode_with_or_without_a_gap() {
    let mut attention = watching();
    attention.apply_sighting(at(1_000), seen(Some(Need::Approval), 1_000));
    assert_eq!(raised(&attention.advance(at(4_000))).len(), 1);
    let other = Sighting { wants: Arc::from("wants to edit a.rs"), ..seen(Some(Need::Approval), 6_000) };
    attention.apply_sighting(at(6_000), other);
    let out = attention.advance(at(8_000));
    assert!(matches!(out[0], AttentionEvent::Cleared { .. }), "{out:?}");
    assert_eq!(raised(&out).len(), 1);
    attention.apply_sighting(at(9_000), seen(None, 9_000));
    attention.apply_sighting(at(10_000), seen(Some(Need::Question), 10_000));
    assert_eq!(raised(&attention.advance(at(13_000)))[0].0, Need::Question);
}

#[test]
fn edge_30_old_needs_are_summed_up_once_and_never_raised() {
    let muted_projects = BTreeSet::from([Arc::from("loud")]);
    let mut attention = Attention::new(AttentionSettings { muted_projects, ..AttentionSettings::default() });
    attention.apply_sighting(at(-50_000), seen(Some(Need::Approval), -60_000));
    let done = Sighting { session: SessionId::new("b"), ..seen(Some(Need::Finished), -40_000) };
    attention.apply_sighting(at(-50_000), done);
    assert_eq!(raised(&attention.advance(at(-30_000))), []);
    let muted = Sighting {
        session: SessionId::new("m"),
        name: Arc::from("loud"),
        projects: [Some(Arc::from("loud")), None, None, None],
        ..seen(Some(Need::Plan), -90_000)
    };
    attention.apply_sighting(at(-50_000), muted);
    attention.begin(at(0));
    let out = attention.advance(at(10));
    let summaries: Vec<&[Episode]> = out
        .iter()
        .filter_map(|outcome| match outcome {
            AttentionEvent::AlreadySo(episodes) => Some(&**episodes),
            _ => None,
        })
        .collect();
    let [[waiting]] = &*summaries else { panic!("{out:?}") };
    assert_eq!(
        (waiting.session.as_str(), &*waiting.name, &*waiting.wants),
        ("a", "api-server", "wants to run `npm publish`")
    );
    assert_eq!(raised(&out), vec![]);
    // A session that is found late, but has waited since before the start.
    let late = Sighting { session: SessionId::new("c"), ..seen(Some(Need::Plan), -5_000) };
    attention.apply_sighting(at(20_000), late);
    let out = attention.advance(at(30_000));
    assert_eq!((raised(&out), counted(&out)), (vec![], Some(3)));
    attention.begin(at(40_000));
    assert_eq!(attention.advance(at(50_000)), []);
    attention.apply_sighting(at(60_000), seen(None, 60_000));
    let out = attention.advance(at(60_000));
    assert!(matches!(out[0], AttentionEvent::Cleared { .. }), "a summary is over as well: {out:?}");
    let Some(AttentionEvent::AlreadySo(late)) = attention.standing_needs(at(61_000)) else {
        panic!("{attention:?}")
    };
    assert_eq!(late.len(), 1, "who listens only now is told of those that still wait");
}

#[test]
fn edge_29_a_turn_between_two_sightings_has_finished() {
    let mut attention = watching();
    attention.apply_sighting(at(20_000), seen(Some(Need::Finished), 18_000));
    assert_eq!(raised(&attention.advance(at(20_000))).len(), 1);
    attention.apply_sighting(at(90_000), seen(Some(Need::Finished), 80_000));
    let out = attention.advance(at(90_000));
    assert_eq!(raised(&out).len(), 1, "the next turn is another one: {out:?}");
    assert_eq!(counted(&out), None, "no session waits");
}

#[test]
fn edge_15_a_turn_that_a_hook_keeps_going_has_not_finished() {
    let mut attention = watching();
    attention.apply_sighting(at(1_000), seen(Some(Need::Finished), 1_000));
    attention.apply_sighting(at(2_500), seen(None, 2_500));
    assert_eq!(attention.advance(at(60_000)), []);
}

#[test]
fn an_inferred_need_waits_for_a_witness() {
    let mut attention = watching();
    let guess = Sighting { inferred: true, ..seen(Some(Need::Approval), 1_000) };
    attention.apply_sighting(at(6_000), guess.clone());
    let out = attention.advance(at(10_000));
    assert_eq!((counted(&out), raised(&out)), (Some(1), vec![]), "the window shows it, nothing rings");
    assert_eq!(attention.deadline(at(10_000)), None);
    attention.apply_sighting(at(12_000), Sighting { inferred: false, ..guess.clone() });
    assert_eq!(raised(&attention.advance(at(12_000))).len(), 1);

    let mut attention = Attention::new(AttentionSettings { inferred: true, ..AttentionSettings::default() });
    attention.begin(at(0));
    attention.apply_sighting(at(6_000), guess);
    assert_eq!(raised(&attention.advance(at(10_000))).len(), 1);
}

#[test]
fn settings_decide_which_alerts_are_silent() {
    let all = AttentionSettings::default();
    let muted = |project: &str| AttentionSettings {
        muted_projects: BTreeSet::from([Arc::from(project)]),
        ..AttentionSettings::default()
    };
    let day = QuietHours { from: 0, to: 24 * 60 };
    let never = QuietHours { from: 60, to: 60 };
    for (settings, muted_until, front, want) in [
        (
            AttentionSettings { kinds: BTreeSet::from([Need::Error]), ..all.clone() },
            None,
            false,
            Some(Silence::Kind),
        ),
        (muted("api-server"), None, false, Some(Silence::Muted)),
        (muted("/home/dev/api-server"), None, false, Some(Silence::Muted)),
        (muted("/home/dev"), None, false, Some(Silence::Muted)),
        (muted("/home/dev/api"), None, false, None),
        (muted("api"), None, false, None),
        (
            AttentionSettings { muted_sessions: BTreeSet::from([SessionId::new("a")]), ..all.clone() },
            None,
            false,
            Some(Silence::Muted),
        ),
        (all.clone(), Some(at(3_600_000)), false, Some(Silence::MutedForNow)),
        (all.clone(), Some(at(500)), false, None),
        (
            AttentionSettings { quiet: vec![never, day], ..all.clone() },
            None,
            false,
            Some(Silence::QuietHours),
        ),
        (AttentionSettings { quiet: vec![never], ..all.clone() }, None, false, None),
        (all.clone(), None, true, Some(Silence::InFront)),
        (all, None, false, None),
    ] {
        let mut attention = Attention::new(settings);
        attention.begin(at(0));
        attention.set_muted_until(muted_until);
        attention.set_in_front(if front { BTreeSet::from([SessionId::new("a")]) } else { BTreeSet::new() });
        attention.apply_sighting(at(1_000), seen(Some(Need::Approval), 1_000));
        let out = attention.advance(at(4_000));
        assert_eq!(
            raised(&out),
            [(Need::Approval, "api-server wants to run `npm publish`".to_owned(), want)]
        );
        assert_eq!(counted(&out), Some(1), "what is silent still counts");
    }
}

#[test]
fn the_dwell_setting_decides_how_long_a_need_must_last() {
    for (dwell, told) in [(500, 1_500), (2_000, 3_000), (30_000, 31_000)] {
        let mut attention =
            Attention::new(AttentionSettings { dwell: Millis(dwell), ..AttentionSettings::default() });
        attention.begin(at(0));
        attention.apply_sighting(at(1_000), seen(Some(Need::Approval), 1_000));
        assert_eq!(raised(&attention.advance(at(told - 1))), [], "{dwell}");
        assert_eq!(raised(&attention.advance(at(told))).len(), 1, "{dwell}");
    }
}

#[test]
fn quiet_hours_cross_midnight_in_local_time_summer_and_winter() {
    let quiet = |hours: &[&str], zone: &str| AttentionSettings {
        quiet: hours.iter().filter_map(|hours| QuietHours::parse(hours)).collect(),
        zone: TimeZone::posix(zone).expect("a rule"),
        ..AttentionSettings::default()
    };
    let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
    for (settings, time, want) in [
        (quiet(&["22:00-07:00"], berlin), "2026-01-11T21:00:00Z", true),
        (quiet(&["22:00-07:00"], berlin), "2026-01-11T20:59:59Z", false),
        (quiet(&["22:00-07:00"], berlin), "2026-01-11T05:59:59Z", true),
        (quiet(&["22:00-07:00"], berlin), "2026-01-11T06:00:00Z", false),
        (quiet(&["22:00-07:00"], berlin), "2026-07-11T20:00:00Z", true),
        (quiet(&["22:00-07:00"], berlin), "2026-07-11T05:00:00Z", false),
        (quiet(&["12:00-13:00", "22:00-24:00"], "EST5"), "2026-01-11T17:30:00Z", true),
        (quiet(&["12:00-13:00", "22:00-24:00"], "EST5"), "2026-01-11T12:30:00Z", false),
        (quiet(&["12:00-13:00", "22:00-24:00"], "EST5"), "2026-01-11T04:59:59Z", true),
        (quiet(&["12:00-13:00", "22:00-24:00"], "EST5"), "2026-01-11T05:00:00Z", false),
        (quiet(&[], "EST5"), "2026-01-11T05:00:00Z", false),
    ] {
        assert_eq!(settings.is_quiet(Timestamp::parse(time).expect("a time")), want, "{time}");
    }
    assert_eq!(QuietHours::parse(" 7:30 - 24:00 "), Some(QuietHours { from: 450, to: 1440 }));
    for wrong in [
        "",
        "22:00",
        "22-07",
        "24:01-7:00",
        "22:00-7:60",
        "22:00-7:0",
        "-1:00-7:00",
        "22:00-07:00-08:00",
        "x:00-y:00",
    ] {
        assert_eq!(QuietHours::parse(wrong), None, "{wrong}");
    }
}

#[test]
fn a_superseded_session_does_not_need_the_user() {
    let mut attention = watching();
    attention.apply_sighting(at(1_000), Sighting { superseded: true, ..seen(Some(Need::Approval), 1_000) });
    assert_eq!(attention.advance(at(60_000)), []);
}

#[test]
fn one_definition_of_need_decides_the_group_too() {
    let states =
        [State::Working, State::WaitingForApproval, State::WaitingForInput, State::Idle, State::Ended];
    let kinds = [
        None,
        Some(StateKind::Permission),
        Some(StateKind::Question),
        Some(StateKind::Plan),
        Some(StateKind::Dialog),
        Some(StateKind::TurnEnded),
        Some(StateKind::Interrupted),
        Some(StateKind::Compacting),
        Some(StateKind::Retrying),
        Some(StateKind::Error),
        Some(StateKind::Limit),
        Some(StateKind::Background),
        Some(StateKind::Crashed),
        Some(StateKind::Completed),
        Some(StateKind::Blocked),
    ];
    for state in states {
        for kind in kinds {
            let needs = need(state, kind);
            assert_eq!(group(state, kind) == Group::NeedsYou, needs.is_some(), "{state:?} {kind:?}");
            assert_eq!(
                state == State::WaitingForApproval,
                needs.is_some_and(|n| n != Need::Error),
                "{kind:?}"
            );
        }
    }
}

fn step() -> impl Strategy<Value = (i64, Option<Need>, i64, bool, u8)> {
    let kinds = prop::option::of(prop::sample::select(Need::ALL.to_vec()));
    (1i64..3_000, kinds, 0i64..4_000, any::<bool>(), 0u8..3)
}

proptest! {
    /// Nothing is reported, and no count changes, between a call and the deadline that it gave.
    #[test]
    fn nothing_is_reported_before_the_deadline(steps in prop::collection::vec(step(), 1..30)) {
        let mut attention = watching();
        let mut now = 10_000;
        for (wait, need, back, inferred, who) in steps {
            let target = at(now + wait);
            while let Some(due) = attention.deadline(at(now)).filter(|due| *due <= target) {
                let before = Timestamp::from_millis(due.as_millis() - 1);
                if before > at(now) {
                    prop_assert_eq!(attention.clone().advance(before), vec![]);
                }
                prop_assert!(attention.advance(due) != vec![], "a deadline without anything to tell");
                now += due.since(at(now)).0;
            }
            prop_assert_eq!(attention.clone().advance(target), vec![]);
            now += wait;
            let session = SessionId::new(["a", "b", "c"][usize::from(who)]);
            attention.apply_sighting(at(now), Sighting { session, inferred, ..seen(need, now - back) });
            attention.advance(at(now));
        }
    }

    /// Every raised episode ends at most once, and only raised episodes end. The counts match the present state.
    #[test]
    fn what_is_raised_is_cleared_once(steps in prop::collection::vec(step(), 1..40)) {
        let mut attention = watching();
        let mut open = BTreeSet::new();
        let (mut now, mut last) = (10_000, Counts::default());
        for (wait, need, back, inferred, who) in steps {
            now += wait;
            let session = SessionId::new(["a", "b", "c"][usize::from(who)]);
            attention.apply_sighting(at(now), Sighting { session, inferred, ..seen(need, now - back) });
            for outcome in attention.advance(at(now)) {
                match outcome {
                    AttentionEvent::Raised { episode, .. } => prop_assert!(open.insert((episode.session, episode.need))),
                    AttentionEvent::Cleared { session, need, .. } => prop_assert!(open.remove(&(session, need))),
                    AttentionEvent::Counted(counts) => last = counts,
                    AttentionEvent::AlreadySo(_) => prop_assert!(false, "nothing was so at the start"),
                }
            }
            prop_assert_eq!(last, attention.counts(at(now)));
        }
    }
}

#[test]
fn a_need_with_a_future_time_counts_once_the_clock_is_set_right() {
    let (hour, mut attention) = (3_600_000, Attention::new(AttentionSettings::default()));
    attention.begin(at(hour));
    attention.apply_sighting(at(hour + 1_000), seen(Some(Need::Approval), hour + 1_000));
    attention.apply_sighting(at(2_000), seen(Some(Need::Approval), 2_000));
    assert_eq!(counted(&attention.advance(at(3_000))), Some(1), "not an hour later");
    attention.remove_session(at(3_000), &SessionId::new("a"));
    attention.apply_sighting(at(5_000), seen(Some(Need::Question), 5_000));
    assert_eq!(raised(&attention.advance(at(9_000))).len(), 1, "what came after is nothing of the past");
}

#[test]
fn a_finished_turn_is_unseen_until_its_pane_or_terminal_was_in_front() {
    let mut attention = Attention::new(AttentionSettings::default());
    let finished = |secs: i64| seen(Some(Need::Finished), secs * 1_000);
    let session = finished(0).session;
    attention.apply_sighting(at(-10_000), finished(-60));
    attention.begin(at(0));
    assert!(!attention.is_unseen(&session), "it ended before watching began");
    let ends = |attention: &mut Attention, secs: i64| {
        attention.apply_sighting(at((secs - 5) * 1_000), seen(None, (secs - 5) * 1_000));
        assert!(!attention.is_unseen(&session), "it works");
        attention.apply_sighting(at(secs * 1_000), finished(secs));
    };
    ends(&mut attention, 20);
    assert!(attention.is_unseen(&session));
    attention.apply_sighting(at(21_000), finished(20));
    assert!(attention.is_unseen(&session), "another witness of the same end");
    attention.apply_sighting(at(700_000), Sighting { rests: true, ..seen(None, 700_000) });
    assert!(attention.is_unseen(&session), "idle for long, and not looked at");
    assert!(attention.look_at(&session) && !attention.is_unseen(&session));
    assert!(!attention.look_at(&session), "nothing changes");
    ends(&mut attention, 40);
    assert_eq!(attention.set_in_front([session.clone()].into()), std::slice::from_ref(&session));
    assert!(!attention.is_unseen(&session));
    ends(&mut attention, 60);
    assert!(!attention.is_unseen(&session), "it ended while its pane was in front");
    assert_eq!(attention.set_in_front(BTreeSet::new()), []);
    ends(&mut attention, 80);
    assert!(attention.is_unseen(&session));
}

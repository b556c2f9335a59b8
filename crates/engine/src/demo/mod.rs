//! The demo: bundled recordings of the real client, played in memory in real time. A user without sessions sees what
//! Watchbill does.
pub mod replay;
pub mod stage;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Notify;
use watchbill_agents::{Agent, traits};
use watchbill_core::time::{Millis, Timestamp};

use crate::alone::single_look;
use crate::clock::{Clock, ManualClock, ShiftedClock};
use crate::demo::replay::{Operation, Recording};
use crate::demo::stage::Stage;
use crate::engine::Engine;
use crate::handle::{Handle, start_in};
use crate::world::environment::Outlook;
use watchbill_settings::Settings;

/// One part of the demo: a recording, and its start in seconds of the demo.
struct Part {
    text: &'static str,
    enters: i64,
}

macro_rules! bundled {
    ($name:literal) => {
        include_str!(concat!("../../demo/", $name, ".ndjson"))
    };
}

/// The parts. Within the first half minute, every group of the roster has a row. For two minutes, something changes
/// every few seconds.
const PARTS: [Part; 16] = [
    Part { text: bundled!("onboarding"), enters: -10_800 },
    Part { text: bundled!("release"), enters: 0 },
    Part { text: bundled!("scheduler"), enters: 1 },
    Part { text: bundled!("billing"), enters: 3 },
    Part { text: bundled!("devcontainer"), enters: 5 },
    Part { text: bundled!("wizard"), enters: 7 },
    Part { text: bundled!("review"), enters: 10 },
    Part { text: bundled!("plan"), enters: 12 },
    Part { text: bundled!("shop"), enters: 14 },
    Part { text: bundled!("notes"), enters: 21 },
    Part { text: bundled!("infra"), enters: 23 },
    Part { text: bundled!("config"), enters: 65 },
    Part { text: bundled!("linter"), enters: 65 },
    Part { text: bundled!("indexer"), enters: 83 },
    Part { text: bundled!("parallel"), enters: 88 },
    Part { text: bundled!("search"), enters: 108 },
];

/// The demo's date and time: the afternoon on which the recordings were made.
const BEGIN: Timestamp = Timestamp::from_millis(1_795_188_600_000);
/// A single look shows the demo at this time: one session waits, one works, one is done.
const LOOK_AT: Millis = Millis::from_secs(37);
/// The demo starts this far in, so that the first roster is not empty.
const LEAD: Millis = Millis::from_secs(13);
/// The agent's folder of the demo; it exists in memory only.
fn root() -> PathBuf {
    Path::new("/demo").join(traits(Agent::default()).folder)
}

fn recordings() -> Vec<Recording> {
    let read = |part: &Part| {
        // A test parses the bundled texts, so a user never meets this error.
        let recording = Recording::parse(part.text).ok()?;
        Some(recording.moved_to(BEGIN + Millis::from_secs(part.enters)))
    };
    PARTS.iter().filter_map(read).collect()
}

/// One look at the demo, at `LOOK_AT`.
pub fn look(outlook: Outlook) -> Engine {
    look_at(LOOK_AT, outlook)
}

fn look_at(at: Millis, outlook: Outlook) -> Engine {
    let stage = Stage::new(&root(), || {});
    let now = BEGIN + at;
    for recording in recordings().iter().filter(|recording| recording.begin <= now) {
        stage.enter(recording);
        stage.act_until(recording, Millis(now.since(recording.begin).0));
    }
    let settings = Settings::for_roots(vec![stage.root.clone()]);
    single_look::look(settings, stage.world(), outlook, &ManualClock::new(now))
}

/// Starts an engine that plays the demo.
///
/// # Errors
/// When the system gives no thread.
pub fn start() -> std::io::Result<Handle> {
    let woken = Arc::new(Notify::new());
    let wake = Arc::clone(&woken);
    let stage = Stage::new(&root(), move || wake.notify_one());
    let recordings = recordings();
    let begin = BEGIN + LEAD;
    recordings.iter().for_each(|recording| stage.enter(recording));
    let rest = operations(&recordings).partition_point(|(at, ..)| *at <= begin);
    act(&stage, &operations(&recordings)[..rest], &|_| true);
    let clock = Arc::new(ShiftedClock::starting(begin));
    let settings = Settings::for_roots(vec![stage.root.clone()]);
    let source = Box::new(Arc::clone(&stage.hints));
    let handle = start_in(settings, stage.world(), clock.clone(), Some(source), woken)?;
    let stopped = handle.stopped();
    let play = move || {
        act(&stage, &operations(&recordings)[rest..], &|at| {
            std::thread::sleep(clock.until(at));
            !stopped()
        });
    };
    std::thread::Builder::new().name("watchbill-demo".into()).spawn(play)?;
    Ok(handle.of_the_demo())
}

/// An operation of a recording, and its time.
type Cue<'a> = (Timestamp, &'a Recording, &'a Operation);

/// The operations of all recordings in order of time.
fn operations(recordings: &[Recording]) -> Vec<Cue<'_>> {
    let mut operations: Vec<Cue<'_>> = recordings
        .iter()
        .flat_map(|recording| {
            recording.operations.iter().map(move |(at, op)| (recording.begin + *at, recording, op))
        })
        .collect();
    operations.sort_by_key(|(at, ..)| *at);
    operations
}

/// Carries out operations, each after `wait` returned for its time. Ends when `wait` returns `false`.
fn act(stage: &Stage, operations: &[Cue<'_>], wait: &dyn Fn(Timestamp) -> bool) {
    for (at, recording, operation) in operations {
        if !wait(*at) {
            return;
        }
        stage.act(recording, *at, operation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use watchbill_protocol::roster::Group;

    /// The groups and words of the demo's rows at second `at`.
    fn second(at: i64) -> Vec<(Group, String)> {
        let engine = look_at(Millis::from_secs(at), Outlook::LIVE);
        let rows = engine.current(false).rows.iter().map(|row| row.session());
        rows.map(|row| {
            let words = format!(
                "{} {:?} {:?} {:?} {:?} {}",
                row.state, row.state_kind, row.title, row.pending_tool, row.subagents, row.compaction_count
            );
            (row.group, words)
        })
        .collect()
    }

    #[test]
    fn every_bundled_recording_is_read_and_free_of_problems() {
        assert_eq!(recordings().len(), PARTS.len());
        let engine = look_at(Millis::from_secs(150), Outlook::LIVE);
        assert_eq!(engine.current(true).problems.len(), 0);
        let (hidden, all) = (engine.current(false).rows.len(), engine.current(true).rows.len());
        assert_eq!((hidden, all), (PARTS.len(), PARTS.len() + 1), "one session went on after /clear");
        for row in engine.current(true).rows {
            assert!(row.session().title.is_some() || row.session().goal.is_some(), "{}", row.id);
            assert!(row.session().branch.as_deref().is_some_and(|branch| branch != "HEAD"), "{}", row.id);
        }
    }

    #[test]
    fn the_demo_is_small_and_has_no_leftovers_of_its_recording() {
        let bytes: usize = PARTS.iter().map(|part| part.text.len()).sum();
        assert!(bytes < 300 * 1024, "{bytes} bytes");
        for part in &PARTS {
            for leftover in ["@@", "lorem", "stub", "/rig/", "/home/dev/work"] {
                assert!(!part.text.contains(leftover), "{leftover} is left over");
            }
        }
    }

    #[test]
    fn a_look_at_the_demo_shows_something_in_each_group() {
        let groups: BTreeSet<Group> =
            look(Outlook::LIVE).current(false).rows.iter().map(|row| row.session().group).collect();
        assert_eq!(groups.len(), 4, "{groups:?}");
    }

    #[test]
    fn for_two_minutes_something_changes_every_few_seconds() {
        let begin = LEAD.0 / 1000;
        let mut before = second(begin);
        let groups: BTreeSet<Group> = before.iter().map(|(group, _)| *group).collect();
        assert_eq!(groups.len(), 4, "at first sight: {groups:?}");
        let mut changed = begin;
        let mut gaps = Vec::new();
        for at in (begin + 2..=begin + 120).step_by(2) {
            let now = second(at);
            if now != before {
                gaps.push((at - changed, at));
                changed = at;
            }
            before = now;
        }
        gaps.push((begin + 120 - changed, begin + 120));
        let longest = gaps.iter().max().copied().unwrap_or_default();
        // Looks two seconds apart make a pause of five seconds appear as six.
        assert!(
            longest.0 <= 6,
            "nothing changes for {} s before second {}; all: {gaps:?}",
            longest.0,
            longest.1
        );
    }
}

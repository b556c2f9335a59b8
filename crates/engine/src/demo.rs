//! The demo: bundled recordings of the real client, acted out in memory at their own pace, so that a
//! person without any session sees what Watchbill does.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;
use watchbill_core::time::{Millis, Timestamp};

use crate::clock::{Clock, ManualClock, ShiftedClock};
use crate::cold;
use crate::engine::{Engine, Outlook};
use crate::handle::{Handle, start_in};
use crate::replay::Recording;
use crate::settings::Settings;
use crate::stage::Stage;

/// One part of the demo: a recording and when it enters, in seconds of the demo.
struct Part {
    text: &'static str,
    enters: i64,
}

macro_rules! bundled {
    ($name:literal) => {
        include_str!(concat!("../demo/", $name, ".ndjson"))
    };
}

/// The parts, chosen so that within the first half minute every group of the roster has a row.
const PARTS: [Part; 6] = [
    Part { text: bundled!("release"), enters: 0 },
    Part { text: bundled!("scheduler"), enters: 1 },
    Part { text: bundled!("billing"), enters: 3 },
    Part { text: bundled!("wizard"), enters: 5 },
    Part { text: bundled!("review"), enters: 8 },
    Part { text: bundled!("notes"), enters: 12 },
];

/// The demo is always on the afternoon on which the recordings were made.
const BEGIN: Timestamp = Timestamp::from_millis(1_795_188_600_000);
/// A single look sees the demo at this point: something waits, something works, something is done.
const LOOK_AT: Millis = Millis::from_secs(20);
/// The claude folder of the demo; it exists in memory only.
const ROOT: &str = "/demo/.claude";

fn recordings() -> Vec<Recording> {
    let read = |part: &Part| {
        // The bundled texts are parsed by a test, so an error cannot reach a person.
        let recording = Recording::parse(part.text).ok()?;
        Some(recording.moved_to(BEGIN + Millis::from_secs(part.enters)))
    };
    PARTS.iter().filter_map(read).collect()
}

/// One look at the demo, some way into it.
pub fn look(outlook: Outlook) -> Engine {
    let stage = Stage::new(Path::new(ROOT), || {});
    let now = BEGIN + LOOK_AT;
    for recording in recordings() {
        stage.enter(&recording);
        stage.act_until(&recording, Millis(now.since(recording.begin).0));
    }
    let settings = Settings::for_roots(vec![stage.root.clone()]);
    cold::look(settings, stage.world(), outlook, &ManualClock::new(now))
}

/// Starts an engine that plays the demo.
///
/// # Errors
/// When the system gives no thread.
pub fn start() -> std::io::Result<Handle> {
    let woken = Arc::new(Notify::new());
    let wake = Arc::clone(&woken);
    let stage = Stage::new(Path::new(ROOT), move || wake.notify_one());
    let clock = Arc::new(ShiftedClock::starting(BEGIN));
    let settings = Settings::for_roots(vec![stage.root.clone()]);
    let source = Box::new(Arc::clone(&stage.hints));
    let handle = start_in(settings, stage.world(), clock.clone(), Some(source), woken)?;
    let stopped = handle.stopped();
    std::thread::Builder::new()
        .name("watchbill-demo".into())
        .spawn(move || act(&stage, &*clock, &|| stopped()))?;
    Ok(handle)
}

/// Acts all parts out, each operation at its time.
fn act(stage: &Stage, clock: &dyn Clock, stopped: &dyn Fn() -> bool) {
    let recordings = recordings();
    let mut operations: Vec<_> = recordings
        .iter()
        .flat_map(|recording| {
            recording
                .operations
                .iter()
                .map(move |(at, operation)| (recording.begin + *at, recording, operation))
        })
        .collect();
    operations.sort_by_key(|(at, ..)| *at);
    recordings.iter().for_each(|recording| stage.enter(recording));
    for (at, recording, operation) in operations {
        std::thread::sleep(clock.until(at));
        if stopped() {
            return;
        }
        stage.act(recording, at, operation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use watchbill_core::roster::group::Group;

    #[test]
    fn every_bundled_recording_is_read() {
        assert_eq!(recordings().len(), PARTS.len());
    }

    #[test]
    fn a_look_at_the_demo_shows_something_in_each_group_that_matters() {
        let engine = look(Outlook::LIVE);
        let groups: Vec<_> = engine.current(false).rows.iter().map(|row| row.session.group).collect();
        for group in [Group::NeedsYou, Group::Working, Group::YourTurn] {
            let group = watchbill_protocol::roster::Group::from(group);
            assert!(groups.contains(&group), "{group:?} is missing from {groups:?}");
        }
    }
}

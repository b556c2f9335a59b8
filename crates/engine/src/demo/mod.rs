//! The demo: bundled recordings of the real client, played in memory in real time. A user without sessions sees what
//! Watchbill does.

pub(crate) mod folder;
mod player;
pub mod replay;
pub mod stage;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::Notify;
use watchbill_agents::{Agent, traits};
use watchbill_core::time::{Millis, Timestamp};

use crate::alone::single_look;
use crate::clock::{Clock, ManualClock, SystemClock};
use crate::demo::folder::DemoFolder;
use crate::demo::player::{Player, in_round};
use crate::demo::replay::{Operation, Recording};
use crate::demo::stage::Stage;
use crate::engine::Engine;
use crate::handle::Handle;
use crate::handle::start::start_with;
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

/// How much slower the sessions of the past went.
const PAST_SLOWER: i64 = 25;
/// When they began, in minutes before the present time of day.
const PAST_BEGAN: [i64; 4] = [70, 125, 190, 260];
/// For so many days back, today included.
const PAST_DAYS: i64 = 7;

/// Starts an engine that plays the demo, with a history of some days. Its store and its repository are in a folder of its own below
/// the system's temporary folder, which goes when the engine ends.
///
/// # Errors
/// When the system gives no thread, or no folder can be made.
pub fn start() -> std::io::Result<Handle> {
    let folder = DemoFolder::make()?;
    let woken = Arc::new(Notify::new());
    let wake = Arc::clone(&woken);
    let stage = Stage::new(&root(), move || wake.notify_one());
    let home = folder.home();
    // The files are in memory, but for those that git reads.
    stage.fs.write(format!("{home}api-server/.git/HEAD"), b"ref: refs/heads/main\n");
    let begin = SystemClock.now();
    let here = |recording: &Recording, begin: Timestamp, slower: i64, round: u32| {
        recording.retold(begin, slower, |text| in_round(text, round).replace("/home/dev/", &home))
    };
    let moved = |recording: Recording| here(&recording, recording.begin + begin.since(BEGIN + LEAD), 1, 0);
    let recordings: Vec<Recording> = recordings().into_iter().map(moved).collect();
    let past = (0..PAST_DAYS).rev().flat_map(|day| PAST_BEGAN.map(|minutes| (day, minutes)));
    for (number, (day, minutes)) in (1_000..).zip(past) {
        let recording = &recordings[(number as usize * 7 + 4) % recordings.len()];
        let began = begin - Millis::from_secs((day * 24 * 60 + minutes) * 60);
        let recording = here(recording, began, PAST_SLOWER, number);
        // Processes that are long gone left no other files.
        for (at, operation) in &recording.operations {
            if matches!(operation, Operation::Append { .. }) {
                stage.act(&recording, began + *at, operation);
            }
        }
    }
    for recording in &recordings {
        stage.enter(recording);
        stage.act_until(recording, begin.since(recording.begin));
    }
    let mut settings = Settings::for_roots(vec![stage.root.clone()]);
    settings.data_dir = Some(folder.data_dir());
    let (source, world) = (Box::new(Arc::clone(&stage.hints)), stage.world());
    let handle = start_with(settings, world, Arc::new(SystemClock), Some(source), woken, Some(folder))?;
    let listener = handle.without_stopper();
    let play = move || {
        // The oldest session stays as it is.
        let players = recordings.iter().skip(1).map(|recording| Player::new(&stage, recording, begin));
        player::play(players.collect(), &listener);
    };
    std::thread::Builder::new().name("watchbill-demo".into()).spawn(play)?;
    Ok(handle.of_the_demo())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::pressed::Pressed;
    use std::collections::BTreeSet;
    use watchbill_protocol::request::{AnswerCall, RequestDecision};
    use watchbill_protocol::roster::Group;
    use watchbill_protocol::search::SearchQuery;

    /// Waits for a fact of a running demo.
    fn until<T>(what: &str, mut fact: impl FnMut() -> Option<T>) -> T {
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(90);
        loop {
            if let Some(found) = fact() {
                return found;
            }
            assert!(std::time::Instant::now() < patience, "{what} did not come");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    #[test]
    fn a_running_demo_has_a_history_takes_answers_and_leaves_nothing() {
        let demo = start().unwrap();
        let folder = demo.settings().data_dir.clone().unwrap().parent().unwrap().to_owned();
        let row = |title: &str| {
            let rows = demo.roster(true).unwrap().sessions;
            rows.into_iter().find(|row| row.title.as_deref() == Some(title) && row.superseded.is_none())
        };
        let asks = until("a request", || row("Publish the 2.4 release").filter(|row| row.request.is_some()));
        let request = demo.request(&asks.session_id).unwrap().unwrap();
        let call = AnswerCall {
            session: asks.session_id.clone(),
            request_id: request.id,
            seen: request.digest,
            decision: RequestDecision::Allow,
        };
        let asked = demo.asked(&asks.session_id).unwrap();
        demo.answer(&call, "window", Pressed::now(), asked).unwrap();
        until("the published release", || {
            let items = demo.timeline(&asks.session_id, None, 100).unwrap().items;
            format!("{items:?}").contains("2.4.0 is on the registry").then_some(())
        });

        let question =
            until("a question", || row("Migrate sessions to Redis").filter(|row| row.request.is_some()));
        let request = demo.request(&question.session_id).unwrap().unwrap();
        let call = AnswerCall {
            session: question.session_id.clone(),
            request_id: request.id,
            seen: request.digest,
            decision: RequestDecision::Deny { reason: "Ask me tomorrow".to_owned() },
        };
        let asked = demo.asked(&question.session_id).unwrap();
        demo.answer(&call, "window", Pressed::now(), asked).unwrap();
        until("the end of the turn", || {
            row("Migrate sessions to Redis").filter(|row| row.group == Group::YourTurn)
        });
        let items = demo.timeline(&question.session_id, None, 100).unwrap().items;
        assert!(format!("{items:?}").contains("Ask me tomorrow"), "{items:?}");

        let query = SearchQuery { query: "eviction".to_owned(), ..SearchQuery::default() };
        until("a hit of another day", || {
            let hits = demo.search(&query, Arc::new(|| true)).ok()?.hits;
            let today = SystemClock.now() - Millis::from_secs(24 * 3600);
            hits.into_iter().find(|hit| {
                Timestamp::parse(hit.at.as_deref().unwrap_or_default()).is_some_and(|at| at < today)
            })
        });
        until("the usage of several days", || {
            let page = demo.usage(7).ok()?;
            (page.days.iter().filter(|day| day.total.requests > 0).count() >= 6).then_some(())
        });
        let edited = until("the repository of a session", || {
            let rows = demo.roster(true).ok()?.sessions;
            let keys = "Rename the configuration keys";
            rows.into_iter().find(|row| row.title.as_deref() == Some(keys) && row.repo_root.is_some())
        });
        let [changed] = &demo.changes(&edited).unwrap().files[..] else { panic!("one file") };
        assert_eq!((&*changed.path, changed.edits > 0), ("docs/config-migration.md", true));
        let day = demo.day(None).unwrap();
        assert!(day.worked > 600.0 && day.waits >= 2, "{day:?}");
        assert!(!demo.memory_page(&edited.session_id).unwrap().memories.is_empty());
        let problems = demo.roster(true).unwrap().problems;
        assert_eq!(problems.len(), 0, "{problems:?}");
        demo.stop();
        assert!(!folder.exists(), "{} is left", folder.display());
    }

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

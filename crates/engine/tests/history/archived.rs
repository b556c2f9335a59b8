//! A session whose transcript the agent has removed is read from the archive as if its file still existed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::Exclude;
use watchbill_core::time::Millis;
use watchbill_engine::alone::forget::{ForgetWhat, forget};
use watchbill_engine::alone::index::{Indexed, Options, run};
use watchbill_engine::alone::single_look::look;
use watchbill_engine::clock::SystemClock;
use watchbill_engine::engine::Outlook;
use watchbill_engine::handle::{Handle, real_sources, start};
use watchbill_engine::world::archive::with_archive;
use watchbill_history::archive::{offer, offer_at};
use watchbill_history::query::Gate;
use watchbill_history::query::timeline::{ItemRange, TimelineReader};
use watchbill_protocol::search::{Hit, SearchQuery};
use watchbill_protocol::timeline::{Timeline, What};
use watchbill_settings::Settings;
use watchbill_store::{OpenMode, Store};
use watchbill_watch::WatchMethod;

use crate::wait::until;

fn line(session: &str, id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{id}","sessionId":"{session}","cwd":"/home/dev/work","timestamp":"2026-10-01T15:00:00.000Z","message":{{"content":"{text}"}}}}"#
    ) + "\n"
}

fn settings(folder: &Path, enabled: bool) -> Settings {
    let mut settings = Settings::for_roots(vec![folder.join("claude")]);
    settings.data_dir = Some(folder.join("data"));
    settings.archive = ArchiveSettings { enabled, ..ArchiveSettings::default() };
    settings
}

/// Waits until the archive has at least so many transcripts. Gives their number.
pub fn archived(data: &Path, count: usize) -> usize {
    let found = || {
        Store::open(data, OpenMode::Read).and_then(|store| store.all_archived()).map_or(0, |rows| rows.len())
    };
    until("the transcripts to be archived", || found() >= count);
    found()
}

pub fn age(path: &Path, days: u64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(days * 86_400)).unwrap();
}

#[test]
fn an_archived_session_is_readable_after_its_transcript_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let (old, young, secret) = (project.join("s.jsonl"), project.join("y.jsonl"), project.join("z.jsonl"));
    std::fs::write(&old, line("s", "1", "long ago") + &line("s", "2", "and more")).unwrap();
    std::fs::write(&young, line("y", "3", "just now")).unwrap();
    std::fs::write(&secret, line("z", "4", "not to be kept")).unwrap();
    age(&old, 20);
    age(&secret, 20);
    let mut settings = settings(&root, true);
    settings.history.exclude = watchbill_core::history::Exclude::new([secret.to_string_lossy().into_owned()]);

    let timeline = |settings: &Settings| {
        let world = with_archive(real_sources(), settings);
        let engine = look(settings.clone(), world, Outlook::LIVE, &SystemClock);
        let plan = engine.timeline_plan(&Gate::default(), "s").ok()?;
        TimelineReader::default().read(engine.fs(), &plan, ItemRange::whole()).ok()
    };
    let before = timeline(&settings).unwrap();
    assert_eq!(before.items.len(), 2);

    let engine = start(settings.clone()).unwrap();
    assert_eq!(archived(&root.join("data"), 1), 1);
    engine.stop();
    drop(engine);
    let rows = Store::open(&root.join("data"), OpenMode::Read).unwrap().all_archived().unwrap();
    assert_eq!(rows.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), [old.to_string_lossy()]);

    std::fs::remove_file(&old).unwrap();
    assert_eq!(timeline(&settings).unwrap(), before);
    // With the archive off again, archived transcripts are still read.
    settings.archive.enabled = false;
    assert_eq!(timeline(&settings).unwrap(), before);
    let world = with_archive(real_sources(), &settings);
    assert!(world.fs.stat(&project.join("never.jsonl")).is_err());
}

#[test]
fn an_archived_subagent_stays_below_the_call_that_its_meta_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    let agents = project.join("s/subagents");
    std::fs::create_dir_all(&agents).unwrap();
    // The turn was interrupted: no result names the subagent that the call started.
    let call = r#"{"type":"assistant","uuid":"2","sessionId":"s","cwd":"/home/dev/work","timestamp":"2026-10-01T15:00:01.000Z","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Agent","input":{"description":"look","prompt":"look"}}]}}"#;
    let texts = [
        (project.join("s.jsonl"), line("s", "1", "go") + call + "\n"),
        (
            agents.join("agent-a1.jsonl"),
            line("s", "3", "look").replace("\"uuid\"", "\"isSidechain\":true,\"agentId\":\"a1\",\"uuid\""),
        ),
        (agents.join("agent-a1.meta.json"), r#"{"agentType":"Explore","toolUseId":"toolu_1"}"#.to_owned()),
    ];
    for (path, text) in &texts {
        std::fs::write(path, text).unwrap();
        age(path, 20);
    }
    let settings = settings(&root, true);
    let subagents = || {
        let engine =
            look(settings.clone(), with_archive(real_sources(), &settings), Outlook::LIVE, &SystemClock);
        let plan = engine.timeline_plan(&Gate::default(), "s").unwrap();
        let timeline = TimelineReader::default().read(engine.fs(), &plan, ItemRange::whole()).unwrap();
        let of = |item: &watchbill_protocol::timeline::TimelineItem| match &item.what {
            What::Tool { subagent, .. } => subagent.as_ref().map(|subagent| subagent.agent_id.clone()),
            _ => None,
        };
        timeline.items.iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(subagents(), ["a1"]);
    let engine = start(settings.clone()).unwrap();
    assert_eq!(archived(&root.join("data"), 2), 2);
    engine.stop();
    std::fs::remove_dir_all(&project).unwrap();
    assert_eq!(subagents(), ["a1"]);
}

#[test]
fn a_lost_database_is_rebuilt_from_the_archive() {
    let running = Running::with_archive_enabled(true, WatchMethod::Auto);
    let (root, timeline) = (running.root.clone(), running.timeline());
    running.engine.stop();
    std::fs::remove_dir_all(running.project()).unwrap();
    for name in ["watchbill.db", "watchbill.db-wal", "watchbill.db-shm"] {
        drop(std::fs::remove_file(root.join("data").join(name)));
    }
    let settings = settings(&root, true);
    let index =
        || run(&settings, &with_archive(real_sources(), &settings), Options::default(), &mut |_| true);
    let Indexed::Here(report) = index().unwrap() else { panic!("no other process writes") };
    assert_eq!((report.files, report.problems), (1, 0));
    let engine = start(settings.clone()).unwrap();
    assert_eq!(engine.timeline("s", None, 100).unwrap(), timeline);
    engine.stop();
}

#[test]
fn the_index_archives_due_transcripts_and_keeps_the_rows_of_unreadable_archives() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    for name in ["s", "t"] {
        std::fs::write(project.join(format!("{name}.jsonl")), line(name, name, &format!("word of {name}")))
            .unwrap();
        age(&project.join(format!("{name}.jsonl")), 20);
    }
    std::fs::write(project.join("y.jsonl"), line("y", "y", "just now")).unwrap();
    let index = |settings: &Settings, options: Options| {
        let indexed = run(settings, &with_archive(real_sources(), settings), options, &mut |_| true).unwrap();
        let Indexed::Here(report) = indexed else { panic!("no other process writes") };
        report
    };
    assert_eq!(index(&settings(&root, false), Options::default()).archived, None, "it is off");
    let settings = settings(&root, true);
    assert_eq!(index(&settings, Options::default()).archived, Some(2));
    assert_eq!(index(&settings, Options::default()).archived, None, "nothing is new");
    let health = || watchbill_history::query::health(&settings, &*real_sources().fs).unwrap();
    assert_eq!((health().archived, health().archive_unreadable), (2, Vec::new()));

    std::fs::remove_file(project.join("s.jsonl")).unwrap();
    std::fs::remove_file(project.join("t.jsonl")).unwrap();
    let rows = Store::open(&root.join("data"), OpenMode::Read).unwrap().all_archived().unwrap();
    let file = |session: &str| {
        let row = rows.iter().find(|row| row.session_id == session).unwrap();
        root.join("data/archive").join(&row.file)
    };
    let (mut flipped, cut) = (std::fs::read(file("s")).unwrap(), std::fs::read(file("t")).unwrap());
    // The last packed byte: after it comes the mark that says that the file is complete.
    let behind = flipped.windows(4).rposition(|four| four == 0x184D_2A58_u32.to_le_bytes()).unwrap();
    flipped[behind - 1] ^= 0x55;
    std::fs::write(file("s"), flipped).unwrap();
    std::fs::write(file("t"), &cut[..cut.len() / 2]).unwrap();
    let texts = || {
        let store = Store::open(&root.join("data"), OpenMode::Read).unwrap();
        let texts = store.totals().unwrap().texts;
        drop(store);
        texts
    };
    let before = texts();
    for options in [Options { full: true, cut: None }, Options { full: false, cut: Some(100) }] {
        assert_eq!((index(&settings, options).problems, texts()), (2, before), "{options:?}");
        assert_eq!(index(&settings, Options::default()).problems, 0, "it is as it was");
    }
    assert_eq!(health().archive_unreadable, [file("t").to_string_lossy()], "by the frames alone");
    // Once they are whole again they are read.
    std::fs::write(file("t"), cut).unwrap();
    assert_eq!((index(&settings, Options { full: true, cut: None }).problems, texts()), (1, before));
}

/// A running engine whose archive holds the session `s` of project `p`.
struct Running {
    _folder: tempfile::TempDir,
    root: PathBuf,
    watch: WatchMethod,
    engine: Handle,
}

impl Running {
    /// Enables the archive before the start, or while the engine runs.
    fn with_archive_enabled(before: bool, watch: WatchMethod) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let project = root.join("claude/projects/p");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::write(project.join("s.jsonl"), line("s", "1", "long ago") + &line("s", "2", "and more"))
            .unwrap();
        age(&project.join("s.jsonl"), 20);
        let with_archive = |enabled| Settings { watch, ..settings(&root, enabled) };
        let engine = start(with_archive(before)).unwrap();
        if !before {
            engine.roster(true).unwrap();
            engine.apply(&with_archive(true));
        }
        assert_eq!(archived(&root.join("data"), 1), 1);
        Self { _folder: folder, root, watch, engine }
    }

    fn project(&self) -> PathBuf {
        self.root.join("claude/projects/p")
    }

    /// Waits until the engine has noticed all file changes: it adds one more session, and waits until the roster
    /// shows it. With events, the event of its file comes after those of the changes. Without events, only a look at
    /// everything finds it, and that look finds the changes too.
    fn wait_until_noticed(&self, sign: &str) {
        let other = self.root.join("claude/projects/other");
        std::fs::create_dir_all(&other).unwrap();
        std::fs::write(other.join(format!("{sign}.jsonl")), line(sign, sign, "a sign")).unwrap();
        until(&format!("{sign} to be seen"), || {
            if matches!(self.watch, WatchMethod::Poll(_)) {
                self.engine.look_again();
            }
            self.sessions().iter().any(|id| id == sign)
        });
    }

    fn sessions(&self) -> Vec<String> {
        self.engine.roster(true).unwrap().sessions.into_iter().map(|row| row.session_id).collect()
    }

    fn timeline(&self) -> Timeline {
        self.engine.timeline("s", None, 100).unwrap()
    }

    /// The texts of the timeline items to which the hits of a search lead.
    fn found(&self, words: &str) -> Vec<String> {
        let asked = SearchQuery { query: words.to_owned(), ..SearchQuery::default() };
        let hits = self.engine.search(&asked, Arc::new(|| true)).unwrap().hits;
        let timeline = self.timeline();
        let at = |hit: &Hit| {
            let place = self.engine.timeline_place(&hit.session_id, None, hit.offset).unwrap();
            match &timeline.items[place.index as usize].what {
                What::Prompt { text, .. } => text.clone(),
                other => format!("{other:?}"),
            }
        };
        hits.iter().filter(|hit| hit.session_id == "s").map(at).collect()
    }
}

#[test]
fn an_archived_session_and_its_hits_survive_removal_and_return_of_its_folder() {
    // By events, and by looks at everything alone.
    let ways = [WatchMethod::Auto, WatchMethod::Poll(Duration::from_secs(3600))];
    for (before, watch) in ways.into_iter().flat_map(|watch| [(true, watch), (false, watch)]) {
        let running = Running::with_archive_enabled(before, watch);
        let timeline = running.timeline();
        assert_eq!(timeline.items.len(), 2);
        let text = std::fs::read(running.project().join("s.jsonl")).unwrap();
        for round in 0..2 {
            std::fs::remove_dir_all(running.project()).unwrap();
            running.wait_until_noticed(&format!("gone-{round}"));
            assert!(running.sessions().contains(&"s".to_owned()), "{:?}", running.sessions());
            assert_eq!(running.timeline(), timeline);
            assert_eq!(running.found("and more"), ["and more"]);
            assert_eq!(running.found("long"), ["long ago"]);

            std::fs::create_dir(running.project()).unwrap();
            std::fs::write(running.project().join("s.jsonl"), &text).unwrap();
            running.wait_until_noticed(&format!("back-{round}"));
            assert_eq!(running.timeline(), timeline);
            assert_eq!(running.found("and more"), ["and more"], "it is stored once");
        }
        // It is written on.
        std::fs::write(
            running.project().join("s.jsonl"),
            [text, line("s", "3", "now").into_bytes()].concat(),
        )
        .unwrap();
        running.wait_until_noticed("on");
        assert_eq!(running.timeline().items.len(), 3);
        running.engine.stop();
    }
}

#[test]
fn nothing_is_archived_before_the_user_enables_it_and_the_offer_has_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let text: String =
        (0..2_000).map(|n| line("s", &format!("u{n}"), "the same words again and again")).collect();
    std::fs::write(project.join("s.jsonl"), &text).unwrap();
    std::fs::write(root.join("claude/settings.json"), r#"{"cleanupPeriodDays": 10}"#).unwrap();
    age(&project.join("s.jsonl"), 6);
    let settings = settings(&root, false);
    let offer = offer(&settings, &*real_sources().fs);
    assert_eq!((offer.files, offer.bytes, offer.cleanup_days), (1, text.len() as u64, 10));
    assert!(offer.expected > 0 && offer.expected * 4 < offer.bytes, "{offer:?}");
    assert!(!root.join("data").exists());
    // Half of the agent's cleanup period has passed: with the archive on, the transcript would be due.
    let on = ArchiveSettings { enabled: true, ..settings.archive };
    let now = watchbill_engine::clock::Clock::now(&SystemClock);
    let due =
        watchbill_history::archive::due(&*real_sources().fs, &settings.roots, &[], &|_| false, &on, now);
    assert!(!due.is_done());
    let early = watchbill_history::archive::due(
        &*real_sources().fs,
        &settings.roots,
        &[],
        &|_| false,
        &on,
        now - Millis(2 * 86_400_000),
    );
    assert!(early.is_done());
}

#[test]
fn excluded_and_forgotten_transcripts_are_not_offered_for_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let secret =
        |session: &str| line(session, session, "secret").replace("/home/dev/work", "/home/dev/secret");
    let texts = [
        ("open", line("open", "1", "of no matter")),
        ("in", secret("in")),
        ("was", secret("was") + &line("was", "2", "elsewhere by now")),
        ("gone", line("gone", "3", "to be forgotten")),
        ("x-by-path", line("x-by-path", "4", "its transcript is named")),
    ];
    for (name, text) in &texts {
        std::fs::write(project.join(format!("{name}.jsonl")), text).unwrap();
    }
    let mut settings = settings(&root, false);
    let numbers = |settings: &Settings| {
        let offer = offer(settings, &*real_sources().fs);
        let at = offer_at(settings, &*real_sources().fs, watchbill_engine::clock::Clock::now(&SystemClock));
        assert_eq!((offer.files, offer.bytes, offer.expected), (at.files, at.bytes, at.expected));
        offer.files
    };
    assert_eq!(numbers(&settings), 5);
    let mut appeared = settings.clone();
    appeared.awaited = std::mem::replace(&mut appeared.roots, vec![root.join("other").into()]);
    assert_eq!(numbers(&appeared), 5, "the folder was missing at the start");
    settings.history.exclude =
        Exclude::new(["/home/dev/secret/**".to_owned(), "**/x-by-path.jsonl".to_owned()]);
    assert_eq!(numbers(&settings), 2, "before anything is stored");

    let index = || run(&settings, &real_sources(), Options::default(), &mut |_| true).unwrap();
    assert!(matches!(index(), Indexed::Here(_)));
    let gone = ForgetWhat::Sessions(vec!["gone".to_owned()]);
    let now = watchbill_engine::clock::Clock::now(&SystemClock);
    assert!(forget(&settings, &gone, false, now, &mut |_| ()).is_ok());
    assert_eq!(numbers(&settings), 1, "as the store knows it");
    let offer = offer(&settings, &*real_sources().fs);
    assert_eq!(offer.bytes, texts[0].1.len() as u64);
}

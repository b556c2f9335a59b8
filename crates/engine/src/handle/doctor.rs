//! Collects the facts of `watchbill doctor`: files, watches, limits, versions. The report helps a user who does not see a session that should be in the roster.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use watchbill_agents::Agent;
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::memory::ContextChoice;
use watchbill_hooks::health::health;
use watchbill_hooks::install::Version;
use watchbill_hooks::places::HookPaths;
use watchbill_protocol::doctor::{
    ConfigFile, Doctor, HookSettings, HooksHealth, Limit, OwnSessionCounts, Registry, Root, Versions,
    WatchMode,
};
use watchbill_protocol::roster::Problem;

use crate::engine::Engine;
use crate::handle::hook_setup::{ExpectedHooks, every_scope};
use crate::transcripts::TrackedFile;
use crate::world::mute::MuteFile;
use crate::world::source::HintSource;
use watchbill_history::query;

/// Returns how a root is watched.
pub type ModeOf<'a> = &'a dyn Fn(&Path) -> WatchMode;

/// The whole report. Starts a watcher for a moment, to test how `watch` and the window would notice changes.
/// `client_of` asks for the version of the agent that uses a folder.
pub fn doctor_with_watch_trial(
    engine: &Engine,
    client_of: &dyn Fn(&watchbill_agents::Root) -> Option<Version>,
) -> Doctor {
    let watcher = crate::world::source::watch(engine.settings(), || {});
    watcher.ready();
    let mut doctor = doctor(engine, &|root| watcher.mode_of(root));
    doctor.problems.extend(watcher.problems().iter().map(Problem::from));
    doctor.problems.sort_by(|a, b| (&a.path, &a.kind).cmp(&(&b.path, &b.kind)));
    doctor.problems.dedup();
    doctor.store = query::health(engine.settings(), engine.fs());
    let muted = engine.settings().data_dir.as_deref().and_then(|folder| MuteFile::of(folder).read());
    doctor.muted_until = muted.filter(|until| *until > engine.now()).map(|until| until.to_string());
    if let Some(hooks) = &mut doctor.hooks {
        let judge = ExpectedHooks::asking_clients(engine.settings(), client_of);
        hooks.settings = scopes_with_timeout(judge, working_folders(engine));
    }
    doctor
}

/// The whole report, without a trial of the watcher.
pub fn doctor(engine: &Engine, mode_of: ModeOf<'_>) -> Doctor {
    let mut agents: BTreeSet<(Vec<u64>, String)> = BTreeSet::new();
    let of_default = |file: &&TrackedFile| file.place.agent() == Agent::default();
    let files = engine.sessions().files().values().filter(of_default);
    let folded = files.filter_map(|file| file.main()?.facts().version.as_deref());
    let running = engine.registry().all().filter_map(|witness| witness.entry.version.as_deref());
    for version in folded.chain(running) {
        agents
            .insert((version.split('.').map(|part| part.parse().unwrap_or(0)).collect(), version.to_owned()));
    }
    let roots = engine.roots().iter().map(|root| doctor_root(engine, root, mode_of)).collect();
    let live = engine.registry().all().filter(|witness| witness.liveness == Liveness::Alive).count();
    Doctor {
        versions: Versions {
            watchbill: env!("CARGO_PKG_VERSION").to_owned(),
            agents: agents.into_iter().map(|(_, version)| version).collect(),
        },
        roots,
        registry: Registry {
            readable: engine.roots().iter().any(|root| engine.registry().readable(root)),
            files: count(engine.registry().all().count()),
            live: count(live),
        },
        own: own_sessions(engine),
        limits: limits(engine),
        store: None,
        hooks: hooks_health(engine),
        muted_until: engine.current(true).muted_until.map(|until| until.to_string()),
        desktop: None,
        config: engine
            .settings()
            .config_file
            .as_ref()
            .map(|path| ConfigFile { path: path.to_string_lossy().into_owned(), exists: path.exists() }),
        problems: engine.current(true).problems.to_vec(),
    }
}

fn own_sessions(engine: &Engine) -> Option<OwnSessionCounts> {
    let (running, ended) = engine.count_own();
    (running + ended > 0).then(|| OwnSessionCounts { running: count(running), ended: count(ended) })
}

/// The working folders of running agents.
pub(crate) fn working_folders(engine: &Engine) -> BTreeSet<PathBuf> {
    let alive = engine.registry().all().filter(|witness| witness.liveness == Liveness::Alive);
    alive.filter_map(|witness| witness.entry.cwd.as_deref().map(PathBuf::from)).collect()
}

fn hooks_health(engine: &Engine) -> Option<HooksHealth> {
    let places = HookPaths::new(engine.settings().data_dir.as_deref()?);
    let found = health(&places);
    Some(HooksHealth {
        path: places.root().to_string_lossy().into_owned(),
        ears: found.receivers as u64,
        waiting: found.waiting as u64,
        damaged: found.damaged as u64,
        dropped: found.dropped,
        dropped_at: found.dropped_at,
        journal_bytes: found.journal_bytes,
        sessions: count(engine.hooks().sessions().count()),
        context: match engine.settings().memory.context {
            ContextChoice::Off => None,
            ContextChoice::Files => Some("files".to_owned()),
            ContextChoice::All => Some("all".to_owned()),
        },
        // The caller reads these settings on its own thread, because a project may lie on a dead mount.
        settings: Vec::new(),
    })
}

fn doctor_root(engine: &Engine, root: &watchbill_agents::Root, mode_of: ModeOf<'_>) -> Root {
    let files = engine.sessions().files().iter().filter(|(path, _)| path.starts_with(root));
    let exists = engine.fs().stat(root).is_ok();
    let (mut number, mut bytes) = (0, 0);
    for (_, file) in files {
        number += 1;
        bytes += file.bytes_read();
    }
    Root {
        agent: root.agent.as_str().to_owned(),
        path: root.to_string_lossy().into_owned(),
        exists,
        watch: if exists { mode_of(root) } else { WatchMode::None },
        sessions: count(
            engine
                .sessions()
                .iter()
                .filter(|(_, session)| session.root.as_ref() == Some(root) && !session.mains.is_empty())
                .count(),
        ),
        files: count(number),
        bytes,
    }
}

/// The limits of Linux for inotify, which needs one watch for each folder below the roots.
fn limits(engine: &Engine) -> Vec<Limit> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    let folders: BTreeSet<&Path> =
        engine.sessions().files().paths().filter_map(|path| path.parent()).collect();
    let needed = folders.len() as u64 + 2 * engine.roots().len() as u64;
    let limit = |name: &str, needed: Option<u64>| {
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        let value: u64 = std::fs::read_to_string(path).ok()?.trim().parse().ok()?;
        let enough = needed.is_none_or(|needed| needed <= value);
        Some(Limit { name: name.to_owned(), value, needed, enough })
    };
    [limit("fs.inotify.max_user_watches", Some(needed)), limit("fs.inotify.max_user_instances", Some(1))]
        .into_iter()
        .flatten()
        .collect()
}

/// The longest wait for the folders of projects. A folder that needs longer is taken to lie on a dead mount.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The hooks in every scope. If a project's folder does not answer in time, the result has no project scopes.
pub(crate) fn scopes_with_timeout(judge: ExpectedHooks, projects: BTreeSet<PathBuf>) -> Vec<HookSettings> {
    let (sender, receiver) = mpsc::channel();
    let asked = judge.clone();
    let look = move || {
        // The caller may have given up.
        let _ = sender.send(every_scope(&asked, &projects));
    };
    let spawned = std::thread::Builder::new().name("watchbill-scopes".to_owned()).spawn(look);
    let found = spawned.ok().and_then(|_| receiver.recv_timeout(TIMEOUT).ok());
    found.unwrap_or_else(|| every_scope(&judge, &BTreeSet::new()))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

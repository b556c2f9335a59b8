//! What is found, what is watched and how, limits, versions: for a person who wonders what is missing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use watchbill_core::evidence::registry::Liveness;
use watchbill_hooks::health::health;
use watchbill_hooks::install::Version;
use watchbill_hooks::places::Places;
use watchbill_protocol::doctor::{
    ConfigFile, Doctor, HookSettings, HooksHealth, Limit, Registry, Root, Versions, WatchMode,
};
use watchbill_protocol::roster::Problem;

use crate::engine::Engine;
use crate::hook_setup::{Judge, every_scope};
use crate::mute::MuteFile;
use crate::source::Source;
use crate::stored;

/// How a root is watched, as far as anybody watches it.
pub type ModeOf<'a> = &'a dyn Fn(&Path) -> WatchMode;

impl Engine {
    /// The state of the whole, with a trial of how `watch` and the window would notice changes. `client_of` asks the client
    /// of one of the agent's folders for its version.
    pub fn doctor_on_trial(&self, client_of: &dyn Fn(&Path) -> Option<Version>) -> Doctor {
        let watcher = crate::source::watch(&self.settings, || {});
        watcher.ready();
        let mut doctor = self.doctor(&|root| watcher.mode_of(root));
        doctor.problems.extend(watcher.problems().iter().map(Problem::from));
        doctor.problems.sort_by(|a, b| (&a.path, &a.kind).cmp(&(&b.path, &b.kind)));
        doctor.problems.dedup();
        doctor.store = stored::health(&self.settings, self.fs());
        let muted = self.settings.data_dir.as_deref().and_then(|folder| MuteFile::of(folder).read());
        doctor.muted_until = muted.filter(|until| *until > self.now()).map(|until| until.to_string());
        if let Some(hooks) = &mut doctor.hooks {
            let judge = Judge::asking(&self.settings, client_of);
            hooks.settings = scopes_in_time(judge, self.working_folders());
        }
        doctor
    }

    /// The state of the whole.
    pub fn doctor(&self, mode_of: ModeOf<'_>) -> Doctor {
        let mut agents: BTreeSet<(Vec<u64>, String)> = BTreeSet::new();
        let folded = self.files.values().filter_map(|file| file.main()?.facts().version.as_deref());
        let running = self.registry().all().filter_map(|witness| witness.entry.version.as_deref());
        for version in folded.chain(running) {
            agents.insert((
                version.split('.').map(|part| part.parse().unwrap_or(0)).collect(),
                version.to_owned(),
            ));
        }
        let roots = self.roots().iter().map(|root| self.doctor_root(root, mode_of)).collect();
        let live = self.registry().all().filter(|witness| witness.liveness == Liveness::Alive).count();
        Doctor {
            versions: Versions {
                watchbill: env!("CARGO_PKG_VERSION").to_owned(),
                agents: agents.into_iter().map(|(_, version)| version).collect(),
            },
            roots,
            registry: Registry {
                readable: self.roots().iter().any(|root| self.registry().readable(root)),
                files: count(self.registry().all().count()),
                live: count(live),
            },
            limits: self.limits(),
            store: None,
            hooks: self.hooks_health(),
            muted_until: self.current(true).muted_until.map(|until| until.to_string()),
            desktop: None,
            config: self
                .settings
                .config_file
                .as_ref()
                .map(|path| ConfigFile { path: path.to_string_lossy().into_owned(), exists: path.exists() }),
            problems: self.current(true).problems.to_vec(),
        }
    }

    /// Where agents work that run now.
    pub(crate) fn working_folders(&self) -> BTreeSet<PathBuf> {
        let alive = self.registry().all().filter(|witness| witness.liveness == Liveness::Alive);
        alive.filter_map(|witness| witness.entry.cwd.as_deref().map(PathBuf::from)).collect()
    }

    fn hooks_health(&self) -> Option<HooksHealth> {
        let places = Places::new(self.settings.data_dir.as_deref()?);
        let found = health(&places);
        Some(HooksHealth {
            path: places.root().to_string_lossy().into_owned(),
            ears: found.ears as u64,
            waiting: found.waiting as u64,
            damaged: found.damaged as u64,
            dropped: found.dropped,
            dropped_at: found.dropped_at,
            journal_bytes: found.journal_bytes,
            sessions: count(self.hooks().sessions().count()),
            // Looked at by whoever asks: a project may lie on a mount that has died.
            settings: Vec::new(),
        })
    }

    fn doctor_root(&self, root: &Path, mode_of: ModeOf<'_>) -> Root {
        let files = self.files.iter().filter(|(path, _)| path.starts_with(root));
        let exists = self.world.fs.stat(root).is_ok();
        let (mut number, mut bytes) = (0, 0);
        for (_, file) in files {
            number += 1;
            bytes += file.bytes_read();
        }
        Root {
            path: root.to_string_lossy().into_owned(),
            exists,
            watch: if exists { mode_of(root) } else { WatchMode::None },
            sessions: count(
                self.sessions
                    .values()
                    .filter(|session| session.root.as_deref() == Some(root) && !session.mains.is_empty())
                    .count(),
            ),
            files: count(number),
            bytes,
        }
    }

    /// inotify takes one watch for each folder below the roots.
    fn limits(&self) -> Vec<Limit> {
        let folders: BTreeSet<&Path> = self.files.paths().filter_map(|path| path.parent()).collect();
        let needed = folders.len() as u64 + 2 * self.roots().len() as u64;
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
}

/// A project's folder that gives no answer for so long lies on a mount that has died.
const PATIENCE: Duration = Duration::from_secs(2);

/// How the hooks are in every scope; without those of projects where a project's folder gives no answer.
pub(crate) fn scopes_in_time(judge: Judge, projects: BTreeSet<PathBuf>) -> Vec<HookSettings> {
    let (sender, receiver) = mpsc::channel();
    let asked = judge.clone();
    let look = move || {
        // Whoever asked may have given up.
        let _ = sender.send(every_scope(&asked, &projects));
    };
    let spawned = std::thread::Builder::new().name("watchbill-scopes".to_owned()).spawn(look);
    let found = spawned.ok().and_then(|_| receiver.recv_timeout(PATIENCE).ok());
    found.unwrap_or_else(|| every_scope(&judge, &BTreeSet::new()))
}

fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

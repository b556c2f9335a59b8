//! The surroundings of the engine: settings, roots, file system, processes, and the current time.

use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use watchbill_agents::layout::ClientPath;
use watchbill_agents::{Root, root_of};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::fs::{FileKind, Fs};
use watchbill_watch::process::Processes;
use watchbill_watch::scan::canonical_roots;

use crate::transcripts::{LoadOptions, TrackedFile};
use watchbill_settings::Settings;

/// A usual clock correction is a few seconds. A step of an hour comes from the user or a broken battery.
const SMALL_CORRECTION: Millis = Millis::from_secs(5);

/// The sources of the engine's facts.
#[derive(Clone)]
pub struct Sources {
    /// The file system.
    pub fs: Arc<dyn Fs>,
    /// The system's processes.
    pub processes: Arc<dyn Processes>,
}

/// Which part of the world the engine takes into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// Use registry, hooks and processes.
    pub live: bool,
    /// Use only records up to this time.
    pub until: Option<Timestamp>,
}

impl Outlook {
    /// Live: no time limit, all sources.
    pub const LIVE: Self = Self { live: true, until: None };
}

/// The clock's step since the last call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockStep {
    /// The clock went forward.
    On,
    /// The clock went back by more than a correction.
    Back,
    /// The clock passed the latest time that it had shown before it went back.
    CaughtUp,
}

/// Inputs that a step reads but does not compute.
pub(crate) struct StepContext {
    settings: Settings,
    world: Sources,
    outlook: Outlook,
    /// Canonical paths.
    roots: Vec<Root>,
    now: Timestamp,
    /// The latest time that the clock showed before it was set back.
    clock_behind: Option<Timestamp>,
    /// Whether other threads look at working folders and do the scans. Their results come as inputs.
    looks_elsewhere: bool,
}

impl StepContext {
    /// At time `now`.
    pub fn new(settings: Settings, world: Sources, outlook: Outlook, now: Timestamp) -> Self {
        let roots = roots_of(&world, &settings);
        Self { settings, world, outlook, roots, now, clock_behind: None, looks_elsewhere: false }
    }

    /// The user's settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Replaces the user's settings. Gives the old ones.
    pub fn set_settings(&mut self, settings: Settings) -> Settings {
        std::mem::replace(&mut self.settings, settings)
    }

    /// Sets the machine's time zone. Says whether it changed.
    pub fn set_zone(&mut self, zone: TimeZone) -> bool {
        let known = &mut self.settings.alerts.attention.zone;
        let differs = *known != zone;
        *known = zone;
        differs
    }

    /// From now on, other threads look at working folders and scan everything, and their results come as inputs.
    pub fn look_elsewhere(&mut self) {
        self.looks_elsewhere = true;
    }

    /// Whether other threads do so.
    pub fn looks_elsewhere(&self) -> bool {
        self.looks_elsewhere
    }

    /// The file system.
    pub fn fs(&self) -> &dyn Fs {
        &*self.world.fs
    }

    /// The file system, to be shared.
    pub fn shared_fs(&self) -> &Arc<dyn Fs> {
        &self.world.fs
    }

    /// The system's processes.
    pub fn processes(&self) -> &dyn Processes {
        &*self.world.processes
    }

    /// Whether registry, hooks and processes count.
    pub fn is_live(&self) -> bool {
        self.outlook.live
    }

    /// The time up to which facts count; `None` for the present.
    pub fn until(&self) -> Option<Timestamp> {
        self.outlook.until
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The time up to which deadlines of transcripts may fire.
    pub fn fires_until(&self) -> Timestamp {
        self.outlook.until.map_or(self.now, |until| until.min(self.now))
    }

    /// The default roster shows sessions that were active since this time.
    pub fn recent_since(&self) -> Timestamp {
        self.now - self.settings.recent
    }

    /// Sets the time. The engine ignores a small step back, and follows a larger one.
    pub fn set_now(&mut self, now: Timestamp) -> ClockStep {
        let mut step = ClockStep::On;
        if now + SMALL_CORRECTION < self.now {
            self.clock_behind = self.clock_behind.max(Some(self.now));
            self.now = now;
            step = ClockStep::Back;
        }
        self.now = self.now.max(now);
        if self.clock_behind.is_some_and(|ahead| now >= ahead) {
            self.clock_behind = None;
            step = ClockStep::CaughtUp;
        }
        step
    }

    /// The canonical roots.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// Resolves the roots again.
    pub fn renew_roots(&mut self) {
        self.roots = roots_of(&self.world, &self.settings);
    }

    /// The roots that count now, as the settings spell them.
    pub fn roots_now(&self) -> Vec<Root> {
        self.settings.roots_now(self.fs())
    }

    /// Whether `path` is a root or lies below one.
    pub fn is_below_a_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// Whether `path` is a folder below a root.
    pub fn is_folder_below_a_root(&self, path: &Path) -> bool {
        self.is_below_a_root(path) && self.fs().stat(path).is_ok_and(|stat| stat.kind == FileKind::Dir)
    }

    /// Whether `path` contains a root, or lies below one. Resolves the roots' current canonical paths.
    pub fn is_near_a_root(&self, path: &Path) -> bool {
        let roots = roots_of(&self.world, &self.settings);
        roots.iter().any(|root| root.starts_with(path) || path.starts_with(root))
    }

    /// Whether `path` is a copy of a transcript, which is not read.
    pub fn is_copy(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| root.is_copy(path))
    }

    /// The kind of file at `path`, by its place below the innermost root.
    pub fn place_of(&self, path: &Path) -> Option<(&Root, ClientPath)> {
        let root = root_of(&self.roots, path)?;
        Some((root, root.classify(path)?))
    }

    /// A transcript that has not been read.
    pub fn new_file(&self, place: ClientPath) -> TrackedFile {
        TrackedFile::new(place, self.settings.timeouts, self.outlook.until)
            .with_exclude(&self.settings.history.exclude)
    }

    /// The terms for the first read of a transcript. `keep`: note the memory of each record, to store it.
    pub fn terms(&self, keep: bool) -> LoadOptions {
        LoadOptions {
            timeouts: self.settings.timeouts,
            until: self.outlook.until,
            keep,
            exclude: self.settings.history.exclude.clone(),
        }
    }
}

/// The canonical paths of the folders that count now.
fn roots_of(world: &Sources, settings: &Settings) -> Vec<Root> {
    canonical_roots(&*world.fs, &settings.roots_now(&*world.fs))
}

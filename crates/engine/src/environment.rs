//! Where and how the engine looks: settings, roots, file system, processes, and the moment.

use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::fs::{FileKind, Fs};
use watchbill_watch::layout::{self, Place};
use watchbill_watch::process::Processes;
use watchbill_watch::scan::canonical_roots;

use crate::transcripts::{Terms, TrackedFile};
use watchbill_settings::Settings;

/// Some seconds are the usual correction of a clock; an hour is a person or a broken battery.
const SMALL_CORRECTION: Millis = Millis::from_secs(5);

/// Where the engine's facts come from.
#[derive(Clone)]
pub struct World {
    /// The file system.
    pub fs: Arc<dyn Fs>,
    /// The system's processes.
    pub processes: Arc<dyn Processes>,
}

/// How the engine looks at the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// Registry and processes count.
    pub live: bool,
    /// Only records up to this moment count.
    pub until: Option<Timestamp>,
}

impl Outlook {
    /// Now, with every witness.
    pub const LIVE: Self = Self { live: true, until: None };
}

/// What the clock has done since the last step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClockStep {
    /// It went on.
    On,
    /// It went back by more than a correction.
    Back,
    /// It has caught up with what it had shown before it went back.
    CaughtUp,
}

/// Everything that a step depends on and that it does not find out.
pub(crate) struct Environment {
    settings: Settings,
    world: World,
    outlook: Outlook,
    /// Canonical.
    roots: Vec<Arc<Path>>,
    now: Timestamp,
    /// The clock was set back, and had shown this before.
    clock_behind: Option<Timestamp>,
    /// Looks at working folders and scans of everything are asked for, and come as inputs.
    looks_elsewhere: bool,
}

impl Environment {
    /// At this moment.
    pub fn new(settings: Settings, world: World, outlook: Outlook, now: Timestamp) -> Self {
        let roots = roots_of(&world, &settings);
        Self { settings, world, outlook, roots, now, clock_behind: None, looks_elsewhere: false }
    }

    /// What the person wants.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The person wants it otherwise. Gives what they wanted before.
    pub fn set_settings(&mut self, settings: Settings) -> Settings {
        std::mem::replace(&mut self.settings, settings)
    }

    /// The machine's time zone. Says whether it is another one.
    pub fn set_zone(&mut self, zone: TimeZone) -> bool {
        let known = &mut self.settings.alerts.attention.zone;
        let differs = *known != zone;
        *known = zone;
        differs
    }

    /// Looks at working folders and scans of everything are asked for from now on, and come as inputs.
    pub fn look_elsewhere(&mut self) {
        self.looks_elsewhere = true;
    }

    /// Whether they are.
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

    /// Only what was so up to this moment counts.
    pub fn until(&self) -> Option<Timestamp> {
        self.outlook.until
    }

    /// The moment.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Up to when deadlines of transcripts may fire.
    pub fn fires_until(&self) -> Timestamp {
        self.outlook.until.map_or(self.now, |until| until.min(self.now))
    }

    /// Since when a session is active that the default roster shows.
    pub fn recent_since(&self) -> Timestamp {
        self.now - self.settings.recent
    }

    /// The time is `now`. A small step back has no effect; a larger one, and the engine follows.
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
    pub fn roots(&self) -> &[Arc<Path>] {
        &self.roots
    }

    /// Looks again where the roots are.
    pub fn renew_roots(&mut self) {
        self.roots = roots_of(&self.world, &self.settings);
    }

    /// Whether `path` is a root or lies below one.
    pub fn is_below_a_root(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    /// Whether `path` is a folder below a root.
    pub fn is_folder_below_a_root(&self, path: &Path) -> bool {
        self.is_below_a_root(path) && self.fs().stat(path).is_ok_and(|stat| stat.kind == FileKind::Dir)
    }

    /// Whether `path` lies around a root, as that is spelled now, or below it.
    pub fn is_near_a_root(&self, path: &Path) -> bool {
        let roots = canonical_roots(self.fs(), &self.settings.roots);
        roots.iter().any(|root| root.starts_with(path) || path.starts_with(root))
    }

    /// What a path is, by its place below the innermost root.
    pub fn place_of(&self, path: &Path) -> Option<(&Arc<Path>, Place)> {
        let below = self.roots.iter().filter_map(|root| Some((root, layout::below(root, path)?)));
        let (root, relative) = below.max_by_key(|(root, _)| root.as_os_str().len())?;
        Some((root, layout::classify(relative)?))
    }

    /// A transcript of which nothing has been read.
    pub fn new_file(&self, place: Place) -> TrackedFile {
        TrackedFile::new(place, self.settings.timeouts, self.outlook.until)
            .leaving_out(&self.settings.history.exclude)
    }

    /// On what terms a transcript is read for the first time. `keep`: what is remembered of its records is to be kept.
    pub fn terms(&self, keep: bool) -> Terms {
        Terms {
            timeouts: self.settings.timeouts,
            until: self.outlook.until,
            keep,
            exclude: self.settings.history.exclude.clone(),
        }
    }
}

/// The roots by their one true spelling.
fn roots_of(world: &World, settings: &Settings) -> Vec<Arc<Path>> {
    canonical_roots(&*world.fs, &settings.roots).into_iter().map(Arc::from).collect()
}

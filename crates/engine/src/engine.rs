//! The one loop's body: `Engine::step(now, Input) -> Vec<Output>`, synchronous, without a runtime.
//!
//! Everything that is known lives here: files and what was folded from them, the registry, markers,
//! chains, rows. A step takes the input in, works off what became dirty by it, and says what it needs.

mod aside;
mod attention;
mod compares;
mod confirms;
pub(crate) mod distant;
mod hints;
mod in_folders;
mod keeps;
mod reads;
mod resting;
mod rows;
mod says;
mod seat;
mod shares;
mod startup;
mod takes_hooks;
mod takes_in;
mod takes_settings;
mod takes_up;
mod time;
mod trouble;
mod tying;

pub use aside::Recall;
pub use confirms::Shown;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use watchbill_core::attention::{Attention, Counts};
use watchbill_core::chain::chains::Chains;
use watchbill_core::deadlines::Deadlines;
use watchbill_core::ids::SessionId;
use watchbill_core::person::Words;
use watchbill_core::roster::delta::Roster;
use watchbill_core::roster::row::Row;
use watchbill_core::roster::visible::Filter;
use watchbill_core::session::resting::RestingFold;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::Timestamp;
use watchbill_protocol::roster::Problem;
use watchbill_watch::fs::Fs;
use watchbill_watch::process::Processes;

use crate::children::Children;
use crate::files::{FilePath, Files};
use crate::folders::Folders;
use crate::hooks_in::HooksIn;
use crate::input::{Input, Output};
use crate::markers::Markers;
use crate::problems::Problems;
use crate::publish::{Current, Published};
use crate::registry::Registry;
use crate::session::{Session, row};
use crate::status_files::StatusFiles;
use crate::transcripts::TrackedFile;
use crate::verdict::verdict;
use watchbill_settings::Settings;

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

/// What has to be looked at again at some time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Due {
    Session(SessionId),
    RegistryFile(PathBuf),
    Folder(PathBuf),
    Attention,
    /// Everything was muted for a while, which is over.
    Unmute,
}

/// What is known, and what follows from it.
pub struct Engine {
    pub(crate) settings: Settings,
    pub(crate) world: World,
    outlook: Outlook,
    now: Timestamp,
    /// The clock was set back, and has not caught up with what it had shown before.
    behind: Option<Timestamp>,
    /// Canonical.
    roots: Vec<Arc<Path>>,
    pub(crate) files: Files,
    /// Looked up several times for each row; nothing depends on an order among them. Boxed, so that the table is small.
    pub(crate) sessions: FxHashMap<SessionId, Box<Session>>,
    registry: Registry,
    folders: Folders,
    looks_elsewhere: bool,
    markers: Markers,
    status_files: StatusFiles,
    hooks: HooksIn,
    children: Children,
    attention: Attention,
    /// Subscribers don't know yet that everything is muted, or no longer.
    muting_changed: bool,
    chains: Chains,
    /// What the person has said.
    words: Words,
    /// All sessions are to be tied anew.
    chains_dirty: bool,
    tying: tying::Tying,
    /// For each session with copied history, the one it was copied from.
    origins: HashMap<SessionId, SessionId>,
    dirty: BTreeSet<SessionId>,
    resting: resting::Resting,
    distant: distant::Distant,
    deadlines: Deadlines<Due>,
    /// Half-written files that are to be read again, and when.
    retries: BTreeMap<PathBuf, Timestamp>,
    views: [View; 2],
    states: HashMap<SessionId, (State, Option<StateKind>)>,
    problems: Problems,
    scan_problems: Vec<watchbill_core::problem::Problem>,
    /// They were looked at again since a scan of everything was asked for, which may have been before.
    scan_problems_renewed: bool,
    watch_problems: Vec<watchbill_core::problem::Problem>,
    published_problems: Arc<[Problem]>,
    problems_dirty: bool,
    scratch: Vec<u8>,
    revision: u64,
    startup: startup::Startup,
    work: Work,
    keeping: keeps::Keeping,
    aside: aside::Aside,
    store_problem: Option<watchbill_core::problem::Problem>,
}

/// Work done, counted: tests ask for counts, since time cannot be tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Work {
    /// Reads of transcripts that were begun.
    pub reads: u64,
    /// Bytes of transcripts.
    pub bytes: u64,
    /// Records parsed.
    pub records: u64,
    /// Rows put together.
    pub rows: u64,
    /// Times the chains were resolved.
    pub chains: u64,
}

/// One selection of rows, in order, as it is published.
struct View {
    filter: Filter,
    roster: Roster,
    published: Vec<Published>,
}

impl Engine {
    /// An engine that knows nothing yet.
    pub fn new(settings: Settings, world: World, outlook: Outlook, now: Timestamp) -> Self {
        let roots = hints::roots_of(&world, &settings);
        let view = |all| View {
            filter: Filter { all, since: settings.recent },
            roster: Roster::new(),
            published: Vec::new(),
        };
        let attention = Attention::new(settings.alerts.attention.clone());
        Self {
            views: [view(false), view(true)],
            settings,
            world,
            outlook,
            now,
            behind: None,
            roots,
            files: Files::default(),
            sessions: FxHashMap::default(),
            registry: Registry::default(),
            folders: Folders::default(),
            looks_elsewhere: false,
            markers: Markers::default(),
            status_files: StatusFiles::default(),
            hooks: HooksIn::default(),
            children: Children::default(),
            attention,
            muting_changed: false,
            chains: Chains::default(),
            words: Words::default(),
            chains_dirty: false,
            tying: tying::Tying::default(),
            origins: HashMap::new(),
            dirty: BTreeSet::new(),
            resting: resting::Resting::default(),
            distant: distant::Distant::default(),
            deadlines: Deadlines::new(),
            retries: BTreeMap::new(),
            states: HashMap::new(),
            problems: Problems::default(),
            scan_problems: Vec::new(),
            scan_problems_renewed: false,
            watch_problems: Vec::new(),
            published_problems: Arc::from([]),
            problems_dirty: true,
            scratch: Vec::new(),
            revision: 0,
            startup: startup::Startup::default(),
            work: Work::default(),
            keeping: keeps::Keeping::default(),
            aside: aside::Aside::default(),
            store_problem: None,
        }
    }

    /// Takes one input in. `now` may go back a little without effect; more than that, and the engine follows.
    pub fn step(&mut self, now: Timestamp, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        let mut chains_may_wait = false;
        self.tell_time(now);
        match input {
            Input::Hints(hints) => self.take_hints(hints, &mut out),
            Input::Loaded(batch) => chains_may_wait = self.take_batch(batch, &mut out),
            Input::Found(found) => self.reconcile(found, &mut out),
            Input::ScanEnded(problems) => self.end_first_scan(problems, &mut out),
            Input::Wake(most) => self.wake(most, &mut out),
            Input::Rescanned(found) => self.take_rescan(found, &mut out),
            Input::ProcessEnded(pid) => {
                let change = self.registry.recheck(pid, &*self.world.processes);
                self.take_registry_change(None, change, &mut out);
                self.recheck_heard(pid);
            }
            Input::Hooks(messages) => self.take_hooks(messages, &mut out),
            Input::Settings(settings) => self.take_settings(*settings),
            Input::Deadline => {}
            Input::Folders(looks) => self.take_looks(looks),
            Input::Attention(attention) => self.take_attention(attention),
            Input::Watching(problems) => {
                self.problems_dirty |= self.watch_problems != problems;
                self.watch_problems = problems;
            }
        }
        self.work_off_deadlines(&mut out);
        self.settle(chains_may_wait, &mut out);
        self.startup.end_step();
        out
    }

    /// When a half-written registry or marker file is to be read again.
    pub(crate) fn next_retry(&self) -> Option<Timestamp> {
        self.retries.values().min().copied()
    }

    /// When the engine wants to be stepped with [`Input::Deadline`], if nothing happens before.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.next()
    }

    /// Whether the first scan goes on.
    pub fn is_reading(&self) -> bool {
        self.startup.is_reading()
    }

    /// Work done so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// One view as subscribers are to see it; `all` with superseded, ended and long idle sessions, which is complete
    /// when the first look is over and nobody [is waking](Engine::is_waking) any more, or after [`Engine::wake_all`].
    pub fn current(&self, all: bool) -> Current<'_> {
        Current {
            revision: self.revision,
            now: self.now,
            rows: &self.views[usize::from(all)].published,
            problems: &self.published_problems,
            reading: self.is_reading(),
            muted_until: self.attention.muted_until(),
        }
    }

    /// The row of a session, shown or not.
    pub fn row(&self, session: &SessionId) -> Option<Row> {
        let (row, _) = row(&self.makings(session))?;
        Some(Row { needs: self.counted_need(session), ..row })
    }

    /// The witnesses of a session.
    pub fn verdict(&self, session: &SessionId) -> Option<watchbill_core::evidence::witness::Verdict> {
        verdict(&self.makings(session))
    }

    /// All chains; of who shows the default roster alone, those of the sessions that it may show.
    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// The file system that the engine reads.
    pub fn fs(&self) -> &dyn Fs {
        &*self.world.fs
    }

    /// The engine's time.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The canonical roots.
    pub fn roots(&self) -> &[Arc<Path>] {
        &self.roots
    }

    /// The registry as it was read.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// How many sessions of the default roster need the person now, by what for.
    pub fn needs(&self) -> Counts {
        self.attention.counts(self.now)
    }

    /// What hooks have told.
    pub fn hooks(&self) -> &HooksIn {
        &self.hooks
    }

    /// The transcript that stands for a session: of several, the one that was active last.
    pub fn main_file(&self, session: &SessionId) -> Option<(&Path, &TrackedFile)> {
        main_of(self.sessions.get(session)?, &self.files)
    }

    fn work_off_deadlines(&mut self, out: &mut Vec<Output>) {
        for due in self.deadlines.pop_due(self.now) {
            match due {
                Due::Session(id) => {
                    self.dirty.insert(id);
                }
                Due::RegistryFile(path) => self.read_registry(&path, out),
                Due::Attention => {}
                Due::Unmute => self.mute(None),
                Due::Folder(folder) => self.look_at_folder(&folder, out),
            }
        }
    }

    /// Works off everything that became dirty: chains first, then rows, then problems. `chains_may_wait`: what is due was
    /// found by the first scan, and nobody else needs it.
    fn settle(&mut self, chains_may_wait: bool, out: &mut Vec<Output>) {
        self.add_folders(out);
        // After the folders, since markers tie too.
        self.fetch_tied();
        self.tie(chains_may_wait);
        let mut changed = self.rebuild_rows(out) | std::mem::take(&mut self.muting_changed);
        if !self.keeping.begun_anew.is_empty() {
            out.push(Output::Again(std::mem::take(&mut self.keeping.begun_anew)));
        }
        if self.problems_dirty {
            changed |= self.rebuild_problems();
        }
        if changed {
            self.revision += 1;
        }
        self.tell_attention(out);
    }

    pub(crate) fn fold(&self, id: &SessionId) -> Option<&RestingFold> {
        self.main_file(id).and_then(|(_, file)| file.main())
    }
}

/// Of several transcripts of one session, the one that was active last.
fn main_of<'a>(session: &'a Session, files: &'a Files) -> Option<(&'a Path, &'a TrackedFile)> {
    let known = |path: &'a FilePath| Some((&**path, files.get(path)?));
    if session.mains.len() == 1 {
        return session.mains.first().and_then(known);
    }
    let by_activity = |(path, file): &(&'a Path, &TrackedFile)| {
        (file.main().and_then(RestingFold::last_activity_at), *path)
    };
    session.mains.iter().filter_map(known).max_by_key(by_activity)
}

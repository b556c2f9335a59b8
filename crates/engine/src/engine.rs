//! The one loop's body: `Engine::step(now, Input) -> Vec<Output>`, synchronous, without a runtime.
//!
//! Everything that is known lives here: files and what was folded from them, the registry, markers,
//! chains, rows. A step takes the input in, works off what became dirty by it, and says what it needs.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_core::chain::chains::Chains;
use watchbill_core::chain::link::{Link, LinkConfidence, LinkReason};
use watchbill_core::chain::resolve::{Facts, resolve};
use watchbill_core::deadlines::Deadlines;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::ProblemKind;
use watchbill_core::roster::delta::Roster;
use watchbill_core::roster::row::Row;
use watchbill_core::roster::visible::Filter;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::session::subagent::SubagentFold;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::roster::{Problem, TrackedSession};
use watchbill_watch::fs::{FileKind, Fs};
use watchbill_watch::hints::Hint;
use watchbill_watch::layout::{self, Place};
use watchbill_watch::process::Processes;
use watchbill_watch::repo::repo_root;
use watchbill_watch::scan::{Found, canonical_roots, scan, scan_path};
use watchbill_watch::tail::TailError;

use crate::input::{Input, Output};
use crate::markers::Markers;
use crate::problems::Problems;
use crate::publish::{Current, Published};
use crate::registry::{Registry, RegistryChange};
use crate::session::{Makings, Session, Shared, ripe_at, row, verdict};
use crate::settings::Settings;
use crate::transcripts::{Fold, Loaded, ReadCount, STEP_BUDGET, TrackedFile};

/// Some seconds are the usual correction of a clock; an hour is a person or a broken battery.
const SMALL_CORRECTION: Millis = Millis::from_secs(5);
/// The place that problems with the clock are noted at.
const CLOCK: &str = "clock";

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
    MarkerFolder(PathBuf),
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
    roots: Vec<PathBuf>,
    pub(crate) files: HashMap<PathBuf, TrackedFile>,
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    registry: Registry,
    markers: Markers,
    chains: Chains,
    chains_dirty: bool,
    /// For each session with copied history, the one it was copied from.
    origins: HashMap<SessionId, SessionId>,
    dirty: BTreeSet<SessionId>,
    deadlines: Deadlines<Due>,
    /// Half-written files that are to be read again, and when.
    retries: BTreeMap<PathBuf, Timestamp>,
    views: [View; 2],
    states: HashMap<SessionId, (State, Option<StateKind>)>,
    problems: Problems,
    scan_problems: Vec<watchbill_core::problem::Problem>,
    watch_problems: Vec<watchbill_core::problem::Problem>,
    published_problems: Arc<[Problem]>,
    problems_dirty: bool,
    repo_roots: HashMap<Arc<str>, Option<Arc<str>>>,
    scratch: Vec<u8>,
    revision: u64,
    pub(crate) reading: bool,
    /// The first look at everything is over: what changes from now on has just happened.
    awake: bool,
    work: Work,
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
        let roots = canonical_roots(&*world.fs, &settings.roots);
        let view = |all| View {
            filter: Filter { all, since: settings.recent },
            roster: Roster::new(),
            published: Vec::new(),
        };
        Self {
            views: [view(false), view(true)],
            settings,
            world,
            outlook,
            now,
            behind: None,
            roots,
            files: HashMap::new(),
            sessions: BTreeMap::new(),
            registry: Registry::default(),
            markers: Markers::default(),
            chains: Chains::default(),
            chains_dirty: false,
            origins: HashMap::new(),
            dirty: BTreeSet::new(),
            deadlines: Deadlines::new(),
            retries: BTreeMap::new(),
            states: HashMap::new(),
            problems: Problems::default(),
            scan_problems: Vec::new(),
            watch_problems: Vec::new(),
            published_problems: Arc::from([]),
            problems_dirty: false,
            repo_roots: HashMap::new(),
            scratch: Vec::new(),
            revision: 0,
            reading: true,
            awake: false,
            work: Work::default(),
        }
    }

    /// Takes one input in. `now` may go back a little without effect; more than that, and the engine follows.
    pub fn step(&mut self, now: Timestamp, input: Input) -> Vec<Output> {
        let mut out = Vec::new();
        self.tell_time(now);
        match input {
            Input::Hints(hints) => self.take_hints(hints, &mut out),
            Input::Loaded(batch) => {
                for loaded in batch {
                    self.take_loaded(loaded);
                }
            }
            Input::ScanEnded(problems) => {
                self.scan_problems = problems;
                self.problems_dirty = true;
                self.reading = false;
                self.revision += 1;
                out.push(Output::Changed);
            }
            Input::ProcessEnded(pid) => {
                let change = self.registry.recheck(pid, &*self.world.processes);
                self.take_registry_change(None, change, &mut out);
            }
            Input::Deadline => {}
            Input::Watching(problems) => {
                self.problems_dirty |= self.watch_problems != problems;
                self.watch_problems = problems;
            }
        }
        self.work_off_deadlines(&mut out);
        self.settle(&mut out);
        self.awake = !self.reading;
        out
    }

    /// Takes files in without working anything off: the next step does.
    pub(crate) fn take_first(&mut self, batch: Vec<Loaded>) {
        for loaded in batch {
            self.take_loaded(loaded);
        }
    }

    /// When a half-written registry or marker file is to be read again.
    pub(crate) fn next_retry(&self) -> Option<Timestamp> {
        self.retries.values().min().copied()
    }

    /// When the engine wants to be stepped with [`Input::Deadline`], if nothing happens before.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.deadlines.next()
    }

    /// Work done so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// One view as subscribers are to see it; `all` with superseded, ended and long idle sessions.
    pub fn current(&self, all: bool) -> Current<'_> {
        Current {
            revision: self.revision,
            now: self.now,
            rows: &self.views[usize::from(all)].published,
            problems: &self.published_problems,
            reading: self.reading,
        }
    }

    /// The row of a session, shown or not.
    pub fn row(&self, session: &SessionId) -> Option<Row> {
        row(&self.makings(session)).map(|(row, _)| row)
    }

    /// The witnesses of a session.
    pub fn verdict(&self, session: &SessionId) -> Option<watchbill_core::evidence::witness::Verdict> {
        verdict(&self.makings(session))
    }

    /// All chains.
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
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// The registry as it was read.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The transcript that stands for a session: of several, the one that was active last.
    pub fn main_file(&self, session: &SessionId) -> Option<(&Path, &TrackedFile)> {
        let mains = &self.sessions.get(session)?.mains;
        mains
            .iter()
            .filter_map(|path| Some((path.as_path(), self.files.get(path)?)))
            .max_by_key(|(path, file)| (file.main().and_then(|fold| fold.facts().last_activity_at), *path))
    }

    fn tell_time(&mut self, now: Timestamp) {
        if now + SMALL_CORRECTION < self.now {
            self.turn_back(now);
        }
        self.now = self.now.max(now);
        if self.behind.is_some_and(|ahead| now >= ahead) {
            self.behind = None;
            self.problems_dirty |= self.problems.clear(CLOCK, ProblemKind::ClockWentBack);
        }
    }

    /// The clock was wrong and has been set right. To hold on to the wrong time would show every session as
    /// idle for as long as the clock was ahead, and hide the old ones.
    fn turn_back(&mut self, now: Timestamp) {
        self.problems.count(&Arc::from(CLOCK), ProblemKind::ClockWentBack);
        self.problems_dirty = true;
        self.behind = self.behind.max(Some(self.now));
        self.now = now;
        for file in self.files.values_mut() {
            file.turn_back(now);
        }
        self.dirty.extend(self.sessions.keys().cloned());
        self.dirty.extend(self.registry.all().map(|witness| witness.entry.session.clone()));
        for path in std::mem::take(&mut self.retries).into_keys() {
            let due = if self.markers.is_folder(&path) {
                Due::MarkerFolder(path.clone())
            } else {
                Due::RegistryFile(path.clone())
            };
            self.retry(&path, due, Some(now));
        }
    }

    fn take_hints(&mut self, hints: BTreeSet<Hint>, out: &mut Vec<Output>) {
        if hints.contains(&Hint::Everything) {
            return self.rescan(out);
        }
        for hint in hints {
            match hint {
                Hint::Everything => {}
                Hint::Tree(path) => {
                    // A person who works in the folder around a root has both in one place.
                    self.read_markers_around(&path);
                    self.look_at_tree(&path, out);
                }
                Hint::File(path) => {
                    self.read_markers_around(&path);
                    self.look_at_file(&path, out);
                }
            }
        }
    }

    fn place_of(&self, path: &Path) -> Option<(PathBuf, Place)> {
        let root = self
            .roots
            .iter()
            .filter(|root| path.starts_with(root))
            .max_by_key(|root| root.as_os_str().len())?;
        Some((root.clone(), layout::classify(path.strip_prefix(root).ok()?)?))
    }

    fn read_markers_around(&mut self, path: &Path) {
        for folder in self.markers.concerned(path) {
            self.read_marker_folder(&folder);
        }
    }

    fn look_at_file(&mut self, path: &Path, out: &mut Vec<Output>) {
        let Some((_, place)) = self.place_of(path) else {
            // A folder whose rights have changed is hinted at as if it were a file.
            let below = self.roots.iter().any(|root| path.starts_with(root));
            if below && self.world.fs.stat(path).is_ok_and(|stat| stat.kind == FileKind::Dir) {
                self.look_at_tree(path, out);
            }
            return;
        };
        match place {
            Place::Registry { .. } => self.read_registry(path, out),
            Place::SubagentMeta { .. } => self.read_meta(path),
            Place::Transcript { .. } | Place::Subagent { .. } | Place::FlatSubagent { .. } => {
                self.read_transcript(path, place, out);
            }
            Place::Marker { .. } => {}
        }
    }

    /// Looks at everything at or below `path`, and at every file known there that may be gone.
    fn look_at_tree(&mut self, path: &Path, out: &mut Vec<Output>) {
        if !self.roots.iter().any(|root| path.starts_with(root)) {
            // A root that was missing may have another spelling now that it is there; what lies around a root
            // may hold anything of it.
            let roots = canonical_roots(&*self.world.fs, &self.settings.roots);
            let around = roots.iter().any(|root| root.starts_with(path) || path.starts_with(root));
            return if around && (roots != self.roots || !self.reading) {
                self.rescan(out)
            };
        }
        let found = scan_path(&*self.world.fs, &self.roots, path);
        self.renew_scan_problems(path, found.problems);
        let known: Vec<PathBuf> = self
            .files
            .keys()
            .cloned()
            .chain(self.registry.paths())
            .filter(|file| file.starts_with(path))
            .collect();
        self.note_registry_folders();
        self.look_at_found(found.found, known, out);
        let (files, fs) = (&self.files, &self.world.fs);
        self.problems.forget_unreadable(&|file| {
            file.starts_with(path) && !files.contains_key(file) && fs.stat(file).is_err()
        });
    }

    /// What a look at `path` could not look at, in place of what an earlier look could not.
    fn renew_scan_problems(&mut self, path: &Path, now: Vec<watchbill_core::problem::Problem>) {
        let before = self.scan_problems.len();
        let over = |problem: &watchbill_core::problem::Problem| {
            let place = Path::new(&*problem.path);
            place.starts_with(path) || problem.kind == ProblemKind::Missing && path.starts_with(place)
        };
        self.scan_problems.retain(|problem| !over(problem));
        self.problems_dirty |= self.scan_problems.len() != before || !now.is_empty();
        self.scan_problems.extend(now);
        self.scan_problems.sort();
    }

    /// Lost events, a new root, a long sleep: compares everything with what is known.
    fn rescan(&mut self, out: &mut Vec<Output>) {
        self.roots = canonical_roots(&*self.world.fs, &self.settings.roots);
        let found = scan(&*self.world.fs, &self.settings.roots);
        self.problems_dirty |= self.scan_problems != found.problems;
        self.scan_problems = found.problems;
        let known: Vec<PathBuf> = self.files.keys().cloned().chain(self.registry.paths()).collect();
        self.note_registry_folders();
        let twins = self.forget_twins(&found.found, &known);
        let known = known.into_iter().filter(|path| !twins.contains(path)).collect();
        self.look_at_found(found.found, known, out);
        let (files, fs) = (&self.files, &self.world.fs);
        self.problems.forget_unreadable(&|file| !files.contains_key(file) && fs.stat(file).is_err());
        let folders: Vec<PathBuf> = self.markers.folders().cloned().collect();
        for folder in folders {
            self.read_marker_folder(&folder);
        }
        let change = self.registry.recheck(None, &*self.world.processes);
        self.take_registry_change(None, change, out);
    }

    /// Of one file under two names, through a link, only the name counts that a scan finds first.
    fn forget_twins(&mut self, found: &[Found], known: &[PathBuf]) -> HashSet<PathBuf> {
        let paths: HashSet<&Path> = found.iter().map(|found| found.path.as_path()).collect();
        let ids: HashSet<_> = found.iter().map(|found| (found.stat.id, found.path.file_name())).collect();
        let is_twin = |path: &&PathBuf| {
            !paths.contains(path.as_path())
                && self.files.contains_key(*path)
                && self.world.fs.stat(path).is_ok_and(|stat| ids.contains(&(stat.id, path.file_name())))
        };
        let twins: HashSet<PathBuf> = known.iter().filter(is_twin).cloned().collect();
        for path in &twins {
            self.forget_file(path);
        }
        twins
    }

    fn look_at_found(&mut self, found: Vec<Found>, known: Vec<PathBuf>, out: &mut Vec<Output>) {
        let mut missing: BTreeSet<PathBuf> = known.into_iter().collect();
        for Found { path, place, .. } in found {
            missing.remove(&path);
            match place {
                Place::Registry { .. } => self.read_registry(&path, out),
                Place::SubagentMeta { .. } => self.read_meta(&path),
                Place::Marker { .. } => {}
                place => self.read_transcript(&path, place, out),
            }
        }
        for path in missing {
            if self.place_of(&path).is_some() {
                self.look_at_file(&path, out);
                continue;
            }
            // The root's link leads elsewhere by now.
            self.forget_file(&path);
            let change = self.registry.forget(&path, self.now);
            self.take_registry_change(Some(&path), change, out);
        }
    }

    /// Reads every registry file and notes which folders of them can be read: the first thing at a start.
    pub fn read_registries(&mut self, out: &mut Vec<Output>) {
        if !self.outlook.live {
            return;
        }
        self.note_registry_folders();
        for root in self.roots.clone() {
            let folder = root.join(layout::SESSIONS);
            for name in self.world.fs.list(&folder).unwrap_or_default() {
                let path = folder.join(&name.name);
                if let Some((_, Place::Registry { .. })) = self.place_of(&path) {
                    self.read_registry(&path, out);
                }
            }
        }
    }

    fn note_registry_folders(&mut self) {
        for root in self.roots.clone() {
            let readable = self.world.fs.list(&root.join(layout::SESSIONS)).is_ok();
            if self.registry.set_readable(&root, readable) {
                let concerned = self.sessions.iter().filter(|(_, session)| session.root == root);
                self.dirty.extend(concerned.map(|(id, _)| id.clone()));
            }
        }
    }

    fn read_registry(&mut self, path: &Path, out: &mut Vec<Output>) {
        if !self.outlook.live {
            return;
        }
        let World { fs, processes } = self.world.clone();
        let change = self.registry.read(path, self.now, &*fs, &*processes, &mut self.problems);
        self.problems_dirty = true;
        self.take_registry_change(Some(path), change, out);
    }

    fn take_registry_change(&mut self, path: Option<&Path>, change: RegistryChange, out: &mut Vec<Output>) {
        if let Some(path) = path {
            self.retry(path, Due::RegistryFile(path.to_path_buf()), change.retry_at);
        }
        out.extend(change.forget.into_iter().map(Output::ForgetProcess));
        out.extend(change.watch.map(Output::WatchProcess));
        // A live process decides whether a superseded session comes back, so the chains depend on it.
        self.chains_dirty |= change.lives;
        self.dirty.extend(change.sessions);
    }

    fn read_meta(&mut self, path: &Path) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return };
        let Some(stem) = name.strip_suffix(".meta.json") else { return };
        let transcript = path.with_file_name(format!("{stem}.jsonl"));
        let finished = self.world.fs.read_small(path, 64 << 10).is_ok_and(|bytes| says_finished(&bytes));
        if let Some(file) = self.files.get_mut(&transcript) {
            file.set_finished(finished);
            self.after_agent_read(&transcript);
        }
    }

    fn read_transcript(&mut self, path: &Path, place: Place, out: &mut Vec<Output>) {
        let (timeouts, until) = (self.settings.timeouts, self.outlook.until);
        let new = !self.files.contains_key(path);
        if new && self.reading {
            // The first scan reads it, and one look at everything follows the scan.
            return;
        }
        let file =
            self.files.entry(path.to_path_buf()).or_insert_with(|| TrackedFile::new(place, timeouts, until));
        let mut effects = Vec::new();
        self.work.reads += 1;
        let fs = Arc::clone(&self.world.fs);
        let read = file.read(&*fs, path, STEP_BUDGET, &mut self.scratch, &mut self.problems, &mut effects);
        match read {
            Ok(count) => {
                self.count(count);
                if count.more {
                    out.push(Output::Again(vec![path.to_path_buf()]));
                }
                self.problems_dirty |= self.problems.can_be_read(&path.to_string_lossy());
                if new || count.bytes > 0 || count.restarted {
                    self.after_read(path, new || count.restarted);
                }
            }
            Err(TailError::Gone) => self.forget_file(path),
            Err(error) => {
                if new {
                    self.files.remove(path);
                }
                self.problems.note_tail(path, &error);
                self.problems_dirty = true;
            }
        }
    }

    fn count(&mut self, count: ReadCount) {
        self.work.bytes += count.bytes;
        self.work.records += count.records;
    }

    fn take_loaded(&mut self, loaded: Loaded) {
        let Loaded { path, file, problems, count } = loaded;
        self.work.reads += 1;
        self.count(count);
        self.problems_dirty |= !problems.is_empty();
        self.problems.absorb(problems);
        let Some(file) = file else { return };
        // Records without a time belong to the first one that has a time: when that is later, the session had not begun.
        let begun = match file.fold() {
            Fold::Main(fold) => fold.lineage().started_at.is_some(),
            Fold::Agent(fold) => fold.started_at().is_some(),
        };
        if self.outlook.until.is_some() && !begun {
            return;
        }
        self.files.insert(path.clone(), file);
        self.after_read(&path, true);
    }

    /// Takes in what a read has changed in the fold of `path`, which is a `fresh` one when the file was read
    /// from its beginning.
    fn after_read(&mut self, path: &Path, fresh: bool) {
        self.problems_dirty = true;
        let Some(file) = self.files.get(path) else { return };
        match file.fold() {
            Fold::Main(fold) => {
                let id = fold.lineage().session.clone();
                self.sessions.entry(id.clone()).or_default().mains.insert(path.to_path_buf());
                self.after_main_changed(&id, fresh);
                // Whether a superseded session comes back, and whether a guess still holds, depends on activity.
                self.chains_dirty |= self.chains.of(&id).is_some_and(|chain| {
                    chain.superseded.contains_key(&id)
                        || chain.links.iter().any(|link| {
                            link.confidence == LinkConfidence::Suggested && (link.from == id || link.to == id)
                        })
                });
                self.dirty.insert(id);
            }
            Fold::Agent(_) => self.after_agent_read(path),
        }
    }

    /// The transcript that stands for a session may be another one, or say something else of its lineage.
    fn after_main_changed(&mut self, id: &SessionId, fresh: bool) {
        let Some((path, file)) = self.main_file(id) else { return };
        let Some(fold) = file.main() else { return };
        let lineage = Some((path.to_path_buf(), fold.lineage_revision()));
        let requests = fold.ledger().len();
        let root = self.place_of(path).map(|(root, _)| root);
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.root = root.unwrap_or_default();
        let agents: Vec<PathBuf> = match fresh {
            true => session.agents.keys().cloned().collect(),
            false => Vec::new(),
        };
        if fresh {
            session.shared = None;
        }
        if fresh || session.lineage != lineage {
            session.lineage = lineage;
            self.chains_dirty = true;
        }
        if fresh || session.requests != requests {
            session.requests = requests;
            self.touch_copies(id);
        }
        // Its subagents' files may have been read before its own.
        let active = agents.iter().filter_map(|path| self.files.get(path)?.agent()?.last_activity()).max();
        self.stir(id, active);
    }

    /// What a fork copied is counted with its origin, so that the fork's tokens depend on the origin's requests.
    fn touch_copies(&mut self, id: &SessionId) {
        for (copy, _) in self.origins.iter().filter(|(_, origin)| *origin == id) {
            if let Some(session) = self.sessions.get_mut(copy) {
                session.shared = None;
            }
            self.dirty.insert(copy.clone());
        }
    }

    fn after_agent_read(&mut self, path: &Path) {
        let Some(file) = self.files.get_mut(path) else { return };
        let Fold::Agent(fold) = file.fold() else { return };
        let parent = parent_of(&file.place, fold);
        let (tokens, copies) = (fold.ledger().total(), fold.copies_parent());
        let active = fold.last_activity();
        let running = !copies && fold.is_running(self.now, self.settings.timeouts.idle);
        let calls = if copies { Vec::new() } else { fold.pending_tools().cloned().collect() };
        let before = std::mem::replace(&mut file.counted_with, parent.clone());
        if let Some(before) = before.filter(|before| Some(before) != parent.as_ref()) {
            self.forget_agent(&before, path);
        }
        let Some(parent) = parent else { return };
        let session = self.sessions.entry(parent.clone()).or_default();
        session.set_agent_tokens(path, tokens);
        session.set_agent_running(path, running);
        session.set_agent_calls(path, calls);
        if copies {
            // Its transcript repeats its parent's requests; they are taken off when the row is made.
            session.copies.insert(path.to_path_buf());
            session.shared = None;
        }
        self.stir(&parent, active);
        self.dirty.insert(parent);
    }

    /// A parent that waits for its subagents writes nothing itself; their records keep it from being idle.
    fn stir(&mut self, parent: &SessionId, active: Option<Timestamp>) {
        let main = self.main_file(parent).map(|(path, _)| path.to_path_buf());
        if let (Some(at), Some(main)) = (active, main.and_then(|path| self.files.get_mut(&path))) {
            main.subagent_active(at);
        }
    }

    fn forget_agent(&mut self, parent: &SessionId, path: &Path) {
        if let Some(session) = self.sessions.get_mut(parent) {
            session.forget_agent(path);
            if session.is_empty() {
                self.sessions.remove(parent);
            }
        }
        self.dirty.insert(parent.clone());
    }

    fn forget_file(&mut self, path: &Path) {
        if self.place_of(path).is_none_or(|(_, place)| place.is_transcript()) {
            self.problems.forget(&path.to_string_lossy());
            self.problems_dirty = true;
        }
        let Some(file) = self.files.remove(path) else { return };
        let id = match file.fold() {
            Fold::Main(fold) => fold.lineage().session.clone(),
            Fold::Agent(_) => {
                if let Some(parent) = &file.counted_with {
                    self.forget_agent(parent, path);
                }
                return;
            }
        };
        if let Some(session) = self.sessions.get_mut(&id) {
            session.mains.remove(path);
            session.lineage = None;
            if session.is_empty() {
                self.sessions.remove(&id);
            }
        }
        self.after_main_changed(&id, true);
        self.touch_copies(&id);
        self.chains_dirty = true;
        self.dirty.insert(id);
    }

    fn read_marker_folder(&mut self, folder: &Path) {
        let fs = Arc::clone(&self.world.fs);
        let (new, again) = self.markers.read_folder(folder, self.now, &*fs);
        self.chains_dirty |= new;
        self.problems_dirty = true;
        self.retry(folder, Due::MarkerFolder(folder.to_path_buf()), again);
    }

    fn retry(&mut self, path: &Path, due: Due, at: Option<Timestamp>) {
        match at {
            Some(at) => self.retries.insert(path.to_path_buf(), at),
            None => self.retries.remove(path),
        };
        self.deadlines.set(due, at);
    }

    fn work_off_deadlines(&mut self, out: &mut Vec<Output>) {
        for due in self.deadlines.pop_due(self.now) {
            match due {
                Due::Session(id) => {
                    self.dirty.insert(id);
                }
                Due::RegistryFile(path) => self.read_registry(&path, out),
                Due::MarkerFolder(folder) => self.read_marker_folder(&folder),
            }
        }
    }

    /// Works off everything that became dirty: chains first, then rows, then problems.
    fn settle(&mut self, out: &mut Vec<Output>) {
        self.add_marker_folders(out);
        if self.chains_dirty {
            self.resolve_chains();
        }
        let mut changed = self.rebuild_rows(out);
        if self.problems_dirty {
            changed |= self.rebuild_problems();
        }
        if changed {
            self.revision += 1;
            out.push(Output::Changed);
        }
    }

    /// The working folders of all sessions may hold markers; those in use may get some.
    fn add_marker_folders(&mut self, out: &mut Vec<Output>) {
        let oldest = self.now - self.settings.recent;
        let mut new = Vec::new();
        let dirty = std::mem::take(&mut self.dirty);
        for id in &dirty {
            let Some(path) = self.main_file(id).map(|(path, _)| path.to_path_buf()) else { continue };
            let Some(fold) = self.files.get(&path).and_then(TrackedFile::main) else { continue };
            let recent = fold.facts().last_activity_at.is_some_and(|at| at >= oldest);
            let in_use = recent || self.registry.all().any(|witness| witness.entry.session == *id);
            new.extend(fold.lineage().cwds.iter().filter_map(|cwd| self.markers.add_folder(cwd, in_use)));
        }
        self.dirty = dirty;
        for folder in new {
            if folder.watch {
                out.push(Output::WatchFolder(folder.path.clone()));
            }
            self.read_marker_folder(&folder.path);
        }
    }

    pub(crate) fn fold(&self, id: &SessionId) -> Option<&SessionFold> {
        self.main_file(id).and_then(|(_, file)| file.main())
    }

    fn resolve_chains(&mut self) {
        self.chains_dirty = false;
        self.work.chains += 1;
        let lineages: Vec<_> = self.sessions.keys().filter_map(|id| Some(self.fold(id)?.lineage())).collect();
        let mut markers = self.markers.all(lineages.iter().flat_map(|lineage| &lineage.cwds));
        markers.retain(|marker| self.outlook.until.is_none_or(|until| marker.compacted_at <= until));
        let live: BTreeSet<SessionId> = self
            .registry
            .all()
            .filter(|witness| witness.liveness == watchbill_core::evidence::registry::Liveness::Alive)
            .map(|witness| witness.entry.session.clone())
            .collect();
        let terminals = self
            .registry
            .all()
            .filter_map(|witness| Some((witness.entry.session.clone(), witness.entry.tmux.clone()?)))
            .collect();
        let chains = resolve(&Facts {
            lineages: &lineages,
            moves: self.registry.moves(),
            markers: &markers,
            terminals: &terminals,
            live: &live,
            live_since: &BTreeMap::new(),
            manual: &[],
        });
        let origins: HashMap<SessionId, SessionId> =
            chains.iter().flat_map(|chain| &chain.links).filter_map(copied_from).collect();
        let live = self.registry.all().map(|witness| &witness.entry.session);
        for id in self.sessions.keys().chain(live) {
            if differs(&self.chains, &chains, id) || self.origins.get(id) != origins.get(id) {
                self.dirty.insert(id.clone());
            }
        }
        self.chains = chains;
        self.origins = origins;
    }

    /// Takes off what a session shares with another, so that each request is counted once: a fork's copied
    /// history counts where it came from, and a compaction worker's with its parent.
    fn share_out(&mut self, id: &SessionId) {
        let Some(session) = self.sessions.get(id) else { return };
        let own = self.fold(id).map(SessionFold::ledger);
        let origin = self.origins.get(id).and_then(|from| Some((from, self.fold(from)?.ledger())));
        let copies: Vec<_> = session
            .copies
            .iter()
            .filter_map(|path| match self.files.get(path)?.fold() {
                Fold::Agent(fold) => Some((path.clone(), fold.ledger())),
                Fold::Main(_) => None,
            })
            .collect();
        let shared = Some(Shared {
            own: own.map_or(0, |own| own.len()),
            origin: origin.map(|(from, origin)| (from.clone(), origin.len())),
            copies: copies.iter().map(|(_, copy)| copy.len()).sum(),
        });
        if session.shared == shared {
            return;
        }
        let inherited = match (own, origin) {
            (Some(own), Some((_, origin))) => crate::session::minus(own.total(), own.total_without(origin)),
            _ => Default::default(),
        };
        let tokens: Vec<_> = copies
            .into_iter()
            .map(|(path, copy)| (path, own.map_or(copy.total(), |own| copy.total_without(own))))
            .collect();
        let Some(session) = self.sessions.get_mut(id) else { return };
        session.inherited = inherited;
        session.shared = shared;
        for (path, tokens) in tokens {
            session.set_agent_tokens(&path, tokens);
        }
    }

    fn makings<'a>(&'a self, id: &'a SessionId) -> Makings<'a> {
        Makings {
            id,
            session: self.sessions.get(id),
            fold: self.main_file(id).and_then(|(path, file)| Some((path, file.main()?))),
            registry: &self.registry,
            chains: &self.chains,
            live: self.outlook.live,
            timeouts: self.settings.timeouts,
            now: self.now,
        }
    }

    fn rebuild_rows(&mut self, out: &mut Vec<Output>) -> bool {
        let dirty = std::mem::take(&mut self.dirty);
        if dirty.is_empty() {
            return false;
        }
        let mut shown: [Vec<Row>; 2] = [Vec::new(), Vec::new()];
        let mut hidden: [Vec<SessionId>; 2] = [Vec::new(), Vec::new()];
        for id in &dirty {
            self.advance(id);
            self.share_out(id);
            let agents_next = self.advance_agents(id);
            self.work.rows += 1;
            let made = row(&self.makings(id));
            let Some((row, next)) = made else {
                hidden.iter_mut().for_each(|list| list.push(id.clone()));
                self.states.remove(id);
                // A registry file alone becomes a row when it is old enough.
                let again = self.registry.all().filter(|witness| witness.entry.session == *id).map(ripe_at);
                let again = again.filter(|at| *at > self.now).min();
                self.deadlines.set(Due::Session(id.clone()), again);
                continue;
            };
            let state = (row.state, row.state_kind);
            if self.states.insert(id.clone(), state) != Some(state) && self.awake {
                out.push(Output::Transition { session: id.clone() });
            }
            let fold_next = self.fold(id).and_then(SessionFold::deadline);
            let hides = self.views[0].filter.hides_at(&row, self.now);
            let next =
                [next, fold_next, agents_next, hides].into_iter().flatten().filter(|at| *at > self.now).min();
            self.deadlines.set(Due::Session(id.clone()), next);
            for (n, view) in self.views.iter().enumerate() {
                if view.filter.shows(&row, self.now) {
                    shown[n].push(row.clone());
                } else {
                    hidden[n].push(id.clone());
                }
            }
        }
        let mut changed = false;
        let revision = self.revision + 1;
        for (view, (shown, hidden)) in self.views.iter_mut().zip(shown.into_iter().zip(hidden)) {
            changed |= view.apply(shown, hidden, revision);
        }
        changed
    }

    /// Lets the deadlines of the fold fire, and finds the repository once.
    fn advance(&mut self, id: &SessionId) {
        let Some(path) = self.main_file(id).map(|(path, _)| path.to_path_buf()) else { return };
        let now = self.outlook.until.map_or(self.now, |until| until.min(self.now));
        let mut effects = Vec::new();
        let Some(file) = self.files.get_mut(&path) else { return };
        file.advance(now, &mut effects);
        let cwd = file.main().and_then(|fold| fold.cwd().cloned());
        let (Some(session), Some(cwd)) = (self.sessions.get_mut(id), cwd) else { return };
        if session.repo_root.as_ref().is_none_or(|(of, _)| *of != cwd) {
            let fs = &self.world.fs;
            let found = self.repo_roots.entry(Arc::clone(&cwd)).or_insert_with(|| {
                repo_root(&**fs, Path::new(&*cwd)).map(|top| Arc::from(top.to_string_lossy()))
            });
            session.repo_root = Some((cwd, found.clone()));
        }
    }

    /// Lets subagents that have been silent for too long count as gone; says when the next one will.
    fn advance_agents(&mut self, id: &SessionId) -> Option<Timestamp> {
        let silence = self.settings.timeouts.idle;
        let (files, now) = (&self.files, self.now);
        let agent = |path: &PathBuf| files.get(path).and_then(TrackedFile::agent);
        let session = self.sessions.get_mut(id)?;
        session.agents_running.retain(|path| agent(path).is_some_and(|fold| fold.is_running(now, silence)));
        session.agents_running.iter().filter_map(|path| agent(path)?.deadline(silence)).min()
    }

    fn rebuild_problems(&mut self) -> bool {
        self.problems_dirty = false;
        self.note_double_processes();
        let mut all = self.scan_problems.clone();
        let folds = self.sessions.keys().filter_map(|id| self.fold(id));
        all.extend(self.markers.problems(folds.flat_map(|fold| &fold.lineage().cwds)));
        all.extend(self.problems.list());
        all.extend(self.watch_problems.iter().cloned());
        let all = crate::problems::published(all);
        let changed = *all != *self.published_problems;
        self.published_problems = all.into();
        changed
    }

    fn note_double_processes(&mut self) {
        let mut counts: BTreeMap<&SessionId, u32> = BTreeMap::new();
        for witness in self.registry.all() {
            if witness.liveness == watchbill_core::evidence::registry::Liveness::Alive {
                *counts.entry(&witness.entry.session).or_default() += 1;
            }
        }
        let doubles: BTreeSet<Arc<str>> =
            counts.into_iter().filter(|(_, n)| *n > 1).map(|(id, _)| Arc::from(id.as_str())).collect();
        let known: Vec<Arc<str>> = self
            .problems
            .list()
            .filter(|problem| problem.kind == ProblemKind::TwoProcesses)
            .map(|problem| problem.path)
            .collect();
        for path in known.iter().filter(|path| !doubles.contains(*path)) {
            self.problems.clear(path, ProblemKind::TwoProcesses);
        }
        for path in doubles.iter().filter(|path| !known.contains(path)) {
            self.problems.count(path, ProblemKind::TwoProcesses);
        }
    }
}

impl View {
    fn apply(&mut self, shown: Vec<Row>, hidden: Vec<SessionId>, revision: u64) -> bool {
        let Some(delta) = self.roster.apply(shown, hidden) else { return false };
        let touched: HashSet<&SessionId> =
            delta.removals.iter().chain(delta.upserts.iter().map(|(_, row)| &row.session_id)).collect();
        self.published.retain(|published| !touched.contains(&published.id));
        for (index, row) in &delta.upserts {
            let session = Arc::new(TrackedSession::from(&**row));
            let published = Published { id: row.session_id.clone(), version: revision, session };
            self.published.insert((*index).min(self.published.len()), published);
        }
        true
    }
}

fn differs(before: &Chains, after: &Chains, id: &SessionId) -> bool {
    match (before.of(id), after.of(id)) {
        (Some(a), Some(b)) => {
            a.id != b.id
                || a.name != b.name
                || a.compaction_count != b.compaction_count
                || a.segment_count != b.segment_count
                || a.superseded.get(id) != b.superseded.get(id)
                || a.links.len() != b.links.len()
        }
        (None, None) => false,
        _ => true,
    }
}

/// Who copied from whom, where a link says that history was copied.
fn copied_from(link: &Link) -> Option<(SessionId, SessionId)> {
    let copied = matches!(link.reason, LinkReason::ForkedFrom | LinkReason::SharedRecords);
    (copied && link.from != link.to).then(|| (link.to.clone(), link.from.clone()))
}

/// The folder names the parent since client 2.1.2; before, only the records do.
fn parent_of(place: &Place, fold: &SubagentFold) -> Option<SessionId> {
    match place {
        Place::Subagent { session, .. } => Some(session.clone()),
        _ => fold.parent().cloned(),
    }
}

fn says_finished(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Value>(bytes)
        .is_ok_and(|meta| meta.get("finished").and_then(serde_json::Value::as_bool) == Some(true))
}

//! Reads own sessions: once for a single look, or on threads of its own while the engine runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use watchbill_core::history::Exclude;
use watchbill_core::own::HostState;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_drive::client::{HostClient, HostError, follow};
use watchbill_drive::folder::Folder;
use watchbill_drive::replay;
use watchbill_drive::sessions::{FoundHost, session};
use watchbill_platform::clock::since_boot;
use watchbill_protocol::own::event::{OwnEvent, OwnWhat};
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::OwnSpec;

use crate::clock::{Clock, SystemClock};
use crate::witnesses::own::OwnInput;

/// How long a session without a host counts as starting.
const STARTS_WITHIN: Millis = Millis::from_secs(10);
/// Pause between two looks at a session that is starting.
const CHECK_PAUSE: Duration = Duration::from_millis(50);

/// Takes news; `false`: the engine has ended.
type SendInputs = Arc<dyn Fn(Vec<OwnInput>) -> bool + Send + Sync>;

/// The known state of one session's host.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Known {
    /// It runs, and a thread follows it.
    Followed,
    /// None runs yet.
    Starting,
    /// It has ended. Holds the sessions that it was.
    Ended(BTreeSet<String>),
}

/// A message to the thread.
enum HostsMessage {
    /// A folder may be new, or gone, or have a host again.
    Look,
    /// The host of this session has ended. Holds the sessions that it was.
    Ended(Arc<str>, BTreeSet<String>),
    /// These folders are not to be kept.
    Exclude(Exclude),
}

/// The thread that finds sessions. It ends when this is dropped.
pub(crate) struct OwnHosts {
    calls: mpsc::Sender<HostsMessage>,
    folder: PathBuf,
}

impl OwnHosts {
    /// Finds the sessions of a data folder, and follows those whose hosts run.
    pub fn start(
        data_dir: &Path,
        exclude: Exclude,
        tell: impl Fn(Vec<OwnInput>) -> bool + Send + Sync + 'static,
    ) -> Self {
        let (calls, received) = mpsc::channel();
        let folder = Folder::parent(data_dir);
        // It is watched, so it must be there.
        if let Err(error) = watchbill_platform::files::private_dir(&folder) {
            tracing::debug!(%error, "the folder of own sessions cannot be made");
        }
        let mut finder = Finder {
            data_dir: data_dir.to_owned(),
            exclude,
            known: BTreeMap::new(),
            tell: Arc::new(tell),
            calls: calls.clone(),
        };
        thread::spawn(move || finder.run(&received));
        // Watched folders come with their canonical names.
        let folder = folder.canonicalize().unwrap_or(folder);
        let hosts = Self { calls, folder };
        hosts.look();
        hosts
    }

    /// The folder to watch.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Looks for new sessions.
    pub fn look(&self) {
        // The thread ends with the engine.
        let _ = self.calls.send(HostsMessage::Look);
    }

    /// The new exclude patterns.
    pub fn exclude(&self, exclude: Exclude) {
        let _ = self.calls.send(HostsMessage::Exclude(exclude));
    }
}

/// The state of the thread.
struct Finder {
    data_dir: PathBuf,
    exclude: Exclude,
    known: BTreeMap<Arc<str>, Known>,
    tell: SendInputs,
    calls: mpsc::Sender<HostsMessage>,
}

impl Finder {
    fn run(&mut self, received: &mpsc::Receiver<HostsMessage>) {
        loop {
            let starting = self.known.values().any(|known| *known == Known::Starting);
            let call = match starting {
                true => received.recv_timeout(CHECK_PAUSE).or_else(|error| match error {
                    mpsc::RecvTimeoutError::Timeout => Ok(HostsMessage::Look),
                    mpsc::RecvTimeoutError::Disconnected => Err(mpsc::RecvError),
                }),
                false => received.recv(),
            };
            let goes_on = match call {
                Ok(HostsMessage::Look) => self.look(),
                Ok(HostsMessage::Ended(id, sessions)) => {
                    self.known.insert(id, Known::Ended(sessions));
                    self.look()
                }
                Ok(HostsMessage::Exclude(exclude)) => {
                    self.exclude = exclude;
                    self.look()
                }
                Err(_) => false,
            };
            if !goes_on {
                return;
            }
        }
    }

    /// Looks at each folder. `false`: the engine has ended.
    fn look(&mut self) -> bool {
        let unwanted = ExcludedSessions::read(&self.data_dir, &self.exclude);
        let mut gone: BTreeSet<Arc<str>> = self.known.keys().cloned().collect();
        for folder in newest_first(&self.data_dir) {
            let Some(id) = id_of(&folder) else { continue };
            let goes_on = match self.known.get(&id) {
                Some(Known::Followed) => true,
                Some(Known::Ended(sessions)) if unwanted.removes(sessions, &folder) => continue,
                // Only a host that runs again is news.
                Some(Known::Ended(_)) if HostClient::connect(&folder).is_err() => true,
                _ => self.look_at(folder, &id, &unwanted),
            };
            if !goes_on {
                return false;
            }
            gone.remove(&id);
        }
        let removed: Vec<OwnInput> = gone.iter().cloned().map(OwnInput::Removed).collect();
        self.known.retain(|id, _| !gone.contains(id));
        removed.is_empty() || (self.tell)(removed)
    }

    fn look_at(&mut self, folder: Folder, id: &Arc<str>, unwanted: &ExcludedSessions) -> bool {
        let found = match session(folder) {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(%error, "an own session is passed over");
                self.known.insert(Arc::clone(id), Known::Ended(BTreeSet::new()));
                return true;
            }
        };
        let state = match found.host {
            FoundHost::Running(_) => {
                self.known.insert(Arc::clone(id), Known::Followed);
                self.follow(found.folder, id, found.spec);
                return true;
            }
            FoundHost::Ended(None) if is_starting(&found.folder, &found.spec) => {
                let is_new = self.known.insert(Arc::clone(id), Known::Starting).is_none();
                let spec = Box::new(found.spec);
                return !is_new || (self.tell)(vec![OwnInput::Found(spec, HostState::Runs)]);
            }
            FoundHost::Ended(_) => HostState::Gone,
            FoundHost::Unreachable(error) => {
                tracing::warn!(%error, session = %id, "the host of an own session cannot be followed");
                HostState::Runs
            }
        };
        let (news, sessions) = news_of_log(&found.folder, found.spec, state);
        let removed = state == HostState::Gone && unwanted.removes(&sessions, &found.folder);
        self.known.insert(Arc::clone(id), Known::Ended(sessions));
        removed || (self.tell)(news)
    }

    /// Follows a host on a thread of its own. Its earlier events are one input: the states on the way are over.
    fn follow(&self, folder: Folder, id: &Arc<str>, spec: OwnSpec) {
        let (tell, calls, id) = (Arc::clone(&self.tell), self.calls.clone(), Arc::clone(id));
        thread::spawn(move || {
            let mut told = SentState::of(&spec);
            let mut before = Some(Vec::new());
            let mut sink = |message: HostMessage| match message {
                HostMessage::Events { events } => {
                    let events = told.take(events);
                    match &mut before {
                        Some(before) => before.extend(events),
                        None if events.is_empty() => {}
                        None => return tell(vec![OwnInput::Events(Arc::clone(&id), events)]),
                    }
                    true
                }
                HostMessage::CaughtUp => {
                    before.take().is_none_or(|events| tell(news(&spec, events, HostState::Runs)))
                }
                HostMessage::Screen { .. } | HostMessage::Output { .. } => true,
            };
            if let Err(error) = follow(&folder, 0, &mut sink)
                && !matches!(error, HostError::NotRunning)
            {
                tracing::warn!(%error, session = spec.session, "an own session is no longer followed");
            }
            let state = gone(told.last_at.as_deref());
            tell(match before {
                Some(events) => news(&spec, events, state),
                None => vec![OwnInput::Host(Arc::clone(&id), state)],
            });
            let _ = calls.send(HostsMessage::Ended(id, told.sessions));
        });
    }
}

/// Whether the host of a session may still come: it was asked for just now, and nothing is logged.
fn is_starting(folder: &Folder, spec: &OwnSpec) -> bool {
    let asked_at = Timestamp::parse(&spec.created_at);
    asked_at.is_some_and(|at| SystemClock.now().since(at) < STARTS_WITHIN) && !folder.log().exists()
}

/// All sessions of a data folder, for a look that watches nothing. Without `since`, all; else those that ended before it are
/// left out.
pub(crate) fn look(data_dir: &Path, since: Option<Timestamp>) -> Vec<OwnInput> {
    let mut news = Vec::new();
    for folder in newest_first(data_dir) {
        let written = modified(&folder.log());
        let Ok(found) = session(folder) else { continue };
        let runs = !matches!(found.host, FoundHost::Ended(_));
        if !runs && since.is_some_and(|since| written.is_some_and(|at| at < since)) {
            continue;
        }
        let state = if runs { HostState::Runs } else { HostState::Gone };
        news.extend(news_of_log(&found.folder, found.spec, state).0);
    }
    news
}

/// The content of a session's log, and the agent's ids of the session.
fn news_of_log(folder: &Folder, spec: OwnSpec, state: HostState) -> (Vec<OwnInput>, BTreeSet<String>) {
    let mut told = SentState::of(&spec);
    let mut events = Vec::new();
    let mut sink = |more: Vec<OwnEvent>| {
        events.extend(told.take(more));
        true
    };
    if let Err(error) = replay::read(folder, &spec, 0, &mut sink) {
        tracing::warn!(%error, session = spec.session, "the log of an own session cannot be read");
    }
    let state = match state {
        HostState::Runs => state,
        _ => gone(told.last_at.as_deref()),
    };
    (news(&spec, events, state), told.sessions)
}

/// A session from its beginning on. The state of the host comes last: one that runs after an end is another one.
fn news(spec: &OwnSpec, events: Vec<OwnEvent>, state: HostState) -> Vec<OwnInput> {
    let id: Arc<str> = spec.session.as_str().into();
    let found = OwnInput::Found(Box::new(spec.clone()), state);
    vec![found, OwnInput::Events(Arc::clone(&id), events), OwnInput::Host(id, state)]
}

/// Whether a host that is gone ended with the machine: it said nothing since the machine started.
fn gone(last_at: Option<&str>) -> HostState {
    let up = Millis(i64::try_from(since_boot() / 1_000_000).unwrap_or(0));
    let booted = SystemClock.now() - up;
    let before = last_at.and_then(Timestamp::parse).is_some_and(|at| at < booted);
    if before { HostState::GoneWithMachine } else { HostState::Gone }
}

/// The inputs that were sent for a session so far.
struct SentState {
    /// The sessions that it was: a `/clear` begins another one.
    sessions: BTreeSet<String>,
    /// The time of its last event.
    last_at: Option<String>,
    in_text: bool,
}

impl SentState {
    fn of(spec: &OwnSpec) -> Self {
        let resumed = spec.resume.iter().filter(|resume| !resume.fork).map(|resume| resume.session.clone());
        Self { sessions: resumed.chain([spec.session.clone()]).collect(), last_at: None, in_text: false }
    }

    /// Notes events, and drops what adds nothing to a row: all but the first of a run of text.
    fn take(&mut self, events: Vec<OwnEvent>) -> Vec<OwnEvent> {
        if let Some(last) = events.last() {
            self.last_at = Some(last.at.clone());
        }
        let keeps = |event: &OwnEvent| {
            if let OwnWhat::Init { session, .. } | OwnWhat::Moved { session } = &event.what {
                self.sessions.insert(session.clone());
            }
            let is_text =
                matches!(event.what, OwnWhat::Text { .. } | OwnWhat::Thinking { .. } | OwnWhat::Block { .. });
            let was = std::mem::replace(&mut self.in_text, is_text);
            !(is_text && was)
        };
        events.into_iter().filter(keeps).collect()
    }
}

/// The sessions that must not be kept once they have ended.
pub(crate) struct ExcludedSessions {
    forgotten: BTreeSet<String>,
    exclude: Exclude,
}

impl ExcludedSessions {
    /// Reads the list of the forgotten sessions. If it cannot be read, nothing is removed for it.
    pub fn read(data_dir: &Path, exclude: &Exclude) -> Self {
        let forgotten = watchbill_store::forgotten_sessions(data_dir).unwrap_or_default();
        Self { forgotten, exclude: exclude.clone() }
    }

    /// Removes the folder of an ended session if it is forgotten or excluded. Says whether it did.
    fn removes(&self, sessions: &BTreeSet<String>, folder: &Folder) -> bool {
        let excluded = folder.spec().is_ok_and(|spec| self.exclude.excludes(&spec.cwd));
        if !excluded && self.forgotten.is_disjoint(sessions) {
            return false;
        }
        if let Err(error) = folder.remove() {
            tracing::warn!(%error, folder = %folder.path().display(), "the log of a session cannot be removed");
        }
        true
    }
}

/// Removes the folders of ended own sessions that are forgotten or excluded. That of a running one goes when it has ended.
pub(crate) fn remove_unwanted(data_dir: &Path, exclude: &Exclude) {
    let unwanted = ExcludedSessions::read(data_dir, exclude);
    for folder in Folder::all(data_dir) {
        if let Ok(found) = session(folder)
            && matches!(found.host, FoundHost::Ended(_))
        {
            let (_, sessions) = news_of_log(&found.folder, found.spec, HostState::Gone);
            unwanted.removes(&sessions, &found.folder);
        }
    }
}

fn id_of(folder: &Folder) -> Option<Arc<str>> {
    folder.path().file_name().map(|name| Arc::from(name.to_string_lossy()))
}

fn modified(path: &Path) -> Option<Timestamp> {
    let at = std::fs::metadata(path).ok()?.modified().ok()?;
    let since = at.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
}

fn newest_first(data_dir: &Path) -> Vec<Folder> {
    let mut all = Folder::all(data_dir);
    all.sort_by_cached_key(|folder| std::cmp::Reverse(modified(&folder.log())));
    all
}

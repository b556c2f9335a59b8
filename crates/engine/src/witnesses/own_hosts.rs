//! Reads own sessions: once for a single look, or on threads of its own while the engine runs.

pub(crate) mod ended;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, SystemTime};

use watchbill_core::history::Exclude;
use watchbill_core::time::Timestamp;
use watchbill_drive::client::{HostClient, HostError, follow};
use watchbill_drive::fold::HostState;
use watchbill_drive::folder::Folder;
use watchbill_drive::replay;
use watchbill_drive::sessions::{FoundHost, session};
use watchbill_protocol::own::event::{OwnEvent, OwnWhat};
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::OwnSpec;

use self::ended::{ExcludedSessions, gone, is_starting, remove_unwanted, summary};
use crate::witnesses::own::OwnInput;

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
    /// These folders are not to be kept, or other sessions are forgotten.
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

    /// Other sessions are not to be kept: by these exclude patterns, or by the list of the forgotten ones.
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
                    remove_unwanted(&self.data_dir, &self.exclude);
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
        let mut ended = Vec::new();
        for folder in newest_first(&self.data_dir) {
            let Some(id) = id_of(&folder) else { continue };
            let goes_on = match self.known.get(&id) {
                Some(Known::Followed) => true,
                Some(Known::Ended(sessions)) if unwanted.removes(sessions, &folder) => continue,
                // Only a host that runs again is news.
                Some(Known::Ended(_)) if HostClient::connect(&folder).is_err() => true,
                _ => self.look_at(folder, &id, &unwanted, &mut ended),
            };
            if !goes_on {
                return false;
            }
            gone.remove(&id);
        }
        self.known.retain(|id, _| !gone.contains(id));
        ended.extend(gone.into_iter().map(OwnInput::Removed));
        ended.is_empty() || (self.tell)(ended)
    }

    /// Looks at one folder. Adds a session that has ended to `ended`.
    fn look_at(
        &mut self,
        folder: Folder,
        id: &Arc<str>,
        unwanted: &ExcludedSessions,
        ended: &mut Vec<OwnInput>,
    ) -> bool {
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
                unwanted.marks(&found.folder, &found.spec);
                self.known.insert(Arc::clone(id), Known::Followed);
                self.follow(found.folder, id, found.spec);
                return true;
            }
            FoundHost::Ended if is_starting(&found.folder, &found.spec) => {
                let is_new = self.known.insert(Arc::clone(id), Known::Starting).is_none();
                let spec = Box::new(found.spec);
                return !is_new || (self.tell)(vec![OwnInput::Found(spec, HostState::Runs)]);
            }
            FoundHost::Ended => HostState::Gone,
            FoundHost::Unreachable(error) => {
                tracing::warn!(%error, session = %id, "the host of an own session cannot be followed");
                HostState::Runs
            }
        };
        let summary = summary(&found.folder, &found.spec, state);
        let removed = state == HostState::Gone && unwanted.removes(&summary.sessions, &found.folder);
        if !removed {
            ended.push(OwnInput::Summary(Box::new(found.spec), Box::new(summary.fold)));
        }
        self.known.insert(Arc::clone(id), Known::Ended(summary.sessions));
        true
    }

    /// Follows a host on a thread of its own. Its earlier events are one input: the states on the way are over.
    fn follow(&self, folder: Folder, id: &Arc<str>, spec: OwnSpec) {
        let (tell, calls, id) = (Arc::clone(&self.tell), self.calls.clone(), Arc::clone(id));
        thread::spawn(move || {
            let mut told = SentState::default();
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
            let state = gone(told.last_at.as_deref().and_then(Timestamp::parse));
            tell(match before {
                Some(events) => news(&spec, events, state),
                None => vec![OwnInput::Host(Arc::clone(&id), state)],
            });
            let sessions = summary(&folder, &spec, HostState::Gone).sessions;
            let _ = calls.send(HostsMessage::Ended(id, sessions));
        });
    }
}

/// All sessions of a data folder, for a look that watches nothing. Without `since`, all; else those that ended before it are
/// left out.
pub(crate) fn look(data_dir: &Path, since: Option<Timestamp>) -> Vec<OwnInput> {
    let mut news = Vec::new();
    for folder in newest_first(data_dir) {
        let written = modified(&folder.log());
        let Ok(found) = session(folder) else { continue };
        let ended = matches!(found.host, FoundHost::Ended);
        let is_old = since.is_some_and(|since| written.is_some_and(|at| at < since));
        // A change of the agent ties others.
        if ended && is_old && found.spec.switched.is_none() {
            continue;
        }
        if matches!(found.host, FoundHost::Running(_)) {
            news.extend(news_of_log(&found.folder, &found.spec));
            continue;
        }
        let state = if ended { HostState::Gone } else { HostState::Runs };
        let fold = Box::new(summary(&found.folder, &found.spec, state).fold);
        news.push(OwnInput::Summary(Box::new(found.spec), fold));
    }
    news
}

/// The content of the log of a session whose host runs, with its open requests.
fn news_of_log(folder: &Folder, spec: &OwnSpec) -> Vec<OwnInput> {
    let (mut told, mut events) = (SentState::default(), Vec::new());
    let mut sink = |more: Vec<OwnEvent>| {
        events.extend(told.take(more));
        true
    };
    if let Err(error) = replay::read(folder, spec, 0, &mut sink) {
        tracing::warn!(%error, session = spec.session, "the log of an own session cannot be read");
    }
    news(spec, events, HostState::Runs)
}

/// A session from its beginning on. The state of the host comes last: one that runs after an end is another one.
fn news(spec: &OwnSpec, events: Vec<OwnEvent>, state: HostState) -> Vec<OwnInput> {
    let id: Arc<str> = spec.session.as_str().into();
    let found = OwnInput::Found(Box::new(spec.clone()), state);
    vec![found, OwnInput::Events(Arc::clone(&id), events), OwnInput::Host(id, state)]
}

/// The inputs that were sent for a session so far.
#[derive(Default)]
struct SentState {
    /// The time of its last event.
    last_at: Option<String>,
    in_text: bool,
}

impl SentState {
    /// Notes events, and drops what adds nothing to a row: all but the first of a run of text.
    fn take(&mut self, events: Vec<OwnEvent>) -> Vec<OwnEvent> {
        if let Some(last) = events.last() {
            self.last_at = Some(last.at.clone());
        }
        let keeps = |event: &OwnEvent| {
            let is_text =
                matches!(event.what, OwnWhat::Text { .. } | OwnWhat::Thinking { .. } | OwnWhat::Block { .. });
            let was = std::mem::replace(&mut self.in_text, is_text);
            !(is_text && was)
        };
        events.into_iter().filter(keeps).collect()
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

//! Receives hook events while the loop runs. Also reads the recorded events for a single look.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use tokio::sync::Notify;
use watchbill_core::history::Exclude;
use watchbill_core::hook::HookMessage;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_hooks::envelope::{Decoded, Envelope, decode};
use watchbill_hooks::places::HookPaths;
use watchbill_hooks::{Options, ReceiverError, ReceiverSetup, journal, spool};
use watchbill_platform::files::{read_ordinary, real_path};
use watchbill_settings::Settings;

use crate::world::source::HintSource;

/// Capacity of the queue to the loop. When it is full, the receiver waits, and the senders spool.
const BACKLOG: usize = 1024;
/// Number of events that one step takes.
const BATCH: usize = 256;
/// Older events are in the transcripts, or no longer matter.
const RECENT: Millis = Millis::from_secs(3600);
/// Bytes of the journal that a single look searches: an hour of many busy sessions.
const LOOKED_THROUGH: u64 = 4 << 20;
/// Number of spooled events that a single look reads, newest first.
const SPOOLED: usize = 4096;

/// An open receiver of hook events. Dropping it ends the receiver's thread.
pub struct HookListener {
    // Dropped first, so that a receiver that waits for room in the queue stops waiting.
    events: Receiver<HookMessage>,
    receiver: watchbill_hooks::Receiver,
    folder: Arc<str>,
    spool: PathBuf,
}

impl HookListener {
    /// Listens at a data folder. Calls `wake` when an event came, or a problem begins or ends; `wake` must not block.
    /// Events of excluded folders or forgotten sessions reach the loop, but are not recorded.
    ///
    /// # Errors
    /// When the folder cannot be used, or the system gives no thread.
    pub fn open(
        data_dir: &Path,
        exclude: Exclude,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self, ReceiverError> {
        let (sender, events) = sync_channel(BACKLOG);
        let options = Options { recent: Duration::from_millis(RECENT.0.unsigned_abs()) };
        let wake = Arc::new(wake);
        let woken = Arc::clone(&wake);
        let hear = move |message: HookMessage| {
            // The loop may have stopped. Then the journal still has the event.
            let _ = sender.send(message);
            wake();
        };
        let (on_event, on_trouble) = (Box::new(hear), Box::new(move || woken()));
        let places = HookPaths::new(data_dir);
        let folder = Arc::from(places.root().to_string_lossy());
        let (root, spool) = (places.root().to_path_buf(), places.spool());
        let forgotten = Some(watchbill_store::forgotten_list_path(data_dir));
        let listener = ReceiverSetup { options, exclude, forgotten, on_event, on_trouble };
        let receiver = watchbill_hooks::Receiver::open_for(places, listener)?;
        // Hints use the canonical name of the folder.
        let root = real_path(&root).unwrap_or(root);
        let spool = root.join(spool.file_name().unwrap_or_default());
        Ok(Self { events, receiver, folder, spool })
    }

    /// The spool: senders write into it if no program listens, and do not signal that. The engine watches this folder.
    pub fn spool(&self) -> &Path {
        &self.spool
    }

    /// Reads events that came into the spool.
    pub fn look_into_spool(&self) {
        self.receiver.run_round();
    }

    /// Excludes other paths from now on.
    pub fn leave_out(&self, exclude: Exclude) {
        self.receiver.set_exclude(exclude);
    }

    /// The next events in order of arrival, at most so many that a step stays short. Says whether more may be waiting.
    pub fn take(&self) -> (Vec<HookMessage>, bool) {
        let events: Vec<HookMessage> = self.events.try_iter().take(BATCH).collect();
        let more = events.len() == BATCH;
        (events, more)
    }

    /// The problems of the listener itself.
    pub fn problems(&self) -> Vec<Problem> {
        let tally = self.receiver.counts();
        let counts = [
            (tally.damaged, ProblemKind::MalformedHook, "incomplete hook events; they were passed over"),
            // A present problem. It disappears when it is over.
            (
                u64::from(tally.in_trouble),
                ProblemKind::Io,
                "hook events cannot be stored here; check that the folder is writable and the disk not full: new \
                 events still count, and waiting ones are stored later",
            ),
        ];
        let path = &self.folder;
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        counts
            .map(|(count, kind, detail)| Problem {
                path: Arc::clone(path),
                kind,
                count,
                detail: detail.into(),
            })
            .collect()
    }
}

/// Listens for hooks, if there is a data folder.
pub(super) fn open(
    settings: &Settings,
    source: &mut dyn HintSource,
    woken: &Arc<Notify>,
) -> Result<Option<HookListener>, Problem> {
    let Some(data_dir) = settings.data_dir.as_deref() else { return Ok(None) };
    let rung = Arc::clone(woken);
    let listener = HookListener::open(data_dir, settings.history.exclude.clone(), move || rung.notify_one())
        .map_err(|error| listen_problem(data_dir, &error))?;
    source.watch_beside(listener.spool());
    Ok(Some(listener))
}

/// The problem for a failed start of the listener.
pub fn listen_problem(data_dir: &Path, error: &ReceiverError) -> Problem {
    let path = Arc::from(HookPaths::new(data_dir).root().to_string_lossy());
    Problem { path, kind: ProblemKind::LostHooks, count: 1, detail: Arc::from(error.to_string()) }
}

/// The events of the last hour, for a look that stores and removes nothing: from the journal of the program that
/// listens, and from the spool if none does.
pub fn recent(data_dir: &Path, now: Timestamp) -> Vec<HookMessage> {
    let places = HookPaths::new(data_dir);
    let mut messages: Vec<HookMessage> = Vec::new();
    let mut keep = |envelope: &Envelope, payload: &[u8]| {
        if now.since(envelope.at) <= RECENT {
            let mut message = envelope.message(payload);
            message.replayed = true;
            messages.push(message);
        }
    };
    if let Err(error) =
        journal::latest(&places, LOOKED_THROUGH, &mut |envelope, payload| keep(&envelope, payload))
        // If a parent is no folder, there is no journal. The store reports that problem.
        && error.kind() != io::ErrorKind::NotADirectory
    {
        let journal = places.journal();
        tracing::warn!(%error, journal = %journal.display(), "the journal of hook events cannot be read");
    }
    for folder in places.spools() {
        let spooled = spool::list(&folder).unwrap_or_default();
        for file in spooled.iter().rev().take(SPOOLED) {
            // The program that listens may have just moved it into the journal.
            let Ok(bytes) = read_ordinary(&file.path) else { continue };
            if let Decoded::Whole { envelope, payload, .. } = decode(&bytes) {
                keep(&envelope, &bytes[payload]);
            }
        }
    }
    // The journal and the spool may hold the same event. The engine counts it once, by its id.
    messages
}

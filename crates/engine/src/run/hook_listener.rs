//! The engine's ear for hook events: opened while the loop runs, and a look into what was kept for whoever looks once.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use watchbill_core::history::Exclude;
use watchbill_core::hook::HookMessage;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_hooks::envelope::{Decoded, Envelope, decode};
use watchbill_hooks::places::{Places, read_ordinary};
use watchbill_hooks::{Listener, Options, ReceiverError, journal, spool};

/// Events that wait for the loop. When there are more the receiver waits, and the senders spool.
const BACKLOG: usize = 1024;
/// Events that one step takes.
const BATCH: usize = 256;
/// What was said longer ago is in the transcripts, or over.
const RECENT: Millis = Millis::from_secs(3600);
/// How much of the journal is looked through by whoever looks once, in bytes: an hour of many busy sessions.
const LOOKED_THROUGH: u64 = 4 << 20;
/// How many spooled events such a look reads; the latest ones.
const SPOOLED: usize = 4096;

/// An open ear. Dropping it ends the receiver.
pub struct Ear {
    // Dropped first, so that a receiver that waits for room finds nobody to wait for.
    events: Receiver<HookMessage>,
    receiver: watchbill_hooks::Receiver,
    folder: Arc<str>,
    spool: PathBuf,
}

impl Ear {
    /// Listens at a data folder; `wake` is called when an event has come or trouble begins or ends, and must not wait for
    /// anything. What tells of what `exclude` names, or of a session that was forgotten, is heard, and not kept.
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
            // The loop may have stopped: then nobody wants to know, and the journal has it.
            let _ = sender.send(message);
            wake();
        };
        let (on_event, on_trouble) = (Box::new(hear), Box::new(move || woken()));
        let places = Places::new(data_dir);
        let folder = Arc::from(places.root().to_string_lossy());
        let (root, spool) = (places.root().to_path_buf(), places.spool());
        let forgotten = Some(watchbill_store::forgotten_in(data_dir));
        let listener = Listener { options, exclude, forgotten, on_event, on_trouble };
        let receiver = watchbill_hooks::Receiver::open_for(places, listener)?;
        // Hints name the folder by its real name.
        let root = root.canonicalize().unwrap_or(root);
        let spool = root.join(spool.file_name().unwrap_or_default());
        Ok(Self { events, receiver, folder, spool })
    }

    /// Where events wait whose senders found nobody who listens, and do not say so: to be watched.
    pub fn spool(&self) -> &Path {
        &self.spool
    }

    /// Something has come into the spool.
    pub fn look_into_spool(&self) {
        self.receiver.sweep();
    }

    /// Other paths are left out from now on.
    pub fn leave_out(&self, exclude: Exclude) {
        self.receiver.leave_out(exclude);
    }

    /// The next events, in the order of hearing; at most so many that a step stays short. More may be waiting when it
    /// is full.
    pub fn take(&self) -> (Vec<HookMessage>, bool) {
        let events: Vec<HookMessage> = self.events.try_iter().take(BATCH).collect();
        let more = events.len() == BATCH;
        (events, more)
    }

    /// What is wrong with the hearing itself.
    pub fn problems(&self) -> Vec<Problem> {
        let tally = self.receiver.counts();
        let told = [
            (
                tally.damaged,
                ProblemKind::MalformedHook,
                "hook events that were no whole events; they were passed over",
            ),
            // What is so now: when it is over nobody has to do anything any more.
            (
                u64::from(tally.in_trouble),
                ProblemKind::Io,
                "hook events cannot be kept here; check that the folder is writable and the disk not full: what is \
                 heard meanwhile counts, and what waits elsewhere is kept later",
            ),
        ];
        let path = &self.folder;
        let told = told.into_iter().filter(|(count, ..)| *count > 0);
        told.map(|(count, kind, detail)| Problem {
            path: Arc::clone(path),
            kind,
            count,
            detail: detail.into(),
        })
        .collect()
    }
}

/// Why nothing is heard, as a problem.
pub fn deaf(data_dir: &Path, error: &ReceiverError) -> Problem {
    let path = Arc::from(Places::new(data_dir).root().to_string_lossy());
    Problem { path, kind: ProblemKind::LostHooks, count: 1, detail: Arc::from(error.to_string()) }
}

/// The events of the last hour, for a look that keeps nothing and takes nothing away: from the journal of whoever
/// listens, and from the spool where nobody does.
pub fn recent(data_dir: &Path, now: Timestamp) -> Vec<HookMessage> {
    let places = Places::new(data_dir);
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
        // Below what is no folder there is no journal; of that the store tells.
        && error.kind() != io::ErrorKind::NotADirectory
    {
        let journal = places.journal();
        tracing::warn!(%error, journal = %journal.display(), "the journal of hook events cannot be read");
    }
    for folder in places.spools() {
        let spooled = spool::list(&folder).unwrap_or_default();
        for file in spooled.iter().rev().take(SPOOLED) {
            // Whoever listens may have just taken it; then it is in the journal next time.
            let Ok(bytes) = read_ordinary(&file.path) else { continue };
            if let Decoded::Whole { envelope, payload, .. } = decode(&bytes) {
                keep(&envelope, &bytes[payload]);
            }
        }
    }
    // Both may hold the same event; the engine counts it once, by its id.
    messages
}

//! Types a prompt of the user into a session's terminal, and waits until the agent's files show that it has the prompt.
//!
//! A key that reaches a dialog can allow a command. So nothing is written unless the registry file says, at that moment,
//! that the session is idle, and the same is looked at again before Enter. Nothing is ever written twice.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use watchbill_agents::files::parser_of;
use watchbill_agents::layout::{TRANSCRIPTS, registry_file};
use watchbill_agents::registry::parse_registry;
use watchbill_core::evidence::registry::{RegistryEntry, RegistryStatus};
use watchbill_core::ids::Instance;
use watchbill_core::prompt::{MAX_BYTES, PromptText};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::{Attachment, Body, PromptOrigin, QueueOperation};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::prompt::{PromptOutcome, PromptSent};
use watchbill_terminal::{Form, Pane, Presence, SessionLocation, World};
use watchbill_watch::fs::{FileKind, Fs};

use crate::clock::{Clock, SystemClock};

/// Pause between a text and its Enter. The agent takes everything that it reads at once for one paste, also an Enter. 0.3 s
/// are enough (recorded from client 2.1.329).
const PAUSE: Duration = Duration::from_millis(400);
/// How long to wait until the agent's files show the prompt.
const BOUND: Duration = Duration::from_secs(10);
/// How long its record is awaited when the registry file says already that a turn runs.
const RECORD: Duration = Duration::from_secs(3);
/// Interval of looks at the agent's files.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Limit of a registry file, in bytes; none of the agent is near it.
const REGISTRY_LIMIT: u64 = 256 << 10;
/// The most that is read of a transcript behind the prompt, in bytes.
const READ_LIMIT: u64 = 4 << 20;

/// The loop's data about a session that gets a prompt.
#[derive(Debug, Clone)]
pub(crate) struct PromptTarget {
    /// Its process and terminal.
    pub session_location: SessionLocation,
    /// Its transcript, if it has one.
    pub transcript: Option<PathBuf>,
    /// The agent's folders.
    pub roots: Vec<PathBuf>,
}

/// A session that gets a prompt, and the ways to look at it.
struct PromptTyper<'a> {
    target: &'a PromptTarget,
    instance: &'a Instance,
    pane: Pane,
    fs: &'a dyn Fs,
    world: &'a dyn World,
    /// Why the loop's witnesses speak against a prompt now, if they do.
    objection: &'a dyn Fn() -> Result<Option<String>, ApiError>,
}

/// The content of the agent's files before the first key.
struct Before {
    status_at: Option<Timestamp>,
    transcript_length: u64,
}

/// The agent's word on a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Acknowledgement {
    /// Its transcript has a prompt; whether that is the whole text, where this can be compared.
    Record(Option<bool>),
    /// Its registry file left idle.
    Status,
}

/// Types a prompt into the terminal of a session. Blocks for some seconds, fifteen at most.
///
/// # Errors
/// When no key, or no Enter, was sent. The message says which.
pub(crate) fn send(
    text: &PromptText,
    target: &PromptTarget,
    fs: &dyn Fs,
    world: &dyn World,
    objection: &dyn Fn() -> Result<Option<String>, ApiError>,
) -> Result<PromptSent, ApiError> {
    let nothing = |why: String| ApiError::new(ErrorCode::Unsupported, format!("nothing was typed: {why}"));
    let pane = Pane::of(&target.session_location, world).map_err(nothing)?;
    let Presence::Runs(instance) = &target.session_location.presence else {
        return Err(nothing("the session's process is not known".into()));
    };
    let typer = PromptTyper { target, instance, pane, fs, world, objection };
    let untouched = |why: String| conflict(format!("nothing was typed: {why}"));
    typer.idle().map_err(untouched)?;
    let form = if text.is_typed() { Form::Keys } else { Form::Paste };
    let prepared = typer.pane.prepare(text.as_str(), form, world).map_err(untouched)?;
    // The last look, with nothing between it and the first key.
    let before = typer.before().map_err(untouched)?;
    let unsent = |why: String| {
        conflict(format!("the text may stand in the input of the terminal, and Enter was not pressed: {why}"))
    };
    typer.pane.write(&prepared, world).map_err(unsent)?;
    std::thread::sleep(PAUSE);
    typer.idle().map_err(unsent)?;
    let at = SystemClock.now();
    typer.pane.enter(world).map_err(unsent)?;
    let said = typer.acknowledgement_of(text, &before);
    let (proof, whole) = match said {
        Some(Acknowledgement::Record(whole)) => (Some("transcript"), whole),
        Some(Acknowledgement::Status) => (Some("registry"), None),
        None => (None, None),
    };
    Ok(PromptSent {
        session_id: target.session_location.session.to_string(),
        outcome: if said.is_some() { PromptOutcome::Submitted } else { PromptOutcome::Unknown },
        proof: proof.map(str::to_owned),
        whole,
        by: typer.pane.by().to_owned(),
        at: at.to_string(),
    })
}

fn conflict(message: String) -> ApiError {
    ApiError::new(ErrorCode::Conflict, message)
}

impl PromptTyper<'_> {
    /// Whether the session takes a prompt now. Gives its registry entry.
    fn idle(&self) -> Result<RegistryEntry, String> {
        if let Some(why) = (self.objection)().map_err(|error| error.message)? {
            return Err(why);
        }
        self.pane.check(self.world)?;
        // The last look, because it says most.
        let entry =
            self.entry().ok_or("the registry file of the session cannot be read just now; try again")?;
        if entry.session.as_str() != &*self.target.session_location.session {
            return Err(format!("the process runs session {} now", entry.session));
        }
        if entry.parked.is_some() {
            return Err("the session is parked: its terminal shows another one, or the list of agents".into());
        }
        match &entry.status {
            Some(RegistryStatus::Idle | RegistryStatus::Shell) => Ok(entry),
            Some(RegistryStatus::Busy) => {
                Err("the session works; send the prompt when its turn is over".into())
            }
            Some(RegistryStatus::Waiting(what)) => {
                let what = if what.is_empty() { "something" } else { what };
                Err(format!("the session waits for you ({what}); answer that first"))
            }
            _ => Err("the agent does not say whether the session is idle".into()),
        }
    }

    fn before(&self) -> Result<Before, String> {
        let length = self.transcript().and_then(|path| Some(self.fs.stat(&path).ok()?.len));
        let entry = self.idle()?;
        Ok(Before { status_at: entry.status_at, transcript_length: length.unwrap_or(0) })
    }

    /// The registry entry of the session's process; `None` while it is half written, or gone.
    fn entry(&self) -> Option<RegistryEntry> {
        let read = |root: &PathBuf| {
            let file = registry_file(root, self.instance.pid);
            let bytes = self.fs.read_small(&file, REGISTRY_LIMIT).ok()?;
            let entry = parse_registry(&bytes).ok()?;
            (entry.instance == *self.instance).then_some(entry)
        };
        // The agent rewrites the file in place.
        for _ in 0..5 {
            if let Some(entry) = self.target.roots.iter().find_map(read) {
                return Some(entry);
            }
            std::thread::sleep(CHECK_INTERVAL);
        }
        None
    }

    /// The transcript. A new session has none before its first prompt.
    fn transcript(&self) -> Option<PathBuf> {
        let name = format!("{}.jsonl", self.target.session_location.session);
        let below = |projects: PathBuf| -> Option<PathBuf> {
            let folders = self.fs.list(&projects).ok()?.into_iter().filter(|name| name.kind == FileKind::Dir);
            folders
                .map(|folder| projects.join(folder.name).join(&name))
                .find(|path| self.fs.stat(path).is_ok())
        };
        let found = || self.target.roots.iter().find_map(|root| below(root.join(TRANSCRIPTS)));
        self.target.transcript.clone().or_else(found)
    }

    /// Waits for the agent's word on the prompt.
    fn acknowledgement_of(&self, text: &PromptText, before: &Before) -> Option<Acknowledgement> {
        let began = Instant::now();
        let mut left_idle: Option<Instant> = None;
        loop {
            if let Some(path) = self.transcript()
                && let Some(whole) = self.recorded(&path, before.transcript_length, text)
            {
                return Some(Acknowledgement::Record(whole));
            }
            if left_idle.is_none() && self.has_left_idle(before) {
                left_idle = Some(Instant::now());
            }
            if left_idle.is_some_and(|at| at.elapsed() >= RECORD) {
                return Some(Acknowledgement::Status);
            }
            if began.elapsed() >= BOUND {
                return left_idle.map(|_| Acknowledgement::Status);
            }
            std::thread::sleep(CHECK_INTERVAL);
        }
    }

    /// Whether the process has left the state in which it was before: a turn runs, or ran, or a command began another session.
    fn has_left_idle(&self, before: &Before) -> bool {
        self.entry().is_some_and(|entry| {
            let works = matches!(entry.status, Some(RegistryStatus::Busy | RegistryStatus::Waiting(_)));
            entry.status_at > before.status_at && works
                || entry.session.as_str() != &*self.target.session_location.session
        })
    }

    /// Looks for the prompt in what the agent has written since. `None`: no prompt is there. The inner value says whether it
    /// is the whole text; it is unknown for a command, which the agent records in its own words.
    fn recorded(&self, path: &Path, since: u64, text: &PromptText) -> Option<Option<bool>> {
        let bytes = read_since(self.fs, path, since)?;
        let end = bytes.iter().rposition(|byte| *byte == b'\n')?;
        let mut found: Option<Option<bool>> = None;
        let parse = parser_of(path);
        for line in bytes[..end].split(|byte| *byte == b'\n') {
            parse(line, &mut |record, full| {
                let whole = match &record.body {
                    Body::Prompt(prompt) if prompt.origin == PromptOrigin::Human => {
                        Some(text.is_whole(&full.prompt(prompt, 2 * MAX_BYTES)))
                    }
                    Body::Attachment(Attachment::QueuedCommand { .. }) => {
                        Some(text.is_whole(&full.queued_prompt(2 * MAX_BYTES).0))
                    }
                    // Cut, so only the beginning can be compared.
                    Body::Queue(QueueOperation::Enqueue { text: queued }) => {
                        (queued.len() < 2_000).then(|| text.is_whole(queued))
                    }
                    Body::LocalCommand { .. } | Body::CompactSummary if text.is_command() => None,
                    _ => return,
                };
                let whole = whole.filter(|whole| *whole || !text.is_command());
                // The exact text goes before any other.
                if found.is_none() || whole == Some(true) {
                    found = Some(whole);
                }
            });
        }
        found
    }
}

/// The bytes of a file from an offset on, as many as are there, up to the limit.
fn read_since(fs: &dyn Fs, path: &Path, since: u64) -> Option<Vec<u8>> {
    let file = fs.open(path).ok()?;
    let length = file.stat().ok()?.len.checked_sub(since)?.min(READ_LIMIT);
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], since + filled as u64) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(_) => return None,
        }
    }
    bytes.truncate(filled);
    Some(bytes)
}

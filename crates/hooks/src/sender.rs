//! `watchbill hook`: one event, from the agent's pipe to whoever listens, or into the spool.
//!
//! An agent waits for some of its hooks, so this waits for nobody: a receiver has [`EARS`] to answer, and a payload that the
//! agent itself does not finish has [`PIPE`], then a process of its own waits on. Nothing is printed, whatever
//! happens: the agent takes what a hook prints for words to its model.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use watchbill_core::hook::terminal;

use crate::envelope::{Decoded, Envelope, decode};
use crate::places::{Places, default_data_dir, may_be_long, open_ordinary, private_dir, read_ordinary};
use crate::stdin::{self, Extent};
use crate::{ancestors, clock, marker, spool};

/// How long all ears together have for an answer.
pub const EARS: Duration = Duration::from_millis(25);

/// How long the agent has to write its payload, from our start. Nobody is held up by that: it is the agent that is
/// awaited, and on a busy machine it writes late. Beyond that a later event may be told before this one.
pub const PIPE: Duration = Duration::from_millis(500);

/// How long the process that waits on for a payload does so.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file system that hangs, a dead server's for instance, hangs us no longer than this. It is long, because a machine
/// that is merely busy must not cost an event.
const WATCHDOG: Duration = Duration::from_secs(5);

/// Spooled events beyond which nobody will come for them. With the largest payloads that are seen daily it is some
/// hundred megabytes.
const SPOOL_LIMIT: usize = 50_000;

/// One of so many senders counts the spool.
const COUNTING: u128 = 256;

/// The hidden option of the process that waits on for a payload.
const REST: &str = "--rest";

/// What a sender is asked to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Errand {
    /// The data folder, if it is named.
    pub data_dir: Option<PathBuf>,
    /// Compactions leave a marker in the project's folder.
    pub markers: bool,
    /// Not a new event: the rest of the one in this file.
    rest: Option<PathBuf>,
}

impl Errand {
    /// Reads the words after `hook`. What is not understood is passed over: another version may have been installed
    /// than the one that runs, and the agent must not pay for it.
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Self {
        let mut errand = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--markers") => errand.markers = true,
                Some("--data-dir") => errand.data_dir = words.next().map(PathBuf::from),
                Some(REST) => errand.rest = words.next().map(PathBuf::from),
                Some(joined) => {
                    if let Some(dir) = joined.strip_prefix("--data-dir=") {
                        errand.data_dir = Some(dir.into());
                    }
                }
                None => {}
            }
        }
        errand
    }
}

/// Where an event has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// A receiver keeps it.
    Kept,
    /// A spool holds it.
    Spooled,
    /// A process of its own waits for the rest of it.
    WaitedFor,
    /// There was nothing to send.
    Nothing,
    /// It was counted as dropped, since there is no place for it.
    Dropped,
}

/// Runs an errand from standard input. It never fails and never panics out; the agent must not notice us.
pub fn run(errand: &Errand) -> Option<Sent> {
    let begun = Instant::now();
    std::panic::set_hook(Box::new(|_| {}));
    // Whatever hangs in the system's calls: files, for the pipe and the sockets have times of their own.
    let watchdog = if errand.rest.is_some() { PATIENCE + WATCHDOG } else { WATCHDOG };
    let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        std::thread::sleep(watchdog);
        std::process::exit(0);
    });
    std::panic::catch_unwind(|| send(errand, begun)).ok().flatten()
}

fn send(errand: &Errand, begun: Instant) -> Option<Sent> {
    let env = |name: &str| std::env::var_os(name);
    let data_dir = errand.data_dir.clone().or_else(|| default_data_dir(&env))?;
    let places = Places::new(&data_dir);
    let input = stdin::open().ok()?;
    if let Some(part) = &errand.rest {
        return wait_on(errand, &places, &input, part);
    }
    // Before the payload comes: another event's sender may be started while we wait.
    let (order, at) = (clock::since_boot(), clock::wall());
    let mut payload = Vec::new();
    let extent = stdin::read(&input, &mut payload, begun + PIPE).unwrap_or(Extent::Cut);
    if payload.is_empty() && extent != Extent::Unfinished {
        return Some(Sent::Nothing);
    }
    let above = ancestors::look(&ancestors::Signs::from_env(&env));
    let asks = extent == Extent::Unfinished || asks_for_terminal(&payload);
    let envelope = Envelope {
        id: new_id(order),
        at,
        order,
        boot: clock::boot(),
        agent: above.agent,
        ancestors: above.ancestors,
        terminal: asks.then(|| terminal::capture(&env, above.tty.as_deref())).flatten(),
        cut: extent != Extent::Whole,
    };
    if extent == Extent::Unfinished {
        return leave_behind(errand, &places, &data_dir, &envelope, &payload);
    }
    Some(finish(errand, &places, &envelope, &payload))
}

/// Sends an event whose payload is there.
fn finish(errand: &Errand, places: &Places, envelope: &Envelope, payload: &[u8]) -> Sent {
    let frame = envelope.encode(payload);
    let sent = if is_kept(places, &frame) { Sent::Kept } else { keep(places, envelope, &frame) };
    if errand.markers {
        // The project's folder may be read-only; the event itself tells of the compaction as well.
        let _ = marker::write(payload, envelope.at);
    }
    sent
}

#[cfg(unix)]
fn is_kept(places: &Places, frame: &[u8]) -> bool {
    crate::deliver::deliver(places, frame, EARS).kept
}

#[cfg(not(unix))]
fn is_kept(_places: &Places, _frame: &[u8]) -> bool {
    false
}

/// Spools, in the first place that takes it.
fn keep(places: &Places, envelope: &Envelope, frame: &[u8]) -> Sent {
    if !places.overfull().exists() {
        for folder in places.spools() {
            if spool::write(&folder, envelope, frame).is_ok() {
                if envelope.id.is_multiple_of(COUNTING)
                    && spool::census(&folder, SPOOL_LIMIT + 1).waiting > SPOOL_LIMIT
                {
                    let _ = open_ordinary(
                        OpenOptions::new().write(true).create(true).truncate(false),
                        &places.overfull(),
                    );
                }
                return Sent::Spooled;
            }
        }
    }
    // A byte may fit where an event does not. Where nothing can be written at all, nobody is left to be told.
    let counted = open_ordinary(OpenOptions::new().append(true).create(true), &places.dropped());
    let _ = counted.and_then(|mut file| {
        may_be_long(file.metadata()?.len() + 1)?;
        file.write_all(b".")
    });
    Sent::Dropped
}

/// The agent has not finished its payload and has waited enough: a process of its own reads the rest.
///
/// What has come so far lies in the spool, so that a killed process loses no more than what came after.
fn leave_behind(
    errand: &Errand,
    places: &Places,
    data_dir: &Path,
    envelope: &Envelope,
    payload: &[u8],
) -> Option<Sent> {
    let frame = envelope.encode(payload);
    let part = places.spools().find_map(|folder| spool::write_part(&folder, envelope, &frame).ok());
    // Where nothing can be put down, what has come so far is told, or counted.
    let Some(part) = part else { return Some(finish(errand, places, envelope, payload)) };
    let mut command = Command::new(std::env::current_exe().ok()?);
    command.arg("hook").arg("--data-dir").arg(data_dir).arg(REST).arg(&part);
    if errand.markers {
        command.arg("--markers");
    }
    command.stdin(Stdio::inherit()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // An agent that ends its hooks ends them by group.
        command.process_group(0);
    }
    match command.spawn() {
        Ok(_) => Some(Sent::WaitedFor),
        Err(_) => {
            let _ = std::fs::remove_file(&part);
            Some(finish(errand, places, envelope, payload))
        }
    }
}

/// Reads the rest of an event and sends it.
fn wait_on(errand: &Errand, places: &Places, input: &std::fs::File, part: &Path) -> Option<Sent> {
    let begun = read_ordinary(part).ok()?;
    let Decoded::Whole { mut envelope, payload, .. } = decode(&begun) else { return None };
    let mut payload = begun[payload].to_vec();
    let extent = stdin::read(input, &mut payload, Instant::now() + PATIENCE).unwrap_or(Extent::Cut);
    envelope.cut = extent != Extent::Whole;
    if !asks_for_terminal(&payload) {
        envelope.terminal = None;
    }
    let sent = match payload.is_empty() {
        true => Sent::Nothing,
        false => finish(errand, places, &envelope, &payload),
    };
    let _ = std::fs::remove_file(part);
    Some(sent)
}

/// Whether the event is one that begins something in a terminal. The name may stand deeper in a payload by chance; then
/// the terminal is captured once too often.
fn asks_for_terminal(payload: &[u8]) -> bool {
    let begin = &payload[..payload.len().min(64 * 1024)];
    [&b"\"SessionStart\""[..], b"\"UserPromptSubmit\""]
        .iter()
        .any(|name| begin.windows(name.len()).any(|part| part == *name))
}

/// Clock, process and chance: unique on a machine, over namespaces and reboots.
fn new_id(order: u64) -> u128 {
    use std::hash::{BuildHasher, Hasher};
    let chance = std::hash::RandomState::new().build_hasher().finish();
    (u128::from(order) << 64) | (u128::from(std::process::id()) << 32) | u128::from(chance & 0xffff_ffff)
}

/// Makes the folders that senders and receivers share, for whoever installs the hooks.
///
/// # Errors
/// When they cannot be made.
pub fn prepare(places: &Places) -> io::Result<()> {
    private_dir(places.root())?;
    private_dir(&places.spool())?;
    private_dir(&places.ears())
}

//! `watchbill hook`: sends one event from the agent's pipe to the receivers, or puts it into the spool.
//!
//! The agent waits for some of its hooks, so the sender limits each wait. Receivers have [`ANSWER_BUDGET`] to answer. The
//! client has [`PAYLOAD_BUDGET`] to finish its payload; after that, a second process waits for the rest. The sender never
//! prints: the agent passes printed text to its model.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use watchbill_agents::hooks::is_borrowed;
use watchbill_agents::process::ClientSigns;
use watchbill_agents::{Agent, hook_traits, traits};
use watchbill_core::history::{keep_public, may_hold_private, strip_private};
use watchbill_core::hook::terminal;

use crate::envelope::{Decoded, Envelope, decode};
use crate::places::{HookPaths, default_data_dir};
use crate::stdin::{self, Extent};
use crate::{ancestors, marker, spool};
use watchbill_platform::clock;
use watchbill_platform::files::{check_size_limit, open_ordinary, private_dir, read_ordinary};
use watchbill_platform::input::Input;
use watchbill_platform::program::without_window;

/// The time that all receivers together have to answer.
pub const ANSWER_BUDGET: Duration = Duration::from_millis(25);

/// The time that the agent has to write its payload, counted from the sender's start. This wait delays only the
/// client, which is slow to write on a busy machine. After a longer wait, receivers may get a later event before this
/// one.
pub const PAYLOAD_BUDGET: Duration = Duration::from_millis(500);

/// The same for an agent whose payloads are told in another form before they are kept: a part of one cannot be.
const WHOLE_BUDGET: Duration = Duration::from_secs(4);

/// How long the second process waits for the rest of a payload.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The sender ends itself after this time, because a file system may hang (of a dead server, for instance). The time
/// is long, so that a busy machine loses no event.
const WATCHDOG: Duration = Duration::from_secs(5);

/// At this many events the spool is full, and new events are dropped and counted. No program has read it for long. At the largest payloads of
/// daily use it holds some hundred megabytes.
const SPOOL_LIMIT: usize = 50_000;

/// One sender in this many counts the spool.
const COUNT_EVERY: u128 = 256;

/// The option that names the agent whose hook it is.
pub(crate) const AGENT_OPTION: &str = "--agent";

/// The hidden option of the second process, which waits for the rest of a payload.
const REST_OPTION: &str = "--rest";

/// The command line of `watchbill hook`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookArguments {
    /// The data folder, if the command line names one.
    pub data_dir: Option<PathBuf>,
    /// The agent that the hook was installed for.
    pub agent: Agent,
    /// Whether a compaction leaves a marker in the project's folder.
    pub markers: bool,
    /// A later version wrote the command line for an agent that this one does not know.
    pub is_for_unknown: bool,
    /// The file that holds the first part of the event; this process reads the rest.
    rest: Option<PathBuf>,
}

impl HookArguments {
    /// Reads the words after `hook`. It skips unknown words: another version may have written the command line, and
    /// the agent must not get an error for that.
    pub fn parse(words: impl IntoIterator<Item = OsString>) -> Self {
        let mut arguments = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            match word.to_str() {
                Some("--markers") => arguments.markers = true,
                Some("--data-dir") => arguments.data_dir = words.next().map(PathBuf::from),
                Some(AGENT_OPTION) => {
                    let agent = words.next().as_deref().and_then(OsStr::to_str).and_then(Agent::of);
                    arguments.is_for_unknown = agent.is_none();
                    arguments.agent = agent.unwrap_or_default();
                }
                Some(REST_OPTION) => arguments.rest = words.next().map(PathBuf::from),
                Some(joined) => {
                    if let Some(dir) = joined.strip_prefix("--data-dir=") {
                        arguments.data_dir = Some(dir.into());
                    }
                }
                None => {}
            }
        }
        arguments
    }
}

/// The result of sending an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// A receiver stored it in the journal.
    Kept,
    /// A spool holds it.
    Spooled,
    /// A second process waits for the rest of it.
    LeftToSecondProcess,
    /// There was nothing to send.
    Nothing,
    /// No folder took it, so it was counted as dropped.
    Dropped,
}

/// Sends the event on standard input. It never fails and never panics, so that the agent notices nothing.
pub fn run(arguments: &HookArguments) -> Option<Sent> {
    let begun = Instant::now();
    std::panic::set_hook(Box::new(|_| {}));
    // Ends this process if a call for a file hangs. The pipe and the sockets have time limits of their own.
    let watchdog = if arguments.rest.is_some() { TIMEOUT + WATCHDOG } else { WATCHDOG };
    let _ = std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        std::thread::sleep(watchdog);
        std::process::exit(0);
    });
    std::panic::catch_unwind(|| send(arguments, begun)).ok().flatten()
}

fn send(arguments: &HookArguments, begun: Instant) -> Option<Sent> {
    if arguments.is_for_unknown {
        return Some(Sent::Nothing);
    }
    let env = |name: &str| std::env::var_os(name);
    let data_dir = arguments.data_dir.clone().or_else(|| default_data_dir(&env))?;
    let places = HookPaths::new(&data_dir);
    let mut input = Input::open().ok()?;
    if let Some(part) = &arguments.rest {
        return read_rest_and_send(arguments, &places, &mut input, part);
    }
    // Taken before the payload is read: the sender of another event may start during that wait.
    let (order, at) = (clock::since_boot(), clock::wall());
    let mut payload = Vec::new();
    let form = hook_traits(arguments.agent).other_form;
    let budget = if form.is_some() { WHOLE_BUDGET } else { PAYLOAD_BUDGET };
    let extent = stdin::read(&mut input, &mut payload, begun + budget).unwrap_or(Extent::Cut);
    if let Some(form) = form {
        if extent == Extent::Unfinished {
            return Some(dropped(&places));
        }
        match (form.translate)(&payload) {
            Some(told) => payload = told,
            None => return Some(Sent::Nothing),
        }
    }
    if payload.is_empty() && extent != Extent::Unfinished {
        return Some(Sent::Nothing);
    }
    if extent == Extent::Whole && is_borrowed(arguments.agent, &env, &payload) {
        return Some(Sent::Nothing);
    }
    let mut envelope = Envelope {
        of: arguments.agent,
        boot: clock::boot(),
        cut: extent != Extent::Whole,
        ..Envelope::new(new_id(order), at, order)
    };
    // Otherwise what is above the hook, and its environment, are of another session's terminal.
    if traits(arguments.agent).hooks.is_some_and(|hooks| hooks.are_of_process) {
        let above = ancestors::look(&ClientSigns::from_env(arguments.agent, &env));
        let asks = extent == Extent::Unfinished || needs_terminal(&payload);
        envelope.terminal = asks.then(|| terminal::capture(&env, above.tty.as_deref())).flatten();
        (envelope.agent, envelope.ancestors) = (above.agent, above.ancestors);
    }
    if extent == Extent::Unfinished {
        return hand_to_second_process(arguments, &places, &data_dir, &envelope, &payload);
    }
    Some(finish(arguments, &places, &envelope, &payload))
}

/// The ids of prompts and calls that came over HTTP begin so. No rule takes what they say for the user's own word.
pub const HTTP_ID: &str = "http-";

/// Sends a payload that a program sent over HTTP. It has the way of the client's events, so the same journal keeps it, and the same
/// folders and sessions are left out.
pub fn post(data_dir: &Path, payload: &[u8]) -> Sent {
    let order = clock::since_boot();
    let plain = Envelope::new(new_id(order), clock::wall(), order);
    let envelope = Envelope { boot: clock::boot(), over_http: true, ..plain };
    let (places, frame) = (HookPaths::new(data_dir), envelope.encode(&without_private(payload)));
    if is_kept(&places, &frame) { Sent::Kept } else { spool_or_count(&places, &envelope, &frame) }
}

/// Sends an event whose payload is complete.
fn finish(arguments: &HookArguments, places: &HookPaths, envelope: &Envelope, payload: &[u8]) -> Sent {
    let frame = envelope.encode(&without_private(payload));
    let sent = if is_kept(places, &frame) { Sent::Kept } else { spool_or_count(places, envelope, &frame) };
    if arguments.markers {
        // The project's folder may be read-only. The event reports the compaction as well.
        let _ = marker::write(payload, envelope.at);
    }
    sent
}

#[cfg(unix)]
fn is_kept(places: &HookPaths, frame: &[u8]) -> bool {
    crate::deliver::deliver(places, frame, ANSWER_BUDGET).kept
}

#[cfg(not(unix))]
fn is_kept(_places: &HookPaths, _frame: &[u8]) -> bool {
    false
}

/// Writes the event into the first spool that takes it.
fn spool_or_count(places: &HookPaths, envelope: &Envelope, frame: &[u8]) -> Sent {
    if !places.overfull().exists() {
        for folder in places.spools() {
            if spool::write(&folder, envelope, frame).is_ok() {
                if envelope.id.is_multiple_of(COUNT_EVERY)
                    && spool::count(&folder, SPOOL_LIMIT + 1).waiting > SPOOL_LIMIT
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
    dropped(places)
}

/// Counts an event that is lost.
fn dropped(places: &HookPaths) -> Sent {
    // A byte may fit where an event does not. If no file can be written at all, the loss stays uncounted.
    let counted = open_ordinary(OpenOptions::new().append(true).create(true), &places.dropped());
    let _ = counted.and_then(|mut file| {
        check_size_limit(file.metadata()?.len() + 1)?;
        file.write_all(b".")
    });
    Sent::Dropped
}

/// The agent did not finish its payload in time: a second process reads the rest.
///
/// The spool keeps the part that has come, so that a killed process loses only the rest.
fn hand_to_second_process(
    arguments: &HookArguments,
    places: &HookPaths,
    data_dir: &Path,
    envelope: &Envelope,
    payload: &[u8],
) -> Option<Sent> {
    let frame = envelope.encode(&without_private(payload));
    let part = places.spools().find_map(|folder| spool::write_part(&folder, envelope, &frame).ok());
    // No spool takes the part: the sender sends it as it is, or counts the event as dropped.
    let Some(part) = part else { return Some(finish(arguments, places, envelope, payload)) };
    let mut command = Command::new(std::env::current_exe().ok()?);
    without_window(&mut command);
    command.arg("hook").arg("--data-dir").arg(data_dir).arg(REST_OPTION).arg(&part);
    if arguments.markers {
        command.arg("--markers");
    }
    command.stdin(Stdio::inherit()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // A client that ends its hooks ends their process group.
        command.process_group(0);
    }
    match command.spawn() {
        Ok(_) => Some(Sent::LeftToSecondProcess),
        Err(_) => {
            let _ = std::fs::remove_file(&part);
            Some(finish(arguments, places, envelope, payload))
        }
    }
}

/// Reads the rest of an event and sends it.
fn read_rest_and_send(
    arguments: &HookArguments,
    places: &HookPaths,
    input: &mut Input,
    part: &Path,
) -> Option<Sent> {
    let begun = read_ordinary(part).ok()?;
    let Decoded::Whole { mut envelope, payload, .. } = decode(&begun) else { return None };
    let mut payload = begun[payload].to_vec();
    let extent = stdin::read(input, &mut payload, Instant::now() + TIMEOUT).unwrap_or(Extent::Cut);
    envelope.cut = extent != Extent::Whole;
    if !needs_terminal(&payload) {
        envelope.terminal = None;
    }
    let sent = match payload.is_empty() {
        true => Sent::Nothing,
        false => finish(arguments, places, &envelope, &payload),
    };
    let _ = std::fs::remove_file(part);
    Some(sent)
}

/// The payload without private text, so that it reaches no disk. A text with nothing else becomes an empty block, which says so.
pub(crate) fn without_private(payload: &[u8]) -> Cow<'_, [u8]> {
    let text = String::from_utf8_lossy(payload);
    if !may_hold_private(&text) {
        return Cow::Borrowed(payload);
    }
    match serde_json::from_slice(payload) {
        Ok(mut value) => {
            strip_texts(&mut value);
            Cow::Owned(value.to_string().into_bytes())
        }
        // A part of a payload.
        Err(_) => Cow::Owned(strip_private(&text).into_owned().into_bytes()),
    }
}

fn strip_texts(value: &mut Value) {
    match value {
        Value::String(text) => {
            let stripped = match keep_public(text) {
                None => Some("<private></private>".to_owned()),
                Some(Cow::Owned(stripped)) => Some(stripped),
                Some(Cow::Borrowed(_)) => None,
            };
            stripped.into_iter().for_each(|stripped| *text = stripped);
        }
        Value::Array(items) => items.iter_mut().for_each(strip_texts),
        Value::Object(fields) => fields.values_mut().for_each(strip_texts),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether the event needs the terminal: it begins a session or a turn. The name may occur deeper in a payload by
/// chance; then the terminal is captured without need.
fn needs_terminal(payload: &[u8]) -> bool {
    let begin = &payload[..payload.len().min(64 * 1024)];
    [&b"\"SessionStart\""[..], b"\"UserPromptSubmit\""]
        .iter()
        .any(|name| begin.windows(name.len()).any(|part| part == *name))
}

/// Clock, process id and a random part: unique on a machine, across namespaces and reboots.
pub(crate) fn new_id(order: u64) -> u128 {
    use std::hash::{BuildHasher, Hasher};
    let chance = std::hash::RandomState::new().build_hasher().finish();
    (u128::from(order) << 64) | (u128::from(std::process::id()) << 32) | u128::from(chance & 0xffff_ffff)
}

/// Makes the folders that senders and receivers share. The installer calls it.
///
/// # Errors
/// When they cannot be made.
pub fn make_shared_folders(places: &HookPaths) -> io::Result<()> {
    private_dir(places.root())?;
    private_dir(&places.spool())?;
    private_dir(&places.sockets_dir())
}

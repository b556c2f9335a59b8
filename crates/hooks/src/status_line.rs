//! `watchbill statusline`: runs the person's own status line, and hands what the client says to the receivers meanwhile.
//!
//! The person's own command starts first and gets the same bytes. Its output and its errors go straight to the client, and this
//! process ends as it ends. Nothing is kept when no program listens: a newer word comes with the next answer of the model.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use watchbill_agents::hooks::is_borrowed;
use watchbill_agents::status_line::as_event;
use watchbill_platform::clock;

use crate::envelope::{Envelope, PAYLOAD_LIMIT};
use crate::places::{HookPaths, default_data_dir};
use crate::sender::{ANSWER_BUDGET, HookArguments, new_id, without_private};

/// How long the end of the person's own command may wait for the receivers, and for the file system that they are found in. They
/// have all the time that the command takes.
const AFTERWARDS: Duration = Duration::from_millis(8);

/// The same without a command of one's own. The client waits for no output then.
const ALONE: Duration = Duration::from_millis(500);

/// The shell that the client gives a status line to.
const SHELL: &str = if cfg!(unix) { "/bin/sh" } else { "sh" };

/// The word after which the person's own command follows.
const OWN: &str = "--";

/// What a shell's end would be that does not exist.
const NO_SHELL: u8 = 127;

/// Reads the client's word from standard input, runs the person's own command, hands the word over. Returns the exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    std::panic::set_hook(Box::new(|_| {}));
    let mut words = words.into_iter();
    let arguments = HookArguments::parse(words.by_ref().take_while(|word| word != OWN));
    let own = words.next();
    let mut payload = Vec::new();
    // A longer payload is passed on as it comes.
    let limit = u64::try_from(PAYLOAD_LIMIT).unwrap_or(u64::MAX).saturating_add(1);
    let _ = io::stdin().lock().take(limit).read_to_end(&mut payload);
    let is_whole = payload.len() <= PAYLOAD_LIMIT;
    let patience = if own.is_some() { AFTERWARDS } else { ALONE };
    let child = own.map(|own| begin(own, payload.clone(), is_whole));
    let (done, is_done) = channel::<()>();
    let tell = move || {
        if is_whole {
            let _ = tell(arguments, &payload);
        }
        drop(done);
    };
    let told = std::thread::Builder::new().spawn(tell);
    let ended = child.map(|child| child.and_then(|mut child| child.wait()));
    if told.is_ok() {
        let _ = is_done.recv_timeout(patience);
    }
    match ended {
        None => 0,
        Some(Ok(status)) => end_as(status),
        Some(Err(_)) => NO_SHELL,
    }
}

/// Starts the person's own command. A thread writes its input: the command need not read it.
fn begin(own: OsString, payload: Vec<u8>, is_whole: bool) -> io::Result<Child> {
    let mut child = Command::new(SHELL).arg("-c").arg(own).stdin(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        std::thread::Builder::new().spawn(move || {
            if input.write_all(&payload).is_ok() && !is_whole {
                let _ = io::copy(&mut io::stdin().lock(), &mut input);
            }
        })?;
    }
    Ok(child)
}

/// The exit code of the person's own command. After a signal, this process gets the same one.
fn end_as(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        if let Some(signal) = rustix::process::Signal::from_named_raw(signal) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), signal);
        }
        return u8::try_from(128 + signal).unwrap_or(1);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Hands the client's word to the receivers. `None` if the payload is no word of the client.
fn tell(arguments: HookArguments, payload: &[u8]) -> Option<()> {
    let event = as_event(payload)?;
    let env = |name: &str| std::env::var_os(name);
    if arguments.is_for_unknown || is_borrowed(arguments.agent, &env, &event) {
        return None;
    }
    let order = clock::since_boot();
    let envelope = Envelope {
        of: arguments.agent,
        boot: clock::boot(),
        ..Envelope::new(new_id(order), clock::wall(), order)
    };
    let frame = envelope.encode(&without_private(&event));
    let data_dir = arguments.data_dir.or_else(|| default_data_dir(&env))?;
    #[cfg(unix)]
    crate::deliver::tell(&HookPaths::new(&data_dir), &frame, ANSWER_BUDGET);
    #[cfg(not(unix))]
    let _ = (HookPaths::new(&data_dir), frame, ANSWER_BUDGET);
    Some(())
}

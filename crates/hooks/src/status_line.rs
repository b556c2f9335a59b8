//! `watchbill statusline`: runs the person's own status line, and hands what the client says to the receivers beside it.
//!
//! The person's own command takes over this process, so the client's signals, its output and its end are the command's own. A second
//! process copies the client's bytes to it as they come, and tells them. Nothing is kept when no program listens: a newer word
//! comes with the next answer of the model.

use std::ffi::OsString;
use std::io::{self, Read, Write};
#[cfg(unix)]
use std::os::unix::process::CommandExt;
#[cfg(unix)]
use std::process::{Command, Stdio};

use watchbill_agents::hooks::is_borrowed;
use watchbill_agents::status_line::as_event;
use watchbill_platform::clock;

use crate::envelope::{Envelope, PAYLOAD_LIMIT};
use crate::places::{HookPaths, default_data_dir};
use crate::sender::{ANSWER_BUDGET, HookArguments, new_id, without_private};

/// The word after which the person's own command follows.
const OWN: &str = "--";

/// The process that copies the client's bytes has this word.
const COPY: &str = "--copy";

/// The exit code of a shell that cannot start.
const NO_SHELL: u8 = 127;

/// Reads the client's word from standard input, and hands it over. With a command of the person's, becomes that command. Returns
/// the exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    std::panic::set_hook(Box::new(|_| {}));
    let mut words = words.into_iter();
    let ours: Vec<OsString> = words.by_ref().take_while(|word| word != OWN).collect();
    if let Some(own) = words.next() {
        return take_over(&own, &ours);
    }
    let copies = ours.iter().any(|word| word == COPY);
    let payload = read(&mut io::stdin().lock(), copies.then(io::stdout));
    if let Some(payload) = payload {
        let _ = tell(HookArguments::parse(ours), &payload);
    }
    0
}

/// Becomes the person's own command. If the second process cannot start, the command reads the client's bytes itself.
#[cfg(unix)]
fn take_over(own: &OsString, ours: &[OsString]) -> u8 {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(own);
    if let (Ok(program), Ok((reader, writer))) = (std::env::current_exe(), io::pipe()) {
        let mut copier = Command::new(program);
        copier.arg("statusline").args(ours).arg(COPY).stdout(writer).stderr(Stdio::null());
        // The client's signals are for the command alone.
        if copier.process_group(0).spawn().is_ok() {
            // Else the command would not see the end of its input.
            drop(copier);
            shell.stdin(reader);
        }
    }
    let _ = shell.exec();
    NO_SHELL
}

#[cfg(not(unix))]
fn take_over(_: &OsString, _: &[OsString]) -> u8 {
    NO_SHELL
}

/// Reads to the end, and copies what comes. `None`: it is longer than an event.
fn read(input: &mut impl Read, mut copy: Option<impl Write>) -> Option<Vec<u8>> {
    let mut payload = Some(Vec::new());
    let mut chunk = [0; 16 << 10];
    loop {
        let count = match input.read(&mut chunk) {
            Ok(0) => return payload,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return None,
            Ok(count) => count,
        };
        // The command need not read it all.
        copy = copy.and_then(|mut copy| {
            copy.write_all(&chunk[..count]).and_then(|()| copy.flush()).ok().map(|()| copy)
        });
        payload = payload.filter(|payload| payload.len() + count <= PAYLOAD_LIMIT).map(|mut payload| {
            payload.extend_from_slice(&chunk[..count]);
            payload
        });
    }
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

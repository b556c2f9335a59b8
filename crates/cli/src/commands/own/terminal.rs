//! Attaches this terminal to the terminal of an own session: it sends keys and draws the output.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use watchbill_drive::client::{HostClient, HostError, follow};
use watchbill_drive::folder::Folder;
use watchbill_protocol::error::ErrorCode;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::OwnSize;

use super::target::new_id;
use crate::commands::emit;

/// Ctrl-]: detaches. No agent uses it, and telnet has always used it so.
const DETACH: u8 = 0x1d;

/// Ends what a program may have begun on the screen: another screen, a hidden cursor, colours, the mouse, pasting.
const RESTORE: &[u8] =
    b"\x1b[?1049l\x1b[?25h\x1b[0m\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[<u\r\n";

/// The terminal as it was. It is restored when this is dropped.
struct Raw(Termios);

impl Raw {
    fn begin() -> std::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(std::io::stdin(), OptionalActions::Now, &raw)?;
        Ok(Self(before))
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let mut out = std::io::stdout();
        let _ = out.write_all(RESTORE).and_then(|()| out.flush());
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Attaches until the user detaches or the session ends.
///
/// # Errors
/// When this is no terminal, or no host runs.
pub fn attach(folder: &Folder) -> anyhow::Result<()> {
    let mut keys = HostClient::connect(folder)?;
    emit("Ctrl-] detaches; the session goes on.\n")?;
    let raw = Raw::begin()?;
    let (commands, received) = mpsc::channel();
    commands.send(OwnCommand::Resize { size: size() })?;
    follow_size(commands.clone());
    let detached = Arc::new(AtomicBool::new(false));
    // The end of either side ends the other: the keys, or the output.
    let (over, ended) = mpsc::channel();
    let (keys_over, refused, is_detached) = (over.clone(), over.clone(), Arc::clone(&detached));
    thread::spawn(move || {
        read_keys(&commands, &is_detached);
        let _ = keys_over.send(None);
    });
    thread::spawn(move || {
        for command in received {
            match keys.command(&new_id(), &command) {
                Ok(()) => {}
                Err(HostError::Refused(why)) if why.code == ErrorCode::Refused => {
                    let _ = refused.send(Some(why.into()));
                    return;
                }
                // Its session ends, and the output with it.
                Err(_) => return,
            }
        }
    });
    let drawn = folder.clone();
    thread::spawn(move || {
        let _ = over.send(follow(&drawn, 0, &mut draw).err());
    });
    let error = ended.recv().ok().flatten();
    drop(raw);
    match error {
        Some(error) if !detached.load(Ordering::Acquire) => Err(error.into()),
        _ => Ok(()),
    }
}

/// Draws what the session draws.
fn draw(message: HostMessage) -> bool {
    let (clear, bytes) = match message {
        HostMessage::Screen { bytes, .. } => (true, bytes),
        HostMessage::Output { bytes } => (false, bytes),
        HostMessage::Events { .. } | HostMessage::CaughtUp => return true,
    };
    let Ok(bytes) = STANDARD.decode(bytes) else { return true };
    let mut out = std::io::stdout().lock();
    let cleared = if clear { out.write_all(b"\x1b[2J\x1b[H") } else { Ok(()) };
    cleared.and_then(|()| out.write_all(&bytes)).and_then(|()| out.flush()).is_ok()
}

/// Passes keys on, until the key that detaches or the end of the input.
fn read_keys(commands: &mpsc::Sender<OwnCommand>, detached: &AtomicBool) {
    let mut buffer = [0; 4096];
    while let Ok(count) = std::io::stdin().read(&mut buffer) {
        let typed = &buffer[..count];
        let end = typed.iter().position(|byte| *byte == DETACH);
        let keys = &typed[..end.unwrap_or(count)];
        let sent =
            keys.is_empty() || commands.send(OwnCommand::Type { bytes: STANDARD.encode(keys) }).is_ok();
        if end.is_some() || count == 0 || !sent {
            break;
        }
    }
    detached.store(true, Ordering::Release);
}

/// Passes each new size of this terminal on.
fn follow_size(commands: mpsc::Sender<OwnCommand>) {
    thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else { return };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let Ok(mut changes) = signal(SignalKind::window_change()) else { return };
            while changes.recv().await.is_some() {
                if commands.send(OwnCommand::Resize { size: size() }).is_err() {
                    return;
                }
            }
        });
    });
}

/// The size of this terminal.
fn size() -> OwnSize {
    let size = terminal_size::terminal_size();
    size.map_or(OwnSize { rows: 24, cols: 80 }, |(cols, rows)| OwnSize { rows: rows.0, cols: cols.0 })
}

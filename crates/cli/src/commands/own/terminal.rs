//! Attaches this terminal to the terminal of an own session: it sends keys and draws the output.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use anyhow::bail;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use watchbill_drive::client::{HostClient, HostError, follow};
use watchbill_drive::folder::Folder;
use watchbill_protocol::error::ApiError;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::OwnSize;

use super::target::new_id;
use crate::commands::emit;
use crate::terminal_text::one_line;

/// Ctrl-]: detaches. No agent uses it, and telnet has always used it so.
const DETACH: u8 = 0x1d;

/// Ends what a program may have begun on the screen: another screen, a hidden cursor, colours, character sets, margins, keys in
/// other codes, the mouse, pasting.
const RESTORE: &[u8] = b"\x1b[?1049l\x1b[?47l\x1b[?25h\x1b[0m\x1b(B\x0f\x1b[?6l\x1b7\x1b[r\x1b8\x1b[?7h\x1b[4l\x1b[?1l\x1b>\
    \x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1004l\x1b[?2004l\x1b[?2026l\
    \x1b[?2031l\x1b[>4m\x1b[<99u\x1b[0 q\r\n";

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
        // What was typed for the session and was not read is dropped: no shell gets it.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}

/// How a view ends.
enum End {
    /// The user detached. With the refusal of the last keys, if they were refused.
    Detached(Option<ApiError>),
    /// The session ended, or cannot be followed.
    Over(Option<HostError>),
    /// A signal ends this program.
    Signal(i32),
}

/// Attaches until the user detaches or the session ends.
///
/// # Errors
/// When this is no terminal, no host runs, or the keys were refused.
pub fn attach(folder: &Folder) -> anyhow::Result<()> {
    let keys = HostClient::connect(folder)?;
    emit("Ctrl-] detaches; the session goes on.\n")?;
    // The end of either side ends the other: the keys, or the output.
    let (over, ended) = mpsc::channel();
    let (commands, received) = mpsc::channel();
    follow_signals(commands.clone(), over.clone())?;
    let raw = Raw::begin()?;
    commands.send(OwnCommand::Resize { size: size() })?;
    let refused = Arc::new(Mutex::new(None));
    let (detached, last_refusal) = (over.clone(), Arc::clone(&refused));
    thread::spawn(move || {
        read_keys(&commands);
        let _ = detached.send(End::Detached(lock(&last_refusal).take()));
    });
    let sent_to = folder.clone();
    thread::spawn(move || send_commands(&sent_to, keys, &received, &refused));
    let drawn = folder.clone();
    thread::spawn(move || {
        let _ = over.send(End::Over(follow(&drawn, 0, &mut draw).err()));
    });
    let end = ended.recv();
    drop(raw);
    match end {
        Ok(End::Detached(Some(refusal))) => bail!("the last keys were refused: {refusal}"),
        Ok(End::Over(Some(error))) => Err(error.into()),
        // As a shell reports it.
        Ok(End::Signal(signal)) => std::process::exit(128 + signal),
        _ => Ok(()),
    }
}

/// Sends commands to the host. A refused key is dropped, and the view goes on: the next one may be taken.
fn send_commands(
    folder: &Folder,
    mut keys: HostClient,
    commands: &mpsc::Receiver<OwnCommand>,
    refused: &Mutex<Option<ApiError>>,
) {
    for command in commands {
        let id = new_id();
        let mut sent = keys.command(&id, &command);
        if let Err(HostError::Broken(_)) = sent {
            // Without a host the session has ended, and the output ends with it.
            let Ok(again) = HostClient::connect(folder) else { return };
            keys = again;
            sent = keys.command(&id, &command);
        }
        if matches!(command, OwnCommand::Resize { .. }) {
            continue;
        }
        let refusal = match sent {
            Err(HostError::Refused(why)) => Some(why),
            _ => None,
        };
        let shown = refusal.as_ref().map(|why| why.message.clone());
        // Noted before it is seen: the user may detach at once.
        *lock(refused) = refusal;
        shown.iter().for_each(|why| show_refusal(why));
    }
}

fn lock(refused: &Mutex<Option<ApiError>>) -> MutexGuard<'_, Option<ApiError>> {
    // No code panics while it holds this lock.
    refused.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says in the last line of the view why a key was refused. The program draws over it.
fn show_refusal(why: &str) {
    let width = usize::from(size().cols).saturating_sub(1);
    let line: String = format!("watchbill: not sent: {}", one_line(why)).chars().take(width).collect();
    let mut out = std::io::stdout().lock();
    let shown = format!("\x1b7\x1b[999;1H\x1b[0;7m{line}\x1b[0m\x1b[K\x1b8\x07");
    let _ = out.write_all(shown.as_bytes()).and_then(|()| out.flush());
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

/// Passes keys on, until the key that detaches or the end of the input. Keys for a session that takes none are read all the same,
/// so that no shell gets them.
fn read_keys(commands: &mpsc::Sender<OwnCommand>) {
    let mut buffer = [0; 4096];
    while let Ok(count) = std::io::stdin().read(&mut buffer) {
        let typed = &buffer[..count];
        let end = typed.iter().position(|byte| *byte == DETACH);
        let keys = &typed[..end.unwrap_or(count)];
        if !keys.is_empty() {
            let _ = commands.send(OwnCommand::Type { bytes: STANDARD.encode(keys) });
        }
        if end.is_some() || count == 0 {
            break;
        }
    }
}

/// Passes each new size of this terminal on, and a signal that ends this program.
fn follow_signals(commands: mpsc::Sender<OwnCommand>, over: mpsc::Sender<End>) -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let within = runtime.enter();
    let mut resized = signal(SignalKind::window_change())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut hung_up = signal(SignalKind::hangup())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let mut quit = signal(SignalKind::quit())?;
    drop(within);
    thread::spawn(move || {
        runtime.block_on(async {
            loop {
                let ends = tokio::select! {
                    Some(()) = resized.recv() => None,
                    Some(()) = terminated.recv() => Some(SignalKind::terminate()),
                    Some(()) = hung_up.recv() => Some(SignalKind::hangup()),
                    Some(()) = interrupted.recv() => Some(SignalKind::interrupt()),
                    Some(()) = quit.recv() => Some(SignalKind::quit()),
                    else => return,
                };
                match ends {
                    Some(signal) => drop(over.send(End::Signal(signal.as_raw_value()))),
                    None => drop(commands.send(OwnCommand::Resize { size: size() })),
                }
            }
        });
    });
    Ok(())
}

/// The size of this terminal.
fn size() -> OwnSize {
    let size = terminal_size::terminal_size();
    size.map_or(OwnSize { rows: 24, cols: 80 }, |(cols, rows)| OwnSize { rows: rows.0, cols: cols.0 })
}

//! The host: the process that keeps one own session. The program `watchbill-host` is [`main`].
//!
//! It is started three times for a session. The first process makes the host and waits until it listens. So the program that
//! starts a session is not the host's parent. The second process is the host. The third becomes the agent (`exec`).

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod agent;
mod agent_lifecycle;
mod answered;
mod commands;
mod control_sequences;
mod conversation;
mod environment;
mod exec;
mod grid;
mod input;
mod mailbox;
mod orphans;
mod process_names;
mod processes;
mod prompt_queue;
mod readers;
mod screen;
mod server;
mod session;
mod shutdown_plan;
mod terminal_queries;
mod work;

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use watchbill_drive::folder::Folder;
use watchbill_drive::host_process::{KEEP, NAME};
use watchbill_platform::files::open_private;
use watchbill_platform::socket::Address;

use crate::environment::ALLOCATOR;
use crate::input::Input;
use crate::session::Session;

/// How long a host may take to listen.
const START: Duration = Duration::from_secs(10);

/// The exit code of a host whose session has another one.
const BUSY: u8 = 3;

/// How long readers may take to read the last events and answers.
const FAREWELL: Duration = Duration::from_secs(2);

/// The program. `args` are without its name.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let Some(first) = args.next() else { return usage() };
    if first == exec::WORD {
        return exec::exec(args);
    }
    if first == "--version" {
        say(&format!("{NAME} {}", env!("CARGO_PKG_VERSION")));
        return ExitCode::SUCCESS;
    }
    let done = match (first == KEEP, args.next()) {
        (true, Some(folder)) => keep(&Folder::at(Path::new(&folder))),
        (false, None) if !first.to_string_lossy().starts_with('-') => {
            let folder = std::path::absolute(&first);
            folder.and_then(|folder| launch(&Folder::at(&folder)))
        }
        _ => return usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            fault(&format!("{NAME}: {error}"));
            if error.kind() == io::ErrorKind::ResourceBusy { ExitCode::from(BUSY) } else { ExitCode::FAILURE }
        }
    }
}

#[allow(clippy::print_stdout, reason = "the program answers on standard output")]
fn say(text: &str) {
    println!("{text}");
}

#[allow(clippy::print_stderr, reason = "the program reports on standard error")]
fn fault(text: &str) {
    eprintln!("{text}");
}

fn usage() -> ExitCode {
    fault(
        "watchbill-host keeps one session for Watchbill, which starts it itself.\nusage: watchbill-host FOLDER",
    );
    ExitCode::from(2)
}

/// Makes the host, and waits until it listens.
fn launch(folder: &Folder) -> io::Result<()> {
    let spec = folder.spec().map_err(io::Error::other)?;
    // A session of its own: what ends the caller's terminal does not end the host. Fails for a group's leader, who has one.
    let _ = rustix::process::setsid();
    let scope = process_names::scope(&spec.session);
    let in_scope = has_user_manager().then(|| {
        let mut command = Command::new("systemd-run");
        command.args(["--user", "--scope", "--collect", "--quiet", "--unit", &scope, "--"]);
        command.arg(std::env::current_exe().unwrap_or_default());
        command
    });
    // Names the running program also when another start has replaced its file.
    let mut plain = Command::new("/proc/self/exe");
    plain.arg0(NAME);
    for mut command in in_scope.into_iter().chain([plain]) {
        if start(&mut command, folder)? {
            return Ok(());
        }
    }
    let faults = folder.faults();
    Err(io::Error::other(format!("the host of the session does not start; {} may say why", faults.display())))
}

/// Whether systemd keeps services of this user. A host in a scope of its own outlives the service that started it.
fn has_user_manager() -> bool {
    let uid = rustix::process::geteuid().as_raw();
    Path::new(&format!("/run/user/{uid}/systemd/private")).exists()
}

/// Starts a host with this command. `false`: it has ended without listening.
fn start(command: &mut Command, folder: &Folder) -> io::Result<bool> {
    let faults = open_private(OpenOptions::new().append(true).create(true), &folder.faults())?;
    command.arg(KEEP).arg(folder.path()).current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(faults);
    command.envs(ALLOCATOR.iter().filter(|(name, _)| std::env::var_os(name).is_none()).copied());
    let mut child = command.spawn()?;
    let begun = Instant::now();
    let address = Address::at(&folder.socket());
    while begun.elapsed() < START {
        if address.connect().is_ok() {
            return Ok(true);
        }
        match child.try_wait()? {
            // A short session has ended already.
            Some(status) if status.success() => return Ok(true),
            // Another host was faster. It may not listen yet.
            Some(status) if status.code() == Some(BUSY.into()) => {}
            Some(_) => return Ok(false),
            None => {}
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(false)
}

/// Keeps the session until it has ended.
fn keep(folder: &Folder) -> io::Result<()> {
    let spec = folder.spec().map_err(io::Error::other)?;
    let lock = open_private(OpenOptions::new().write(true).create(true).truncate(false), &folder.lock())?;
    if lock.try_lock().is_err() {
        return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another host keeps this session"));
    }
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let (inputs, received) = sync_channel(256);
    signals(&inputs)?;
    let mut session = Session::open(folder.clone(), spec.clone(), inputs.clone())?;
    let shared = Arc::new(server::Shared {
        folder: folder.clone(),
        spec,
        inputs,
        next: session.next(),
        long_line: Mutex::default(),
        owed: AtomicUsize::new(0),
    });
    let address = Address::at(&folder.socket());
    let (listener, mark) = address.listen()?;
    if let Err(error) = watch(folder, &shared.inputs) {
        fault(&format!("{NAME}: it will not be noticed if the folder of the session is removed: {error}"));
    }
    server::serve(listener, Arc::clone(&shared))?;
    session.run(&received);
    drop(received);
    // A program that connects from now on learns that the session has ended. The next host waits for the lock, so this socket
    // is still our own.
    let removed = address.remove(&mark);
    let begun = Instant::now();
    while shared.owed.load(Ordering::Acquire) > 0 && begun.elapsed() < FAREWELL {
        std::thread::sleep(Duration::from_millis(5));
    }
    if folder.is_unwanted() {
        folder.remove()?;
    }
    removed
}

/// Tells the loop when the folder of the session is not there any more: it, or one above it, was removed or moved.
fn watch(folder: &Folder, inputs: &SyncSender<Input>) -> io::Result<()> {
    use rustix::fs::inotify;
    let flags = inotify::WatchFlags::DELETE_SELF | inotify::WatchFlags::MOVE_SELF;
    // The socket of the host keeps the folder's inode, so its removal shows by the files in it.
    let flags_of_own = flags | inotify::WatchFlags::DELETE;
    let watched = inotify::init(inotify::CreateFlags::CLOEXEC)?;
    for above in folder.path().ancestors().take_while(|above| above.parent().is_some()) {
        // A folder that this user may not look at is not removed by this user either.
        let is_own = above == folder.path();
        let _ = inotify::add_watch(&watched, above, if is_own { flags_of_own } else { flags });
    }
    let (spec, inputs) = (folder.spec_file(), inputs.clone());
    let look = move || {
        let mut events = File::from(watched);
        let mut buffer = [0; 4096];
        while std::io::Read::read(&mut events, &mut buffer).is_ok() {
            if !spec.exists() {
                let _ = inputs.send(Input::FolderGone);
                return;
            }
        }
    };
    std::thread::Builder::new().name("folder".to_owned()).stack_size(128 << 10).spawn(look).map(drop)
}

/// Passes signals to the loop.
fn signals(inputs: &SyncSender<Input>) -> io::Result<()> {
    let mut signals = Signals::new([SIGCHLD, SIGTERM, SIGINT, SIGHUP])?;
    let inputs = inputs.clone();
    let pass = move || {
        for signal in signals.forever() {
            let input = if signal == SIGCHLD { Input::Children } else { Input::Terminate };
            if inputs.send(input).is_err() {
                return;
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).stack_size(128 << 10).spawn(pass).map(drop)
}

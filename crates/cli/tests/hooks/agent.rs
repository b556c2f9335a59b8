//! Plays the agent for the hooks: starts a hook, writes a payload, waits for the end. Also a listener in this
//! process.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use watchbill_hooks::places::HookPaths;
use watchbill_hooks::{HookMessage, Options, Receiver};

/// Far longer than any step takes. A test that waits for something that never comes fails after it.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// `watchbill hook` with a home of its own.
pub fn hook(data_dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_watchbill"));
    command.env_clear().env("HOME", data_dir.join("home")).arg("hook").arg("--data-dir").arg(data_dir);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A payload of one session.
pub fn payload(session: &str, number: usize) -> Vec<u8> {
    let payload = serde_json::json!({
        "session_id": session, "transcript_path": "/home/dev/t.jsonl", "cwd": "/home/dev/work",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": format!("echo {number}")},
        "tool_use_id": format!("toolu_{session}_{number}"),
    });
    payload.to_string().into_bytes()
}

/// The bytes that fit into a pipe on any system before they are read.
const AT_ONCE: usize = 4096;

/// Starts a hook and gives it its payload. A short payload is in the pipe before the hook starts, so it cannot come
/// too late, however busy the machine is. Other tests cover late payloads.
pub fn start(mut command: Command, payload: &[u8]) -> Child {
    if payload.len() <= AT_ONCE {
        let (theirs, mut ours) = std::io::pipe().expect("a pipe");
        ours.write_all(payload).expect("there is room");
        drop(ours);
        return command.stdin(theirs).spawn().expect("the program starts");
    }
    let mut child = command.spawn().expect("the program starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    // A sender that has read enough closes its end.
    let _ = pipe.write_all(payload);
    child
}

/// Runs a hook as the agent does. It must exit with 0 and print nothing.
pub fn run(command: Command, payload: &[u8]) -> Duration {
    let begun = Instant::now();
    let output = start(command, payload).wait_with_output().expect("it ends");
    let took = begun.elapsed();
    silent(&output);
    took
}

pub fn silent(output: &Output) {
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
}

/// A receiver in this process, and the events that it delivers.
pub struct Listener {
    pub receiver: Receiver,
    pub heard: mpsc::Receiver<HookMessage>,
}

impl Listener {
    pub fn open(data_dir: &Path) -> Self {
        Self::open_with(data_dir, Options::default())
    }

    pub fn open_with(data_dir: &Path, options: Options) -> Self {
        let (sender, heard) = mpsc::channel();
        let receiver = Receiver::open_at(HookPaths::new(data_dir), options, move |event| {
            let _ = sender.send(event);
        });
        Self { receiver: receiver.expect("it opens"), heard }
    }

    /// One with the list of forgotten sessions, as in our programs.
    pub fn open_beside_store(data_dir: &Path) -> Self {
        let (sender, heard) = mpsc::channel();
        let listener = watchbill_hooks::ReceiverSetup {
            options: Options::default(),
            exclude: Default::default(),
            forgotten: Some(data_dir.join("watchbill.db.forgotten")),
            on_event: Box::new(move |event| drop(sender.send(event))),
            on_trouble: Box::new(|| {}),
        };
        let receiver = Receiver::open_for(HookPaths::new(data_dir), listener).expect("it opens");
        Self { receiver, heard }
    }

    pub fn next(&self) -> HookMessage {
        self.heard.recv_timeout(TIMEOUT).expect("an event comes")
    }

    /// The events up to now, and none that come later: the receiver is stopped, and ends after its round.
    pub fn rest(self) -> Vec<HookMessage> {
        drop(self.receiver);
        self.heard.into_iter().collect()
    }
}

/// Waits until a condition holds.
pub fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(begun.elapsed() < TIMEOUT, "in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Event files in the spool.
pub fn spooled(data_dir: &Path) -> Vec<PathBuf> {
    let places = HookPaths::without_spares(data_dir);
    watchbill_hooks::spool::list(&places.spool())
        .expect("it can be read")
        .into_iter()
        .map(|s| s.path)
        .collect()
}

/// The spare spools of a data folder lie outside of it, so tests that use them remove them.
pub fn spares(data_dir: &Path) -> Vec<PathBuf> {
    HookPaths::new(data_dir).spools().skip(1).collect()
}

//! Stand-ins for the agent: real processes with correct registry files.

use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;
use watchbill_engine::clock::SystemClock;
use watchbill_engine::engine::Sources;
use watchbill_engine::handle::start_in;
use watchbill_platform::process;
use watchbill_watch::fs::StdFs;
use watchbill_watch::process::{ExitFd, Processes, SystemProcesses, pid_domain};

use crate::records::{SessionWriter, registry};
use crate::subscriber::{Folder, Subscriber, now, row};

/// Writes the registry file of a process, and gives its path.
pub fn register(folder: &Folder, author: &SessionWriter, status: &str, pid: u32) -> std::path::PathBuf {
    let file = folder.root.join(format!("sessions/{pid}.json"));
    let text = registry(pid, &process::look(pid).unwrap().start, author, status, now(), now());
    let domain = pid_domain().map(|domain| format!(r#""pidDomain":"{domain}","kind""#));
    let text = domain.map_or(text.clone(), |domain| text.replace(r#""kind""#, &domain));
    std::fs::write(&file, text).unwrap();
    file
}

/// A process that does nothing, and its registry file.
pub struct StandIn {
    child: Child,
    file: std::path::PathBuf,
}

impl StandIn {
    pub fn start(folder: &Folder, author: &SessionWriter, status: &str) -> Self {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let file = register(folder, author, status, child.id());
        Self { child, file }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // The test may have killed it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_killed_process_ends_its_session() {
    let folder = Folder::new();
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    let mut process = StandIn::start(&folder, &author, "busy");
    let mut subscriber = Subscriber::on(folder.settings());
    let pid = process.child.id();
    subscriber.until("the process", |copy| row(copy, &author).is_some_and(|row| row.pid == Some(pid)));
    assert_eq!(row(&subscriber.copy, &author).unwrap().state, "working");
    process.kill();
    subscriber.until_state(&author, "ended");
    assert_eq!(row(&subscriber.copy, &author).unwrap().state_kind.as_deref(), Some("crashed"));
}

#[test]
fn a_process_that_ends_cleanly_ends_its_session() {
    let folder = Folder::new();
    let author = folder.author(1);
    let mut subscriber = Subscriber::on(folder.settings());
    folder.append(&author, &author.prompt(1, now()));
    let process = StandIn::start(&folder, &author, "idle");
    subscriber.until_state(&author, "waiting_for_input");
    std::fs::remove_file(&process.file).unwrap();
    subscriber.until_state(&author, "ended");
    assert_eq!(row(&subscriber.copy, &author).unwrap().state_kind, None);
}

#[test]
fn a_process_without_a_transcript_is_a_row_after_a_moment() {
    let folder = Folder::new();
    let author = folder.author(1);
    let mut subscriber = Subscriber::on(folder.settings());
    let mut process = StandIn::start(&folder, &author, "idle");
    subscriber.until_state(&author, "waiting_for_input");
    process.kill();
    subscriber.until("it to be gone", |copy| copy.sessions.is_empty());
}

/// Processes that end just before the engine can wait for them; their id belongs then to a process that never ends.
#[derive(Default)]
struct FleetingProcesses(AtomicBool);

impl Processes for FleetingProcesses {
    fn probe(&self, _: &Instance, _: Option<&str>) -> Liveness {
        if self.0.load(Ordering::SeqCst) { Liveness::Dead } else { Liveness::Alive }
    }

    fn exit_fd(&self, _: u32) -> Option<ExitFd> {
        self.0.store(true, Ordering::SeqCst);
        SystemProcesses::new().exit_fd(std::process::id())
    }
}

#[test]
fn a_process_that_ends_before_the_engine_can_wait_for_it_is_noticed() {
    let folder = Folder::new();
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    let world = Sources { fs: Arc::new(StdFs), processes: Arc::new(FleetingProcesses::default()) };
    let clock = Arc::new(SystemClock);
    let handle = start_in(folder.settings(), world, clock, None, Arc::new(Notify::new())).unwrap();
    let mut subscriber = Subscriber::of(handle);
    // Moves the file into place, so that no second hint leads to another look at it.
    let aside = folder.root.join("aside.json");
    std::fs::write(&aside, registry(7, "1", &author, "busy", now(), now())).unwrap();
    std::fs::rename(aside, folder.root.join("sessions/7.json")).unwrap();
    subscriber.until("the crash", |copy| {
        row(copy, &author).is_some_and(|row| row.state_kind.as_deref() == Some("crashed"))
    });
}

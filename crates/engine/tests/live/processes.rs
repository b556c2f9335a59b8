//! Stand-ins for the agent: real processes with registry files that name them truly.

#![cfg(target_os = "linux")]

use std::process::{Child, Command};

use watchbill_watch::process::{pid_domain, proc_start};

use crate::ear::{Ear, Folder, now, row};
use crate::records::{Author, registry};

/// A process that does nothing, and its registry file.
struct StandIn {
    child: Child,
    file: std::path::PathBuf,
}

impl StandIn {
    fn start(folder: &Folder, author: &Author, status: &str) -> Self {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id();
        let file = folder.root.join(format!("sessions/{pid}.json"));
        let start = proc_start(pid).unwrap();
        let text = registry(pid, &start, author, status, now(), now());
        let domain = pid_domain().map(|domain| format!(r#""pidDomain":"{domain}","kind""#));
        let text = domain.map_or(text.clone(), |domain| text.replace(r#""kind""#, &domain));
        std::fs::write(&file, text).unwrap();
        Self { child, file }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // It may have been killed by the test.
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
    let mut ear = Ear::on(folder.settings());
    let pid = process.child.id();
    ear.until("the process", |copy| row(copy, &author).is_some_and(|row| row.pid == Some(pid)));
    assert_eq!(row(&ear.copy, &author).unwrap().state, "working");
    process.kill();
    ear.until_state(&author, "ended");
    assert_eq!(row(&ear.copy, &author).unwrap().state_kind.as_deref(), Some("crashed"));
}

#[test]
fn a_process_that_comes_and_goes_politely() {
    let folder = Folder::new();
    let author = folder.author(1);
    let mut ear = Ear::on(folder.settings());
    folder.append(&author, &author.prompt(1, now()));
    let process = StandIn::start(&folder, &author, "idle");
    ear.until_state(&author, "waiting_for_input");
    std::fs::remove_file(&process.file).unwrap();
    ear.until_state(&author, "ended");
    assert_eq!(row(&ear.copy, &author).unwrap().state_kind, None);
}

#[test]
fn a_process_without_a_transcript_is_a_row_after_a_moment() {
    let folder = Folder::new();
    let author = folder.author(1);
    let mut ear = Ear::on(folder.settings());
    let mut process = StandIn::start(&folder, &author, "idle");
    ear.until_state(&author, "waiting_for_input");
    process.kill();
    ear.until("it to be gone", |copy| copy.sessions.is_empty());
}

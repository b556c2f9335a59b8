//! Processes that the agent of a killed host left. A host writes its processes into a file, and the next host of the session
//! ends those that still run.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use watchbill_drive::folder::Folder;
use watchbill_platform::clock::boot;

use crate::processes::{self, Process};

/// How long they may take to end by themselves.
const TIMEOUT: Duration = Duration::from_secs(1);

fn file(folder: &Folder) -> PathBuf {
    folder.path().join("processes")
}

/// Writes down which processes belong to the session.
pub fn remember(folder: &Folder, processes: &[Process]) {
    // A folder that is being removed gets no new file.
    if !folder.spec_file().exists() {
        return;
    }
    // Process ids and start times name processes until the next boot.
    let mut text = boot().unwrap_or_default().to_string();
    for Process { pid, start } in processes {
        text.push_str(&format!("\n{pid} {start}"));
    }
    let (path, new) = (file(folder), folder.path().join("processes.new"));
    if let Err(error) = fs::write(&new, text).and_then(|()| fs::rename(&new, &path)) {
        tracing::warn!(%error, file = %path.display(), "the processes are not written down");
    }
}

/// Ends what an earlier host wrote down and still runs. Only the holder of the session's lock may call it: that host is dead.
pub fn end(folder: &Folder) {
    let text = fs::read_to_string(file(folder)).unwrap_or_default();
    let mut lines = text.lines();
    if lines.next() != Some(&*boot().unwrap_or_default()) {
        return;
    }
    let read = |line: &str| {
        let (pid, start) = line.split_once(' ')?;
        Some(Process { pid: pid.parse().ok()?, start: start.parse().ok()? })
    };
    let strays: Vec<Process> = lines.filter_map(read).filter(|stray| processes::is_alive(*stray)).collect();
    let send = |signals: &[Signal]| {
        for stray in &strays {
            for signal in signals {
                if let Err(error) = processes::signal(*stray, *signal) {
                    tracing::warn!(%error, pid = stray.pid, "what a dead host left cannot be ended");
                }
            }
        }
    };
    send(&[Signal::TERM, Signal::CONT]);
    let begun = Instant::now();
    while begun.elapsed() < TIMEOUT && strays.iter().any(|stray| processes::is_alive(*stray)) {
        std::thread::sleep(Duration::from_millis(20));
    }
    send(&[Signal::KILL]);
}

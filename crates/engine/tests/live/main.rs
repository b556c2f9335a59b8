//! The running engine on real files, with real notifications and real processes.

// A test that cannot go on panics.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

mod agents;
mod alerts;
#[path = "../../../watch/tests/it/counting_fs.rs"]
#[allow(dead_code, reason = "shared with all tests that need a file system watched")]
mod counting_fs;
#[cfg(target_os = "linux")]
mod faults;
mod files;
mod hooks;
#[cfg(target_os = "linux")]
mod processes;
#[path = "../laws/records.rs"]
#[allow(dead_code, reason = "shared with the laws, which need more of it")]
mod records;
mod rescans;
mod running;
#[cfg(target_os = "linux")]
mod running_engine_rig;
mod settings;
#[cfg(target_os = "linux")]
#[path = "../../../testkit/src/skipped.rs"]
mod skipped;
#[cfg(target_os = "linux")]
mod socket;
mod status_server;
mod subscriber;
mod user_commands;

/// Waits until the condition holds; fails after a generous time.
#[track_caller]
fn until(what: &str, mut is: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + subscriber::TIMEOUT;
    while !is() {
        assert!(std::time::Instant::now() < end, "waited in vain for {what}");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

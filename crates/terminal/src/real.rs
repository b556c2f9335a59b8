//! The real system.

use watchbill_core::hook::TerminalContext;

use crate::call::{CallResult, ProgramCall};
use crate::process;
use crate::windows::{Window, x11};
use crate::world::{Platform, Process, World};

/// The system that this program runs on.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealWorld;

impl World for RealWorld {
    fn platform(&self) -> Platform {
        Platform::own()
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok().filter(|value| !value.is_empty())
    }

    fn run(&self, call: &ProgramCall) -> CallResult {
        let ran = crate::run::run(call);
        tracing::debug!(%call, ?ran, "asked");
        ran
    }

    fn process(&self, pid: u32) -> Option<Process> {
        if cfg!(target_os = "linux") {
            process::parse_stat(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
        } else if cfg!(unix) {
            let pid_ = pid.to_string();
            let line =
                self.run(&ProgramCall::new("ps", ["-o", "ppid=,tty=,lstart=,comm=", "-p", &pid_])).done()?;
            process::parse_ps(pid, &line)
        } else {
            None
        }
    }

    #[cfg(target_os = "linux")]
    fn terminal_of(&self, pid: u32) -> Option<TerminalContext> {
        // An environment holds secrets: it is searched for the names on the list, and then dropped.
        let bytes = std::fs::read(format!("/proc/{pid}/environ")).ok()?;
        let find = |name: &str| -> Option<std::ffi::OsString> {
            let mut entries = bytes.split(|byte| *byte == 0);
            let value = entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
            Some(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(value).to_owned())
        };
        Some(watchbill_core::hook::terminal::terminal_variables(&find))
    }

    /// Untried on other systems: their processes' environments are not read.
    #[cfg(not(target_os = "linux"))]
    fn terminal_of(&self, _pid: u32) -> Option<TerminalContext> {
        None
    }

    #[cfg(target_os = "linux")]
    fn named(&self, name: &str) -> Vec<(u32, Vec<String>)> {
        let own = rustix::process::geteuid().as_raw();
        let mut found = Vec::new();
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|pid| pid.parse().ok()) else { continue };
            let owner = entry.metadata().map(|data| std::os::unix::fs::MetadataExt::uid(&data)).ok();
            if owner != Some(own) || self.process(pid).is_none_or(|process| process.name != name) {
                continue;
            }
            let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words = line.split(|byte| *byte == 0).filter(|word| !word.is_empty());
            found.push((pid, words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()));
        }
        found
    }

    #[cfg(not(target_os = "linux"))]
    fn named(&self, _name: &str) -> Vec<(u32, Vec<String>)> {
        Vec::new()
    }

    fn windows(&self, display: &str) -> Option<Vec<Window>> {
        x11::windows(display)
    }

    fn active(&self, display: &str) -> Option<u32> {
        x11::active(display)
    }

    fn activate(&self, display: &str, window: u32) -> bool {
        x11::activate(display, window)
    }
}

//! The real system.

use watchbill_core::hook::TerminalContext;
use watchbill_platform::process;

use crate::call::{CallResult, ProgramCall};
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
        let ran = call.run();
        tracing::debug!(%call, ?ran, "asked");
        ran
    }

    fn process(&self, pid: u32) -> Option<Process> {
        process::look(pid).filter(|process| !process.has_ended)
    }

    fn terminal_of(&self, pid: u32) -> Option<TerminalContext> {
        let environment = process::environment(pid)?;
        Some(watchbill_core::hook::terminal::terminal_variables(&|name| environment.get(name)))
    }

    fn named(&self, name: &str) -> Vec<(u32, Vec<String>)> {
        let is_named = |pid: &u32| self.process(*pid).is_some_and(|process| process.name == name);
        let found = process::all().filter(|pid| process::is_own(*pid) && is_named(pid));
        found
            .map(|pid| {
                let mut words = process::command_line(pid).unwrap_or_default();
                words.retain(|word| !word.is_empty());
                (pid, words)
            })
            .collect()
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

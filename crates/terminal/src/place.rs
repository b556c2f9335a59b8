//! One place in the nest of programs: the terminal's variables, its device, and the ancestor processes.
//!
//! Other programs set the variables. Each accessor lets only one form of value through.

use std::sync::Arc;

use watchbill_core::hook::TerminalContext;
use watchbill_core::ids::Instance;

use crate::session_location::{Presence, SessionLocation};
use crate::world::{Platform, Process, World};

/// Limit for ancestors; more than any desktop has.
const MAX_ANCESTORS: usize = 48;

/// A place in the nest of programs: of a session's process, or of a multiplexer's client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NestLevel {
    /// The kind of system.
    pub platform: Platform,
    /// Values from the environment. They are not checked; use the accessors.
    pub terminal: TerminalContext,
    /// The process itself and its ancestors, nearest first; empty if unknown.
    pub above: Vec<Process>,
    /// The session's working folder.
    pub cwd: Option<Arc<str>>,
}

impl NestLevel {
    /// The place of a session.
    ///
    /// # Errors
    /// When no terminal can be shown from here. The text is the reason.
    pub fn of(session_location: &SessionLocation, world: &dyn World) -> Result<Self, String> {
        let instance = match &session_location.presence {
            Presence::Ended => return Err("The session has ended; no terminal shows it any more.".into()),
            Presence::DemoOnly => return Err("This session is made up for the demo; it runs nowhere.".into()),
            Presence::Background => {
                return Err("The agent runs this session in the background, without a terminal.".into());
            }
            Presence::Elsewhere => {
                return Err(
                    "The session runs in a container or on another machine; its terminal cannot be seen \
                            from here."
                        .into(),
                );
            }
            Presence::Unconfirmed => None,
            Presence::Runs(instance) => Some(instance),
        };
        let mut place = Self {
            platform: world.platform(),
            terminal: session_location.terminal.as_deref().cloned().unwrap_or_default(),
            above: Vec::new(),
            cwd: session_location.cwd.clone(),
        };
        if let Some(instance) = instance {
            place.look(instance, world);
        }
        if place.above.is_empty() && place.terminal.ids.is_empty() {
            return Err(
                "The session's terminal is not known: its process cannot be read, and no hook named a \
                        terminal."
                    .into(),
            );
        }
        Ok(place)
    }

    /// The place of a multiplexer's client.
    pub fn of_client(&self, pid: u32, tty: Option<&str>, world: &dyn World) -> Option<Self> {
        let above = ancestors(pid, world);
        let mut terminal = world.terminal_of(pid).unwrap_or_default();
        if let Some(tty) = tty.map(str::to_owned).or_else(|| above.first()?.tty.clone()) {
            terminal.ids.insert("tty".into(), tty.into());
        }
        let known = !above.is_empty() || !terminal.ids.is_empty();
        known.then(|| Self { platform: self.platform, terminal, above, cwd: self.cwd.clone() })
    }

    /// Adds the facts of the session's process. Its id may have passed to another process, so the start time is
    /// compared before and after.
    fn look(&mut self, instance: &Instance, world: &dyn World) {
        let is_it = |process: &Process| {
            instance
                .proc_start
                .as_deref()
                .is_none_or(|start| process.start.is_empty() || process.start == start)
        };
        let Some(before) = world.process(instance.pid).filter(&is_it) else { return };
        let reported = world.terminal_of(instance.pid);
        let above = ancestors(instance.pid, world);
        if world.process(instance.pid).is_none_or(|after| after.start != before.start) {
            return;
        }
        if let Some(reported) = reported {
            if self.terminal.kind.is_empty() {
                self.terminal.kind = reported.kind;
            }
            for (name, value) in reported.ids {
                self.terminal.ids.entry(name).or_insert(value);
            }
        }
        if let Some(tty) = before.tty {
            self.terminal.ids.insert("tty".into(), tty.into());
        }
        self.above = above;
    }

    /// The process ids of this place and its ancestors, nearest first.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        // The first process is an ancestor of all, and shows no window of this session.
        self.above.iter().map(|process| process.pid).filter(|pid| *pid > 1)
    }

    /// The nearest process of this place with one of these short names.
    pub fn process_of(&self, names: &[&str]) -> Option<u32> {
        let found = self.above.iter().find(|process| names.contains(&process.name.as_str()));
        found.map(|process| process.pid)
    }

    /// A value without a check.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.terminal.ids.get(name).map(|value| &**value)
    }

    /// A decimal number.
    pub fn number(&self, name: &str) -> Option<u32> {
        number(self.text(name)?)
    }

    /// A value that cannot be an option: without control characters, not long, and not beginning with `-`.
    pub fn word(&self, name: &str) -> Option<&str> {
        self.text(name).filter(|word| is_word(word))
    }

    /// An id: letters, digits and `_-.:@/`. It cannot be an option.
    pub fn id(&self, name: &str) -> Option<&str> {
        let allowed = |c: char| c.is_ascii_alphanumeric() || "_-.:@/".contains(c);
        self.word(name).filter(|id| id.chars().all(allowed))
    }

    /// An absolute path.
    pub fn path(&self, name: &str) -> Option<&str> {
        self.word(name).filter(|path| path.starts_with('/'))
    }

    /// The terminal device: `/dev/pts/4`, `/dev/ttys003`.
    pub fn tty(&self) -> Option<&str> {
        self.text("tty").filter(|tty| is_tty(tty))
    }

    /// The session's working folder, if it is an absolute path.
    pub fn folder(&self) -> Option<&str> {
        self.cwd.as_deref().filter(|cwd| cwd.starts_with('/') && is_word(cwd))
    }
}

/// A process and its ancestors, nearest first.
pub fn ancestors(pid: u32, world: &dyn World) -> Vec<Process> {
    let mut above: Vec<Process> = Vec::new();
    let mut next = pid;
    while next > 0 && above.len() < MAX_ANCESTORS && above.iter().all(|process| process.pid != next) {
        let Some(process) = world.process(next) else { break };
        next = process.parent;
        above.push(process);
    }
    above
}

/// A decimal number without a sign.
pub fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

/// Whether the text is `/dev/` with letters, digits and slashes.
pub fn is_tty(text: &str) -> bool {
    let rest = text.strip_prefix("/dev/").unwrap_or_default();
    !rest.is_empty()
        && rest.len() < 32
        && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'/')
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.len() <= 1024 && !text.starts_with('-') && !text.chars().any(char::is_control)
}

//! The processes above the sender: the agent among them, and the terminal they belong to.

use watchbill_agents::claude::process::ClientSigns;
#[cfg(target_os = "linux")]
use watchbill_agents::claude::process::{is_in_command_line, runs_scripts};
use watchbill_core::ids::Instance;

use crate::envelope::Ancestor;

/// The most levels that are read: a client, its shells, a multiplexer, a terminal, a desktop.
const LEVELS: usize = 16;

/// The processes above a sender.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ancestry {
    /// Nearest first.
    pub ancestors: Vec<Ancestor>,
    /// The agent's process.
    pub agent: Option<Instance>,
    /// The terminal device of the nearest ancestor that has one. The agent's hooks have none themselves.
    pub tty: Option<String>,
}

/// Reads the processes above this one.
#[cfg(target_os = "linux")]
pub fn look(signs: &ClientSigns) -> Ancestry {
    let mut found = Ancestry::default();
    let mut pid = std::os::unix::process::parent_id();
    while found.ancestors.len() < LEVELS && pid > 1 {
        let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { break };
        let Some(process) = Process::parse(&stat) else { break };
        if found.agent.is_none() && is_agent(pid, process.name, signs) {
            found.agent = Some(Instance { pid, proc_start: Some(process.start.to_string().into()) });
        }
        if found.tty.is_none() {
            found.tty = tty_name(process.tty);
        }
        found.ancestors.push(Ancestor { pid, start: Some(process.start) });
        pid = process.parent;
    }
    found
}

/// The controlling terminal of a process.
#[cfg(target_os = "linux")]
pub fn terminal_of(pid: u32) -> Option<String> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    tty_name(Process::parse(&stat)?.tty)
}

/// Untried elsewhere: no terminal is known.
#[cfg(not(target_os = "linux"))]
pub fn terminal_of(_pid: u32) -> Option<String> {
    None
}

/// On other Unix systems only the parent is known.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn look(_signs: &ClientSigns) -> Ancestry {
    let parent = Ancestor { pid: std::os::unix::process::parent_id(), start: None };
    Ancestry { ancestors: vec![parent], ..Ancestry::default() }
}

/// On other systems no process is known.
#[cfg(not(unix))]
pub fn look(_signs: &ClientSigns) -> Ancestry {
    Ancestry::default()
}

/// Whether a process is the agent, by its id, its name, its registry file or its command line.
#[cfg(target_os = "linux")]
fn is_agent(pid: u32, name: &[u8], signs: &ClientSigns) -> bool {
    signs.name(pid, name)
        || signs.registered_at(pid).is_some_and(|file| file.exists())
        || (runs_scripts(name)
            && std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| is_in_command_line(&line)))
}

/// The fields of `/proc/<pid>/stat` that Watchbill uses (proc_pid_stat(5)).
#[cfg(target_os = "linux")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Process<'a> {
    /// The name of its program, cut by the kernel.
    pub name: &'a [u8],
    /// `R`, `S`, `T` (stopped), `Z` (ended, not yet taken note of) and the like.
    pub state: u8,
    /// The process above it.
    pub parent: u32,
    /// The number of its terminal's device.
    pub tty: u32,
    /// When it was started, in clock ticks since boot.
    pub start: u64,
}

#[cfg(target_os = "linux")]
impl<'a> Process<'a> {
    /// Reads a stat line; `None` if it is not whole. The name in parentheses may contain any character, also `)`. So the
    /// fields are counted from the last `)`.
    pub fn parse(stat: &'a [u8]) -> Option<Self> {
        let open = stat.iter().position(|byte| *byte == b'(')?;
        let close = stat.iter().rposition(|byte| *byte == b')')?;
        let name = stat.get(open + 1..close)?;
        let fields: Vec<&str> =
            std::str::from_utf8(&stat[close + 1..]).ok()?.split_ascii_whitespace().collect();
        // Fields 4, 7 and 22. The first field here is field 3.
        Some(Self {
            name,
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            tty: fields.get(4)?.parse::<i32>().ok()?.cast_unsigned(),
            start: fields.get(19)?.parse().ok()?,
        })
    }
}

/// The device's path from its number. Pseudo-terminals have the majors 136 to 143, consoles the major 4.
#[cfg(target_os = "linux")]
fn tty_name(number: u32) -> Option<String> {
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xf_ff00));
    match major {
        136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
        4 if minor < 64 => Some(format!("/dev/tty{minor}")),
        4 => Some(format!("/dev/ttyS{}", minor - 64)),
        _ => None,
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let tail = "S 41 77 77 34818 77 4194304 1 2 3 4 5 6 7 8 20 0 1 0 213025 9 9";
        for name in ["claude", "a) S 1 (b", "(", ")", "two words"] {
            let stat = format!("77 ({name}) {tail}");
            let process = Process::parse(stat.as_bytes()).expect("it is whole");
            assert_eq!((process.parent, process.tty, process.start), (41, 34818, 213_025), "{name}");
            assert_eq!(process.name, name.as_bytes());
        }
        for torn in ["", "77", "77 (x", "77 (x) S", "77 )x( S 1 1", "77 (x) S a 1 1 1 1"] {
            assert!(Process::parse(torn.as_bytes()).is_none(), "{torn}");
        }
    }

    #[test]
    fn devices_are_named_as_ps_names_them() {
        assert_eq!(tty_name(34818).as_deref(), Some("/dev/pts/2"));
        assert_eq!(tty_name(0x0010_8800 | 3).as_deref(), Some("/dev/pts/259"));
        assert_eq!(tty_name(0x0401).as_deref(), Some("/dev/tty1"));
        assert_eq!(tty_name(0x0440).as_deref(), Some("/dev/ttyS0"));
        assert_eq!(tty_name(0), None);
    }

    #[test]
    fn this_process_has_a_parent() {
        let found = look(&ClientSigns::default());
        assert_eq!(found.ancestors[0].pid, std::os::unix::process::parent_id());
        assert!(found.ancestors.len() <= LEVELS);
    }
}

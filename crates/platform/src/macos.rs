//! macOS and other Unix systems tell of a process by the program `ps`. It is untried there.

use crate::facts::Process;

#[cfg(all(unix, not(target_os = "linux")))]
pub use crate::unknown::*;

/// The clock that counts since boot. macOS counts sleep too.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;

/// What the system tells of a process. `None` for a process that has ended. Its start is in UTC, as agents write it (Claude Code
/// 2.1.329 for macOS calls `ps` with this time zone too).
#[cfg(all(unix, not(target_os = "linux")))]
pub fn look(pid: u32) -> Option<Process> {
    parse_ps(&ps(FIELDS, &["-p", &pid.to_string()])?)
}

/// The same for many processes: all are looked at once, since each look starts a program.
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) fn lookup() -> impl Fn(u32) -> Option<Process> {
    let all = ps(FIELDS, &["-A"]).unwrap_or_default();
    let all: std::collections::HashMap<u32, Process> =
        all.lines().filter_map(parse_ps).map(|process| (process.pid, process)).collect();
    move |pid| all.get(&pid).cloned()
}

/// The words of a process's command line. `ps` does not tell a blank in a word from one between two.
#[cfg(all(unix, not(target_os = "linux")))]
pub fn command_line(pid: u32) -> Option<Vec<String>> {
    let line = ps("args=", &["-p", &pid.to_string()])?;
    Some(line.split_whitespace().map(str::to_owned).collect())
}

#[cfg(all(unix, not(target_os = "linux")))]
const FIELDS: &str = "pid=,ppid=,stat=,tty=,lstart=,comm=";

#[cfg(all(unix, not(target_os = "linux")))]
fn ps(fields: &str, which: &[&str]) -> Option<String> {
    let mut ps = std::process::Command::new("/bin/ps");
    ps.args(["-o", fields]).args(which).env("LC_ALL", "C").env("TZ", "UTC");
    crate::program::run(&mut ps, None).done()
}

/// Parses a line of `ps -o pid=,ppid=,stat=,tty=,lstart=,comm=`: `lstart` is five words, `comm` a path on macOS.
fn parse_ps(line: &str) -> Option<Process> {
    let mut words = line.split_whitespace();
    let (pid, parent) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let has_ended = words.next()?.starts_with('Z');
    let tty = words.next().filter(|tty| !tty.contains('?')).map(|tty| format!("/dev/{tty}"));
    let start = words.by_ref().take(5).collect::<Vec<_>>().join(" ");
    let command = words.collect::<Vec<_>>().join(" ");
    let name = command.rsplit('/').next().filter(|name| !name.is_empty())?.to_owned();
    Some(Process { pid, parent, name, start, has_ended, tty, reads_keys: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ps_is_read() {
        let line = "   77   501 S+   ttys003  Sat Nov 21 14:48:27 2026     /Applications/iTerm.app/Contents/MacOS/iTerm2\n";
        let process = parse_ps(line).expect("a process");
        assert_eq!((process.pid, process.parent, process.name.as_str()), (77, 501, "iTerm2"));
        assert_eq!(process.tty.as_deref(), Some("/dev/ttys003"));
        assert_eq!(process.start, "Sat Nov 21 14:48:27 2026");
        assert_eq!((process.reads_keys, crate::process::age(&process, 0)), (None, None), "ps does not tell");
        assert_eq!(parse_ps("77 1 Ss ??  Sat Nov 21 14:48:27 2026 launchd").expect("a process").tty, None);
        assert!(parse_ps("77 1 Z ??  Sat Nov 21 14:48:27 2026 (claude)").expect("a process").has_ended);
        for torn in [
            "",
            "77",
            "77 1 Ss ??",
            "77 a Ss ??  Sat Nov 21 14:48:27 2026 launchd",
            "77 1 Ss ??  Sat Nov 21 14:48:27 2026",
        ] {
            assert_eq!(parse_ps(torn), None, "{torn}");
        }
    }
}

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
    let mut ps = std::process::Command::new("ps");
    ps.args(["-o", "ppid=,stat=,tty=,lstart=,comm=", "-p", &pid.to_string()])
        .env("LC_ALL", "C")
        .env("TZ", "UTC");
    parse_ps(pid, &crate::program::run(&mut ps, None).done()?)
}

/// Parses the output of `ps -o ppid=,stat=,tty=,lstart=,comm= -p PID`: `lstart` is five words, `comm` a path on macOS.
fn parse_ps(pid: u32, line: &str) -> Option<Process> {
    let mut words = line.split_whitespace();
    let parent = words.next()?.parse().ok()?;
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
        let line = "  501 S+   ttys003  Sat Nov 21 14:48:27 2026     /Applications/iTerm.app/Contents/MacOS/iTerm2\n";
        let process = parse_ps(77, line).expect("a process");
        assert_eq!((process.parent, process.name.as_str()), (501, "iTerm2"));
        assert_eq!(process.tty.as_deref(), Some("/dev/ttys003"));
        assert_eq!(process.start, "Sat Nov 21 14:48:27 2026");
        assert_eq!((process.reads_keys, crate::process::age(&process, 0)), (None, None), "ps does not tell");
        assert_eq!(parse_ps(77, "1 Ss ??  Sat Nov 21 14:48:27 2026 launchd").expect("a process").tty, None);
        assert!(parse_ps(77, "1 Z ??  Sat Nov 21 14:48:27 2026 (claude)").expect("a process").has_ended);
        for torn in [
            "",
            "1",
            "1 Ss ??",
            "a Ss ??  Sat Nov 21 14:48:27 2026 launchd",
            "1 Ss ??  Sat Nov 21 14:48:27 2026",
        ] {
            assert_eq!(parse_ps(77, torn), None, "{torn}");
        }
    }
}

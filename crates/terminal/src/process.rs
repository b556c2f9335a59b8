//! Reads processes: from `/proc` on Linux, from `ps` elsewhere.

use crate::world::Process;

/// Parses `/proc/<pid>/stat`. The program's name in parentheses may contain spaces and parentheses, so only the part
/// after the last parenthesis counts (proc(5)).
pub fn parse_stat(pid: u32, stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let mut fields = std::str::from_utf8(&stat[close + 1..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None;
    }
    let parent = fields.next()?.parse().ok()?;
    // After the parent, field 4: group, session, terminal, and the group that reads the terminal's keys.
    let group = fields.next()?;
    let tty = fields.nth(1)?.parse().ok().and_then(device);
    let reader = fields.next()?;
    let reads_keys = Some(tty.is_some() && reader == group);
    // The start is field 22.
    let start = fields.nth(13)?.to_owned();
    Some(Process { pid, parent, name, start, tty, reads_keys })
}

/// The name of a terminal device by its number: pseudo-terminals are major 136 to 143, consoles 4 (the kernel's
/// `admin-guide/devices.txt`).
fn device(number: i64) -> Option<String> {
    let number = u64::try_from(number).ok()?;
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xfff00));
    match major {
        136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
        4 if minor < 64 => Some(format!("/dev/tty{minor}")),
        _ => None,
    }
}

/// Parses the output of `ps -o ppid=,tty=,lstart=,comm= -p PID`: `lstart` is five words, `comm` a path on macOS.
pub fn parse_ps(pid: u32, line: &str) -> Option<Process> {
    let mut words = line.split_whitespace();
    let parent = words.next()?.parse().ok()?;
    let tty = words.next().filter(|tty| !tty.contains('?')).map(|tty| format!("/dev/{tty}"));
    let start = words.by_ref().take(5).collect::<Vec<_>>().join(" ");
    let command = words.collect::<Vec<_>>().join(" ");
    let name = command.rsplit('/').next().filter(|name| !name.is_empty())?.to_owned();
    Some(Process { pid, parent, name, start, tty, reads_keys: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_line_is_read_with_any_program_name() {
        let line = b"4021 (a) b (c) S 4000 4021 4021 34828 4021 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 9 9";
        let process = parse_stat(4021, line).expect("a process");
        assert_eq!(
            process,
            Process {
                pid: 4021,
                parent: 4000,
                name: "a) b (c".into(),
                start: "987654".into(),
                tty: Some("/dev/pts/12".into()),
                reads_keys: Some(true),
            }
        );
        let behind = b"4021 (claude) T 4000 4021 4000 34828 4000 0 1 2 3 4 5 6 7 8 20 0 1 0 987654 9 9";
        assert_eq!(parse_stat(4021, behind).and_then(|process| process.reads_keys), Some(false));
        for torn in [&b""[..], b"4021 (a", b"4021 (a) Z 1 1 1 0", b"4021 (a) S x", b")("] {
            assert_eq!(parse_stat(4021, torn), None, "{torn:?}");
        }
    }

    #[test]
    fn devices_are_named_by_their_numbers() {
        assert_eq!(device(34816), Some("/dev/pts/0".into()));
        assert_eq!(device(34816 + 256 + 3), Some("/dev/pts/259".into()));
        assert_eq!(device(1025), Some("/dev/tty1".into()));
        assert_eq!((device(0), device(-1)), (None, None));
    }

    #[test]
    fn a_line_of_ps_is_read() {
        let line =
            "  501 ttys003  Sat Nov 21 14:48:27 2026     /Applications/iTerm.app/Contents/MacOS/iTerm2\n";
        let process = parse_ps(77, line).expect("a process");
        assert_eq!((process.parent, process.name.as_str()), (501, "iTerm2"));
        assert_eq!(process.tty.as_deref(), Some("/dev/ttys003"));
        assert_eq!(process.start, "Sat Nov 21 14:48:27 2026");
        assert_eq!(parse_ps(77, "1 ??  Sat Nov 21 14:48:27 2026 launchd").expect("a process").tty, None);
        assert_eq!(parse_ps(77, ""), None);
    }
}

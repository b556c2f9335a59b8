//! Linux tells of processes by files below `/proc` (proc(5)).

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::facts::{Environment, ExitFd, LockHolder, Process};

/// The clock that counts since boot, sleep included.
pub(crate) const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;

/// `/proc/<pid>/stat` counts in hundredths of a second, with any tick of the kernel.
const TICK: Duration = Duration::from_millis(10);

fn read(pid: u32, name: &str) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/{name}")).ok()
}

/// What the system tells of a process. `None` for a process that has ended or is hidden.
pub fn look(pid: u32) -> Option<Process> {
    parse_stat(pid, &read(pid, "stat")?)
}

/// The same for many processes.
pub(crate) fn lookup() -> impl Fn(u32) -> Option<Process> {
    look
}

/// Parses `/proc/<pid>/stat`. The program's name in parentheses may have any byte, also `)`. So the fields are counted from the
/// last `)`.
fn parse_stat(pid: u32, stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let mut fields = std::str::from_utf8(&stat[close + 1..]).ok()?.split_ascii_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    // The parent is field 4. The group, the session, the terminal, and the group that reads the terminal's keys follow.
    let group = fields.next()?;
    let tty = terminal_name(fields.nth(1)?.parse().ok()?);
    let reads_keys = Some(fields.next()? == group && tty.is_some());
    // The start is field 22.
    let start = fields.nth(13)?.to_owned();
    Some(Process { pid, parent, name, start, has_ended, tty, reads_keys })
}

/// The name of a terminal's device, by its number: pseudo-terminals have the majors 136 to 143, consoles and serial lines the
/// major 4 (the kernel's `admin-guide/devices.txt`).
fn terminal_name(number: i32) -> Option<String> {
    let number = number.cast_unsigned();
    let (major, minor) = ((number >> 8) & 0xfff, (number & 0xff) | ((number >> 12) & 0xf_ff00));
    match major {
        136..=143 => Some(format!("/dev/pts/{}", (major - 136) * 256 + minor)),
        4 if minor < 64 => Some(format!("/dev/tty{minor}")),
        4 => Some(format!("/dev/ttyS{}", minor - 64)),
        _ => None,
    }
}

/// Time from the boot of the machine to the start of a process; `None` if the system does not tell.
pub(crate) fn started(process: &Process) -> Option<Duration> {
    TICK.checked_mul(process.start.parse().ok()?)
}

/// The ids of all processes.
pub fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Whether a process belongs to this user.
pub fn is_own(pid: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::metadata(format!("/proc/{pid}")).is_ok_and(|found| found.uid() == own)
}

/// The children of a process, in no order; `None` if the system does not tell.
///
/// The kernel keeps a list for each thread. A kernel built without these lists needs a search through the whole process table, so
/// do not call this periodically.
pub fn children(pid: u32) -> Option<Vec<u32>> {
    listed(pid).or_else(|| {
        fs::read_dir("/proc").ok()?;
        Some(all().filter(|child| look(*child).is_some_and(|child| child.parent == pid)).collect())
    })
}

/// The children that the kernel lists under each thread of a process.
fn listed(pid: u32) -> Option<Vec<u32>> {
    let mut pids = Vec::new();
    for thread in fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(children) => {
                pids.extend(children.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()))
            }
            // The kernel keeps no such list, or the thread has just ended. The main thread shows which.
            Err(_) if thread.file_name() == *pid.to_string() => return None,
            Err(_) => {}
        }
    }
    Some(pids)
}

/// The words of a process's command line; `None` if the system does not tell.
pub fn command_line(pid: u32) -> Option<Vec<String>> {
    let line = read(pid, "cmdline")?;
    let line = line.strip_suffix(b"\0").unwrap_or(&line);
    Some(line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// The file of a process's program; `None` if the system does not tell. When an update has replaced the file, the system adds
/// ` (deleted)` to its name.
pub fn program_file(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

/// The environment of a process, as it was at its start; `None` if the system does not tell.
pub fn environment(pid: u32) -> Option<Environment> {
    let entry = |entry: &[u8]| {
        let equals = entry.iter().position(|byte| *byte == b'=')?;
        let (name, value) = (&entry[..equals], &entry[equals + 1..]);
        Some((OsString::from_vec(name.to_owned()), OsString::from_vec(value.to_owned())))
    };
    Some(Environment(read(pid, "environ")?.split(|byte| *byte == 0).filter_map(entry).collect()))
}

/// The control group that systemd gave a process: of the second version, or of systemd's own hierarchy; `None` if the system has
/// none.
pub fn control_group(pid: u32) -> Option<Arc<str>> {
    let text = String::from_utf8_lossy(&read(pid, "cgroup")?).into_owned();
    let of = |hierarchy: &str| text.lines().find_map(|line| line.split_once(hierarchy)).map(|(_, path)| path);
    let unified = of("0::").filter(|path| *path != "/");
    unified.or_else(|| of(":name=systemd:")).or_else(|| of("0::")).map(Arc::from)
}

/// The numbers of a process's open files, with their paths. Another user's processes show none.
fn open_files(pid: u32) -> impl Iterator<Item = (OsString, PathBuf)> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name(), fs::read_link(entry.path()).ok()?)))
}

/// Whether a process of this user has a file open. The path of a removed file ends with ` (deleted)`.
pub fn has_open(pid: u32, file: &Path) -> bool {
    open_files(pid).any(|(_, path)| path == file)
}

/// Whether a process of this user has the controlling end of a pseudo-terminal open.
pub fn controls_terminal(pid: u32, terminal: &str) -> bool {
    let Some(number) = terminal.strip_prefix("/dev/pts/") else { return false };
    open_files(pid)
        .filter(|(_, path)| path == Path::new("/dev/ptmx") || path == Path::new("/dev/pts/ptmx"))
        .any(|(descriptor, _)| {
            descriptor_lines(pid, &descriptor.to_string_lossy())
                .iter()
                .any(|line| line.strip_prefix("tty-index:").is_some_and(|index| index.trim() == number))
        })
}

/// Whether a process of this user holds the lock on a file: `fdinfo` lists the locks of each open file (proc_pid_fdinfo(5)).
pub fn holds_lock(pid: u32, file: &Path) -> bool {
    let Ok(wanted) = fs::metadata(file) else { return false };
    // Only a file of that name is looked at: another one may be on a dead mount.
    open_files(pid).filter(|(_, path)| path.file_name() == file.file_name()).any(|(descriptor, _)| {
        let descriptor = descriptor.to_string_lossy();
        let held = fs::metadata(format!("/proc/{pid}/fd/{descriptor}"));
        held.is_ok_and(|held| (held.dev(), held.ino()) == (wanted.dev(), wanted.ino()))
            && descriptor_lines(pid, &descriptor)
                .iter()
                .any(|line| line.starts_with("lock:") && line.contains(" WRITE "))
    })
}

/// Who holds the lock (`flock`) on the file of this device and inode, without opening it: `/proc/locks` lists all locks of
/// processes that this one can see (proc_locks(5)).
///
/// The open files of the process would tell more, but some programs hide them (`PR_SET_DUMPABLE`).
pub fn lock_holder(dev: u64, ino: u64) -> LockHolder {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    holder_among(&locks, (rustix::fs::major(dev), rustix::fs::minor(dev)), ino)
}

/// A system that lists no lock at all may hide them: some containers do, and some lock is held nearly always. A holder of another
/// process namespace has the id 0.
fn holder_among(locks: &str, device: (u32, u32), ino: u64) -> LockHolder {
    match locks.lines().find_map(|line| holder_in(line, device, ino)) {
        Some(0) => LockHolder::Unknown,
        Some(holder) => LockHolder::Process(holder),
        None if locks.trim().is_empty() => LockHolder::Unknown,
        None => LockHolder::Free,
    }
}

/// The holder in a line of `/proc/locks`, such as `3: FLOCK  ADVISORY  WRITE 77 fe:01:524 0 EOF`. A process that waits for the lock
/// has `->` behind the number.
///
/// Some file systems (btrfs, overlayfs) show a file under another device than the lock, both with the major 0. Then the inode alone
/// decides.
fn holder_in(line: &str, (major, minor): (u32, u32), ino: u64) -> Option<u32> {
    let mut words = line.split_ascii_whitespace().skip(1);
    if words.next()? != "FLOCK" {
        return None;
    }
    let holder = words.nth(2)?.parse().ok()?;
    let mut place = words.next()?.split(':');
    let mut number = || u32::from_str_radix(place.next()?, 16).ok();
    let (found, below) = (number()?, number()?);
    let same_device = found == major && (below == minor || major == 0);
    (same_device && place.next()?.parse() == Ok(ino)).then_some(holder)
}

/// What the system tells of an open file.
fn descriptor_lines(pid: u32, descriptor: &str) -> Vec<String> {
    let info = read(pid, &format!("fdinfo/{descriptor}")).unwrap_or_default();
    String::from_utf8_lossy(&info).lines().map(str::to_owned).collect()
}

/// A handle to wait on for the end of a process; `None` if the system has none.
pub fn exit_fd(pid: u32) -> Option<ExitFd> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::NONBLOCK)
        .or_else(|_| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()))
        .ok()
}

/// The id of this boot of the machine; `None` if the system has none.
pub fn boot() -> Option<Arc<str>> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim()).filter(|id| !id.is_empty()).map(Arc::from)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_programs_name_cannot_shift_the_fields() {
        let tail = "S 41 77 77 34818 77 4194304 1 2 3 4 5 6 7 8 20 0 1 0 213025 9 9";
        for name in ["claude", "a) S 1 (b", "(", ")", "two words", "((((", ""] {
            let process = parse_stat(77, format!("77 ({name}) {tail}\n").as_bytes()).expect("it is whole");
            let expected = Process {
                pid: 77,
                parent: 41,
                name: name.to_owned(),
                start: "213025".to_owned(),
                has_ended: false,
                tty: Some("/dev/pts/2".to_owned()),
                reads_keys: Some(true),
            };
            assert_eq!(process, expected);
        }
        let torn =
            ["", "77", "77 (x", "77 (x) S", "77 )x( S 1 1", "77 (x) S a 1 1 1 1", "77 (x) S 1 2 3", ")("];
        for torn in torn {
            assert_eq!(parse_stat(77, torn.as_bytes()), None, "{torn}");
        }
    }

    #[test]
    fn the_state_tells_an_ended_process_and_the_groups_who_reads_keys() {
        let line = |state: &str, group: u32, reader: i32, tty: u32| {
            let stat =
                format!("77 (\u{fffd}) {state} 1 {group} 1 {tty} {reader} 0 1 2 3 4 5 6 7 8 20 0 1 0 5 9");
            let mut stat = stat.into_bytes();
            stat.splice(4..7, [0xff]);
            let process = parse_stat(77, &stat).expect("it is whole");
            assert_eq!(process.name, "\u{fffd}", "bytes that are not UTF-8");
            (process.has_ended, process.reads_keys)
        };
        assert_eq!(line("R", 77, 77, 34816), (false, Some(true)));
        assert_eq!(line("T", 77, 41, 34816), (false, Some(false)), "suspended: the shell reads the keys");
        assert_eq!(line("S", 77, -1, 0), (false, Some(false)), "no terminal");
        assert_eq!(
            (line("Z", 77, -1, 0).0, line("X", 77, -1, 0).0, line("x", 77, -1, 0).0),
            (true, true, true)
        );
    }

    #[test]
    fn terminals_are_named_as_ps_names_them() {
        for (number, name) in [
            (34816, "/dev/pts/0"),
            (34818, "/dev/pts/2"),
            (0x0010_8800 | 3, "/dev/pts/259"),
            (34816 + 256 + 3, "/dev/pts/259"),
            (0x0401, "/dev/tty1"),
            (0x0440, "/dev/ttyS0"),
        ] {
            assert_eq!(terminal_name(number).as_deref(), Some(name));
        }
        assert_eq!((terminal_name(0), terminal_name(-1), terminal_name(0x0501)), (None, None, None));
    }

    #[test]
    fn a_line_of_locks_is_read() {
        let holder = |line: &str| holder_in(line, (0xfe, 1), 524);
        assert_eq!(holder("3: FLOCK  ADVISORY  WRITE 77 fe:01:524 0 EOF"), Some(77));
        for other in [
            "3: -> FLOCK  ADVISORY  WRITE 78 fe:01:524 0 EOF",
            "3: POSIX  ADVISORY  WRITE 77 fe:01:524 0 EOF",
            "3: FLOCK  ADVISORY  WRITE 77 fe:02:524 0 EOF",
            "3: FLOCK  ADVISORY  WRITE 77 fe:01:525 0 EOF",
            "3: FLOCK  ADVISORY  WRITE -1 fe:01:524 0 EOF",
            "3: FLOCK  ADVISORY  WRITE 77 fe:01",
            "3: FLOCK",
            "",
        ] {
            assert_eq!(holder(other), None, "{other}");
        }
        let among = |locks: &str| holder_among(locks, (0xfe, 1), 524);
        assert_eq!(among("3: POSIX  ADVISORY  READ  9 fe:01:7 0 EOF\n"), LockHolder::Free);
        assert_eq!((among(""), among("\n")), (LockHolder::Unknown, LockHolder::Unknown));
        assert_eq!(among("3: FLOCK  ADVISORY  WRITE 0 fe:01:524 0 EOF\n"), LockHolder::Unknown);
        let of_btrfs = "3: FLOCK  ADVISORY  WRITE 77 00:1f:524 0 EOF";
        assert_eq!((holder_in(of_btrfs, (0, 0x2a), 524), holder(of_btrfs)), (Some(77), None));
    }

    #[test]
    fn the_holder_of_a_childs_lock_is_found_until_it_ends() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let id = file.as_file().metadata().map(|meta| (meta.dev(), meta.ino())).expect("it has an id");
        let holder = || lock_holder(id.0, id.1);
        // The system is known to list locks.
        let other = tempfile::NamedTempFile::new().expect("a file");
        other.as_file().lock().expect("the lock");
        assert_eq!(holder(), LockHolder::Free);
        let mut child = std::process::Command::new("flock")
            .arg("--close")
            .arg(file.path())
            .args(["sh", "-c", "echo held; read -r _"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("util-linux");
        let mut said = [0; 5];
        child.stdout.as_mut().expect("it is a pipe").read_exact(&mut said).expect("it says so");
        assert_eq!(holder(), LockHolder::Process(child.id()));
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert_eq!(holder(), LockHolder::Free);
    }

    #[test]
    fn this_process_is_known() {
        let own = std::process::id();
        let process = look(own).expect("it runs");
        assert_eq!((process.parent, process.has_ended), (std::os::unix::process::parent_id(), false));
        assert!(all().any(|pid| pid == own) && is_own(own));
        assert!(children(process.parent).is_some_and(|children| children.contains(&own)));
        assert_eq!(program_file(own), std::env::current_exe().ok());
        let words: Vec<String> = std::env::args().collect();
        assert_eq!(command_line(own), Some(words));
        assert_eq!(environment(own).and_then(|all| all.get("PATH")), std::env::var_os("PATH"));
        assert!(exit_fd(own).is_some() && control_group(own).is_some());
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(has_open(own, file.path()) && !has_open(own, Path::new("/nowhere")));
        file.as_file().lock().expect("the lock");
        assert!(holds_lock(own, file.path()));
        file.as_file().unlock().expect("no lock");
        assert!(!holds_lock(own, file.path()));
        let age = crate::process::age(&process, crate::clock::since_boot()).expect("it has a start");
        assert!(age < Duration::from_secs(3600), "{age:?}");
    }
}

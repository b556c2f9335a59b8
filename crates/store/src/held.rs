//! Another program that holds the database, so that nobody can write: for whoever only looks.
//!
//! Beside a log a reader waits for no writer, and does not notice. To try to write would tell, and could keep a writer of
//! ours waiting; so the system is asked for its locks. Only Linux lists them; elsewhere the writer alone says that it is kept
//! from writing.

use std::path::Path;

use crate::{StoreError, folder};

/// What would keep a program from writing the database in `data_dir` now, as far as that can be told without writing;
/// `None` where nothing would. For whoever only looks, and is asked why nothing new is stored.
pub fn obstacle(data_dir: &Path) -> Option<StoreError> {
    let path = || data_dir.join(crate::names::DATABASE);
    let held = || Some(StoreError::Locked { path: path(), held_by: Some(holder(data_dir)?) });
    let removed = || Some(StoreError::RemovedUnder { path: path(), writer: removed_under(data_dir)? });
    folder::obstacle(data_dir).or_else(removed).or_else(held)
}

#[cfg(not(target_os = "linux"))]
fn holder(_: &Path) -> Option<u32> {
    None
}

#[cfg(not(target_os = "linux"))]
fn removed_under(_: &Path) -> Option<u32> {
    None
}

#[cfg(target_os = "linux")]
use linux::{holder, removed_under};

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;
    use std::thread::sleep;
    use std::time::Duration;

    /// Where SQLite locks the log's index for whoever writes (<https://sqlite.org/walformat.html>, 2.3.1).
    const WRITE_LOCK: u64 = 120;
    /// Whoever writes a few rows is done by then. An engine of ours does not wait for longer either.
    const PATIENCE: Duration = Duration::from_millis(20);
    /// So many looks, each that much after the one before, have to find the same one.
    const LOOKS: u32 = 5;

    /// The process that holds the right to write, is none of ours, and does not let go of it.
    pub fn holder(data_dir: &Path) -> Option<u32> {
        // Nobody has the database open where it is missing.
        let index = data_dir.join(format!("{}-shm", crate::names::DATABASE)).canonicalize().ok()?;
        let inode = fs::metadata(&index).ok()?.ino();
        let look = || {
            let locks = fs::read_to_string("/proc/locks").ok()?;
            let ours = [Some(std::process::id()), crate::last_writer(data_dir)];
            let mut holders = writers(&locks, inode).filter(|pid| !ours.contains(&Some(*pid)));
            // The same number may be another file's, on another disk; devices are not compared, since some file systems
            // (btrfs, overlays) tell another one here than a file's own metadata does.
            holders.find(|pid| has_open(*pid, &index))
        };
        let first = look()?;
        for _ in 1..LOOKS {
            sleep(PATIENCE);
            if look() != Some(first) {
                return None;
            }
        }
        Some(first)
    }

    /// The process that writes, where it has nothing open but a database that was removed.
    pub fn removed_under(data_dir: &Path) -> Option<u32> {
        let pid = crate::last_writer(data_dir)?;
        let database = data_dir.canonicalize().ok()?.join(crate::names::DATABASE);
        let mut removed = database.clone().into_os_string();
        removed.push(" (deleted)");
        (has_open(pid, Path::new(&removed)) && !has_open(pid, &database)).then_some(pid)
    }

    /// The processes that hold the lock for writing on a file of this number, in the system's list of locks.
    fn writers(locks: &str, inode: u64) -> impl Iterator<Item = u32> {
        locks.lines().filter_map(move |line| {
            // `1: POSIX  ADVISORY  WRITE 19795 fe:00:10014653 120 120`; one that waits has an arrow behind its number.
            let mut words = line.split_whitespace().skip(1);
            let is_kind = [words.next()?, words.next()?, words.next()?] == ["POSIX", "ADVISORY", "WRITE"];
            let pid = words.next()?.parse().ok()?;
            let is_file = words.next()?.rsplit(':').next()?.parse() == Ok(inode);
            let from: u64 = words.next()?.parse().ok()?;
            let to = words.next()?;
            let is_there = from <= WRITE_LOCK && (to == "EOF" || to.parse::<u64>().ok()? >= WRITE_LOCK);
            (is_kind && is_file && is_there).then_some(pid)
        })
    }

    fn has_open(pid: u32, file: &Path) -> bool {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        open.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|path| path == file))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_who_holds_the_lock_for_writing_is_found() {
            let locks = "\
1: POSIX  ADVISORY  WRITE 10 fe:00:77 120 120
2: POSIX  ADVISORY  READ 11 fe:00:77 123 123
2: -> POSIX  ADVISORY  WRITE 12 fe:00:77 120 120
3: POSIX  ADVISORY  WRITE 13 fe:00:78 120 120
4: FLOCK  ADVISORY  WRITE 14 fe:00:77 0 EOF
5: POSIX  ADVISORY  WRITE 15 00:2f:77 120 127
6: POSIX  ADVISORY  WRITE 16 fe:00:77 121 127
7: OFDLCK ADVISORY  WRITE -1 fe:00:77 120 120
8: POSIX  ADVISORY  WRITE 17 fe:00:77 0 EOF
9: POSIX
";
            assert_eq!(writers(locks, 77).collect::<Vec<_>>(), [10, 15, 17]);
        }
    }
}

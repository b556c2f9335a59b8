//! Finds another program that holds the database, so that our writer cannot write. For processes that only read.
//!
//! Because of the log, a reader waits for no writer and does not notice one. Trying to write would tell, but could
//! keep our own writer waiting. So this module reads the system's list of locks. Only Linux has such a list;
//! elsewhere only the writer reports that it is kept from writing.

use std::path::Path;

use crate::{StoreError, folder};

/// What would keep a process from writing the database in `data_dir` now; `None` if nothing would. It checks
/// without writing. For processes that only read and report why nothing new is stored.
pub fn write_obstacle(data_dir: &Path) -> Option<StoreError> {
    let path = || data_dir.join(crate::names::DATABASE);
    let held = || Some(StoreError::Locked { path: path(), held_by: Some(holder(data_dir)?) });
    let removed = || Some(StoreError::RemovedUnder { path: path(), writer: removed_under(data_dir)? });
    folder::path_obstacle(data_dir).or_else(removed).or_else(held)
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

    use watchbill_platform::process::has_open;

    /// The byte that a writer locks in the log's index (<https://sqlite.org/walformat.html>, 2.3.1).
    const WRITE_LOCK: u64 = 120;
    /// The pause between two looks. A writer of a few rows is done by then, and our engine waits no longer either.
    const CHECK_PAUSE: Duration = Duration::from_millis(20);
    /// So many looks in a row must find the same process.
    const CHECKS: u32 = 5;
    /// The system writes its list in pieces. While other programs lock and unlock, a lock that stays may be missing in one
    /// reading. So a look that finds nothing reads the list again.
    const READINGS: u32 = 4;

    /// A process that holds the write lock for a while and is none of ours.
    pub fn holder(data_dir: &Path) -> Option<u32> {
        // If the log's index is missing, no process has the database open.
        let index = data_dir.join(format!("{}-shm", crate::names::DATABASE)).canonicalize().ok()?;
        let inode = fs::metadata(&index).ok()?.ino();
        let read = || {
            let locks = fs::read_to_string("/proc/locks").ok()?;
            let ours = [Some(std::process::id()), crate::last_writer(data_dir)];
            let mut holders = writers(&locks, inode).filter(|pid| !ours.contains(&Some(*pid)));
            // A file on another disk may have the same inode number. Devices are not compared: some file systems
            // (btrfs, overlays) report another one here than in the file's metadata.
            holders.find(|pid| has_open(*pid, &index))
        };
        let look = || (0..READINGS).find_map(|_| read());
        let first = look()?;
        for _ in 1..CHECKS {
            sleep(CHECK_PAUSE);
            if look() != Some(first) {
                return None;
            }
        }
        Some(first)
    }

    /// The last writer, if the database that it has open was removed and it has no other open.
    pub fn removed_under(data_dir: &Path) -> Option<u32> {
        let pid = crate::last_writer(data_dir)?;
        let database = data_dir.canonicalize().ok()?.join(crate::names::DATABASE);
        let mut removed = database.clone().into_os_string();
        removed.push(" (deleted)");
        (has_open(pid, Path::new(&removed)) && !has_open(pid, &database)).then_some(pid)
    }

    /// The processes that hold the write lock on the file with this inode number, from the system's list of locks.
    fn writers(locks: &str, inode: u64) -> impl Iterator<Item = u32> {
        locks.lines().filter_map(move |line| {
            // `1: POSIX  ADVISORY  WRITE 19795 fe:00:10014653 120 120`; a waiting process has an arrow after the
            // number.
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

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_holders_of_the_write_lock_are_found() {
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

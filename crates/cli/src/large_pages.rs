//! Memory pages of two megabytes, for the command that uses much memory for seconds.
//!
//! The index's word table and the database pages are read at random, millions of times. With pages of four kilobytes,
//! the processor looks up each one's address, which takes some hundredths of the time. The C library requests large
//! pages only if a variable says so before the program starts. So the program starts itself again, in the same
//! process. Commands that read the history before they answer do without.
//!
//! Sources: `glibc.malloc.hugetlb` in the manual of glibc 2.35 and later, "Memory Allocation Tunables". For the
//! system's setting, the kernel's documentation, `admin-guide/mm/transhuge`.

use std::convert::Infallible;
use std::env;
use std::ffi::OsStr;
use std::io::{Error, Result};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The variable that the C library reads before `main`.
const TUNABLES: &str = "GLIBC_TUNABLES";
const LARGE: &str = "glibc.malloc.hugetlb=1";
/// Says that the program has been started again. The C library may remove its own variable, from a program with
/// special rights.
const TRIED: &str = "WATCHBILL_LARGE_PAGES";
/// The system's setting. With `[madvise]`, programs get large pages on request. With `[always]`, no request is
/// needed.
const SYSTEM: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// The program's file name.
const FILE: &str = "watchbill";

/// Starts the program again with large pages, if they help; then it does not return. If that fails, the program goes
/// on without them.
pub fn use_them() {
    // A value that the user has set for the C library stays.
    if env::var_os(TRIED).is_some() || env::var_os(TUNABLES).is_some() {
        return;
    }
    if std::fs::read_to_string(SYSTEM).is_ok_and(|system| system.contains("[madvise]"))
        && let Err(error) = start_again()
    {
        tracing::debug!(%error, "memory comes in small pages");
    }
}

/// Returns only on failure. It changes no signal's handling except that of `SIGPIPE`, which each start sets.
fn start_again() -> Result<Infallible> {
    // By the file's own name, by which a user looks for the process.
    let file = env::current_exe()?;
    if file.file_name() != Some(OsStr::new(FILE)) {
        // A loader runs the program, or the file was replaced since.
        return Err(Error::other(format!("{} is not called {FILE}", file.display())));
    }
    let mut words = env::args_os();
    let name = words.next().unwrap_or_else(|| FILE.into());
    Err(Command::new(file).arg0(name).args(words).env(TUNABLES, LARGE).env(TRIED, "1").exec())
}

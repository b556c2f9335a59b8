//! Memory in pages of two megabytes, for the command that fills and reads much of it for seconds.
//!
//! The words' table of the index and the pages of the database are read here and there, millions of times. With pages of
//! four kilobytes the processor has to look up each time where they lie: some hundredths of the work. The C library asks
//! for large pages only where it is told so before the program starts, so the program starts itself once more, in the same
//! process. (glibc 2.35 and later: `glibc.malloc.hugetlb` in its manual, "Memory Allocation Tunables". What the system
//! offers: the kernel's documentation, `admin-guide/mm/transhuge`.) Commands that read the history beside what they are
//! asked for do without.

use std::convert::Infallible;
use std::env;
use std::ffi::OsStr;
use std::io::{Error, Result};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Where the C library looks before `main`.
const TUNABLES: &str = "GLIBC_TUNABLES";
const LARGE: &str = "glibc.malloc.hugetlb=1";
/// That this has been tried. The C library may take its own variable away, from a program with rights of its own.
const TRIED: &str = "WATCHBILL_LARGE_PAGES";
/// What the system does: `[madvise]` where it gives large pages to programs that ask. With `[always]` there is nothing to
/// ask for.
const SYSTEM: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
/// The program's file, as we name it.
const FILE: &str = "watchbill";

/// Starts the program once more with large pages, where that is of use, and does not return then. Whatever stands in the
/// way, it goes on as it is.
pub fn use_them() {
    // What a person has told the C library is not ours to change.
    if env::var_os(TRIED).is_some() || env::var_os(TUNABLES).is_some() {
        return;
    }
    if std::fs::read_to_string(SYSTEM).is_ok_and(|system| system.contains("[madvise]"))
        && let Err(error) = start_again()
    {
        tracing::debug!(%error, "memory comes in small pages");
    }
}

/// Returns only if that was not to be. Of the signals' ways it changes none but that of `SIGPIPE`, which each start sets.
fn start_again() -> Result<Infallible> {
    // By the file's own name, under which a person looks for the process.
    let file = env::current_exe()?;
    if file.file_name() != Some(OsStr::new(FILE)) {
        // A loader that was told to run the program, or what is left of a file that was replaced since.
        return Err(Error::other(format!("{} is not called {FILE}", file.display())));
    }
    let mut words = env::args_os();
    let name = words.next().unwrap_or_else(|| FILE.into());
    Err(Command::new(file).arg0(name).args(words).env(TUNABLES, LARGE).env(TRIED, "1").exec())
}

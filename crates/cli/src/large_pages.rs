//! Memory in pages of two megabytes, for the one command that fills and reads much of it.
//!
//! The words' table of the index and the pages of the database are read here and there, millions of times; with pages of
//! four kilobytes a processor has to look up each time where they lie, some hundredths of the work. The C library asks for
//! large pages only where it is told before the program starts, so that the program starts itself once more, in the same
//! process. (glibc 2.35 and later: "glibc.malloc.hugetlb" in its manual, 39.7; the system's word: transparent hugepages in
//! the kernel's documentation, `admin-guide/mm/transhuge`.)

use std::convert::Infallible;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Where the C library looks before `main`.
const TUNABLES: &str = "GLIBC_TUNABLES";
const LARGE: &str = "glibc.malloc.hugetlb=1";
/// What the system does for programs that ask, that is, for those alone where it says `[madvise]`: with `[always]` there
/// is nothing to ask for.
const SYSTEM: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Starts the program once more with large pages, where that is of use, and does not return then. Whatever stands in the
/// way, it goes on as it is.
pub fn use_them() {
    let told = std::env::var_os(TUNABLES);
    if told.as_deref().is_some_and(|told| told == LARGE) {
        tracing::debug!("memory comes in large pages");
    }
    // Whoever has told the C library something, a person or we, has the last word.
    if told.is_some() || !std::fs::read_to_string(SYSTEM).is_ok_and(|system| system.contains("[madvise]")) {
        return;
    }
    let Err(error) = start_again();
    tracing::debug!(%error, "memory comes in small pages");
}

/// Returns only if that was not to be.
fn start_again() -> std::io::Result<Infallible> {
    let mut words = std::env::args_os();
    // By the file's own name, under which a person looks for the process. One that was replaced since is not found.
    let mut again = Command::new(std::env::current_exe()?);
    if let Some(name) = words.next() {
        again.arg0(name);
    }
    Err(again.args(words).env(TUNABLES, LARGE).exec())
}

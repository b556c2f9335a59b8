//! `index` has its memory in large pages where the system gives them to whoever asks, and says all it was told as before.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use crate::program::{Said, run, watchbill};

const SAID: &str = "memory comes in large pages";

fn index(home: &std::path::Path, tunables: Option<&str>) -> Said {
    let mut command = watchbill(home);
    command.env("WATCHBILL_LOG", "watchbill=debug").args(["index", "--data-dir"]).arg(home.join("its data"));
    command.envs(tunables.map(|tunables| ("GLIBC_TUNABLES", tunables)));
    run(&mut command)
}

#[test]
fn an_index_has_large_pages_where_they_are_to_be_had() {
    let home = tempfile::tempdir().unwrap();
    let system = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    let said = index(home.path(), None);
    assert_eq!(said.code, 0, "{}", said.err);
    // Once and no more: a program that starts itself must not do so for ever.
    assert_eq!(said.err.matches(SAID).count(), usize::from(system.contains("[madvise]")), "{}", said.err);
    // The words after the name came along.
    assert!(home.path().join("its data/watchbill.db").is_file());
}

#[test]
fn what_a_person_has_told_the_c_library_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let said = index(home.path(), Some("glibc.malloc.arena_max=1"));
    assert_eq!((said.code, said.err.contains(SAID)), (0, false), "{}", said.err);
}

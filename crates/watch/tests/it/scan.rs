//! Finding files: which files are found, their order, and the problems with the others.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use watchbill_agents::Root;
use watchbill_core::problem::ProblemKind;
#[cfg(unix)]
use watchbill_watch::scan::canonical_roots;
use watchbill_watch::scan::{scan, scan_path};
use watchbill_watch::{FileKind, MemFs, Scan, StdFs};

fn names(scan: &Scan) -> Vec<String> {
    let relative =
        |path: &Path, root: &Path| path.strip_prefix(root).expect("below its root").display().to_string();
    scan.found.iter().map(|found| relative(&found.path, &found.root)).collect()
}

fn kinds(scan: &Scan) -> Vec<ProblemKind> {
    scan.problems.iter().map(|problem| problem.kind).collect()
}

fn write(path: &Path) {
    std::fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
    std::fs::write(path, b"{}\n").expect("written");
}

#[test]
fn the_last_written_comes_first() {
    let fs = MemFs::new();
    for name in [
        "projects/p/old.jsonl",
        "sessions/7.json",
        "projects/q/s/subagents/agent-1.jsonl",
        "projects/p/new.jsonl",
    ] {
        fs.write(Path::new("/c").join(name), b"{}\n");
    }
    for other in ["projects/p/s/tool-results/agent-9.jsonl", "history.jsonl", "sessions/7.key"] {
        fs.write(Path::new("/c").join(other), b"not ours");
    }
    let scan = scan(&fs, &["/c".into()]);
    assert_eq!(
        names(&scan),
        [
            "projects/p/new.jsonl",
            "projects/q/s/subagents/agent-1.jsonl",
            "sessions/7.json",
            "projects/p/old.jsonl"
        ]
    );
    assert_eq!(scan.problems, []);
}

#[test]
fn problems_are_reported_and_the_other_files_are_found() {
    let fs = MemFs::new();
    fs.write("/c/projects/closed/a.jsonl", b"");
    fs.write("/c/projects/open/b.jsonl", b"");
    fs.write("/c/projects/open/pipe.jsonl", b"");
    fs.mkdir("/c/projects/open/folder.jsonl");
    fs.deny("/c/projects/closed", true);
    fs.set_kind("/c/projects/open/pipe.jsonl", FileKind::Other);
    let scan = scan(&fs, &["/c".into(), "/missing".into()]);
    assert_eq!(names(&scan), ["projects/open/b.jsonl"]);
    let told: Vec<(&str, ProblemKind)> =
        scan.problems.iter().map(|problem| (problem.path.as_ref(), problem.kind)).collect();
    assert_eq!(
        told,
        [
            ("/c/projects/closed", ProblemKind::PermissionDenied),
            ("/c/projects/open/folder.jsonl", ProblemKind::NotAFile),
            ("/c/projects/open/pipe.jsonl", ProblemKind::NotAFile),
            ("/missing", ProblemKind::Missing),
        ]
    );
    assert!(scan.problems.iter().all(|problem| problem.count == 1 && !problem.detail.is_empty()));
}

#[test]
fn a_root_without_projects_is_no_problem_and_a_file_as_root_is() {
    let fs = MemFs::new();
    fs.mkdir("/c");
    fs.write("/file", b"");
    assert_eq!(kinds(&scan(&fs, &["/c".into()])), []);
    assert_eq!(kinds(&scan(&fs, &["/file".into()])), [ProblemKind::NotAFile]);
}

#[test]
fn a_hint_finds_the_files_that_exist_now() {
    let fs = MemFs::new();
    let roots = ["/c", "/c/inner"].map(Root::from);
    fs.write("/c/projects/p/a.jsonl", b"");
    fs.write("/c/projects/p/s/subagents/agent-1.jsonl", b"");
    fs.write("/c/projects/q/b.jsonl", b"");
    fs.write("/c/inner/projects/p/c.jsonl", b"");
    let at = |path: &str| {
        let mut names = names(&scan_path(&fs, &roots, Path::new(path)));
        names.sort();
        names
    };
    assert_eq!(at("/c/projects/p"), ["projects/p/a.jsonl", "projects/p/s/subagents/agent-1.jsonl"]);
    assert_eq!(at("/c/projects/p/a.jsonl"), ["projects/p/a.jsonl"]);
    assert_eq!(at("/c/projects/p/s/subagents"), ["projects/p/s/subagents/agent-1.jsonl"]);
    assert_eq!(at("/c").len(), 3);
    assert_eq!(at("/c/inner/projects/p"), ["projects/p/c.jsonl"], "the innermost root counts");
    for nothing in ["/c/projects/gone", "/c/projects/p/s/tool-results", "/elsewhere", "/c/history.jsonl"] {
        assert_eq!(at(nothing), Vec::<String>::new(), "{nothing}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_once_and_loops_are_cut() {
    use std::os::unix::fs::symlink;
    let dir = TempDir::new().expect("a temporary folder");
    let root = dir.path().join("claude");
    write(&root.join("projects/real/a.jsonl"));
    write(&dir.path().join("elsewhere/b.jsonl"));
    symlink(dir.path().join("elsewhere"), root.join("projects/linked")).expect("linked");
    symlink(root.join("projects/real"), root.join("projects/same")).expect("linked");
    symlink(root.join("projects"), root.join("projects/real/round")).expect("linked");
    symlink(root.join("projects/real/self.jsonl"), root.join("projects/real/self.jsonl")).expect("linked");
    symlink("nowhere", root.join("projects/real/dangling.jsonl")).expect("linked");
    symlink(&root, dir.path().join("link")).expect("linked");
    let shared = dir.path().join("second");
    std::fs::create_dir(&shared).expect("made");
    symlink(root.join("projects"), shared.join("projects")).expect("linked");

    let roots = [root.clone(), dir.path().join("link"), shared].map(Root::from);
    let scan = scan(&StdFs, &roots);
    let mut found = names(&scan);
    found.sort();
    assert_eq!(
        found,
        ["projects/linked/b.jsonl", "projects/real/a.jsonl"],
        "each file once, by its own name"
    );
    assert!(kinds(&scan).iter().all(|kind| *kind == ProblemKind::SymlinkLoop), "{:?}", scan.problems);
    assert!(scan.problems.iter().any(|problem| problem.path.ends_with("real/round")), "{:?}", scan.problems);
    assert_eq!(canonical_roots(&StdFs, &roots).len(), 2);
}

#[cfg(unix)]
#[test]
fn odd_names_and_odd_files_of_a_real_disk() {
    use std::os::unix::ffi::OsStrExt;
    let dir = TempDir::new().expect("a temporary folder");
    let project = dir.path().join("projects").join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    write(&project.join("a-b.jsonl"));
    let made =
        std::process::Command::new("mkfifo").arg(project.join("pipe.jsonl")).status().expect("it runs");
    assert!(made.success(), "a pipe");
    std::fs::create_dir(project.join("folder.jsonl")).expect("made");
    let scan = scan(&StdFs, &[dir.path().into()]);
    assert_eq!(scan.found.len(), 1, "{:?}", scan.found);
    assert_eq!(kinds(&scan), [ProblemKind::NotAFile, ProblemKind::NotAFile]);
}

#[test]
fn a_hint_reports_the_problems_of_its_path_and_of_its_root() {
    let dir = TempDir::new().expect("a temporary folder");
    let root = watchbill_platform::files::real_path(dir.path()).expect("there").join("root");
    let folder = root.join("projects/p/folder.jsonl");
    std::fs::create_dir_all(&folder).expect("made");
    let at = |path: &std::path::Path| kinds(&scan_path(&StdFs, &[root.clone().into()], path));
    assert_eq!(at(&folder), [ProblemKind::NotAFile]);
    assert_eq!(at(&root), [ProblemKind::NotAFile]);
    std::fs::remove_dir_all(&root).expect("removed");
    assert_eq!(at(&root.join("projects")), [ProblemKind::Missing], "the root went, and all below it");
}

#[cfg(unix)]
#[test]
fn only_the_subagents_folder_of_a_session_is_entered() {
    use std::os::unix::fs::symlink;
    let dir = TempDir::new().expect("a temporary folder");
    let root = watchbill_platform::files::real_path(dir.path()).expect("there");
    write(&root.join("projects/p/plain/subagents/agent-1.jsonl"));
    write(&root.join("projects/p/plain/tool-results/agent-2.jsonl"));
    write(&root.join("elsewhere/agent-3.jsonl"));
    for (link, to) in [("linked", root.join("elsewhere")), ("round", root.join("projects"))] {
        let session = root.join("projects/p").join(link);
        std::fs::create_dir(&session).expect("made");
        symlink(to, session.join("subagents")).expect("linked");
    }
    std::fs::create_dir(root.join("projects/p/empty")).expect("made");
    write(&root.join("projects/p/file/subagents"));
    let scan = scan(&StdFs, &[root.clone().into()]);
    let mut found = names(&scan);
    found.sort();
    assert_eq!(
        found,
        ["projects/p/linked/subagents/agent-3.jsonl", "projects/p/plain/subagents/agent-1.jsonl"]
    );
    assert_eq!(kinds(&scan), [ProblemKind::SymlinkLoop]);
    assert!(scan.problems[0].path.ends_with("round/subagents"), "{:?}", scan.problems);
}

/// A folder that may not be opened is no problem if nothing in it is wanted. Needs a user who is not root.
#[cfg(unix)]
#[test]
fn an_unwanted_link_is_not_followed() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let dir = TempDir::new().expect("a temporary folder");
    let root = watchbill_platform::files::real_path(dir.path()).expect("there");
    write(&root.join("projects/p/session/subagents/agent-1.jsonl"));
    let locked = root.join("locked");
    std::fs::create_dir(&locked).expect("made");
    symlink(&locked, root.join("projects/p/session/output")).expect("linked");
    symlink(&locked, root.join("projects/wanted")).expect("linked");
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o0)).expect("locked");
    let scan = scan(&StdFs, &[root.clone().into()]);
    let is_root = std::fs::read_dir(&locked).is_ok();
    std::fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o700)).expect("unlocked");
    assert_eq!(names(&scan), ["projects/p/session/subagents/agent-1.jsonl"]);
    let expected =
        if is_root { vec![] } else { vec![root.join("projects/wanted").to_string_lossy().into_owned()] };
    assert_eq!(scan.problems.iter().map(|problem| problem.path.to_string()).collect::<Vec<_>>(), expected);
}

#[cfg(unix)]
#[test]
fn a_hint_at_a_folder_finds_the_same_as_a_full_scan() {
    use std::os::unix::fs::symlink;
    let dir = TempDir::new().expect("a temporary folder");
    let root = watchbill_platform::files::real_path(dir.path()).expect("there");
    let session = root.join("projects/p/s");
    write(&session.join("subagents/workflows/w/agent-1.jsonl"));
    let folders = ["", "subagents", "subagents/workflows", "subagents/other", "tool-results"]
        .map(|name| session.join(name));
    for folder in &folders {
        std::fs::create_dir_all(folder).expect("made");
        symlink("itself", folder.join("itself")).expect("linked");
    }
    let all = scan(&StdFs, &[root.clone().into()]);
    assert_eq!(all.problems.len(), 2, "of the two folders that are listed: {:?}", all.problems);
    for folder in &folders {
        let at = scan_path(&StdFs, &[root.clone().into()], folder);
        let below: Vec<_> = all
            .problems
            .iter()
            .filter(|problem| Path::new(&*problem.path).starts_with(folder))
            .cloned()
            .collect();
        assert_eq!(at.problems, below, "{}", folder.display());
        let found: Vec<_> =
            all.found.iter().filter(|found| found.path.starts_with(folder)).cloned().collect();
        assert_eq!(at.found, found, "{}", folder.display());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_walk_of_deep_folders_keeps_only_a_few_open() {
    use watchbill_watch::Fs;
    use watchbill_watch::fs::WalkChoice;
    let dir = TempDir::new().expect("a temporary folder");
    let top = watchbill_platform::files::real_path(dir.path()).expect("there");
    let mut deep = top.clone();
    for _ in 0..120 {
        for beside in ["a", "b", "c"] {
            std::fs::create_dir(deep.join(beside)).expect("made");
        }
        deep.push("deep");
        std::fs::create_dir(&deep).expect("made");
    }
    write(&deep.join("file"));
    let open = || {
        let handles = std::fs::read_dir("/proc/self/fd").expect("there").flatten();
        handles.filter(|fd| std::fs::read_link(fd.path()).is_ok_and(|to| to.starts_with(&top))).count()
    };
    let mut most = 0;
    let walk = StdFs.walk(&top, &mut |path, _| {
        if path.starts_with(&deep) {
            most = open();
        }
        WalkChoice::Visit
    });
    assert_eq!((walk.files.len(), walk.problems), (1, Vec::new()));
    assert!((1..40).contains(&most), "{most} are open");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 32, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_file_with_a_known_path_is_found(
        files in proptest::collection::vec(
            (
                proptest::sample::select(vec!["projects", "sessions", "other"]),
                proptest::collection::vec(
                    proptest::sample::select(vec!["p", "s", "subagents", "workflows", "tool-results"]),
                    0..6,
                ),
                proptest::sample::select(vec!["7.json", "a.jsonl", "agent-1.jsonl", "agent-1.meta.json", "note.md"]),
            ),
            0..12,
        ),
    ) {
        let (memory, dir) = (MemFs::new(), TempDir::new().expect("a temporary folder"));
        let root = watchbill_platform::files::real_path(dir.path()).expect("there");
        let mut ours = std::collections::BTreeSet::new();
        for (top, folders, file) in files {
            let relative: PathBuf = [top].into_iter().chain(folders).chain([file]).collect();
            memory.write(root.join(&relative), b"{}\n");
            write(&root.join(&relative));
            if watchbill_agents::layout::classify(&relative).is_some() {
                ours.insert(relative.display().to_string());
            }
        }
        for fs in [&memory as &dyn watchbill_watch::Fs, &StdFs] {
            let scan = scan(fs, &[root.clone().into()]);
            proptest::prop_assert_eq!(&names(&scan).into_iter().collect::<std::collections::BTreeSet<_>>(), &ours);
        }
    }
}

#[test]
fn a_walk_and_a_single_stat_agree_about_a_file() {
    use std::time::{Duration, UNIX_EPOCH};
    use watchbill_watch::Fs;
    let dir = TempDir::new().expect("a temporary folder");
    let root = watchbill_platform::files::real_path(dir.path()).expect("there");
    let times = [
        UNIX_EPOCH - Duration::new(86_400, 999_600_000),
        UNIX_EPOCH,
        UNIX_EPOCH + Duration::new(1_700_000_000, 1_999_999),
    ];
    for (n, time) in times.into_iter().enumerate() {
        let path = root.join(format!("projects/p/{n}.jsonl"));
        write(&path);
        let file = std::fs::File::options().append(true).open(&path).expect("there");
        file.set_modified(time).expect("set");
    }
    let scan = scan(&StdFs, &[root.clone().into()]);
    assert_eq!(names(&scan), ["projects/p/2.jsonl", "projects/p/1.jsonl", "projects/p/0.jsonl"]);
    for found in &scan.found {
        assert_eq!(StdFs.stat(&found.path).expect("there"), found.stat, "{}", found.path.display());
    }
}

//! What changed in a real repository, told by the engine and by git.

use std::path::Path;
use std::process::Command;

use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::handle::{Handle, start};
use watchbill_protocol::changes::{ChangedFile, Changes, FileFate};
use watchbill_protocol::hooks::DiffKind;
use watchbill_protocol::roster::TrackedSession;

use super::thread::settings;
use crate::wait::until;

const BEGAN: &str = "2026-11-20T15:00:00.000Z";

fn git(tree: &Path, at: &str, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(tree).args([
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "-c",
        "init.defaultBranch=main",
    ]);
    command.env("GIT_COMMITTER_DATE", at).env("GIT_AUTHOR_DATE", at);
    let out = command.args(args).output().unwrap();
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// A session that edits files, each at a later second.
fn transcript(cwd: &Path, edited: &[&Path]) -> String {
    let cwd = cwd.to_str().unwrap();
    let line = |kind: &str, secs: usize, message: &str| {
        let at = Timestamp::parse(BEGAN).unwrap() + Millis::from_secs(secs as i64);
        format!(
            r#"{{"type":"{kind}","uuid":"u{secs}","sessionId":"s","cwd":"{cwd}","timestamp":"{at}","message":{message}}}"#
        ) + "\n"
    };
    let mut lines = line("user", 0, r#"{"role":"user","content":"go"}"#);
    for (number, path) in edited.iter().enumerate() {
        let call = format!(
            r#"{{"id":"m{number}","role":"assistant","model":"m","content":[{{"type":"tool_use","id":"t{number}","name":"Edit","input":{{"file_path":"{}","old_string":"a","new_string":"b"}}}}],"stop_reason":"tool_use"}}"#,
            path.to_str().unwrap()
        );
        let done = format!(
            r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{number}","content":"done"}}]}}"#
        );
        lines += &line("assistant", 10 + 2 * number, &call);
        lines += &line("user", 11 + 2 * number, &done);
    }
    lines
}

fn row(engine: &Handle) -> TrackedSession {
    let mut found = None;
    until("the row knows its repository", || {
        found = engine.roster(true).unwrap().sessions.into_iter().find(|row| row.repo_root.is_some());
        found.is_some()
    });
    found.unwrap()
}

fn brief(file: &ChangedFile) -> (&str, FileFate, u64, u64, u64) {
    (&file.path, file.fate, file.edits, file.added, file.removed)
}

#[test]
fn files_that_the_work_edited_are_told_apart_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let tree = root.join("work");
    let write = |name: &str, text: &str| {
        let path = tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    };
    std::fs::create_dir_all(&tree).unwrap();
    git(&tree, BEGAN, &["init", "-q"]);
    write("kept.txt", "same\n");
    write("gone.txt", "one\ntwo\n");
    write("other.txt", "one\n");
    write("ends.txt", "one\ntwo\n");
    write("cached.txt", "one\n");
    write("racy.txt", "one\n");
    write("racy.eq", "one\n");
    write("mode.sh", "true\n");
    let edited = write("src/näme with space.rs", "one\ntwo\nthree\n");
    git(&tree, "2026-11-20T14:00:00Z", &["add", "."]);
    git(&tree, "2026-11-20T14:00:00Z", &["commit", "-qm", "before"]);
    let base = git(&tree, BEGAN, &["rev-parse", "HEAD"]);
    // The work: an edit that was committed, one that was not, a new file. Something else: a file that is gone, one that changed.
    std::fs::write(&edited, "one\n2\nthree\nfour\n").unwrap();
    git(&tree, "2026-11-20T15:00:30Z", &["commit", "-qam", "during"]);
    let new = write("new.txt", "a\nb\n");
    std::fs::remove_file(tree.join("gone.txt")).unwrap();
    write("other.txt", "two\n");
    std::fs::write(tree.join("blob"), b"\0\x01\x02").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/etc/hostname", tree.join("link")).unwrap();
    write("ends.txt", "one\r\ntwo\r\n");
    git(&tree, BEGAN, &["rm", "-q", "--cached", "cached.txt"]);
    #[cfg(unix)]
    std::fs::set_permissions(tree.join("mode.sh"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    // Its content is the same, its time is not.
    write("kept.txt", "same\n");
    // A folder of the index is a link that leads out by now.
    #[cfg(unix)]
    {
        let secret = write("linked/secret", "mine\n");
        git(&tree, BEGAN, &["add", "linked/secret"]);
        git(&tree, BEGAN, &["update-index", "--skip-worktree", "linked/secret"]);
        std::fs::remove_dir_all(secret.parent().unwrap()).unwrap();
        std::fs::create_dir(root.join("away")).unwrap();
        std::fs::write(root.join("away/secret"), "not shown\n").unwrap();
        std::os::unix::fs::symlink(root.join("away"), tree.join("linked")).unwrap();
    }
    // A program that the repository names must not run.
    let ran = root.join("ran");
    let program = format!("sh -c 'touch {}; cat'", ran.display());
    git(&tree, BEGAN, &["config", "filter.f.clean", &program]);
    git(&tree, BEGAN, &["config", "filter.x=y.clean", &program]);
    git(&tree, BEGAN, &["config", "core.fsmonitor", &program]);
    write(".git/info/attributes", "* filter=f\n*.eq filter=x=y\n");
    // Each entry of the index seems to be of the same moment as the index, so git compares contents.
    let past = std::time::UNIX_EPOCH + std::time::Duration::from_secs(86_400);
    std::fs::File::options().write(true).open(tree.join(".git/index")).unwrap().set_modified(past).unwrap();
    let outside = root.join("outside.txt");

    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("s.jsonl"), transcript(&tree, &[&edited, &outside, &new, &edited])).unwrap();
    let index = std::fs::read(tree.join(".git/index")).unwrap();
    let engine = start(settings(&root)).unwrap();
    let session = row(&engine);
    let mut changes = None;
    until("the edits are stored", || {
        changes = engine.changes(&session).ok();
        changes.as_ref().is_some_and(|it: &Changes| it.files.iter().map(|file| file.edits).sum::<u64>() == 3)
    });
    let changes = changes.unwrap();
    engine.stop();

    let mut wanted = vec![
        ("src/näme with space.rs", FileFate::Changed, 2, 2, 1),
        ("new.txt", FileFate::Added, 1, 2, 0),
        ("blob", FileFate::Added, 0, 0, 0),
        ("ends.txt", FileFate::Changed, 0, 0, 0),
        ("gone.txt", FileFate::Removed, 0, 0, 2),
        ("other.txt", FileFate::Changed, 0, 1, 1),
    ];
    #[cfg(unix)]
    wanted.extend([
        ("link", FileFate::Added, 0, 0, 0),
        ("linked", FileFate::Added, 0, 0, 0),
        ("linked/secret", FileFate::Added, 0, 0, 0),
        ("mode.sh", FileFate::Changed, 0, 0, 0),
    ]);
    wanted[2..].sort_by_key(|file| file.0);
    assert_eq!(changes.files.iter().map(brief).collect::<Vec<_>>(), wanted);
    assert_eq!(changes.base.as_deref(), Some(&base[..10]), "the commit from before the work");
    assert_eq!(changes.since.as_deref(), Some(BEGAN));
    assert_eq!(changes.elsewhere, [outside.to_str().unwrap()]);
    let note = |name: &str| changes.files.iter().find(|file| file.path == name).unwrap().note.as_deref();
    assert_eq!(note("blob"), Some("It is no text."));
    assert_eq!(note("ends.txt"), Some("Only the ends of its lines differ."));
    #[cfg(unix)]
    {
        assert_eq!(note("mode.sh"), Some("Its mode changed."));
        assert_eq!(note("link"), Some("It is no plain file."), "it leads out of the repository");
        let behind = "It lies behind a link that leads out of the repository.";
        assert_eq!(note("linked/secret"), Some(behind));
    }
    let hunk = &changes.files[0].hunks[0];
    assert_eq!((hunk.before, hunk.after), (1, 1));
    let lines: Vec<_> = hunk.lines.iter().map(|line| (line.kind, &*line.text)).collect();
    use DiffKind::{Added, Removed, Same};
    assert_eq!(lines, [(Same, "one"), (Removed, "two"), (Added, "2"), (Same, "three"), (Added, "four")]);
    assert!(!ran.exists(), "a program of the repository ran");
    assert_eq!(std::fs::read(tree.join(".git/index")).unwrap(), index, "git wrote its index");
}

#[test]
fn a_repository_without_a_commit_and_a_folder_without_one_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let tree = root.join("work");
    std::fs::create_dir_all(&tree).unwrap();
    git(&tree, BEGAN, &["init", "-q"]);
    std::fs::write(tree.join("a.txt"), "a\n").unwrap();
    std::fs::write(tree.join("b.txt"), "b\n").unwrap();
    git(&tree, BEGAN, &["add", "a.txt"]);
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("s.jsonl"), transcript(&tree, &[])).unwrap();
    let engine = start(settings(&root)).unwrap();
    let session = row(&engine);
    let mut changes = None;
    until("the session is stored", || {
        changes = engine.changes(&session).ok();
        changes.is_some()
    });
    let changes = changes.unwrap();
    assert_eq!(changes.base, None);
    let told: Vec<_> = changes.files.iter().map(brief).collect();
    assert_eq!(told, [("a.txt", FileFate::Added, 0, 1, 0), ("b.txt", FileFate::Added, 0, 1, 0)]);
    let error = engine.changes(&TrackedSession { repo_root: None, ..session.clone() }).unwrap_err();
    assert_eq!(error.message, "the folder of this session is in no git repository");
    std::fs::remove_dir_all(tree.join(".git")).unwrap();
    let error = engine.changes(&session).unwrap_err();
    assert!(error.message.starts_with("git refused:"), "{}", error.message);
    engine.stop();
}

//! The sender alone: its output, its duration, and its failures.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use watchbill_hooks::envelope::{Decoded, Envelope, PAYLOAD_LIMIT, decode};
use watchbill_hooks::places::HookPaths;
use watchbill_platform::files::private_dir;

use crate::agent::{Listener, hook, payload, run, silent, spares, spooled, start, until};
use crate::skipped::skipped;

/// After five seconds, the sender's own watchdog ends it, also with success. A sender that ends before that has not
/// waited for something that hangs. `cargo xtask bench` measures the real delay of a client, because a machine that
/// runs tests is too busy for that.
const NO_WAITING: Duration = Duration::from_secs(4);

/// Whether one of five tries takes no longer. A busy machine may delay some; one that waits for something that hangs waits each
/// time.
fn in_time(mut attempt: impl FnMut() -> Duration) -> bool {
    (0..5).any(|_| attempt() < NO_WAITING)
}

fn only_event(data_dir: &Path) -> (Envelope, Vec<u8>) {
    let files = spooled(data_dir);
    let [file] = &*files else { panic!("one event was expected: {files:?}") };
    read_event(file)
}

fn read_event(file: &Path) -> (Envelope, Vec<u8>) {
    let bytes = std::fs::read(file).unwrap();
    assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    match decode(&bytes) {
        Decoded::Whole { envelope, payload, used } if used == bytes.len() => {
            (*envelope, bytes[payload].to_vec())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_receiver_the_event_is_spooled_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    // Payloads with invalid UTF-8, invalid JSON or line ends must not change on the way.
    for (number, sent_payload) in
        [&b"{\"a\":1}"[..], b"\xff\xfe\n\n{", b"{\"watchbill_hook\":1,\n\n"].iter().enumerate()
    {
        run(hook(dir.path()), sent_payload);
        let files = spooled(dir.path());
        assert_eq!(files.len(), number + 1);
        let (envelope, payload) = read_event(files.last().unwrap());
        assert_eq!(payload, *sent_payload);
        assert_eq!(envelope.ancestors[0].pid, std::process::id());
        assert!(!envelope.cut);
    }
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(HookPaths::new(dir.path()).root().to_path_buf()), 0o700);
    assert_eq!(mode(HookPaths::new(dir.path()).spool()), 0o700);
}

#[test]
fn private_text_reaches_no_disk() {
    for (sent, kept) in [
        (r#"{"prompt":"do <private>S3CRET</private>it","n":1}"#, r#"{"prompt":"do it","n":1}"#),
        (r#"{"prompt":"<PRIVATE>S3CRET"}"#, r#"{"prompt":"<private></private>"}"#),
        (r#"{"a":["\u003cprivate\u003eS3CRET\u003c\/private\u003e x"]}"#, r#"{"a":[" x"]}"#),
        (r#"{"prompt":"of before S3CRET</private> y"}"#, r#"{"prompt":" y"}"#),
        (r#"{"prompt":"a <private> S3CRET"#, r#"{"prompt":"a "#),
        (r#"{"prompt":"a < private > b <p>"}"#, r#"{"prompt":"a < private > b <p>"}"#),
    ] {
        let dir = tempfile::tempdir().unwrap();
        run(hook(dir.path()), sent.as_bytes());
        let (_, payload) = only_event(dir.path());
        assert_eq!(String::from_utf8_lossy(&payload), kept, "{sent}");
    }
}

#[test]
fn the_terminal_is_captured_at_a_sessions_start_without_the_rest_of_the_environment() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = hook(dir.path());
    command.env("KITTY_WINDOW_ID", "7").env("CLAUDE_CODE_MESSAGING_TOKEN", "a-secret-word");
    command.env("ANTHROPIC_API_KEY", "another-secret-word");
    run(command, br#"{"hook_event_name":"SessionStart","source":"startup"}"#);
    let (envelope, _) = only_event(dir.path());
    let terminal = envelope.terminal.expect("there is one");
    assert_eq!((&*terminal.kind, &*terminal.ids["KITTY_WINDOW_ID"]), ("kitty", "7"));
    let text = std::fs::read(&spooled(dir.path())[0]).unwrap();
    assert!(!String::from_utf8_lossy(&text).contains("secret"));

    std::fs::remove_file(&spooled(dir.path())[0]).unwrap();
    let mut command = hook(dir.path());
    command.env("KITTY_WINDOW_ID", "7");
    run(command, &payload("s", 1));
    assert_eq!(only_event(dir.path()).0.terminal, None);
}

#[test]
fn the_client_is_found_by_its_variable_if_it_is_an_ancestor() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = hook(dir.path());
    command.env("CLAUDE_PID", std::process::id().to_string());
    run(command, b"{}");
    let (envelope, _) = only_event(dir.path());
    let agent = envelope.agent.expect("it names this process");
    assert_eq!(agent.pid, std::process::id());
    assert_eq!(agent.proc_start.as_deref(), envelope.ancestors[0].start.map(|s| s.to_string()).as_deref());

    std::fs::remove_file(&spooled(dir.path())[0]).unwrap();
    let mut command = hook(dir.path());
    // A process in a terminal that the agent started inherits the variable. It has another agent above it, or none.
    command.env("CLAUDE_PID", "1");
    run(command, b"{}");
    assert_eq!(only_event(dir.path()).0.agent.map(|a| a.pid), None);
}

#[test]
fn a_payload_beyond_the_limit_is_cut_and_marked() {
    let dir = tempfile::tempdir().unwrap();
    let huge = vec![b'x'; PAYLOAD_LIMIT + 100_000];
    run(hook(dir.path()), &huge);
    let (envelope, payload) = wait_for_event(dir.path());
    assert!(envelope.cut);
    assert_eq!(payload.len(), PAYLOAD_LIMIT);

    std::fs::remove_file(&spooled(dir.path())[0]).unwrap();
    run(hook(dir.path()), &huge[..PAYLOAD_LIMIT]);
    let (envelope, payload) = wait_for_event(dir.path());
    assert!(!envelope.cut);
    assert_eq!(payload.len(), PAYLOAD_LIMIT);
}

/// Under load the payload may come too late for the sender. Then a second process spools it.
fn wait_for_event(data_dir: &Path) -> (Envelope, Vec<u8>) {
    until("the event is spooled", || spooled(data_dir).len() == 1);
    only_event(data_dir)
}

#[test]
fn a_pipe_that_is_never_closed_does_not_delay_the_sender() {
    assert!(in_time(|| {
        let dir = tempfile::tempdir().unwrap();
        let begun = Instant::now();
        let mut child = hook(dir.path()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(&payload("s", 1)).unwrap();
        silent(&child.wait_with_output().unwrap());
        let took = begun.elapsed();
        let (envelope, sent_payload) = wait_for_event(dir.path());
        assert_eq!((sent_payload, envelope.cut), (payload("s", 1), false));
        drop(pipe);
        took
    }));
}

#[test]
fn a_second_process_waits_for_a_late_payload() {
    assert!(in_time(|| {
        let dir = tempfile::tempdir().unwrap();
        let listener = Listener::open(dir.path());
        let sent_payload = payload("s", 1);
        let (early, late) = sent_payload.split_at(20);
        let mut child = hook(dir.path()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(early).unwrap();
        let begun = Instant::now();
        silent(&child.wait_with_output().unwrap());
        let took = begun.elapsed();
        pipe.write_all(late).unwrap();
        drop(pipe);
        let heard = listener.next();
        assert_eq!((&*heard.payload, heard.cut), (&*sent_payload, false));
        // The agent was an ancestor of the first process. The second has another parent.
        assert!(heard.origin.ancestors.contains(&std::process::id()));
        let spool = HookPaths::new(dir.path()).spool();
        until("the part is gone", || std::fs::read_dir(&spool).unwrap().count() == 0);
        took
    }));
}

#[test]
fn a_receiver_that_hangs_or_has_a_full_queue_does_not_delay_the_sender() {
    let dir = tempfile::tempdir().unwrap();
    let ears = HookPaths::new(dir.path()).sockets_dir();
    private_dir(&ears).unwrap();
    // Accepts connections only into its queue, and never answers. The queue is full after a few.
    let silent_ear = UnixListener::bind(ears.join("1-0.sock")).unwrap();
    rustix::net::listen(&silent_ear, 3).unwrap();
    let took: Vec<_> = (0..20).map(|number| run(hook(dir.path()), &payload("s", number))).collect();
    assert!(took.iter().filter(|took| **took < NO_WAITING).count() > 15, "{took:?}");
    assert_eq!(spooled(dir.path()).len(), 20);
    // A working receiver gets the event although the other hangs.
    let listener = Listener::open(dir.path());
    run(hook(dir.path()), &payload("s", 20));
    let heard: Vec<_> = (0..=20).map(|_| listener.next().payload).collect();
    assert_eq!(heard, (0..=20).map(|n| payload("s", n).into()).collect::<Vec<_>>());
    until("the spool is empty", || spooled(dir.path()).is_empty());
    drop(silent_ear);
}

#[test]
fn an_ear_whose_owner_died_is_skipped_and_removed() {
    let dir = tempfile::tempdir().unwrap();
    let ears = HookPaths::new(dir.path()).sockets_dir();
    private_dir(&ears).unwrap();
    drop(UnixListener::bind(ears.join("4711-0.sock")).unwrap());
    std::fs::write(ears.join("4711-0.lock"), "").unwrap();
    run(hook(dir.path()), b"{}");
    assert_eq!(spooled(dir.path()).len(), 1);
    let listener = Listener::open(dir.path());
    assert!(listener.next().replayed);
    assert!(!ears.join("4711-0.sock").exists() && !ears.join("4711-0.lock").exists());
    drop(listener);
    assert_eq!(std::fs::read_dir(&ears).unwrap().count(), 0);
}

#[test]
fn an_unwritable_folder_leads_to_the_spare_spool() {
    let dir = tempfile::tempdir().unwrap();
    // A file in place of the folder, which not even root can write into.
    std::fs::write(dir.path().join("hooks"), "").unwrap();
    run(hook(dir.path()), &payload("s", 1));
    let found: Vec<_> = spares(dir.path())
        .iter()
        .flat_map(|folder| watchbill_hooks::spool::list(folder).unwrap())
        .map(|spooled| spooled.path)
        .collect();
    assert_eq!(found.len(), 1);
    assert_eq!(read_event(&found[0]).1, payload("s", 1));
    std::fs::remove_file(dir.path().join("hooks")).unwrap();
    let listener = Listener::open(dir.path());
    assert_eq!(&*listener.next().payload, payload("s", 1));
    until("the spare spool is empty", || !found[0].exists());
    for folder in spares(dir.path()) {
        let _ = std::fs::remove_dir(folder);
    }
}

#[test]
fn a_full_disk_leads_to_the_spare_spool_and_leaves_no_incomplete_file() {
    let disk = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs"])
        .arg(disk.path())
        .output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        skipped("NOT TESTED: this user may not mount a small disk to fill it");
        return;
    }
    let unmount = Unmount(disk.path());
    let big = format!("{{\"text\":\"{}\"}}", "x".repeat(200_000)).into_bytes();
    run(hook(disk.path()), &big);
    until("it is in the spare spool", || {
        spares(disk.path()).iter().any(|folder| watchbill_hooks::spool::list(folder).unwrap().len() == 1)
    });
    let left = std::fs::read_dir(disk.path().join("hooks/spool")).unwrap().count();
    assert_eq!(left, 0);
    // The journal has no room either: the event is delivered, and stays in the spool until it can be stored.
    let listener = Listener::open(disk.path());
    assert_eq!(listener.next().payload.len(), big.len());
    run(hook(disk.path()), &big);
    assert_eq!(listener.next().payload.len(), big.len());
    assert!(listener.receiver.counts().unkept > 0);
    drop(listener);
    for folder in spares(disk.path()) {
        let _ = std::fs::remove_dir_all(folder);
    }
    drop(unmount);
}

/// Unmounts the small disk, also when an assertion fails.
struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}

#[test]
fn a_compaction_leaves_a_marker_only_when_asked_to() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let sent_payload = serde_json::json!({
        "hook_event_name": "SessionStart", "source": "compact", "session_id": "abc", "cwd": project,
    });
    run(hook(dir.path()), sent_payload.to_string().as_bytes());
    assert!(!project.join(".claude").exists());
    let mut command = hook(dir.path());
    command.arg("--markers");
    run(command, sent_payload.to_string().as_bytes());
    let text = std::fs::read_to_string(project.join(".claude/compacted.abc.marker")).unwrap();
    assert!(text.contains("\"newSessionId\":\"abc\""), "{text}");
    assert_eq!(spooled(dir.path()).len(), 2);
}

#[test]
fn no_command_line_makes_the_hook_fail_or_print() {
    let dir = tempfile::tempdir().unwrap();
    for words in
        [&["--unknown"][..], &["--markers=yes", "x"], &["--data-dir"], &["--rest"], &["--rest", "/nowhere"]]
    {
        let mut command = hook(dir.path());
        command.args(words);
        let mut child = start(command, b"{}");
        let mut sent_payload = Vec::new();
        child.stdout.take().unwrap().read_to_end(&mut sent_payload).unwrap();
        assert!(child.wait().unwrap().success());
        assert!(sent_payload.is_empty(), "{words:?}");
    }
    // `--data-dir` without a folder counts as missing, so the default below the home is used.
    assert!(spooled(dir.path()).len() >= 2);
}

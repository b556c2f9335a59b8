//! Fifty agents at once, with a receiver that is stopped, started and killed meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use watchbill_hooks::places::HookPaths;
use watchbill_hooks::{Options, Receiver};

use crate::agent::{hook, payload, run, spooled, until};

/// The folder in which the receiver's process writes the events it delivers. Only that process has the variable.
const TOLD: &str = "WATCHBILL_TEST_TOLD";

/// The receiver's process: writes each delivered event as a line into its own file. A kill may cut the last line,
/// even within a single write that crosses a page. The next receiver delivers that event again.
#[test]
fn a_receiver_in_a_process_of_its_own() {
    let Ok(folder) = std::env::var(TOLD) else { return };
    let folder = Path::new(&folder).to_path_buf();
    let number = delivered_files(&folder).len();
    let mut delivered = std::fs::File::create_new(folder.join(format!("told-{number:04}"))).unwrap();
    let _receiver = Receiver::open_at(HookPaths::new(&folder), Options::default(), move |event| {
        let line = format!("{} {}\n", event.origin.id, String::from_utf8_lossy(&event.payload));
        delivered.write_all(line.as_bytes()).unwrap();
    })
    .unwrap();
    std::fs::write(folder.join("listening"), "").unwrap();
    until("it is asked to end", || folder.join("end").exists());
}

/// The delivered events of each receiver, a file each, in the order of their starts.
fn delivered_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("told-"));
    files.sort();
    files
}

fn start_receiver(folder: &Path) -> Child {
    let _ = std::fs::remove_file(folder.join("end"));
    let _ = std::fs::remove_file(folder.join("listening"));
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "restarting_receivers::a_receiver_in_a_process_of_its_own", "--nocapture"])
        .env(TOLD, folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("it listens", || folder.join("listening").exists());
    child
}

/// Starts, stops and kills receivers until the storm is over, and leaves the last one running. Each receiver delivers
/// some bytes of events before it ends. Each gap lasts until a client has found no receiver, so the storm sets the
/// pace.
fn trouble(folder: &Path, over: &AtomicBool, bytes: u64) -> Child {
    let is_over = || over.load(Ordering::Acquire);
    let delivered =
        || -> u64 { delivered_files(folder).iter().map(|path| std::fs::metadata(path).unwrap().len()).sum() };
    let mut receiver = start_receiver(folder);
    let mut round = 0;
    loop {
        let before = delivered();
        until("it tells something, or the storm is over", || is_over() || delivered() >= before + bytes);
        if is_over() {
            return receiver;
        }
        if round % 2 == 0 {
            receiver.kill().unwrap();
        } else {
            std::fs::write(folder.join("end"), "").unwrap();
        }
        receiver.wait().unwrap();
        until("an agent has found no receiver, or the storm is over", || {
            is_over() || !spooled(folder).is_empty()
        });
        receiver = start_receiver(folder);
        round += 1;
    }
}

/// Every event arrives once, and the events of a session arrive in order.
fn storm(sessions: usize, each: usize) {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path();
    let over = AtomicBool::new(false);
    // About a dozen receivers, for any number of events.
    let bytes = (sessions * each / 12 * payload("s00", 0).len()) as u64;
    let mut last = std::thread::scope(|scope| {
        let troubled = scope.spawn(|| trouble(folder, &over, bytes));
        let agents: Vec<_> = (0..sessions)
            .map(|session| {
                scope.spawn(move || {
                    for number in 0..each {
                        run(hook(folder), &payload(&format!("s{session}"), number));
                    }
                })
            })
            .collect();
        agents.into_iter().for_each(|agent| agent.join().unwrap());
        over.store(true, Ordering::Release);
        troubled.join().unwrap()
    });
    until("the spool is empty", || std::fs::read_dir(folder.join("hooks/spool")).unwrap().count() == 0);
    std::fs::write(folder.join("end"), "").unwrap();
    last.wait().unwrap();
    check(folder, sessions, each);
}

fn check(folder: &Path, sessions: usize, each: usize) {
    let whole = |path: &PathBuf| {
        let mut lines = std::fs::read_to_string(path).unwrap();
        lines.truncate(lines.rfind('\n').map_or(0, |end| end + 1));
        lines
    };
    let delivered: String = delivered_files(folder).iter().map(whole).collect();
    let mut ids = BTreeSet::new();
    let mut by_session: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in delivered.lines() {
        let (id, payload) = line.split_once(' ').unwrap();
        // A restarted receiver delivers the latest events again. The ids show it.
        if ids.insert(id.to_owned()) {
            let payload: serde_json::Value = serde_json::from_str(payload).unwrap();
            let text = |field: &str| payload[field].as_str().unwrap().to_owned();
            by_session.entry(text("session_id")).or_default().push(text("tool_use_id"));
        }
    }
    assert_eq!(by_session.len(), sessions);
    for (session, calls) in by_session {
        let expected: Vec<_> = (0..each).map(|number| format!("toolu_{session}_{number}")).collect();
        assert_eq!(calls, expected);
    }
    assert_eq!(ids.len(), sessions * each);
}

/// `WATCHBILL_STORM=1` runs the full size: ten thousand events from fifty agents, which takes minutes on a busy
/// machine.
#[test]
fn no_event_is_lost_doubled_or_out_of_order_while_receivers_restart() {
    if std::env::var_os("WATCHBILL_STORM").is_some() { storm(50, 200) } else { storm(20, 40) }
}

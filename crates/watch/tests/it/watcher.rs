//! The watcher on real folders: after any change of the folders, a look at each hint finds what exists.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use watchbill_agents::{Agent, Root};
use watchbill_watch::scan::{canonical_roots, scan, scan_path};
use watchbill_watch::{Fs, Hint, RootMode, StdFs, WatchMethod, Watcher};

const DEADLINE: Duration = Duration::from_secs(60);
/// So long that it never ends in a test. Tests poll explicitly.
const BY_HAND: WatchMethod = WatchMethod::Poll(Duration::from_secs(3600));

/// Follows hints as the engine does: it knows only the files that hints named.
struct Follower {
    watcher: Watcher,
    bell: Arc<(Mutex<bool>, Condvar)>,
    roots: Vec<Root>,
    /// Length of each known file.
    known: BTreeMap<PathBuf, u64>,
    hints: Vec<Hint>,
}

impl Follower {
    fn start(roots: &[PathBuf], mode: WatchMethod) -> Self {
        Self::of(roots.iter().map(Root::from).collect(), mode)
    }

    fn of(roots: Vec<Root>, mode: WatchMethod) -> Self {
        let bell = Arc::new((Mutex::new(false), Condvar::new()));
        let ringer = Arc::clone(&bell);
        let watcher = Watcher::start(&roots, &[], mode, move || {
            *ringer.0.lock().expect("whole") = true;
            ringer.1.notify_all();
        });
        watcher.wait_until_ready();
        let mut follower = Self { watcher, bell, roots, known: BTreeMap::new(), hints: Vec::new() };
        follower.look_at(&Hint::Everything);
        follower
    }

    fn look_at(&mut self, hint: &Hint) {
        let roots = canonical_roots(&StdFs, &self.roots);
        let found = match hint {
            Hint::Everything => {
                self.known.clear();
                scan(&StdFs, &self.roots).found
            }
            Hint::File(path) | Hint::Tree(path) => {
                self.known.retain(|known, _| !known.starts_with(path) || known.exists());
                scan_path(&StdFs, &roots, path).found
            }
        };
        self.known.extend(found.into_iter().map(|found| (found.path, found.stat.len)));
    }

    /// Follows hints until `path` is known with this length, or is known to be gone.
    fn until(&mut self, path: &Path, len: Option<u64>) {
        let path = path.to_owned();
        self.wait(&format!("{path:?} with length {len:?}"), |follower| {
            follower.known.get(&path).copied() == len
        });
    }

    fn until_hinted(&mut self, path: &Path) {
        let path = path.to_owned();
        self.wait(&format!("a hint at {path:?}"), |follower| {
            follower.hints.iter().any(|hint| match hint {
                Hint::File(file) => *file == path,
                Hint::Tree(tree) => path.starts_with(tree),
                Hint::Everything => true,
            })
        });
    }

    fn wait(&mut self, what: &str, done: impl Fn(&Self) -> bool) {
        let end = Instant::now() + DEADLINE;
        loop {
            for hint in self.watcher.take() {
                self.look_at(&hint);
                self.hints.push(hint);
            }
            if done(self) {
                return;
            }
            let rung = self.bell.0.lock().expect("whole");
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited for {what}; known: {:?}; hints: {:?}", self.known, self.hints);
            let (mut rung, _) = self.bell.1.wait_timeout_while(rung, left, |rung| !*rung).expect("whole");
            *rung = false;
        }
    }
}

fn temp() -> (TempDir, PathBuf) {
    let dir = TempDir::new().expect("a temporary folder");
    let path = watchbill_platform::files::real_path(dir.path()).expect("real");
    (dir, path)
}

fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("in a folder")).expect("made");
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).expect("opened");
    file.write_all(text.as_bytes()).expect("written");
}

#[test]
fn a_file_in_a_brand_new_folder_is_found() {
    let (_dir, root) = temp();
    std::fs::create_dir_all(root.join("projects")).expect("made");
    let mut follower = Follower::start(std::slice::from_ref(&root), WatchMethod::Native);
    for n in 0..100 {
        // Folder and file at the same moment: the file's own event is nearly always lost.
        let transcript = root.join(format!("projects/p{n}/s.jsonl"));
        put(&transcript, "{}\n");
        let subagent = root.join(format!("projects/p{n}/s/subagents/workflows/w/agent-1.jsonl"));
        put(&subagent, "{}\n");
        follower.until(&transcript, Some(3));
        follower.until(&subagent, Some(3));
        put(&subagent, "{}\n");
        follower.until(&subagent, Some(6));
    }
}

#[test]
fn appends_truncation_replacement_and_removal_are_hinted() {
    let (_dir, root) = temp();
    let file = root.join("projects/p/s.jsonl");
    put(&file, "{}\n");
    put(&root.join("sessions/7.json"), "{}");
    let mut follower = Follower::start(std::slice::from_ref(&root), WatchMethod::Native);
    follower.until(&file, Some(3));
    put(&file, "{}\n");
    follower.until(&file, Some(6));
    std::fs::OpenOptions::new().write(true).open(&file).expect("opened").set_len(1).expect("cut off");
    follower.until(&file, Some(1));
    let other = root.join("projects/p/tmp");
    put(&other, "{\"new\":1}\n");
    std::fs::rename(&other, &file).expect("renamed");
    follower.until(&file, Some(10));
    put(&file, "{}\n");
    follower.until(&file, Some(13));
    std::fs::remove_file(&file).expect("removed");
    follower.until(&file, None);
    std::fs::write(root.join("sessions/7.json"), "{\"status\":1}").expect("written");
    follower.until(&root.join("sessions/7.json"), Some(12));
    std::fs::rename(root.join("projects/p"), root.join("projects/q")).expect("renamed");
    put(&root.join("projects/q/t.jsonl"), "{}\n");
    follower.until(&root.join("projects/q/t.jsonl"), Some(3));
    put(&root.join("projects/q/t.jsonl"), "{}\n");
    follower.until(&root.join("projects/q/t.jsonl"), Some(6));
}

#[test]
fn a_file_of_names_beside_the_folders_is_hinted() {
    let (_keep, top) = temp();
    let index = top.join("session_index.jsonl");
    put(&top.join("sessions/2026/x"), "x");
    let mut follower = Follower::of(vec![Root::new(Agent::Codex, &top)], WatchMethod::Native);
    for len in [1, 2] {
        put(&top.join("auth.json"), "x");
        put(&index, "x");
        follower.until(&index, Some(len));
    }
    assert!(
        !follower.hints.iter().any(|hint| format!("{hint:?}").contains("auth.json")),
        "{:?}",
        follower.hints
    );
}

/// What is in a log may become visible after it was written, and no event says so.
#[test]
fn a_written_log_of_a_database_is_hinted_once_more_by_itself() {
    let (_dir, root) = temp();
    let log = root.join("opencode.db-wal");
    put(&root.join("opencode.db"), "");
    put(&log, "");
    let mut follower = Follower::of(vec![Root::new(Agent::Opencode, root)], WatchMethod::Native);
    put(&log, "one change");
    let written = Instant::now();
    // The hints of the writing come at once.
    while written.elapsed() < Duration::from_millis(500) {
        follower.hints.clear();
        follower.wait("a hint", |follower| follower.hints.contains(&Hint::File(log.clone())));
    }
}

#[test]
fn other_files_give_no_hint() {
    let (_dir, root) = temp();
    std::fs::create_dir_all(root.join("projects/p/s/tool-results")).expect("made");
    std::fs::create_dir_all(root.join("sessions")).expect("made");
    let mut follower = Follower::start(std::slice::from_ref(&root), WatchMethod::Native);
    put(&root.join("sessions/7.key"), "secret");
    put(&root.join("history.jsonl"), "{}\n");
    put(&root.join("projects/p/s/tool-results/x.txt"), "long");
    put(&root.join("sessions/7.json"), "{}");
    follower.until(&root.join("sessions/7.json"), Some(2));
    let expected = [Hint::File(root.join("sessions/7.json"))];
    assert!(follower.hints.iter().all(|hint| expected.contains(hint)), "{:?}", follower.hints);
}

#[test]
fn folders_removed_and_made_again_are_watched_again() {
    let (_dir, above) = temp();
    let root = above.join("claude");
    let file = root.join("projects/p/s.jsonl");
    put(&file, "{}\n");
    let mut follower = Follower::start(std::slice::from_ref(&root), WatchMethod::Native);
    let mut len = 0;
    for round in 0..12 {
        // The project, all projects, the root itself. The new folder often gets the inode of the old one.
        let gone = [root.join("projects/p"), root.join("projects"), root.clone()];
        std::fs::remove_dir_all(&gone[round % 3]).expect("removed");
        len += 1;
        put(&file, &"x".repeat(len));
        follower.until(&file, Some(len as u64));
        put(&file, "y");
        follower.until(&file, Some(len as u64 + 1));
        put(&root.join("projects/q/t.jsonl"), "{}\n");
        follower.until(
            &root.join("projects/q/t.jsonl"),
            Some(std::fs::metadata(root.join("projects/q/t.jsonl")).expect("there").len()),
        );
    }
    let health = follower.watcher.health();
    assert_eq!(health.len(), 1);
    assert!(health[0].exists && health[0].problem.is_none(), "{health:?}");
}

#[test]
fn a_root_renamed_away_and_made_again_is_watched_again() {
    let (_dir, above) = temp();
    let root = above.join("claude");
    let file = root.join("projects/p/s.jsonl");
    put(&file, "{}\n");
    let mut follower = Follower::start(std::slice::from_ref(&root), WatchMethod::Native);
    std::fs::rename(&root, above.join("backup")).expect("renamed");
    put(&file, "another\n");
    follower.until(&file, Some(8));
    put(&file, "more\n");
    follower.until(&file, Some(13));
}

#[test]
fn a_root_that_comes_later_is_found() {
    let (_dir, above) = temp();
    let root = above.join("a/b/claude");
    let mut follower = Follower::start(std::slice::from_ref(&root), WatchMethod::Native);
    let health = follower.watcher.health();
    assert!(!health[0].exists && health[0].canonical.is_none(), "{health:?}");
    let file = root.join("projects/p/s.jsonl");
    put(&file, "{}\n");
    follower.until(&file, Some(3));
    put(&file, "{}\n");
    follower.until(&file, Some(6));
    put(&root.join("sessions/7.json"), "{}");
    follower.until(&root.join("sessions/7.json"), Some(2));
    follower.watcher.wait_until_ready();
    let health = follower.watcher.health();
    assert_eq!(health[0].canonical.as_ref(), Some(&root));
    assert_eq!(health[0].mode, RootMode::Native);
}

#[cfg(unix)]
#[test]
fn links_to_roots_and_projects_are_followed_when_their_target_changes() {
    use std::os::unix::fs::symlink;
    let (_dir, above) = temp();
    let (one, two, link) = (above.join("one"), above.join("two"), above.join("link"));
    put(&one.join("projects/p/s.jsonl"), "{}\n");
    put(&two.join("projects/p/s.jsonl"), "{\"two\":2}\n");
    symlink(&one, &link).expect("linked");
    let mut follower = Follower::start(&[link.clone(), one.clone()], WatchMethod::Native);
    assert_eq!(follower.watcher.health().len(), 1, "the same root twice is one");
    put(&one.join("projects/p/s.jsonl"), "{}\n");
    follower.until(&one.join("projects/p/s.jsonl"), Some(6));

    // A project elsewhere, linked in while the watcher runs.
    put(&above.join("elsewhere/t.jsonl"), "{}\n");
    symlink(above.join("elsewhere"), one.join("projects/linked")).expect("linked");
    follower.until(&one.join("projects/linked/t.jsonl"), Some(3));
    put(&above.join("elsewhere/t.jsonl"), "{}\n");
    follower.until(&one.join("projects/linked/t.jsonl"), Some(6));

    // The link changes its target to another root.
    let mut follower = Follower::start(std::slice::from_ref(&link), WatchMethod::Native);
    symlink(&two, above.join("new")).expect("linked");
    std::fs::rename(above.join("new"), &link).expect("renamed");
    follower.until(&two.join("projects/p/s.jsonl"), Some(10));
    put(&two.join("projects/p/s.jsonl"), "{}\n");
    follower.until(&two.join("projects/p/s.jsonl"), Some(13));
}

#[test]
fn a_working_folder_is_watched_for_markers_before_it_has_a_claude_folder() {
    let (_dir, above) = temp();
    let claude = above.join("repo/.claude");
    let mut follower = Follower::start(&[], WatchMethod::Native);
    follower.watcher.watch_dir(&claude);
    follower.watcher.wait_until_ready();
    let marker = claude.join("compacted.x.marker");
    put(&marker, "{");
    follower.until_hinted(&marker);
    follower.hints.clear();
    put(&marker, "}");
    follower.until_hinted(&marker);
    std::fs::remove_dir_all(above.join("repo")).expect("removed");
    put(&marker, "{}");
    follower.hints.clear();
    put(&marker, " ");
    follower.until_hinted(&marker);

    follower.watcher.unwatch_dir(&claude);
    follower.watcher.wait_until_ready();
    follower.watcher.take();
    follower.hints.clear();
    put(&marker, "unseen");
    let canary = above.join("other/.claude");
    std::fs::create_dir_all(&canary).expect("made");
    follower.watcher.watch_dir(&canary);
    follower.until_hinted(&canary);
    assert!(follower.hints.iter().all(|hint| *hint == Hint::Tree(canary.clone())), "{:?}", follower.hints);
}

#[cfg(unix)]
#[test]
fn hints_keep_the_spelling_of_the_working_folder() {
    let (_dir, above) = temp();
    std::fs::create_dir_all(above.join("repo/.claude")).expect("made");
    std::os::unix::fs::symlink(above.join("repo"), above.join("link")).expect("linked");
    let mut follower = Follower::start(&[], WatchMethod::Native);
    follower.watcher.watch_dir(&above.join("link/.claude"));
    follower.watcher.wait_until_ready();
    put(&above.join("repo/.claude/compacted.x.marker"), "{}");
    follower.until_hinted(&above.join("link/.claude/compacted.x.marker"));
}

#[test]
fn polling_finds_the_changes_that_events_would_report() {
    let (_dir, above) = temp();
    let root = above.join("claude");
    let mut follower = Follower::start(std::slice::from_ref(&root), BY_HAND);
    assert!(matches!(follower.watcher.health()[0].mode, RootMode::Poll(_)));
    let file = root.join("projects/p/s.jsonl");
    put(&file, "{}\n");
    follower.watcher.poll_now();
    follower.until(&file, Some(3));
    // Within the same second, which coarser pollers miss.
    for len in 4..10 {
        put(&file, "x");
        follower.watcher.poll_now();
        follower.until(&file, Some(len));
    }
    let marker = above.join("repo/.claude/compacted.x.marker");
    follower.watcher.watch_dir(&above.join("repo/.claude"));
    put(&marker, "{}");
    follower.watcher.poll_now();
    follower.until_hinted(&marker);
    std::fs::remove_dir_all(&root).expect("removed");
    follower.watcher.poll_now();
    follower.until(&file, None);
}

#[test]
fn no_change_gives_no_hint() {
    let (_dir, root) = temp();
    put(&root.join("projects/p/s.jsonl"), "{}\n");
    put(&root.join("sessions/7.json"), "{}");
    for mode in [WatchMethod::Native, WatchMethod::Auto, BY_HAND] {
        let follower = Follower::start(std::slice::from_ref(&root), mode);
        for _ in 0..3 {
            scan(&StdFs, &[root.clone().into()]);
            StdFs.read_small(&root.join("sessions/7.json"), 100).expect("readable");
            follower.watcher.poll_now();
        }
        // When the keeper answers, it has done everything before it in its queue.
        follower.watcher.wait_until_ready();
        assert_eq!(follower.watcher.take().into_iter().collect::<Vec<_>>(), [], "{mode:?}");
    }
}

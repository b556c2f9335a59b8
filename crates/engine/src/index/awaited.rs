//! Where another process writes the store: waits until that one has stored what was there when it was asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use watchbill_core::history::HistorySettings;
use watchbill_core::problem::ProblemKind;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::store::IndexReport;
use watchbill_store::{Mode, Store, StoreError};
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::{Found, scan};

use super::Progress;
use crate::engine::World;
use crate::left_out::is_due;
use crate::settings::Settings;
use crate::size;
use crate::stored::{FEW, ForgottenSessions, data_dir, has_records, refusal};

/// How often is looked how far the other one is.
const STEP: Duration = Duration::from_millis(200);
/// It is given up when nothing more has been stored for so long: the other one watches other folders, or hangs. A first scan
/// of 20,000 sessions takes eight seconds on a busy machine, before anything is stored.
const PATIENCE: Duration = Duration::from_secs(30);

/// A file that was not stored to its end.
struct Behind {
    path: PathBuf,
    /// Its bytes when it was looked at first.
    len: u64,
    /// Of these, how many were stored then. More than there are: it was written anew since.
    before: u64,
    /// How many are by now.
    now: u64,
}

impl Behind {
    fn is_stored(&self) -> bool {
        self.now == self.len || (self.now > self.len && self.now != self.before)
    }

    fn left(&self) -> u64 {
        if self.is_stored() { 0 } else { self.len.saturating_sub(self.now) }
    }
}

/// Waits until everything is stored that is there now; `None` where nobody writes any more. `progress` as for
/// [`run`](super::run). `pid` is the process that writes, where it is known.
///
/// # Errors
/// When the store cannot be read, or the other one does not come to it.
pub fn wait(
    settings: &Settings,
    world: &World,
    pid: Option<u32>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Option<IndexReport>, ApiError> {
    wait_at_most(PATIENCE, settings, world, pid, progress)
}

fn wait_at_most(
    patience: Duration,
    settings: &Settings,
    world: &World,
    pid: Option<u32>,
    progress: &mut dyn FnMut(&Progress) -> bool,
) -> Result<Option<IndexReport>, ApiError> {
    let (begun, data_dir, mut pid) = (Instant::now(), data_dir(settings)?, pid);
    let scan = scan(&*world.fs, &settings.roots);
    let problems = scan.problems.iter().filter(|problem| problem.kind != ProblemKind::Missing).count();
    let mut report = IndexReport { problems: problems as u64, ..IndexReport::default() };
    let exclude = &settings.history.exclude;
    let mut found = scan.found;
    found.retain(|found| found.kind.is_transcript() && !exclude.leaves_out(&found.path.to_string_lossy()));
    let mut behind: Option<Vec<Behind>> = None;
    let mut total_bytes = 0_u64;
    let (mut left, mut since) = (None, Instant::now());
    loop {
        if Store::take_over(data_dir).map_err(|error| refusal(&error))?.is_some() {
            return Ok(None);
        }
        // Yet another one may have begun since.
        pid = watchbill_store::last_writer(data_dir).or(pid);
        report.kept_by = pid;
        let first = behind.is_none();
        let fault = match look(data_dir, &*world.fs, &settings.history, &found, &mut behind) {
            Ok(files) => {
                if let (true, Some(behind)) = (first, &mut behind) {
                    if behind.len() <= FEW {
                        report.problems += without_records(world, behind);
                    }
                    (report.files, report.skipped) = (files, files - behind.len() as u64);
                    total_bytes = behind.iter().map(Behind::left).sum();
                }
                None
            }
            // It is made at this moment.
            Err(fault @ (StoreError::BeingFilled { .. } | StoreError::Absent { .. })) => Some(fault),
            Err(fault) => return Err(refusal(&fault)),
        };
        let waiting = behind.iter().flatten().filter(|file| !file.is_stored());
        let now_left = waiting.fold((0_u64, 0), |(files, bytes), file| (files + 1, bytes + file.left()));
        report.bytes = total_bytes.saturating_sub(now_left.1);
        report.interrupted = !progress(&Progress { bytes: report.bytes, total_bytes });
        report.seconds = begun.elapsed().as_secs_f64();
        if report.interrupted || (fault.is_none() && behind.is_some() && now_left.0 == 0) {
            return Ok(Some(report));
        }
        if left != Some(now_left) {
            (left, since) = (Some(now_left), Instant::now());
        } else if since.elapsed() >= patience {
            match fault {
                Some(StoreError::Absent { .. }) => return Err(stores_nothing(pid)),
                Some(fault) => return Err(refusal(&fault)),
                None if behind.is_none() => return Err(leaves_out_else(pid)),
                None => break,
            }
        }
        std::thread::sleep(STEP);
    }
    let mut waiting: Vec<Behind> = behind.unwrap_or_default();
    waiting.retain(|file| !file.is_stored());
    report.problems += without_records(world, &mut waiting);
    if waiting.is_empty() { Ok(Some(report)) } else { Err(not_coming(pid, &waiting)) }
}

/// Takes out what nobody can store, and says how many those are: they are counted, as where it is done here.
fn without_records(world: &World, behind: &mut Vec<Behind>) -> u64 {
    let all = behind.len();
    behind.retain(|file| has_records(&*world.fs, &file.path));
    (all - behind.len()) as u64
}

/// Looks how far the other one is with the files that are `behind`, or which those are: not known before it has carried out
/// what is excluded. Gives how many are, or will be, stored.
fn look(
    data_dir: &Path,
    fs: &dyn Fs,
    history: &HistorySettings,
    found: &[Found],
    behind: &mut Option<Vec<Behind>>,
) -> Result<u64, StoreError> {
    // Opened anew each time: who reads keeps others from wiping bytes out.
    let store = Store::open(data_dir, Mode::Read)?;
    if behind.is_none() && is_due(&store, history)? {
        return Ok(0);
    }
    let mut offsets = HashMap::new();
    store.files(&mut |_, file| {
        offsets.insert(file.path, file.cursor.offset);
    })?;
    let forgotten = ForgottenSessions::of(&store)?;
    let stored = |path: &Path| offsets.get(&*path.to_string_lossy()).copied();
    let wanted = || found.iter().filter(|found| !forgotten.has(found));
    match behind {
        Some(behind) => behind.iter_mut().for_each(|file| file.now = stored(&file.path).unwrap_or(file.now)),
        None => {
            let files = wanted().map(|found| {
                let (before, mut len) = (stored(&found.path).unwrap_or(0), found.stat.len);
                if before > len {
                    // It has grown since it was listed, and that is stored already; or it was written anew.
                    len = fs.stat(&found.path).map_or(len, |stat| stat.len.min(before));
                }
                Behind { path: found.path.clone(), len, before, now: before }
            });
            *behind = Some(files.filter(|file| !file.is_stored()).collect());
        }
    }
    Ok(wanted().count() as u64)
}

fn writer(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

fn stores_nothing(pid: Option<u32>) -> ApiError {
    let message = format!(
        "{} keeps the history, and has stored nothing yet: `watchbill doctor` may say why; quit it to do it here",
        writer(pid)
    );
    ApiError::new(ErrorCode::NotReady, message)
}

fn leaves_out_else(pid: Option<u32>) -> ApiError {
    let message = format!(
        "{} keeps the history up to date now, and leaves out something else than `exclude` says: it may have other settings; \
         quit it to do it here",
        writer(pid)
    );
    ApiError::new(ErrorCode::NotReady, message)
}

fn not_coming(pid: Option<u32>, waiting: &[Behind]) -> ApiError {
    let writer = writer(pid);
    let bytes = size::in_words(waiting.iter().map(Behind::left).sum());
    let files = if waiting.len() == 1 { "1 file".to_owned() } else { format!("{} files", waiting.len()) };
    ApiError::new(
        ErrorCode::NotReady,
        format!(
            "{writer} keeps the history up to date now, and stores nothing more, though {files} ({bytes}) are not stored to \
             the end: it may watch other folders; quit it to do it here"
        ),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a folder that cannot be made is a failure")]

    use std::io;
    use std::sync::Arc;

    use watchbill_core::history::Exclude;
    use watchbill_watch::fs::{FileKind, FileStat, Name, ReadAt, Walk, Want};

    use super::*;
    use crate::clock::{Clock, SystemClock};
    use crate::handle::real_world;
    use crate::index::{self, Indexed, Options};
    use crate::left_out;

    fn settings(folder: &Path) -> Settings {
        let root = folder.join(".claude");
        std::fs::create_dir_all(root.join("projects/-home-dev-x")).unwrap();
        Settings { data_dir: Some(folder.join("data")), ..Settings::for_roots(vec![root]) }
    }

    fn says(settings: &Settings, session: &str, words: &str) {
        let path = settings.roots[0].join(format!("projects/-home-dev-x/{session}.jsonl"));
        let line = format!(
            "{{\"type\":\"user\",\"uuid\":\"{words}\",\"sessionId\":\"{session}\",\"cwd\":\"/home/dev/x\",\"message\":{{\"content\":\"{words}\"}}}}\n"
        );
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(path, before + &line).unwrap();
    }

    #[test]
    fn what_another_process_never_stores_is_waited_for_no_longer_and_named() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        says(&settings, "a", "stored");
        let run = || index::run(&settings, &real_world(), Options::default(), &mut |_| true).unwrap();
        assert!(matches!(run(), Indexed::Here(_)));
        // Another one that writes, and sleeps.
        let writer = Store::open(settings.data_dir.as_deref().unwrap(), Mode::WriteOrRead).unwrap();
        let Indexed::ByAnother { pid } = run() else { panic!("it may not write") };
        assert_eq!(pid, Some(std::process::id()));
        let wait = || wait_at_most(Duration::ZERO, &settings, &real_world(), pid, &mut |_| true);
        let report = wait().unwrap().unwrap();
        assert_eq!((report.files, report.skipped, report.bytes, report.kept_by), (1, 1, 0, pid));
        // Nobody can store this, so nobody is waited for.
        let senseless = settings.roots[0].join("projects/-home-dev-x/senseless.jsonl");
        std::fs::write(senseless, b"\xff no record\n{\"type\":").unwrap();
        assert_eq!(wait().unwrap().map(|report| (report.files, report.problems)), Some((2, 1)));
        says(&settings, "b", "not stored");
        let error = wait().unwrap_err();
        let said = format!("process {} keeps", std::process::id());
        assert!(error.message.contains(&said) && error.message.contains("1 file ("), "{}", error.message);
        // Nor can what is no longer there.
        std::fs::remove_file(settings.roots[0].join("projects/-home-dev-x/b.jsonl")).unwrap();
        says(&settings, "a", "goes on");
        let mut file = Some(settings.roots[0].join("projects/-home-dev-x/a.jsonl"));
        let gone = wait_at_most(Duration::ZERO, &settings, &real_world(), pid, &mut |_| {
            file.take().is_none_or(|file| std::fs::remove_file(file).is_ok())
        });
        assert_eq!(gone.unwrap().map(|report| report.problems), Some(2));
        drop(writer);
        assert_eq!(wait().unwrap(), None, "nobody writes any more");
    }

    /// The disk as it was listed before the last line came.
    struct Earlier(Arc<dyn Fs>);

    impl Fs for Earlier {
        fn stat(&self, path: &Path) -> io::Result<FileStat> {
            self.0.stat(path)
        }

        fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
            self.0.open(path)
        }

        fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
            self.0.list(dir)
        }

        fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
            let mut walk = self.0.walk(top, want);
            walk.files.iter_mut().for_each(|(_, stat)| stat.len -= 1);
            walk
        }

        fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
            self.0.canonical(path)
        }
    }

    #[test]
    fn what_was_stored_since_the_files_were_listed_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        says(&settings, "a", "stored");
        index::run(&settings, &real_world(), Options::default(), &mut |_| true).unwrap();
        let _writer = Store::open(settings.data_dir.as_deref().unwrap(), Mode::WriteOrRead).unwrap();
        let World { fs, processes } = real_world();
        let world = World { fs: Arc::new(Earlier(fs)), processes };
        let report = wait_at_most(Duration::ZERO, &settings, &world, None, &mut |_| true).unwrap();
        assert_eq!(report.map(|report| (report.files, report.skipped)), Some((1, 1)));
    }

    #[test]
    fn what_was_left_out_is_waited_for_as_soon_as_the_rule_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        let mut excluding = settings.clone();
        excluding.history.exclude = Exclude::new(["/home/dev/x/**".to_owned()]);
        says(&settings, "a", "hidden");
        let run = index::run(&excluding, &real_world(), Options::default(), &mut |_| true).unwrap();
        assert!(matches!(run, Indexed::Here(_)));
        let mut writer = Store::open(settings.data_dir.as_deref().unwrap(), Mode::WriteOrRead).unwrap();
        let wait = |settings| wait_at_most(Duration::ZERO, settings, &real_world(), None, &mut |_| true);
        assert!(wait(&excluding).unwrap().is_some());
        let error = wait(&settings).unwrap_err();
        assert!(error.message.contains("leaves out something else"), "{}", error.message);
        left_out::carry_out(&mut writer, &settings.history, &settings.roots, SystemClock.now()).unwrap();
        let error = wait(&settings).unwrap_err();
        assert!(error.message.contains("1 file ("), "{}", error.message);
    }

    #[test]
    fn who_writes_by_now_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        let writer = Store::open(settings.data_dir.as_deref().unwrap(), Mode::WriteOrRead).unwrap();
        // Another one wrote when it was looked for.
        let report = wait_at_most(Duration::ZERO, &settings, &real_world(), Some(7), &mut |_| true);
        assert_eq!(report.unwrap().unwrap().kept_by, Some(std::process::id()));
        drop(writer);
    }

    #[test]
    fn who_keeps_the_history_and_cannot_begin_it_is_said_to_be_the_one() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path());
        std::fs::create_dir(folder.path().join("data")).unwrap();
        // Another one that may write, and has had no room for it.
        let lock = std::fs::File::create(folder.path().join("data/writer.lock")).unwrap();
        lock.lock().unwrap();
        let options = Options::default();
        let ran = index::run(&settings, &real_world(), options, &mut |_| true).unwrap();
        assert_eq!(ran, Indexed::ByAnother { pid: None });
        let wait = wait_at_most(Duration::ZERO, &settings, &real_world(), Some(7), &mut |_| true);
        assert!(
            wait.unwrap_err().message.starts_with("process 7 keeps the history, and has stored nothing yet")
        );
    }
}

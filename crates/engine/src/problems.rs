//! Problems, counted by place and kind, with texts for the user.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::transcript::report::LineReport;
use watchbill_watch::fs::{NotRegular, problem_of};
use watchbill_watch::tail::TailError;

/// The problems at one place: their counts and newest texts. Each unknown record type is a problem of its own, so the text is
/// a part of its key.
type Kinds = BTreeMap<(ProblemKind, Option<Arc<str>>), (u64, Arc<str>)>;

/// How many unknown record types of one file are told apart. More mean a file of another program.
const TYPES: usize = 32;

/// All known problems.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    by_place: BTreeMap<Arc<str>, Kinds>,
}

impl Problems {
    /// Counts one more problem of `kind` at `path`, with the usual text.
    pub fn count(&mut self, path: &Arc<str>, kind: ProblemKind) {
        self.add(path, kind, 1, words(kind));
    }

    /// Adds `count` problems with their own text.
    pub fn add(&mut self, path: &Arc<str>, kind: ProblemKind, count: u64, detail: &str) {
        let kinds = self.by_place.entry(Arc::clone(path)).or_default();
        let mut key = key(kind, detail);
        let mut detail = detail;
        if key.1.is_some() && kinds.len() >= TYPES && !kinds.contains_key(&key) {
            (key.1, detail) = (None, words(kind));
        }
        let entry = kinds.entry(key).or_insert_with(|| (0, Arc::from(detail)));
        entry.0 += count;
        if *entry.1 != *detail {
            entry.1 = Arc::from(detail);
        }
    }

    /// Sets a problem, and replaces its earlier count.
    pub fn set(&mut self, problem: Problem) {
        let kinds = self.by_place.entry(problem.path).or_default();
        kinds.insert(key(problem.kind, &problem.detail), (problem.count, problem.detail));
    }

    /// Counts what the parser noticed in one line.
    pub fn note_line(&mut self, path: &Arc<str>, report: &LineReport) {
        for kind in report.problems() {
            match (kind, report.unknown_type.as_deref()) {
                (ProblemKind::UnknownRecord, Some(name)) => {
                    self.add(path, kind, 1, &format!("record type `{name}` is not known and was skipped"));
                }
                _ => self.count(path, kind),
            }
        }
    }

    /// Notes why a file could not be read.
    pub fn note_tail(&mut self, path: &Path, error: &TailError) {
        // Uses a scan's texts, so that both ways of meeting a problem give the same one.
        let problem = match error {
            TailError::Gone => None,
            TailError::NotAFile => problem_of(path, &NotRegular.into()),
            TailError::Io(error) => problem_of(path, error),
        };
        if let Some(problem) = problem {
            self.set(problem);
        }
    }

    /// Removes all problems of `path`.
    pub fn forget(&mut self, path: &str) {
        self.by_place.remove(path);
    }

    /// The file at `path` can be read: removes its read problems. Says whether it had any.
    pub fn can_be_read(&mut self, path: &str) -> bool {
        let mut was = false;
        for kind in UNREADABLE {
            was |= self.clear(path, kind);
        }
        was
    }

    /// Whether any file could not be read.
    pub fn any_unreadable(&self) -> bool {
        self.by_place.values().any(|kinds| kinds.keys().any(|(kind, _)| UNREADABLE.contains(kind)))
    }

    /// Removes the read problems of files that no longer exist, according to `gone`.
    pub fn forget_unreadable(&mut self, gone: &dyn Fn(&Path) -> bool) {
        self.by_place.retain(|path, kinds| {
            kinds.retain(|(kind, _), _| !(UNREADABLE.contains(kind) && gone(Path::new(&**path))));
            !kinds.is_empty()
        });
    }

    /// Removes one kind of problem at `path`. Says whether it was there.
    pub fn clear(&mut self, path: &str, kind: ProblemKind) -> bool {
        let Some(kinds) = self.by_place.get_mut(path) else { return false };
        let before = kinds.len();
        kinds.retain(|(known, _), _| *known != kind);
        let was = kinds.len() < before;
        if kinds.is_empty() {
            self.by_place.remove(path);
        }
        was
    }

    /// Adds all problems of `other`.
    pub fn absorb(&mut self, other: Self) {
        for (path, kinds) in other.by_place {
            for ((kind, _), (count, detail)) in kinds {
                self.add(&path, kind, count, &detail);
            }
        }
    }

    /// The problems in the content of `path`: kind, count, text.
    pub fn of_content(&self, path: &str) -> Vec<(ProblemKind, u64, Arc<str>)> {
        let kinds = self.by_place.get(path).into_iter().flatten();
        let content = kinds.filter(|((kind, _), _)| !UNREADABLE.contains(kind));
        content.map(|((kind, _), (count, detail))| (*kind, *count, Arc::clone(detail))).collect()
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.by_place.is_empty()
    }

    /// All problems, sorted by path and kind.
    pub fn list(&self) -> impl Iterator<Item = Problem> + '_ {
        self.by_place.iter().flat_map(|(path, kinds)| {
            kinds.iter().map(|((kind, _), (count, detail))| Problem {
                path: Arc::clone(path),
                kind: *kind,
                count: *count,
                detail: Arc::clone(detail),
            })
        })
    }
}

fn key(kind: ProblemKind, detail: &str) -> (ProblemKind, Option<Arc<str>>) {
    (kind, (kind == ProblemKind::UnknownRecord).then(|| Arc::from(detail)))
}

/// Events were lost this many times since the start.
pub fn overflow(times: u64) -> Problem {
    let kind = ProblemKind::Overflow;
    Problem { path: Arc::from("events"), kind, count: times, detail: Arc::from(words(kind)) }
}

/// The kinds of problems that keep a file from being read.
const UNREADABLE: [ProblemKind; 4] =
    [ProblemKind::PermissionDenied, ProblemKind::NotAFile, ProblemKind::Io, ProblemKind::Missing];

/// The usual text of each kind: the problem, and a remedy.
fn words(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::MalformedLine => "a line is not a JSON object; it was skipped and the rest was read",
        ProblemKind::HugeLine => "a line is longer than 64 MiB; it was skipped and the rest was read",
        ProblemKind::InvalidUtf8 => "a line holds bytes that are not UTF-8; they were replaced",
        ProblemKind::UnknownRecord => "further record types are not known and were skipped",
        ProblemKind::TranscriptCopy => "is a copy of a session's transcript; it is not read",
        ProblemKind::PermissionDenied => "no permission to read; check the owner and mode",
        ProblemKind::Missing => "does not exist (yet); it will be picked up when it appears",
        ProblemKind::NotAFile => "is not a regular file; it was skipped",
        ProblemKind::SymlinkLoop => "a symbolic link leads back to itself; it was not followed",
        ProblemKind::MalformedRegistry => {
            "stays unreadable; the state of its session comes from the transcript alone"
        }
        ProblemKind::MalformedMarker => "is not a compaction marker; it was ignored",
        ProblemKind::MalformedStatusFile => "is not a status file; it was ignored",
        ProblemKind::MalformedHook => "a hook event could not be read; it was skipped",
        ProblemKind::LostHooks => {
            "hook events were lost; states rest on the other witnesses until the next event"
        }
        ProblemKind::WatchLimit => "the system refuses more watches; raise fs.inotify.max_user_watches",
        ProblemKind::NoEvents => {
            "this file system reports no changes; it is looked at every few seconds instead"
        }
        ProblemKind::Overflow => "more changes at once than the system keeps; everything was looked at again",
        ProblemKind::ClockWentBack => "the system's clock went back; ages may be off until it catches up",
        ProblemKind::TwoProcesses => "two processes write to this session; resume it in one of them only",
        ProblemKind::Io => "could not be read",
        ProblemKind::Store => "cannot be written; new data stays in memory until it can",
        ProblemKind::Configuration => "is not applied in full; correct it",
        ProblemKind::AbsurdTokens => {
            "a count of tokens is greater than that of any request; it counts as 4,294,967,295"
        }
    }
}

/// The problems as published: sorted, and unknown record types combined by type. One new type may stand in thousands of
/// files, with the same text for each.
pub fn published(all: Vec<Problem>) -> Vec<watchbill_protocol::roster::Problem> {
    let mut listed: HashSet<(Arc<str>, ProblemKind)> = HashSet::new();
    let mut by_detail: BTreeMap<Arc<str>, Problem> = BTreeMap::new();
    let mut list = Vec::new();
    for problem in all {
        if problem.kind != ProblemKind::UnknownRecord {
            // A scan and a read may meet the same problem; publish the first one.
            if listed.insert((Arc::clone(&problem.path), problem.kind)) {
                list.push(problem);
            }
            continue;
        }
        match by_detail.get_mut(&problem.detail) {
            Some(first) => first.count += problem.count,
            None => {
                by_detail.insert(Arc::clone(&problem.detail), problem);
            }
        }
    }
    list.extend(by_detail.into_values());
    list.sort();
    list.iter().map(watchbill_protocol::roster::Problem::from).collect()
}

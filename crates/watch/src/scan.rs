//! Finds the agent's files: at the start, after lost events, and at a hint's path.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use watchbill_core::problem::{Problem, ProblemKind};

use crate::fs::{FileId, FileKind, FileStat, Fs, NotRegular, problem, problem_of};
use watchbill_agents::layout::{ClientPath, ClientPathKind, ROOT_OPTION};
use watchbill_agents::{Root, root_of};

/// A file that Watchbill reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The file, below its canonical root.
    pub path: PathBuf,
    /// The canonical root.
    pub root: Root,
    /// Its kind.
    pub kind: ClientPathKind,
    /// Its `stat` at the time of the scan.
    pub stat: FileStat,
}

impl Found {
    /// The meaning of its path.
    pub fn place(&self) -> Option<ClientPath> {
        self.root.classify(&self.path)
    }
}

/// The result of a scan.
#[derive(Debug, Default)]
pub struct Scan {
    /// Files, the last written first, so that the user's current work appears first.
    pub found: Vec<Found>,
    /// Paths that could not be read.
    pub problems: Vec<Problem>,
}

/// The canonical paths of the roots, each once. A root that does not exist yet keeps its spelling.
pub fn canonical_roots(fs: &dyn Fs, roots: &[Root]) -> Vec<Root> {
    let mut canonical: Vec<Root> = Vec::with_capacity(roots.len());
    for root in roots {
        let root = fs.canonical(root).map_or_else(|_| root.clone(), |path| root.at(path));
        if !canonical.contains(&root) {
            canonical.push(root);
        }
    }
    canonical
}

/// Everything below all roots. `roots` may be spelled in any way.
pub fn scan(fs: &dyn Fs, roots: &[Root]) -> Scan {
    let mut scan = Scan::default();
    let mut seen = HashSet::new();
    for root in canonical_roots(fs, roots) {
        if let Some(trouble) = root_problem(fs, &root) {
            scan.problems.push(trouble);
            continue;
        }
        let database = root.database().map(|(_, path)| path);
        for folder in root.folders().iter().map(|folder| root.join(folder.name)).chain(database) {
            // Two roots may share one folder by a link. Its files must not be read twice.
            if fs.stat(&folder).is_ok_and(|stat| !seen.insert(stat.id)) {
                continue;
            }
            walk(fs, &root, &folder, &mut scan);
        }
        walk_names(fs, &root, &mut scan);
    }
    finish(&mut scan);
    scan
}

/// The roots below which nothing can be found, with the reason. [`scan`] reports the same problems.
pub fn root_problems(fs: &dyn Fs, roots: &[Root]) -> Vec<Problem> {
    let roots = canonical_roots(fs, roots);
    roots.iter().filter_map(|root| root_problem(fs, root)).collect()
}

/// The reason why nothing can be found below a root, if there is one.
fn root_problem(fs: &dyn Fs, root: &Path) -> Option<Problem> {
    match fs.stat(root) {
        Ok(stat) if stat.kind == FileKind::Dir => None,
        Ok(_) => {
            let detail =
                format!("This should be the agent's folder and is a file. Name a folder with {ROOT_OPTION}.");
            Some(problem(root, ProblemKind::NotAFile, detail))
        }
        Err(error) => {
            let detail = format!(
                "There is no such folder yet. It is watched for: start the agent, or name another folder with \
                 {ROOT_OPTION}."
            );
            problem_of(root, &error).or_else(|| Some(problem(root, ProblemKind::Missing, detail)))
        }
    }
}

/// The files at or below one path: the answer to a hint. `roots` are canonical, as [`canonical_roots`] returns them.
///
/// A path that is gone gives no files. A caller that knows files at or below it must `stat` them.
pub fn scan_path(fs: &dyn Fs, roots: &[Root], path: &Path) -> Scan {
    let mut scan = Scan::default();
    if let Some(root) = root_of(roots, path) {
        // The root itself may be gone, with everything below it.
        scan.problems.extend(root_problem(fs, root));
        if path == &**root {
            let database = root.database().map(|(_, path)| path);
            for folder in root.folders().iter().map(|folder| root.join(folder.name)).chain(database) {
                walk(fs, root, &folder, &mut scan);
            }
            walk_names(fs, root, &mut scan);
        } else {
            walk(fs, root, path, &mut scan);
        }
    }
    finish(&mut scan);
    scan
}

/// Finds the file with the names of sessions, which most users lack.
fn walk_names(fs: &dyn Fs, root: &Root, scan: &mut Scan) {
    if let Some(names) = root.names().map(|names| root.join(names.name)).filter(|path| fs.stat(path).is_ok())
    {
        walk(fs, root, &names, scan);
    }
}

fn walk(fs: &dyn Fs, root: &Root, top: &Path, scan: &mut Scan) {
    let kind_at = |path: &Path| root.kind_of(path);
    let (mut wrong, mut copies) = (Vec::new(), Vec::new());
    let walk = fs.walk(top, &mut |path, kind| match kind {
        FileKind::File | FileKind::Other => {
            let ours = kind_at(path).is_some();
            if !ours && root.is_copy(path) {
                copies.push(path.to_owned());
            }
            ours.into()
        }
        FileKind::Dir => {
            if kind_at(path).is_some() {
                wrong.push(path.to_owned());
            }
            // Tool results can be many thousand files.
            root.may_hold(path).into()
        }
    });
    scan.found.reserve(walk.files.len());
    for (path, stat) in walk.files {
        match (kind_at(&path), stat.kind) {
            (Some(kind), FileKind::File) => scan.found.push(Found { path, root: root.clone(), kind, stat }),
            (Some(_), _) => wrong.push(path),
            (None, _) => {}
        }
    }
    let detail = "is a copy of a session's transcript, such as a sync tool makes; it is not read. Move it out of this folder.";
    scan.problems.extend(copies.iter().map(|path| problem(path, ProblemKind::TranscriptCopy, detail)));
    scan.problems.extend(wrong.iter().filter_map(|path| problem_of(path, &NotRegular.into())));
    let may_miss = |problem: &Problem| root.may_miss(Path::new(&*problem.path));
    scan.problems.extend(walk.problems.into_iter().filter(|problem| !may_miss(problem)));
}

fn finish(scan: &mut Scan) {
    // Sorts only the times, and moves the results once: a result is ten times as long as its time.
    scan.found.sort_by_cached_key(|found| Reverse(found.stat.mtime));
    // Then by the path's spelling, so that equal times give one order.
    for equal in scan.found.chunk_by_mut(|a, b| a.stat.mtime == b.stat.mtime) {
        equal.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    }
    scan.problems.sort();
    scan.problems.dedup();
    let mut ids: Vec<FileId> = scan.found.iter().map(|found| found.stat.id).collect();
    ids.sort_unstable();
    if ids.windows(2).any(|pair| pair[0] == pair[1]) {
        // A project folder and a link to it hold the same transcripts. The first spelling stands for both.
        let mut seen = HashSet::new();
        scan.found
            .retain(|found| seen.insert((found.stat.id, found.path.file_name().map(ToOwned::to_owned))));
    }
}

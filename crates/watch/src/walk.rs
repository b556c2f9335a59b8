//! A walk over real folders: links followed, loops cut, one call of the system for each file.
//!
//! A start that finds nothing changed consists of little else. So a file is asked for by its name in the folder that
//! is open already, rather than by its whole path, which the system would take apart for each of thousands.

use std::io;
use std::path::{Path, PathBuf};

use watchbill_core::problem::{Problem, ProblemKind};

use crate::fs::{FileId, FileKind, FileStat, Walk, Want, problem, problem_of, stat_of};
use crate::names::{Above, NameKind, OpenFolder};

/// Everything at or below `top` that is wanted; see [`crate::fs::Fs::walk`].
pub fn walk(top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
    let mut walk = Walk::default();
    let mut waiting = Vec::new();
    match stat(top) {
        Ok(stat) if stat.kind == FileKind::Dir => {
            let only = want(top, FileKind::Dir).only();
            waiting.extend(only.map(|only| Waiting { path: top.to_owned(), only, way: Way::From(None) }));
        }
        Ok(stat) => walk.files.push((top.to_owned(), stat)),
        Err(error) => walk.problems.extend(problem_of(top, &error)),
    }
    while let Some(Waiting { path: folder, only, way }) = waiting.pop() {
        let mut take = |met: Result<Met, Trouble>| match met {
            Ok(Met::Folder(folder)) => waiting.push(folder),
            Ok(Met::File(path, stat)) => walk.files.push((path, stat)),
            Ok(Met::Unwanted) => {}
            Err(Trouble::Io(error)) => walk.problems.extend(problem_of(&folder, &error)),
            Err(Trouble::At(problem)) => walk.problems.extend(problem),
        };
        if let Some(name) = only {
            take(look_for(top, folder.join(name), way, want));
            continue;
        }
        let listed = way.open(&folder).and_then(|open| {
            let above = Above::new(open, top, &folder);
            above.folder().names(&folder, &mut |path, kind, own| {
                take(look(top, Some(&above), path, kind, own, want));
            })
        });
        if let Err(error) = listed {
            take(Err(Trouble::Io(error)));
        }
    }
    walk
}

/// A folder that is still to be looked at.
struct Waiting {
    path: PathBuf,
    /// The one name in it that matters.
    only: Option<&'static str>,
    way: Way,
}

/// How a folder is opened.
enum Way {
    /// From an open folder above it, or by its whole path.
    From(Option<Above>),
    /// It is open.
    Open(OpenFolder),
}

impl Way {
    fn open(self, path: &Path) -> io::Result<OpenFolder> {
        match self {
            Self::From(above) => OpenFolder::open(path, above.as_ref()),
            Self::Open(folder) => Ok(folder),
        }
    }
}

/// What a name in a folder turned out to be.
enum Met {
    Folder(Waiting),
    File(PathBuf, FileStat),
    Unwanted,
}

enum Trouble {
    /// With the folder.
    Io(io::Error),
    /// With one name in it. What has vanished since it was listed is none.
    At(Option<Problem>),
}

/// Looks at the one place in a folder that matters, which need not be there. Mostly it is a plain folder or nothing, and
/// to open it says which; only of anything else is asked what it is.
fn look_for(
    top: &Path,
    path: PathBuf,
    way: Way,
    want: &mut dyn FnMut(&Path, FileKind) -> Want,
) -> Result<Met, Trouble> {
    let above = match way {
        Way::From(above) => above,
        Way::Open(_) => None,
    };
    match OpenFolder::open_itself(&path, above.as_ref()) {
        Ok(open) => {
            let only = want(&path, FileKind::Dir).only();
            let way = Way::Open(open);
            return Ok(only.map_or(Met::Unwanted, |only| Met::Folder(Waiting { path, only, way })));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Met::Unwanted),
        Err(_) => {}
    }
    let meta = std::fs::symlink_metadata(&path).map_err(Trouble::Io)?;
    look(top, above.as_ref(), path, Ok(NameKind::of(meta.file_type())), &|| Ok(stat_of(&meta)), want)
}

/// Looks at one place in the open folder `above`; `own` is its `stat`, should it be no link.
fn look(
    top: &Path,
    above: Option<&Above>,
    path: PathBuf,
    kind: io::Result<NameKind>,
    own: &dyn Fn() -> io::Result<FileStat>,
    want: &mut dyn FnMut(&Path, FileKind) -> Want,
) -> Result<Met, Trouble> {
    let at = |error: io::Error| Trouble::At(problem_of(&path, &error));
    // Only for a link has its target to be asked before anything else.
    let (target, kind) = match kind.map_err(at)? {
        NameKind::Plain(kind) => (None, kind),
        NameKind::Link => {
            let target = stat(&path).map_err(at)?;
            (Some(target), target.kind)
        }
    };
    if let Some(target) = target.filter(|target| target.kind == FileKind::Dir)
        && let Some(above) = same_folder_above(top, &path, target.id)
    {
        let detail = format!(
            "This symbolic link leads back to {}, so it was not followed. Remove the link.",
            above.display()
        );
        return Err(Trouble::At(Some(problem(&path, ProblemKind::SymlinkLoop, detail))));
    }
    let Some(only) = want(&path, kind).only() else { return Ok(Met::Unwanted) };
    if kind == FileKind::Dir {
        return Ok(Met::Folder(Waiting { path, only, way: Way::From(above.and_then(Above::kept)) }));
    }
    let stat = match target {
        Some(target) => target,
        None => own().map_err(at)?,
    };
    Ok(Met::File(path, stat))
}

/// The folder on the way from `top` to the link that the link leads back to.
fn same_folder_above<'a>(top: &Path, link: &'a Path, target: FileId) -> Option<&'a Path> {
    let above = link.ancestors().skip(1).take_while(|above| above.starts_with(top));
    above.into_iter().find(|above| stat(above).is_ok_and(|stat| stat.id == target))
}

fn stat(path: &Path) -> io::Result<FileStat> {
    std::fs::metadata(path).map(|meta| stat_of(&meta))
}

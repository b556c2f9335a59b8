//! A walk over real folders: links followed, loops cut.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;
use watchbill_core::problem::{Problem, ProblemKind};

use watchbill_platform::files::real_path;

use crate::fs::{FileKind, Walk, WalkChoice, kind_of, problem, problem_of, stat_of_path};

/// All wanted paths at or below `top`; see [`crate::fs::Fs::walk`].
pub fn walk(top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
    let mut walk = Walk::default();
    walk_below(top, &mut Vec::new(), want, &mut walk);
    walk
}

/// A link to a folder that is being walked: the top folder of that walk, and the folder of the link, both canonical.
struct Followed {
    top: PathBuf,
    folder: PathBuf,
}

/// walkdir follows a link by opening its folder before `want` can refuse it, and an error there names no path. So
/// this function follows links itself, after asking `want`.
fn walk_below(
    top: &Path,
    followed: &mut Vec<Followed>,
    want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice,
    walk: &mut Walk,
) {
    let mut entries = WalkDir::new(top).into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let path = error.path().unwrap_or(top).to_owned();
                walk.problems.extend(error.into_io_error().and_then(|error| problem_of(&path, &error)));
                continue;
            }
        };
        let is_top = entry.depth() == 0;
        // walkdir itself walks a `top` that is a link, and reports it as a link.
        let is_link = entry.path_is_symlink() && !is_top;
        let target = if entry.path_is_symlink() { fs::metadata(entry.path()).map(Some) } else { Ok(None) };
        let looked = target.and_then(|target| {
            let kind = kind_of(target.as_ref().map_or(entry.file_type(), fs::Metadata::file_type));
            // A `top` that is a file is a walk of one. For the folder of a link, `want` was asked at the link's
            // place.
            let only = is_top && (kind != FileKind::Dir || !followed.is_empty());
            let wanted = only || want(entry.path(), kind) == WalkChoice::Visit;
            match (kind, wanted) {
                (FileKind::Dir, true) if is_link => follow(top, entry.path(), followed, want, walk)?,
                (FileKind::Dir, false) if !is_link => entries.skip_current_dir(),
                (FileKind::File | FileKind::Other, true) => {
                    walk.files.push((entry.path().to_owned(), stat_of_path(entry.path())?));
                }
                _ => {}
            }
            Ok(())
        });
        if let Err(error) = looked {
            walk.problems.extend(problem_of(entry.path(), &error));
        }
    }
}

/// Walks the folder that a link leads to, unless a walk of that folder is under way.
fn follow(
    top: &Path,
    link: &Path,
    followed: &mut Vec<Followed>,
    want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice,
    walk: &mut Walk,
) -> io::Result<()> {
    let target = real_path(link)?;
    let folder = real_path(link.parent().unwrap_or(link))?;
    followed.push(Followed { top: real_path(top)?, folder });
    let is_under_way = |one: &Followed| one.folder.starts_with(&target) && target.starts_with(&one.top);
    if followed.iter().any(is_under_way) {
        walk.problems.push(loop_problem(link, &target));
    } else {
        walk_below(link, followed, want, walk);
    }
    followed.pop();
    Ok(())
}

fn loop_problem(link: &Path, target: &Path) -> Problem {
    let leads_to = |above: &&Path| real_path(above).is_ok_and(|above| above == target);
    let above = link.ancestors().skip(1).find(leads_to).unwrap_or(target);
    let detail = format!(
        "This symbolic link leads back to {}, so it was not followed. Remove the link.",
        above.display()
    );
    problem(link, ProblemKind::SymlinkLoop, detail)
}

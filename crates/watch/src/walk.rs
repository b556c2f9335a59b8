//! A walk over real folders: links followed, loops cut.

use std::path::Path;

use walkdir::{DirEntry, Error, WalkDir};
use watchbill_core::problem::{Problem, ProblemKind};

use crate::fs::{FileKind, FileStat, Walk, Want, kind_of, problem, problem_of, stat_of};

/// Everything at or below `top` that is wanted; see [`crate::fs::Fs::walk`].
pub fn walk(top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> Want) -> Walk {
    let mut walk = Walk::default();
    let mut entries = WalkDir::new(top).follow_links(true).into_iter();
    while let Some(entry) = entries.next() {
        let looked = entry.and_then(|entry| {
            let kind = kind_of(entry.file_type());
            // A `top` that is a file is a walk of one.
            let only = entry.depth() == 0 && kind != FileKind::Dir;
            let wanted = only || want(entry.path(), kind) == Want::It;
            match kind {
                FileKind::Dir if !wanted => entries.skip_current_dir(),
                FileKind::File | FileKind::Other if wanted => {
                    let stat = stat(&entry)?;
                    walk.files.push((entry.into_path(), stat));
                }
                _ => {}
            }
            Ok(())
        });
        if let Err(error) = looked {
            walk.problems.extend(problem_with(top, error));
        }
    }
    walk
}

fn stat(entry: &DirEntry) -> Result<FileStat, Error> {
    entry.metadata().map(|meta| stat_of(&meta))
}

fn problem_with(top: &Path, error: Error) -> Option<Problem> {
    let path = error.path().unwrap_or(top).to_owned();
    if let Some(above) = error.loop_ancestor() {
        let detail = format!(
            "This symbolic link leads back to {}, so it was not followed. Remove the link.",
            above.display()
        );
        return Some(problem(&path, ProblemKind::SymlinkLoop, detail));
    }
    problem_of(&path, &error.into_io_error()?)
}

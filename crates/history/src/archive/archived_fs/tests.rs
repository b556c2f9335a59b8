//! Tests of the archive as a file system.

#![allow(clippy::unwrap_used, reason = "a store that cannot be made is a failure")]

use watchbill_core::time::Timestamp;

use super::*;

/// A file system that only lists its files.
struct ListingFs(Vec<PathBuf>);

impl Fs for ListingFs {
    fn stat(&self, _: &Path) -> io::Result<FileStat> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn open(&self, _: &Path) -> io::Result<Box<dyn ReadAt>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn list(&self, _: &Path) -> io::Result<Vec<Name>> {
        Ok(Vec::new())
    }

    fn walk(&self, _: &Path, _: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        let stat = FileStat {
            id: FileId { dev: 0, ino: 0 },
            len: 1,
            mtime: Timestamp::default(),
            kind: FileKind::File,
        };
        Walk { files: self.0.iter().map(|path| (path.clone(), stat)).collect(), ..Walk::default() }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_path_buf())
    }
}

fn row(path: &Path) -> ArchiveRow {
    ArchiveRow {
        path: path.to_string_lossy().into_owned(),
        session_id: "s".to_owned(),
        subagent: None,
        file: "s.0.jsonl.zst".to_owned(),
        bytes: 1,
        stored: 1,
        hash: String::new(),
        mtime: Timestamp::default(),
        archived_at: Timestamp::default(),
        dev: 0,
        inode: 0,
    }
}

#[test]
fn a_walk_sees_each_of_very_many_archived_transcripts_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |n: usize| {
        PathBuf::from(format!("/home/dev/.claude/projects/-home-dev-work/{n:08x}-0000-4000-8000.jsonl"))
    };
    std::fs::create_dir(folder.path().join(ARCHIVE)).unwrap();
    let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
    let mut step = store.step().unwrap();
    for n in 0..20_000 {
        step.put_archived(&row(&path(n))).unwrap();
    }
    step.commit().unwrap();
    let fs = ArchivedFs::over(Arc::new(ListingFs((0..19_999).map(path).collect())), folder.path());
    let walk = fs.walk(Path::new("/home/dev/.claude"), &mut |_, _| WalkChoice::Visit);
    assert_eq!(walk.files.len(), 20_000);
}

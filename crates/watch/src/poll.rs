//! Polls folders whose file system reports no events.
//!
//! notify's own poller compares only write times in whole seconds, so it misses a second append within one second for
//! good. This one compares identity, length and milliseconds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use watchbill_core::time::Timestamp;

use crate::fs::{FileId, Fs};
use crate::plan::{Planned, WatchScope};
use crate::scan::scan_path;

/// The files of one folder at one look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Snapshot(BTreeMap<PathBuf, (FileId, u64, Timestamp)>);

impl Snapshot {
    /// Looks at the folder now.
    pub(crate) fn take(fs: &dyn Fs, dir: &Path, planned: &Planned) -> Self {
        let mut files = BTreeMap::new();
        match (planned.reach, &planned.root) {
            (WatchScope::Awaiting, _) => {}
            (_, Some(root)) => {
                let scan = scan_path(fs, std::slice::from_ref(root), dir);
                files.extend(scan.found.into_iter().map(|found| {
                    let stat = found.stat;
                    (found.path, (stat.id, stat.len, stat.mtime))
                }));
            }
            (_, None) => {
                for name in fs.list(dir).unwrap_or_default() {
                    let path = dir.join(name.name);
                    if let Ok(stat) = fs.stat(&path) {
                        files.insert(path, (stat.id, stat.len, stat.mtime));
                    }
                }
            }
        }
        Self(files)
    }

    /// The files that changed, are new or are gone.
    pub(crate) fn changes<'a>(&'a self, newer: &'a Self) -> impl Iterator<Item = &'a PathBuf> {
        let changed =
            newer.0.iter().filter(|(path, stat)| self.0.get(*path) != Some(stat)).map(|(path, _)| path);
        changed.chain(self.0.keys().filter(|path| !newer.0.contains_key(*path)))
    }
}

/// The name of a file system that does not reliably report the changes of other machines, by the number from
/// `statfs`. FUSE is one of them, because the file system behind it is unknown.
#[cfg(target_os = "linux")]
pub(crate) fn silent_file_system(path: &Path) -> Option<&'static str> {
    // The width and sign of `f_type` differ between processors; the number fits 32 bits.
    silent_magic(rustix::fs::statfs(path).ok()?.f_type as u32)
}

/// The same by the name that macOS gives a file system.
#[cfg(target_os = "macos")]
pub(crate) fn silent_file_system(path: &Path) -> Option<&'static str> {
    let name = rustix::fs::statfs(path).ok()?.f_fstypename;
    let name: String =
        name.iter().take_while(|at| **at != 0).map(|at| char::from(at.cast_unsigned())).collect();
    ["nfs", "smbfs", "afpfs", "webdav", "macfuse", "osxfuse"].into_iter().find(|silent| *silent == name)
}

/// A folder of another machine, or of a Linux system inside Windows: `\\server\share`, `\\wsl$\name`.
#[cfg(windows)]
pub(crate) fn silent_file_system(path: &Path) -> Option<&'static str> {
    use std::path::{Component, Prefix};
    let Component::Prefix(prefix) = path.components().next()? else { return None };
    matches!(prefix.kind(), Prefix::UNC(..) | Prefix::VerbatimUNC(..)).then_some("a shared folder")
}

#[cfg(target_os = "linux")]
fn silent_magic(magic: u32) -> Option<&'static str> {
    Some(match magic {
        0x6969 => "NFS",
        0x517b => "SMB",
        0xff53_4d42 => "CIFS",
        0xfe53_4d42 => "SMB2",
        0x0102_1997 => "9P",
        0x6573_5546 => "FUSE",
        0x5346_414f => "AFS",
        0x00c3_6400 => "Ceph",
        0x786f_4256 => "a VirtualBox shared folder",
        0x7375_7245 => "Coda",
        0x564c => "NCP",
        0x0bd0_0bd0 => "Lustre",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mem::MemFs;

    #[test]
    fn two_looks_differ_by_exactly_what_happened_between() {
        let fs = MemFs::new();
        let file = |name: &str| PathBuf::from(format!("/c/projects/p/{name}.jsonl"));
        for name in ["same", "grown", "rewritten", "replaced", "gone"] {
            fs.write(file(name), b"0123");
        }
        fs.write("/c/projects/p/notes.txt", b"not ours");
        let planned = Planned { reach: WatchScope::Tree, id: FileId::default(), root: Some("/c".into()) };
        let look = || Snapshot::take(&fs, Path::new("/c/projects"), &planned);
        let before = look();
        assert_eq!(before.changes(&look()).count(), 0);
        fs.append(file("grown"), b"4");
        fs.write(file("rewritten"), b"abcd");
        fs.replace(file("replaced"), b"0123");
        fs.remove(file("gone"));
        fs.write(file("new"), b"");
        fs.append("/c/projects/p/notes.txt", b"!");
        let after = look();
        let mut changes: Vec<PathBuf> = before.changes(&after).cloned().collect();
        changes.sort();
        assert_eq!(changes, ["gone", "grown", "new", "replaced", "rewritten"].map(file));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn network_file_systems_are_known_by_their_number() {
        assert_eq!(silent_magic(0x6969), Some("NFS"));
        assert_eq!(silent_magic(0xff53_4d42), Some("CIFS"));
        assert_eq!(silent_magic(0x0102_1997), Some("9P"));
        assert_eq!(silent_magic(0x6573_5546), Some("FUSE"));
        for local in [0xef53, 0x9123_683e, 0x5846_5342, 0x0102_1994, 0x794c_7630] {
            assert_eq!(
                silent_magic(local),
                None,
                "ext4, btrfs, xfs, tmpfs and overlayfs report their events"
            );
        }
    }
}

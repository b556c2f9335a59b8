//! Recognises the process of a host, and what it keeps.

use crate::folder::Folder;

/// The name of the program.
pub const NAME: &str = "watchbill-host";

/// The first argument of the host itself.
pub const KEEP: &str = "--keep";

/// The folder of the session that a process keeps, if the process is a host.
#[cfg(target_os = "linux")]
pub fn folder_of(pid: u32) -> Option<Folder> {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let mut words = line.split(|byte| *byte == 0);
    let program = words.next()?;
    if !program.ends_with(NAME.as_bytes()) || words.next()? != KEEP.as_bytes() {
        return None;
    }
    Some(Folder::at(std::path::Path::new(&*String::from_utf8_lossy(words.next()?))))
}

/// Whether a process is a host that keeps a session beside the one of `own`. A command line can say anything: the program must be
/// the copy that starts make for these sessions, and the process must hold the lock of the folder.
#[cfg(target_os = "linux")]
pub fn is_host_beside(pid: u32, own: &Folder) -> bool {
    let all = own.path().parent().and_then(|all| all.canonicalize().ok());
    let program = std::fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let is_copy = all.is_some()
        && program.ancestors().nth(3) == all.as_deref()
        && program
            .file_name()
            .is_some_and(|name| name.to_string_lossy().trim_end_matches(" (deleted)") == NAME);
    let is_beside = |folder: Folder| {
        let parent = folder.path().parent().and_then(|parent| parent.canonicalize().ok());
        parent == all && holds(pid, &folder.lock())
    };
    is_copy && folder_of(pid).is_some_and(is_beside)
}

/// Whether a process holds the lock of this file.
#[cfg(target_os = "linux")]
fn holds(pid: u32, lock: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |path: &std::path::Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let wanted = id(lock);
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    wanted.is_some()
        && open.filter(|file| id(&file.path()) == wanted).any(|file| {
            let info = format!("/proc/{pid}/fdinfo/{}", file.file_name().to_string_lossy());
            std::fs::read_to_string(info).is_ok_and(|info| info.lines().any(|line| line.starts_with("lock:")))
        })
}

/// Whether a process is a host whose program is an agent, or that an agent started. In a shell of the user's own the user types.
#[cfg(target_os = "linux")]
pub fn keeps_agent(pid: u32) -> bool {
    use watchbill_protocol::own::spec::OwnAgent;
    folder_of(pid).is_some_and(|folder| {
        folder.is_by_agent() || folder.spec().map_or(true, |spec| spec.agent != OwnAgent::Shell)
    })
}

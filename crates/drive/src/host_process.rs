//! Recognises the process of a host, and what it keeps.

use watchbill_platform::process;

use crate::folder::Folder;

/// The name of the program.
pub const NAME: &str = "watchbill-host";

/// The first argument of the host itself.
pub const KEEP: &str = "--keep";

/// The folder of the session that a process keeps, if the process is a host.
pub fn folder_of(pid: u32) -> Option<Folder> {
    let words = process::command_line(pid)?;
    let [program, KEEP, folder, ..] = &words.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        return None;
    };
    program.ends_with(NAME).then(|| Folder::at(std::path::Path::new(folder)))
}

/// Whether a process is a host that keeps a session beside the one of `own`. A command line can say anything: the program must be
/// the copy that starts make for these sessions, and the process must hold the lock of the folder.
#[cfg(target_os = "linux")]
pub fn is_host_beside(pid: u32, own: &Folder) -> bool {
    let all = own.path().parent().and_then(|all| all.canonicalize().ok());
    let program = process::program_file(pid).unwrap_or_default();
    let is_copy = all.is_some()
        && program.ancestors().nth(3) == all.as_deref()
        && program
            .file_name()
            .is_some_and(|name| name.to_string_lossy().trim_end_matches(" (deleted)") == NAME);
    let is_beside = |folder: Folder| {
        let parent = folder.path().parent().and_then(|parent| parent.canonicalize().ok());
        parent == all && process::holds_lock(pid, &folder.lock())
    };
    is_copy && folder_of(pid).is_some_and(is_beside)
}

/// Whether a process is a host whose program is an agent, or that an agent started. In a shell of the user's own the user types.
pub fn keeps_agent(pid: u32) -> bool {
    use watchbill_protocol::own::spec::OwnAgent;
    folder_of(pid).is_some_and(|folder| {
        folder.is_by_agent() || folder.spec().map_or(true, |spec| spec.agent != OwnAgent::Shell)
    })
}

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

/// Whether a process is a host whose program is an agent, or that an agent started. In a shell of the user's own the user types.
#[cfg(target_os = "linux")]
pub fn keeps_agent(pid: u32) -> bool {
    use watchbill_protocol::own::spec::OwnAgent;
    folder_of(pid).is_some_and(|folder| {
        folder.is_by_agent() || folder.spec().map_or(true, |spec| spec.agent != OwnAgent::Shell)
    })
}

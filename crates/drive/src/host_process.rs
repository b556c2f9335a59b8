//! Recognises the process of a host, and what it keeps.

use crate::folder::Folder;

/// The name of the program.
pub const NAME: &str = "watchbill-host";

/// The first argument of the host itself.
pub const KEEP: &str = "--keep";

/// The folder of the session that a process keeps, if the process is a host.
pub fn folder_of(pid: u32) -> Option<Folder> {
    let words = watchbill_platform::process::command_line(pid)?;
    let [program, KEEP, folder, ..] = &words.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        return None;
    };
    program.ends_with(NAME).then(|| Folder::at(std::path::Path::new(folder)))
}

/// Whether a process is a host whose program is an agent, or that an agent started. In a shell of the user's own the user types.
pub fn keeps_agent(pid: u32) -> bool {
    use watchbill_protocol::own::spec::OwnAgent;
    folder_of(pid).is_some_and(|folder| {
        folder.is_by_agent() || folder.spec().map_or(true, |spec| spec.agent != OwnAgent::Shell)
    })
}

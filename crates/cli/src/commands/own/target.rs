//! Finds the own session that a command names, and its folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use watchbill_drive::client::{HostClient, HostError};
use watchbill_drive::folder::Folder;
use watchbill_engine::SessionId;
use watchbill_engine::engine::Outlook;
use watchbill_engine::model::publish::snapshot;
use watchbill_engine::stable_hash;
use watchbill_protocol::roster::TrackedSession;

use crate::args::Global;
use crate::commands::{running, settings};
use crate::terminal_text::one_line;

/// The data folder that holds the sessions.
pub fn data_dir(global: &Global) -> anyhow::Result<PathBuf> {
    if global.demo {
        bail!("the demo has no sessions that run: leave --demo out");
    }
    settings(global)?.data_dir.context("no data folder is known; name one with --data-dir")
}

/// The folder of an own session whose host runs, if its id begins so. `None`: another program has to tell.
pub fn hosted(data_dir: &Path, asked: &str) -> anyhow::Result<Option<Folder>> {
    if asked.is_empty() {
        return Ok(None);
    }
    let is_meant = |folder: &Folder| {
        let name = folder.path().file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with(asked)) && !matches!(has_ended(folder), Ok(true))
    };
    let mut found: Vec<Folder> = Folder::all(data_dir).into_iter().filter(is_meant).collect();
    if found.len() > 1 {
        bail!("several sessions begin with `{}`: write more of the id", one_line(asked));
    }
    Ok(found.pop())
}

/// Whether no host keeps a session any more.
///
/// # Errors
/// When a host runs, and this program cannot talk to it: one of another version.
pub fn has_ended(folder: &Folder) -> Result<bool, HostError> {
    match HostClient::connect(folder) {
        // The host of a session that has just ended listens for a moment more.
        Ok(client) => Ok(!client.keeps()),
        Err(HostError::NotRunning) => Ok(true),
        Err(error) => Err(error),
    }
}

/// The row of a session, as a running Watchbill or a look of our own shows it. `None`: it has no row yet, for example because its
/// terminal was opened a moment ago.
///
/// # Errors
/// When no session matches, or several do.
pub fn found_row(global: &Global, asked: &str) -> anyhow::Result<Option<TrackedSession>> {
    let (id, roster) = match running::client(&settings(global)?) {
        Some(mut client) => (client.why(asked)?.session_id, client.roster(true)?),
        None => {
            let mut engine = crate::commands::engine(global, Outlook::LIVE)?;
            engine.wake_all();
            (engine.find(asked)?.to_string(), snapshot(&engine.current(true)))
        }
    };
    Ok(roster.sessions.into_iter().find(|row| row.session_id == id))
}

/// The row of a session that has one.
///
/// # Errors
/// As [`found_row`], or when it has none.
pub fn row(global: &Global, asked: &str) -> anyhow::Result<TrackedSession> {
    found_row(global, asked)?.with_context(|| format!("session {} is not in the roster", one_line(asked)))
}

/// The agents do not guard a session against a second client. The look is made right before the start.
///
/// # Errors
/// When a process has the session.
pub fn guard(global: &Global, row: &TrackedSession) -> anyhow::Result<()> {
    let engine = crate::commands::engine(global, Outlook::LIVE)?;
    let terminal = row.terminal.as_ref().map(|terminal| format!(" (in {})", one_line(&terminal.kind)));
    let session = SessionId::new(&row.session_id);
    engine
        .resume_guard(&session)
        .map_err(|holder| anyhow::anyhow!("nothing was started{}: {holder}", terminal.unwrap_or_default()))
}

/// The folder of an own session. `running`: its host has to run.
///
/// # Errors
/// When no session matches, or it is none of our own, or has ended.
pub fn folder(global: &Global, asked: &str, running: bool) -> anyhow::Result<Folder> {
    let data_dir = data_dir(global)?;
    if let Some(folder) = hosted(&data_dir, asked)? {
        return Ok(folder);
    }
    let row = row(global, asked)?;
    let id = one_line(&row.session_id);
    let Some(own) = &row.own_id else {
        bail!("session {id} was not started by Watchbill: use its terminal");
    };
    let folder = Folder::of(&data_dir, own)?;
    if running && has_ended(&folder)? {
        bail!("session {id} has ended; `watchbill resume {id}` goes on with it");
    }
    Ok(folder)
}

/// A new UUID, version 4.
pub fn new_id() -> String {
    use std::hash::{BuildHasher, RandomState};
    // The system seeds each of them anew.
    let random = || RandomState::new().hash_one(std::process::id());
    uuid((u128::from(random()) << 64) | u128::from(random()), 4)
}

/// The id of a session's first prompt. It follows from the session's id: the same command again sends the prompt once.
pub fn first_prompt_id(session: &str) -> String {
    let half = |salt: &str| u128::from(stable_hash(format!("{salt} {session}").as_bytes()));
    uuid((half("first prompt") << 64) | half("of session"), 8)
}

/// 128 bits as a UUID of this version.
fn uuid(bits: u128, version: u128) -> String {
    let bits = (bits & !(0xf << 76) & !(0x3 << 62)) | (version << 76) | (0x2 << 62);
    let hex = format!("{bits:032x}");
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

/// Whether a text is a UUID as agents take it.
pub fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.concat().bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_uuids_and_a_first_prompt_has_one_id() {
        let (one, two) = (new_id(), new_id());
        assert!(is_uuid(&one) && is_uuid(&two) && one != two);
        assert_eq!(&one[14..15], "4");
        assert!(is_uuid(&first_prompt_id(&one)));
        assert_eq!(first_prompt_id(&one), first_prompt_id(&one));
        assert_ne!(first_prompt_id(&one), first_prompt_id(&two));
        assert!(!is_uuid("x") && !is_uuid("--") && !is_uuid("00000000-0000-4000-8000-00000000000g"));
    }
}

//! Own sessions for the window: starts their hosts, and passes on the user's commands.

use std::path::{Path, PathBuf};

use watchbill_agents::{Agent, traits};
use watchbill_drive::client::{HostError, send};
use watchbill_drive::folder::{Folder, FolderError};
use watchbill_drive::start::{self, StartError, host_program};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::spec::{OwnAgent, OwnResume, OwnResumeCall, OwnSpec};
use watchbill_protocol::own::view::OwnChoices;
use watchbill_protocol::roster::TrackedSession;

use crate::clock::{Clock, SystemClock};
use crate::handle::Handle;
use crate::socket::access::CommandId;
use crate::worktree;

/// Recent folders that the window offers.
const FOLDERS: usize = 20;

/// The agents whose programs are in `PATH`, and the folders of the sessions in the roster.
///
/// # Errors
/// When the engine has stopped.
pub(super) fn choices(engine: &Handle) -> Result<OwnChoices, ApiError> {
    let mut folders: Vec<String> = Vec::new();
    for cwd in engine.roster(true)?.sessions.into_iter().filter_map(|row| row.cwd) {
        if folders.len() < FOLDERS && !folders.contains(&cwd) {
            folders.push(cwd);
        }
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    Ok(OwnChoices { agents: found_in(&std::env::split_paths(&paths).collect::<Vec<_>>()), folders })
}

fn found_in(paths: &[PathBuf]) -> Vec<OwnAgent> {
    let is_there = |program: &str| {
        paths
            .iter()
            .any(|path| path.join(program).is_file() || path.join(program).with_extension("exe").is_file())
    };
    let agents = Agent::ALL.into_iter().filter(|agent| is_there(traits(*agent).program));
    agents.map(OwnAgent::from).chain([OwnAgent::Shell]).collect()
}

/// Starts a session. Again with the same id, it does nothing.
///
/// # Errors
/// When it does not run.
pub(super) fn start_new(engine: &Handle, spec: OwnSpec) -> Result<(), ApiError> {
    start_host(&data_dir(engine)?, spec)
}

/// Goes on with a session, and gives the id of the session where it goes on.
///
/// # Errors
/// When another process has the session, its folder has another branch, or it does not run.
pub(super) fn resume(engine: &Handle, call: OwnResumeCall) -> Result<String, ApiError> {
    let data = data_dir(engine)?;
    let rows = engine.roster(true)?.sessions;
    let Some(row) = rows.into_iter().find(|row| row.session_id == call.session_id) else {
        return Err(ApiError::new(ErrorCode::NotFound, "that session is no longer known"));
    };
    if !call.any_branch {
        worktree::check(&row).map_err(|other| {
            let words = format!("{other}. Switch it back, or do it again to go on there");
            ApiError::new(ErrorCode::OtherBranch, words)
        })?;
    }
    // Right before the start: the agents do not guard a session against a second client.
    if !call.fork {
        engine.may_resume(&call.session_id)?;
    }
    // The client may have moved the session: it finds the file from the folder in which the session began.
    let cwd = engine.session_location(&row.session_id)?.cwd;
    go_on(&data, call, &row, cwd.as_deref())
}

fn go_on(
    data: &Path,
    call: OwnResumeCall,
    row: &TrackedSession,
    cwd: Option<&str>,
) -> Result<String, ApiError> {
    if let Some(own) = row.own_id.as_deref().filter(|_| !call.fork) {
        start::resume(data, &program()?, own).map_err(not_started)?;
        return Ok(call.session_id);
    }
    // The other agents name their sessions themselves.
    if !call.agent.agent().is_some_and(|agent| traits(agent).takes_session_id) {
        let title = traits(Agent::default()).title;
        let words = format!("only sessions of {title} go on in a copy, or from a terminal");
        return Err(ApiError::new(ErrorCode::Unsupported, words));
    }
    let Some(cwd) = cwd.map(str::to_owned) else {
        return Err(ApiError::new(ErrorCode::NotFound, "that session has not reported its working folder"));
    };
    let opened = if call.fork { call.id.clone() } else { call.session_id.clone() };
    let spec = OwnSpec {
        session: call.id,
        agent: call.agent,
        kind: call.kind,
        cwd,
        model: None,
        // What was allowed there is not allowed again by a resume.
        mode: None,
        resume: Some(OwnResume { session: call.session_id, fork: call.fork }),
        command: Vec::new(),
        size: None,
        created_at: SystemClock.now().to_string(),
        started_by_agent: false,
    };
    start_host(data, spec)?;
    Ok(opened)
}

fn start_host(data: &Path, mut spec: OwnSpec) -> Result<(), ApiError> {
    if !Path::new(&spec.cwd).is_dir() {
        let words = format!("the folder {} does not exist, or is not readable", spec.cwd);
        return Err(ApiError::new(ErrorCode::Invalid, words));
    }
    if spec.agent == OwnAgent::Shell && spec.command.is_empty() {
        spec.command = vec![std::env::var("SHELL").unwrap_or_else(|_| "/bin/sh".to_owned())];
    }
    start::start(data, &program()?, &spec).map(|_| ()).map_err(not_started)
}

fn program() -> Result<PathBuf, ApiError> {
    host_program().map_err(|error| {
        ApiError::new(ErrorCode::Internal, format!("the program of the hosts is not found: {error}"))
    })
}

/// Passes a command on. When it returns, the host has it in its log.
///
/// # Errors
/// When the session has no host, or its host refuses the command.
pub(super) fn command(engine: &Handle, session: &str, command: &OwnCommand) -> Result<(), ApiError> {
    send(&folder(engine, session)?, CommandId::new().as_str(), command).map_err(not_reached)
}

pub(super) fn folder(engine: &Handle, session: &str) -> Result<Folder, ApiError> {
    Folder::of(&data_dir(engine)?, session).map_err(wrong_folder)
}

fn data_dir(engine: &Handle) -> Result<PathBuf, ApiError> {
    if engine.is_demo() {
        return Err(ApiError::new(ErrorCode::Unsupported, "the demo starts no sessions"));
    }
    let none =
        || ApiError::new(ErrorCode::Unsupported, "Watchbill has no data folder, so it starts no sessions");
    engine.settings().data_dir.clone().ok_or_else(none)
}

fn wrong_folder(error: FolderError) -> ApiError {
    ApiError::new(ErrorCode::Invalid, error.to_string())
}

fn not_started(error: StartError) -> ApiError {
    match error {
        StartError::Unreachable(error) => not_reached(error),
        StartError::Folder(error) => wrong_folder(error),
        other => ApiError::new(ErrorCode::Internal, other.to_string()),
    }
}

fn not_reached(error: HostError) -> ApiError {
    match error {
        HostError::Refused(refusal) => refusal,
        HostError::NotRunning => ApiError::new(ErrorCode::NotFound, error.to_string()),
        other => ApiError::new(ErrorCode::Internal, other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test panics")]

    use super::*;

    #[test]
    fn agents_are_found_by_their_programs_and_a_shell_is_always_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("codex"), "").unwrap();
        assert_eq!(found_in(&[folder.path().into()]), [OwnAgent::Codex, OwnAgent::Shell]);
        assert_eq!(found_in(&[]), [OwnAgent::Shell]);
    }
}

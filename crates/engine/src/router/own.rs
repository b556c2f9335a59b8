//! Own sessions: starts their hosts, for the window and the command line, and passes on the window's commands.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use watchbill_agents::files::place_of;
use watchbill_agents::resume::resume_command;
use watchbill_agents::{Agent, traits};
use watchbill_drive::client::{HostError, send};
use watchbill_drive::folder::{Folder, FolderError};
use watchbill_drive::replay;
use watchbill_drive::start::{self, StartError, host_program};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::{OwnAgent, OwnResume, OwnResumeCall, OwnSpec, OwnSwitch, OwnSwitchCall};
use watchbill_protocol::own::view::OwnChoices;
use watchbill_protocol::roster::TrackedSession;
use watchbill_settings::Settings;
use watchbill_terminal::SessionLocation;
use watchbill_watch::fs::StdFs;

use watchbill_platform::files::real_path;

use crate::alone::forget::mark_unwanted_own;
use crate::clock::{Clock, SystemClock};
use crate::handle::Handle;
use crate::router::switch::plan;
use crate::router::worktree;
use crate::socket::access::CommandId;

/// How long a change of the agent waits for the history, and for the end of the session before.
const LONGEST_WAIT: Duration = Duration::from_secs(15);
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
    Ok(OwnChoices { agents: found_in(&search_path()), folders })
}

fn search_path() -> Vec<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect()
}

fn is_there(program: &str, folders: &[PathBuf]) -> bool {
    let names = [program.to_owned(), format!("{program}{}", std::env::consts::EXE_SUFFIX)];
    folders.iter().any(|folder| names.iter().any(|name| folder.join(name).is_file()))
}

fn found_in(paths: &[PathBuf]) -> Vec<OwnAgent> {
    let agents = Agent::ALL.into_iter().filter(|agent| is_there(traits(*agent).program, paths));
    agents.filter_map(OwnAgent::of).chain([OwnAgent::Shell]).collect()
}

/// Starts a session. Again with the same id, it does nothing.
///
/// # Errors
/// When it does not run, or another process has the session that it goes on with.
pub(super) fn start_new(engine: &Handle, mut spec: OwnSpec) -> Result<(), ApiError> {
    let data = data_dir(engine)?;
    let is_new = !Folder::of(&data, &spec.session).map_err(wrong_folder)?.spec_file().exists();
    if let Some(OwnResume { session, fork: false }) = &spec.switched
        && is_new
    {
        // Nothing is stopped for a session that cannot start.
        ready(&spec)?;
        release(engine, session)?;
        spec.created_at = SystemClock.now().to_string();
    }
    Start::new(spec).begin(&engine.settings()).map(drop)
}

/// Goes on with a session, and gives the id of the session where it goes on.
///
/// # Errors
/// When another process has the session, its folder has another branch, or it does not run.
pub(super) fn resume(engine: &Handle, call: OwnResumeCall) -> Result<String, ApiError> {
    data_dir(engine)?;
    let row = row_to_go_on_with(engine, &call.session_id, call.any_branch)?;
    // The client may have moved the session: it finds the file from the folder in which the session began.
    let place = engine.session_location(&row.session_id)?;
    let start = Start::going_on(&engine.settings(), &call, &row, &place)?;
    // Right before the start: the agents do not guard a session against a second client.
    if !call.fork {
        engine.may_resume(&call.session_id)?;
    }
    start.begin(&engine.settings())?;
    Ok(if call.fork { call.id } else { call.session_id })
}

/// What another agent would be told that goes on with a session, and what starts it.
///
/// # Errors
/// When the session is not known, its folder has another branch, or nothing is stored of it.
pub(super) fn switch(engine: &Handle, call: &OwnSwitchCall) -> Result<OwnSwitch, ApiError> {
    data_dir(engine)?;
    let row = row_to_go_on_with(engine, &call.session_id, call.any_branch)?;
    let until = Instant::now() + LONGEST_WAIT;
    if let Err(error) = engine.index(&mut |_| Instant::now() < until) {
        tracing::warn!(%error, "the newest words of a session may be missing in what another agent is told");
    }
    let mut planned = plan(&engine.settings(), call, &row, &|session| engine.chain(session))?;
    planned.spec.root = root_of(&engine.settings(), &row);
    Ok(planned)
}

/// Ends an own session that another agent goes on with, and waits until its host is gone.
///
/// # Errors
/// When another process has the session.
fn release(engine: &Handle, session: &str) -> Result<(), ApiError> {
    let rows = engine.roster(true)?.sessions;
    let own = rows.into_iter().find(|row| row.session_id == session).and_then(|row| row.own_id);
    let Some(own) = own.filter(|_| engine.may_resume(session).is_err()) else {
        return engine.may_resume(session);
    };
    if command(engine, &own, &OwnCommand::Stop).is_err() {
        return engine.may_resume(session);
    }
    let until = Instant::now() + LONGEST_WAIT;
    while engine.may_resume(session).is_err() && Instant::now() < until {
        thread::sleep(Duration::from_millis(20));
    }
    engine.may_resume(session)
}

/// The row of a session that goes on, in its own branch unless `any_branch`.
fn row_to_go_on_with(engine: &Handle, session: &str, any_branch: bool) -> Result<TrackedSession, ApiError> {
    let rows = engine.roster(true)?.sessions;
    let Some(row) = rows.into_iter().find(|row| row.session_id == session) else {
        return Err(ApiError::new(ErrorCode::NotFound, "that session is no longer known"));
    };
    if !any_branch {
        worktree::check(&row).map_err(|other| {
            let words = format!("{other}. Switch it back, or do it again to go on there");
            ApiError::new(ErrorCode::OtherBranch, words)
        })?;
    }
    Ok(row)
}

/// A start of a host, for the window and the command line.
pub struct Start {
    /// What it starts.
    pub spec: OwnSpec,
    /// The session had a host before.
    again: bool,
}

impl Start {
    /// A start of a new session.
    pub fn new(spec: OwnSpec) -> Self {
        Self { spec, again: false }
    }

    /// A start that goes on with a session in its folder. It gets a new id of its own if it is a copy, was not ours, or changes between
    /// pipes and a terminal. `place` has the folder from which the agent finds its file.
    ///
    /// # Errors
    /// When its agent cannot go on with it.
    pub fn going_on(
        settings: &Settings,
        call: &OwnResumeCall,
        row: &TrackedSession,
        place: &SessionLocation,
    ) -> Result<Self, ApiError> {
        let data = settings.data_dir.as_deref().ok_or_else(no_data_dir)?;
        let earlier = row.own_id.as_deref().map(|own| Folder::of(data, own)).transpose();
        let earlier = earlier.map_err(wrong_folder)?;
        if let Some(folder) = earlier.as_ref().filter(|_| !call.fork) {
            let spec = folder.spec().map_err(wrong_folder)?;
            if spec.kind == call.kind {
                return Ok(Self { spec, again: true });
            }
        }
        let missing = |words: &str| ApiError::new(ErrorCode::NotFound, words);
        let Some(agent) = call.agent.agent() else {
            let words = "a command in a terminal cannot be resumed: run it again";
            return Err(ApiError::new(ErrorCode::Unsupported, words));
        };
        // The other agents name their sessions themselves.
        let is_its_own =
            row.transcript_path.as_deref().and_then(|path| place_of(Path::new(path))?.written_by_other());
        let session = if traits(agent).takes_session_id || (call.fork && is_its_own == Some(agent)) {
            row.session_id.clone()
        } else if is_its_own == Some(agent) {
            let words = format!(
                "a session of a terminal goes on there: `{}`; here a copy of it can go on, if its agent makes copies (`watchbill fork`)",
                resume_command(agent, &place.resume, None)
            );
            return Err(ApiError::new(ErrorCode::Unsupported, words));
        } else {
            let folder = earlier.ok_or_else(|| missing("its agent's id of the session is not known"))?;
            let id =
                agents_id(&folder).map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string()))?;
            id.ok_or_else(|| missing("the session has not begun: there is nothing to go on with"))?
        };
        let cwd = place
            .cwd
            .as_deref()
            .ok_or_else(|| missing("that session has not reported its working folder"))?
            .to_owned();
        let spec = OwnSpec {
            session: call.id.clone(),
            agent: call.agent,
            kind: call.kind,
            cwd,
            model: None,
            // What was allowed there is not allowed again by a resume.
            mode: None,
            resume: Some(OwnResume { session, fork: call.fork }),
            command: Vec::new(),
            size: None,
            created_at: SystemClock.now().to_string(),
            root: root_of(settings, row),
            switched: None,
            started_by_agent: false,
        };
        Ok(Self::new(spec))
    }

    /// Starts the host. An agent whose transcripts Watchbill reads gets the folder that it reads. Of several it gets the one that the environment
    /// names, else the first.
    ///
    /// # Errors
    /// When it does not run.
    pub fn begin(mut self, settings: &Settings) -> Result<(Folder, OwnSpec), ApiError> {
        let data = settings.data_dir.as_deref().ok_or_else(no_data_dir)?;
        let program = ready(&self.spec)?;
        let started = if self.again {
            start::resume(data, &program, &self.spec.session)
        } else {
            let spec = &mut self.spec;
            if spec.agent == OwnAgent::Shell && spec.command.is_empty() {
                spec.command = vec![shell()];
            }
            // The folder of one agent is no place for another one.
            let agent = spec.agent.agent().filter(|agent| traits(*agent).writes_transcripts);
            let root = spec.root.take();
            spec.root = agent.and_then(|agent| root.or_else(|| watched(settings, agent)));
            start::start(data, &program, spec)
        };
        let folder = started.map_err(not_started)?;
        mark_unwanted_own(settings, &folder, &self.spec);
        Ok((folder, self.spec))
    }
}

/// The program of the hosts, if it, the folder of the session and the program that runs in it are there.
fn ready(spec: &OwnSpec) -> Result<PathBuf, ApiError> {
    if !Path::new(&spec.cwd).is_dir() {
        let words = format!(
            "the folder {} does not exist, or is not readable: make it again, or start a session in another one",
            spec.cwd
        );
        return Err(ApiError::new(ErrorCode::Invalid, words));
    }
    let of_agent = || spec.agent.agent().map(|agent| traits(agent).program);
    if let Some(program) = spec.command.first().map(String::as_str).or_else(of_agent) {
        let is_name = Path::new(program).components().count() == 1;
        let (place, paths) = match is_name {
            true => ("in PATH".to_owned(), search_path()),
            false => (format!("seen from {}", spec.cwd), vec![PathBuf::new()]),
        };
        // The program starts in the folder of the session, from which relative parts count.
        let paths: Vec<_> = paths.iter().map(|path| Path::new(&spec.cwd).join(path)).collect();
        // Without the variable, the system looks into folders of its own.
        let is_searched = !is_name || std::env::var_os("PATH").is_some();
        if is_searched && !is_there(program, &paths) {
            let words = format!(
                "no program `{program}` is {place}: install it, or start the session where it is found; nothing was started"
            );
            return Err(ApiError::new(ErrorCode::Invalid, words));
        }
    }
    host_program().map_err(|error| {
        ApiError::new(ErrorCode::Internal, format!("the program of the hosts is not found: {error}"))
    })
}

/// The watched folder that has the transcript of a session.
pub fn root_of(settings: &Settings, row: &TrackedSession) -> Option<String> {
    let transcript = Path::new(row.transcript_path.as_deref()?);
    named(settings.roots_now(&StdFs).iter().find(|root| transcript.starts_with(root))?)
}

/// The watched folder for a new session: the one that the environment names for its agent, else the first one.
fn watched(settings: &Settings, agent: Agent) -> Option<String> {
    let of_env = traits(agent).folder_variable.and_then(|(variable, below)| {
        real_path(&PathBuf::from(std::env::var_os(variable)?).join(below)).ok()
    });
    let is_of_env = |root: &&PathBuf| of_env.is_some() && real_path(root).ok() == of_env;
    let roots = settings.roots_of(agent);
    named(roots.iter().find(is_of_env).or(roots.first())?)
}

/// A folder as the host of a session is told it.
fn named(root: &Path) -> Option<String> {
    std::path::absolute(root).ok()?.to_str().map(str::to_owned)
}

fn shell() -> String {
    std::env::var("SHELL").ok().filter(|shell| !shell.is_empty()).unwrap_or_else(|| "/bin/sh".to_owned())
}

/// The id that the agent gave the session.
fn agents_id(folder: &Folder) -> io::Result<Option<String>> {
    let mut last = None;
    let spec = folder.spec().map_err(io::Error::other)?;
    replay::read(folder, &spec, 0, &mut |events| {
        for event in events {
            if let OwnWhat::Init { session, .. } | OwnWhat::Moved { session } = event.what {
                last = Some(session);
            }
        }
        true
    })?;
    Ok(last)
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
    engine.settings().data_dir.clone().ok_or_else(no_data_dir)
}

fn no_data_dir() -> ApiError {
    ApiError::new(ErrorCode::Unsupported, "Watchbill has no data folder, so it starts no sessions")
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
        std::fs::write(folder.path().join("tool.exe"), "").unwrap();
        assert_eq!(is_there("tool", &[folder.path().into()]), cfg!(windows));
    }
}

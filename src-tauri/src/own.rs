//! The window's access to own sessions: starts their hosts, follows them, and passes on the user's commands.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tauri::State;
use tauri::async_runtime::spawn_blocking;
use tauri::ipc::Channel;
use watchbill_agents::{Agent, traits};
use watchbill_drive::client::{Closer, HostClient, HostError, follow, send};
use watchbill_drive::folder::{Folder, FolderError};
use watchbill_drive::start::{StartError, host_program, resume, start};
use watchbill_engine::worktree;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnResume, OwnSize, OwnSpec};
use watchbill_protocol::own::view::{OwnChoices, OwnNews};
use watchbill_protocol::roster::TrackedSession;
use watchbill_settings::Configuration;

use crate::desk::Desk;

/// The window shows one session, and attaches to the next one before it leaves it. A reloaded page does not say that its
/// attachments are dead, so the oldest ones end.
const ATTACHMENTS: usize = 8;
/// Recent folders that the window offers.
const FOLDERS: usize = 20;

/// The sessions that the window is attached to. Tauri's managed state.
#[derive(Default)]
pub struct Attachments(Mutex<(u32, VecDeque<Arc<Attachment>>)>);

/// One of them.
#[derive(Default)]
struct Attachment {
    id: u32,
    ended: AtomicBool,
    closer: Mutex<Option<Closer>>,
}

impl Attachment {
    fn end(&self) {
        self.ended.store(true, Ordering::Release);
        if let Some(closer) = lock(&self.closer).take() {
            closer.close();
        }
    }

    fn is_open(&self) -> bool {
        !self.ended.load(Ordering::Acquire)
    }
}

impl Attachments {
    fn add(&self) -> Arc<Attachment> {
        let mut kept = lock(&self.0);
        kept.0 = kept.0.wrapping_add(1);
        let attachment = Arc::new(Attachment { id: kept.0, ..Attachment::default() });
        kept.1.push_back(Arc::clone(&attachment));
        if kept.1.len() > ATTACHMENTS
            && let Some(oldest) = kept.1.pop_front()
        {
            oldest.end();
        }
        attachment
    }

    fn end(&self, id: u32) {
        lock(&self.0).1.retain(|attachment| {
            if attachment.id == id {
                attachment.end();
            }
            attachment.id != id
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the window says that a session is to go on.
#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResumeCall {
    id: String,
    session_id: String,
    agent: OwnAgent,
    kind: OwnKind,
    fork: bool,
    /// The user goes on although the folder has another branch by now.
    any_branch: bool,
}

/// The agents whose programs are in `PATH`, and the folders of the sessions in the roster.
#[tauri::command]
pub async fn own_choices(desk: State<'_, Desk>) -> Result<OwnChoices, ApiError> {
    desk.ask(|engine| {
        let mut folders: Vec<String> = Vec::new();
        for cwd in engine.roster(true)?.sessions.into_iter().filter_map(|row| row.cwd) {
            if folders.len() < FOLDERS && !folders.contains(&cwd) {
                folders.push(cwd);
            }
        }
        let paths = std::env::var_os("PATH").unwrap_or_default();
        Ok(OwnChoices { agents: found_in(&std::env::split_paths(&paths).collect::<Vec<_>>()), folders })
    })
    .await
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
#[tauri::command]
pub async fn own_start(
    desk: State<'_, Desk>,
    configuration: State<'_, Arc<Configuration>>,
    spec: OwnSpec,
) -> Result<(), ApiError> {
    let data = data_dir(&desk, &configuration)?;
    off(move || start_host(&data, spec)).await
}

/// Goes on with a session, and gives the id of the session where it goes on.
#[tauri::command]
pub async fn own_resume(
    desk: State<'_, Desk>,
    configuration: State<'_, Arc<Configuration>>,
    call: ResumeCall,
) -> Result<String, ApiError> {
    let data = data_dir(&desk, &configuration)?;
    desk.ask(move |engine| {
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
    })
    .await
}

fn go_on(data: &Path, call: ResumeCall, row: &TrackedSession, cwd: Option<&str>) -> Result<String, ApiError> {
    if let Some(own) = row.own_id.as_deref().filter(|_| !call.fork) {
        resume(data, &program()?, own).map_err(not_started)?;
        return Ok(call.session_id);
    }
    // The other agents name their sessions themselves.
    if !call.agent.agent().is_some_and(|agent| traits(agent).takes_session_id) {
        let words = format!(
            "only sessions of {} go on in a copy, or from a terminal",
            traits(Agent::default()).title
        );
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
        created_at: jiff::Timestamp::now().to_string(),
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
    start(data, &program()?, &spec).map(|_| ()).map_err(not_started)
}

fn program() -> Result<PathBuf, ApiError> {
    host_program().map_err(|error| {
        ApiError::new(ErrorCode::Internal, format!("the program of the hosts is not found: {error}"))
    })
}

/// Sends what a session tells through `channel`, and gives the number that ends it.
#[tauri::command]
pub async fn own_attach(
    desk: State<'_, Desk>,
    configuration: State<'_, Arc<Configuration>>,
    attachments: State<'_, Attachments>,
    session: String,
    from: u64,
    channel: Channel<OwnNews>,
) -> Result<u32, ApiError> {
    let folder = folder(&data_dir(&desk, &configuration)?, &session)?;
    let attachment = attachments.add();
    let id = attachment.id;
    let told = std::thread::Builder::new().name("own session".into()).spawn(move || {
        let failure = tell(&folder, from, &attachment, &channel).err().map(|error| error.to_string());
        let _ = channel.send(OwnNews::Over { failure });
        attachment.end();
    });
    match told {
        Ok(_) => Ok(id),
        Err(error) => {
            attachments.end(id);
            Err(ApiError::new(ErrorCode::Internal, format!("the system gives no thread: {error}")))
        }
    }
}

/// Tells what a session tells until its host or the attachment ends.
fn tell(
    folder: &Folder,
    from: u64,
    attachment: &Attachment,
    channel: &Channel<OwnNews>,
) -> Result<(), HostError> {
    let mut next = from;
    let mut has_begun = false;
    while attachment.is_open() {
        let client = match HostClient::connect(folder) {
            Err(HostError::NotRunning) => return tell_log(folder, next, has_begun, channel),
            other => other?,
        };
        *lock(&attachment.closer) = Some(client.closer());
        if !attachment.is_open() {
            return Ok(());
        }
        if !has_begun {
            let hello = client.hello();
            let _ = channel.send(OwnNews::Begin { spec: hello.spec.clone(), pid: Some(hello.pid) });
            has_begun = true;
        }
        let since = next;
        let mut sink = |message: HostMessage| {
            if let HostMessage::Events { events } = &message {
                next = events.last().map_or(next, |last| next.max(last.n + 1));
            }
            attachment.is_open() && channel.send(OwnNews::Host { message }).is_ok()
        };
        match client.attach(since, &mut sink) {
            // The host ends a reader that is too slow. It is attached again behind what it has.
            Ok(()) | Err(HostError::Broken(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Without a host: what its log holds, and the last screen.
fn tell_log(
    folder: &Folder,
    from: u64,
    has_begun: bool,
    channel: &Channel<OwnNews>,
) -> Result<(), HostError> {
    let spec = folder.spec().map_err(std::io::Error::other)?;
    let (is_terminal, size) =
        (spec.kind == OwnKind::Pty, spec.size.unwrap_or(OwnSize { rows: 24, cols: 80 }));
    if !has_begun {
        let _ = channel.send(OwnNews::Begin { spec, pid: None });
        if is_terminal && let Ok(bytes) = std::fs::read(folder.screen()) {
            let message = HostMessage::Screen { bytes: STANDARD.encode(bytes), size };
            let _ = channel.send(OwnNews::Host { message });
        }
    }
    follow(folder, from, &mut |message| channel.send(OwnNews::Host { message }).is_ok())?;
    let _ = channel.send(OwnNews::Host { message: HostMessage::CaughtUp });
    Ok(())
}

/// Ends an attachment.
#[tauri::command]
pub fn own_detach(attachments: State<'_, Attachments>, attachment: u32) {
    attachments.end(attachment);
}

/// Passes a command on. When it returns, the host has it in its log. `id` is new for each command.
#[tauri::command]
pub async fn own_command(
    desk: State<'_, Desk>,
    configuration: State<'_, Arc<Configuration>>,
    session: String,
    id: String,
    command: OwnCommand,
) -> Result<(), ApiError> {
    let folder = folder(&data_dir(&desk, &configuration)?, &session)?;
    off(move || send(&folder, &id, &command).map_err(not_reached)).await
}

/// Opens a web address in the user's browser. Output of a program names it, so nothing else is opened.
#[tauri::command]
pub async fn open_link(address: String) -> Result<(), ApiError> {
    if !is_web(&address) {
        return Err(ApiError::new(ErrorCode::Invalid, "that link is no web address"));
    }
    off(move || {
        tauri_plugin_opener::open_url(&address, None::<&str>)
            .map_err(|error| ApiError::new(ErrorCode::Unsupported, format!("no browser was found: {error}")))
    })
    .await
}

fn is_web(address: &str) -> bool {
    let rest = address.strip_prefix("https://").or_else(|| address.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty() && !address.chars().any(|c| c.is_control() || c.is_whitespace()))
}

/// The demo's sessions are made up, and have no hosts.
fn data_dir(desk: &Desk, configuration: &Configuration) -> Result<PathBuf, ApiError> {
    if desk.is_demo() {
        return Err(ApiError::new(ErrorCode::Unsupported, "the demo starts no sessions"));
    }
    let none =
        || ApiError::new(ErrorCode::Unsupported, "Watchbill has no data folder, so it starts no sessions");
    configuration.settings().data_dir.clone().ok_or_else(none)
}

fn folder(data: &Path, session: &str) -> Result<Folder, ApiError> {
    Folder::of(data, session).map_err(wrong_folder)
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

/// Runs off the main thread.
async fn off<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    spawn_blocking(work).await.unwrap_or_else(|error| {
        tracing::error!(%error, "work on an own session ended in a panic");
        Err(ApiError::new(ErrorCode::Internal, "Watchbill failed; its log says why"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_opened() {
        assert!(is_web("https://example.com/a?b#c"));
        for address in
            ["file:///etc/passwd", "javascript:x", "https://", "https://a b", "https://a\n", "-x", ""]
        {
            assert!(!is_web(address), "{address:?}");
        }
    }

    #[test]
    fn the_oldest_attachment_ends_when_there_are_too_many() {
        let attachments = Attachments::default();
        let first = attachments.add();
        let others: Vec<_> = (0..ATTACHMENTS).map(|_| attachments.add()).collect();
        assert!(!first.is_open());
        assert!(others.iter().all(|other| other.is_open()));
        attachments.end(others[0].id);
        assert!(!others[0].is_open());
    }

    #[test]
    fn agents_are_found_by_their_programs_and_a_shell_is_always_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("codex"), "").unwrap();
        assert_eq!(found_in(&[folder.path().into()]), [OwnAgent::Codex, OwnAgent::Shell]);
        assert_eq!(found_in(&[]), [OwnAgent::Shell]);
    }
}

//! Starts sessions: the folder first, durably, then the host, from a copy of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use watchbill_platform::files::private_dir;
use watchbill_protocol::own::spec::OwnSpec;

use crate::client::{HostClient, HostError};
use crate::folder::{Folder, FolderError, unique};
use crate::socket::caller::why_no_person_started_this;
use crate::summary::OwnSummary;

/// The program of a host.
const PROGRAM: &str = if cfg!(windows) { "watchbill-host.exe" } else { "watchbill-host" };

/// A file beside the folders of sessions that each start writes anew. It names the folder of the session.
const STARTED: &str = "started";

/// Longer than a host stays after the end of its session.
const LAST_MOMENT: Duration = Duration::from_secs(5);

/// Why a session does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Its folder cannot be used.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The program of the host is missing, or cannot be copied.
    #[error("cannot use the program {program}: {error}")]
    Program {
        /// The program.
        program: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The host does not come up.
    #[error("the session does not start: {0}")]
    Host(String),
    /// It was started before and has ended. It goes on only if the user says so.
    #[error("the session has ended; resume it to go on with it")]
    Ended,
    /// There is a host, but not for this program.
    #[error(transparent)]
    Unreachable(#[from] HostError),
    /// Hosts run on Linux only, so far.
    #[error("sessions of your own run on Linux only, so far")]
    Unsupported,
}

/// The program of the host: beside the running one, or where a package has it (`bin/../libexec/watchbill`).
///
/// # Errors
/// When the system does not tell where the running program is.
pub fn host_program() -> io::Result<PathBuf> {
    let beside = std::env::current_exe()?.with_file_name(PROGRAM);
    let packaged =
        beside.parent().and_then(Path::parent).map(|top| top.join("libexec/watchbill").join(PROGRAM));
    Ok(packaged.filter(|packaged| !beside.is_file() && packaged.is_file()).unwrap_or(beside))
}

/// Starts a session, and gives its folder. Its host listens, or has ended already. Doing it again with the same id gives the running one: of two
/// clicks, or of two windows, one session comes.
///
/// # Errors
/// When it cannot be started, or has ended.
pub fn start(data_dir: &Path, program: &Path, spec: &OwnSpec) -> Result<Folder, StartError> {
    let folder = Folder::of(data_dir, &spec.session)?;
    let is_new = folder.create(spec)?;
    match HostClient::connect(&folder) {
        Ok(_) => return Ok(folder),
        Err(HostError::NotRunning) => {}
        Err(error) => return Err(error.into()),
    }
    // A folder with a log had a host. One without was left by a program that died before it started one.
    if !is_new && fs::metadata(folder.log()).is_ok_and(|log| log.len() > 0) {
        return Err(StartError::Ended);
    }
    run(data_dir, program, folder)
}

/// Starts a host for a session that has ended, because the user said so. The agent goes on with its conversation at the next
/// prompt. Gives the running host if there is one.
///
/// # Errors
/// When the session does not exist, or cannot be started.
pub fn resume(data_dir: &Path, program: &Path, session: &str) -> Result<Folder, StartError> {
    let folder = Folder::of(data_dir, session)?;
    let spec = folder.spec()?;
    let keeps = match HostClient::connect(&folder) {
        Ok(client) => client.keeps(),
        Err(HostError::NotRunning) => false,
        Err(error) => return Err(error.into()),
    };
    if keeps {
        return Ok(folder);
    }
    wait_for_lock(&folder);
    // The host before was perhaps killed: what its agent said last is kept before the next agent goes on.
    if let Err(error) = OwnSummary::of_ended(&folder, &spec) {
        tracing::warn!(%error, "what the session was is not kept");
    }
    run(data_dir, program, folder)
}

/// Notes an agent above this program before anything starts: nothing in the session may answer then. The host leaves the
/// processes above it, and its environment has no marks.
fn note_agent(folder: &Folder) -> Result<(), StartError> {
    if why_no_person_started_this().is_some() {
        folder.note_agent()?;
    }
    Ok(())
}

/// A host whose session has ended keeps the lock until its readers have read the end.
fn wait_for_lock(folder: &Folder) {
    let begun = Instant::now();
    while let Ok(lock) = fs::File::open(folder.lock())
        && lock.try_lock().is_err()
        && begun.elapsed() < LAST_MOMENT
    {
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn run(data_dir: &Path, program: &Path, folder: Folder) -> Result<Folder, StartError> {
    if !cfg!(target_os = "linux") {
        return Err(StartError::Unsupported);
    }
    note_agent(&folder)?;
    let failed = |error| StartError::Program { program: program.to_owned(), error };
    let copy = own_copy(data_dir, program).map_err(failed)?;
    let mut command = Command::new(&copy);
    command.arg(folder.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut tries = 0;
    let output = loop {
        match command.output() {
            // A program that another thread starts this moment has inherited the copy, open for writing, until its exec.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < 100 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(10));
            }
            other => break other.map_err(failed)?,
        }
    };
    if !output.status.success() {
        return Err(StartError::Host(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
    }
    // Programs that watch the parent folder learn that an old session has a host again.
    let _ = fs::write(Folder::parent(data_dir).join(STARTED), folder.path().as_os_str().as_encoded_bytes());
    Ok(folder)
}

/// A copy of the host's program in the data folder: an update or a removal of Watchbill, or an image that is unmounted, does not
/// touch it. A running host keeps its file even when the copy is replaced.
fn own_copy(data_dir: &Path, program: &Path) -> io::Result<PathBuf> {
    let bytes = fs::read(program)?;
    let parent = Folder::parent(data_dir).join("bin");
    let folder = parent.join(env!("CARGO_PKG_VERSION"));
    private_dir(&parent)?;
    private_dir(&folder)?;
    let copy = folder.join(PROGRAM);
    if fs::read(&copy).is_ok_and(|found| found == bytes) {
        return Ok(copy);
    }
    let new = folder.join(unique(PROGRAM));
    fs::write(&new, &bytes)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&new, fs::Permissions::from_mode(0o700))?;
    }
    fs::rename(&new, &copy)?;
    for other in fs::read_dir(&parent)?.flatten().filter(|other| other.path() != folder) {
        let _ = fs::remove_dir_all(other.path());
    }
    Ok(copy)
}

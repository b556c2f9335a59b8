//! The program that asks a model: one process for one question. It ends when this process does.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use watchbill_platform::files::private_dir;
use watchbill_protocol::model::{ModelAddress, ModelJob, ModelResult};

/// The program.
const PROGRAM: &str = if cfg!(windows) { "watchbill-model-client.exe" } else { "watchbill-model-client" };
/// The most bytes of a result.
const MOST: u64 = 4 << 20;
/// The program keeps to its time by itself. One that does not is killed after this much more.
const MORE: Duration = Duration::from_secs(10);

/// The program: beside the running one, or where a package has it (`bin/../libexec/watchbill`).
///
/// # Errors
/// When the system does not tell where the running program is.
pub fn program() -> io::Result<PathBuf> {
    let beside = std::env::current_exe()?.with_file_name(PROGRAM);
    let top = beside.parent().and_then(Path::parent);
    let packaged = top.map(|top| top.join("libexec/watchbill").join(PROGRAM));
    Ok(packaged.filter(|packaged| !beside.is_file() && packaged.is_file()).unwrap_or(beside))
}

/// The folder in which the agent works when it is asked. What works there is no session of the user.
pub fn agent_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("memory-agent")
}

/// A process that asks.
pub struct Asking {
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    limit: Duration,
}

/// Ends a process that asks, from another thread.
#[derive(Clone)]
pub struct Stop(Arc<Mutex<Option<ChildStdin>>>);

impl Stop {
    /// Closes the input of the process, with which it ends.
    pub fn stop(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// Starts the program with a question.
///
/// # Errors
/// When it cannot be started.
pub fn start(program: &Path, job: &ModelJob) -> io::Result<Asking> {
    let mut command = Command::new(program);
    match &job.to {
        ModelAddress::Agent { folder, .. } => private_dir(Path::new(folder))?,
        // The client of an endpoint gets no variable, so none can leak to the endpoint.
        ModelAddress::Endpoint { .. } => {
            command.env_clear();
            if let Some(root) = std::env::var_os("SystemRoot") {
                command.env("SystemRoot", root);
            }
        }
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let mut input = child.stdin.take();
    let line = serde_json::to_string(job)? + "\n";
    let written = input.as_mut().map_or(Ok(()), |input| input.write_all(line.as_bytes()));
    let limit = Duration::from_millis(job.timeout_ms) + MORE;
    let asking = Asking { child, input: Arc::new(Mutex::new(input)), limit };
    match written {
        Ok(()) => Ok(asking),
        Err(error) => {
            asking.result();
            Err(error)
        }
    }
}

impl Asking {
    /// The handle that ends it.
    pub fn stop(&self) -> Stop {
        Stop(Arc::clone(&self.input))
    }

    /// Waits for the result.
    pub fn result(mut self) -> ModelResult {
        let (sender, receiver) = channel();
        let output = self.child.stdout.take();
        let reader = std::thread::spawn(move || {
            let mut text = String::new();
            let read = output.map_or(Ok(0), |output| output.take(MOST).read_to_string(&mut text));
            let _ = sender.send(read.map(|_| text));
        });
        let text = receiver.recv_timeout(self.limit);
        self.stop().stop();
        if text.is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
        let _ = reader.join();
        let parsed = text.ok().and_then(Result::ok).and_then(|text| serde_json::from_str(text.trim()).ok());
        parsed.unwrap_or_else(|| ModelResult {
            error: Some("the program watchbill-model-client ended without a result".to_owned()),
            ..ModelResult::default()
        })
    }
}

/// Asks, and waits for the result.
pub fn ask(program: &Path, job: &ModelJob) -> ModelResult {
    match start(program, job) {
        Ok(asking) => asking.result(),
        Err(error) => ModelResult {
            error: Some(format!("cannot start {}: {error}", program.display())),
            ..ModelResult::default()
        },
    }
}

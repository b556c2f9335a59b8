//! Runs a program for at most two seconds, without a shell.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Time limit, so that a hanging program does not block the caller.
const LIMIT: Duration = Duration::from_secs(2);

/// Limit for output; more than any answer has. A program with more has failed.
const MAX_OUTPUT: u64 = 4 << 20;

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallResult {
    /// It succeeded; this is its output.
    Done(String),
    /// It failed; this is its error output.
    Failed(String),
    /// There is no such program on the search path.
    NotInstalled,
    /// It did not end in time, and was killed.
    TimedOut,
}

impl CallResult {
    /// Its output, if it succeeded.
    pub fn done(self) -> Option<String> {
        match self {
            Self::Done(out) => Some(out),
            _ => None,
        }
    }

    /// Why the call to `program` did not succeed, as a part of a sentence.
    pub fn failure_text(&self, program: &str) -> String {
        match self {
            Self::Done(_) => format!("{program} did it"),
            Self::Failed(error_text) => match error_text.lines().find(|line| !line.trim().is_empty()) {
                Some(line) => format!("{program} refused: {}", line.trim().trim_end_matches('.')),
                None => format!("{program} refused"),
            },
            Self::NotInstalled => format!("the program {program} is not on the search path"),
            Self::TimedOut => format!("{program} did not answer within two seconds"),
        }
    }
}

/// Keeps Windows from opening a console window for a program.
pub fn without_window(command: &mut Command) -> &mut Command {
    #[cfg(windows)]
    std::os::windows::process::CommandExt::creation_flags(command, 0x0800_0000 /* CREATE_NO_WINDOW */);
    command
}

/// Runs a program with a text on its standard input.
pub fn run(command: &mut Command, input: Option<&str>) -> CallResult {
    run_within(command, input, LIMIT)
}

fn run_within(command: &mut Command, input: Option<&str>, limit: Duration) -> CallResult {
    let deadline = Instant::now() + limit;
    command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    without_window(command);
    // A process group of its own, so that its children end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return CallResult::NotInstalled,
        Err(error) => return CallResult::Failed(error.to_string()),
    };
    if let Some((mut pipe, text)) = child.stdin.take().zip(input.map(str::to_owned)) {
        // On a thread of its own: a program that does not read must not block the caller. Its exit code tells the rest.
        std::thread::spawn(move || pipe.write_all(text.as_bytes()));
    }
    let out = child.stdout.take().map(read);
    let errors = child.stderr.take().map(read);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                // A child of it may keep the pipe open, but its own output is there already.
                let text = |from: Option<Receiver<Option<String>>>| {
                    let left = deadline.saturating_duration_since(Instant::now());
                    let read =
                        from.and_then(|from| from.recv_timeout(left.max(Duration::from_millis(50))).ok());
                    read.unwrap_or_else(|| Some(String::new()))
                };
                return match (text(out), text(errors)) {
                    (None, _) => CallResult::Failed("its output is longer than 4 MB".to_owned()),
                    (Some(out), _) if status.success() => CallResult::Done(out),
                    (_, errors) => CallResult::Failed(errors.unwrap_or_default()),
                };
            }
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(3)),
            _ => {
                end(&mut child);
                return CallResult::TimedOut;
            }
        }
    }
}

/// Reads a pipe to its end on a thread of its own; `None`: it is too long.
fn read(pipe: impl Read + Send + 'static) -> Receiver<Option<String>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // The bytes read before an error are the answer.
        let _ = pipe.take(MAX_OUTPUT + 1).read_to_end(&mut bytes);
        let text = (bytes.len() as u64 <= MAX_OUTPUT).then(|| String::from_utf8_lossy(&bytes).into_owned());
        let _ = sender.send(text);
    });
    receiver
}

fn end(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        // It may have ended just now.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// Longer than a program that ends takes on any machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn run(command: &mut Command, input: Option<&str>) -> CallResult {
        run_within(command, input, PATIENCE)
    }

    fn sh(script: &str) -> CallResult {
        run(Command::new("sh").args(["-c", script]), None)
    }

    #[test]
    fn output_errors_and_a_missing_program_are_distinguished() {
        assert_eq!(sh("echo yes; echo no >&2"), CallResult::Done("yes\n".into()));
        assert_eq!(sh("echo yes; echo no >&2; exit 3"), CallResult::Failed("no\n".into()));
        assert_eq!(run(&mut Command::new("no-such-program-here"), None), CallResult::NotInstalled);
        let long = CallResult::Failed("its output is longer than 4 MB".into());
        assert_eq!(sh("yes | head -c 5000000"), long);
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_all_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let note = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", note.display());
        // On a busy machine the program may not have begun before its time is over.
        let pid = (1..6).find_map(|seconds| {
            let mut command = Command::new("sh");
            let limit = Duration::from_secs(2 * seconds);
            assert_eq!(run_within(command.args(["-c", &script]), None, limit), CallResult::TimedOut);
            std::fs::read_to_string(&note).ok().filter(|pid| pid.ends_with('\n'))
        });
        let pid = pid.expect("it had begun");
        let pid = pid.trim().parse().expect("an id");
        let runs = || crate::process::look(pid).is_some_and(|process| !process.has_ended);
        // It was killed, but is not reaped: on a busy machine its end takes a moment, and without the kill ten minutes.
        let end = Instant::now() + PATIENCE;
        while runs() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!runs());
    }

    #[test]
    fn a_child_left_running_does_not_delay_the_result() {
        assert_eq!(sh("sleep 600 >/dev/null 2>&1 & echo here"), CallResult::Done("here\n".into()));
    }

    #[test]
    fn a_text_goes_to_the_standard_input_as_it_is() {
        let text = "-x\n\u{1b}[200~;".repeat(20_000);
        assert_eq!(run(&mut Command::new("cat"), Some(&text)), CallResult::Done(text.clone()));
        let reads_nothing = run(&mut Command::new("true"), Some(&text));
        assert_eq!(reads_nothing, CallResult::Done(String::new()));
    }
}
/// `git`, without the variables that name another repository or other settings: a hook of git sets them for what it starts.
pub fn git() -> Command {
    let mut git = Command::new("git");
    let ours = std::env::vars_os().map(|(name, _)| name);
    for name in ours.filter(|name| name.to_string_lossy().starts_with("GIT_")) {
        git.env_remove(name);
    }
    git
}

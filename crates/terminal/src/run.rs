//! Runs a program for at most two seconds, without a shell.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::call::{CallResult, ProgramCall};

/// Time limit, so that a hanging terminal does not block the caller.
const LIMIT: Duration = Duration::from_secs(2);

/// Limit for output; more than any answer has. The rest is not read.
const MAX_OUTPUT: u64 = 4 << 20;

/// Runs a call.
pub fn run(call: &ProgramCall) -> CallResult {
    run_within(call, LIMIT)
}

fn run_within(call: &ProgramCall, limit: Duration) -> CallResult {
    let deadline = Instant::now() + limit;
    let mut command = Command::new(&call.program);
    command.args(&call.args).envs(call.env.iter().map(|(name, value)| (*name, value)));
    for name in call.without {
        command.env_remove(name);
    }
    command.stdin(if call.input.is_some() { Stdio::piped() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // A process group of its own, so that its children end with it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return CallResult::NotInstalled,
        Err(error) => return CallResult::Failed(error.to_string()),
    };
    if let Some((mut pipe, text)) = child.stdin.take().zip(call.input.clone()) {
        // On a thread of its own: a program that does not read must not block the caller. Its exit code tells the rest.
        std::thread::spawn(move || pipe.write_all(text.as_bytes()));
    }
    let out = child.stdout.take().map(read);
    let errors = child.stderr.take().map(read);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                // A child of it may keep the pipe open, but its own output is there already.
                let text = |from: Option<Receiver<String>>| {
                    let left = deadline.saturating_duration_since(Instant::now());
                    from.and_then(|from| from.recv_timeout(left.max(Duration::from_millis(50))).ok())
                };
                let (out, errors) = (text(out).unwrap_or_default(), text(errors).unwrap_or_default());
                return if status.success() { CallResult::Done(out) } else { CallResult::Failed(errors) };
            }
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(3)),
            _ => {
                end(&mut child);
                return CallResult::TimedOut;
            }
        }
    }
}

/// Reads a pipe to its end on a thread of its own.
fn read(pipe: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // The bytes read before an error are the answer.
        let _ = pipe.take(MAX_OUTPUT).read_to_end(&mut bytes);
        let _ = sender.send(String::from_utf8_lossy(&bytes).into_owned());
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Longer than a program that ends takes on any machine.
    const PATIENCE: Duration = Duration::from_secs(60);

    fn run(call: &ProgramCall) -> CallResult {
        run_within(call, PATIENCE)
    }

    fn sh(script: &str) -> CallResult {
        run(&ProgramCall::new("sh", ["-c", script]))
    }

    #[test]
    fn output_errors_and_a_missing_program_are_distinguished() {
        assert_eq!(sh("echo yes; echo no >&2"), CallResult::Done("yes\n".into()));
        assert_eq!(sh("echo yes; echo no >&2; exit 3"), CallResult::Failed("no\n".into()));
        assert_eq!(run(&ProgramCall::new("no-such-program-here", [])), CallResult::NotInstalled);
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_all_it_started() {
        let folder = tempfile::tempdir().expect("a folder");
        let note = folder.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}; wait", note.display());
        let call = ProgramCall::new("sh", ["-c", &script]);
        // On a busy machine the program may not have begun before its time is over.
        let pid = (1..6).find_map(|seconds| {
            assert_eq!(run_within(&call, Duration::from_secs(2 * seconds)), CallResult::TimedOut);
            std::fs::read_to_string(&note).ok().filter(|pid| pid.ends_with('\n'))
        });
        let pid = pid.expect("it had begun");
        let look = || {
            let stat = std::fs::read(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            crate::process::parse_stat(0, &stat)
        };
        // It was killed, but is not reaped: on a busy machine its end takes a moment, and without the kill ten minutes.
        let end = Instant::now() + PATIENCE;
        while look().is_some() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(look(), None);
    }

    #[test]
    fn a_child_left_running_does_not_delay_the_result() {
        assert_eq!(sh("sleep 600 >/dev/null 2>&1 & echo here"), CallResult::Done("here\n".into()));
    }

    #[test]
    fn a_text_goes_to_the_standard_input_as_it_is() {
        let text = "-x\n\u{1b}[200~;".repeat(20_000);
        assert_eq!(run(&ProgramCall::new("cat", []).input(&text)), CallResult::Done(text.clone()));
        assert_eq!(
            run(&ProgramCall::new("true", []).input(&text)),
            CallResult::Done(String::new()),
            "it reads nothing"
        );
    }

    #[test]
    fn variables_are_set_and_taken_away() {
        let mut call =
            ProgramCall::new("sh", ["-c", "echo $KITTY_WINDOW_ID$PATH"]).env("KITTY_WINDOW_ID", "3");
        call.without = &["PATH"];
        assert!(matches!(run(&call), CallResult::Done(out) if out.starts_with('3')));
    }
}

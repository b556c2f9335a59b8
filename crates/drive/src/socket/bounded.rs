//! Runs another program for its output, with a time limit.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Pause between two looks whether the program has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// The longest output that is read, in bytes.
const OUTPUT: u64 = 64 << 10;

/// The output of a program; `None` if it does not run, does not end in time, or fails. It is killed then. Its output must fit into
/// a pipe.
pub(super) fn output(command: &mut Command, at_most: Duration) -> Option<String> {
    let until = Instant::now() + at_most;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE),
            _ => break false,
        }
    };
    if !ended {
        // It may have ended just now.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut output = Vec::new();
    child.stdout.take()?.take(OUTPUT).read_to_end(&mut output).ok()?;
    Some(String::from_utf8_lossy(&output).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_killed_in_time() {
        let begun = Instant::now();
        let hangs = output(Command::new("sleep").arg("600"), Duration::from_millis(100));
        assert_eq!(hangs, None);
        assert!(begun.elapsed() < Duration::from_secs(60));
        let echo = output(Command::new("echo").arg("1"), Duration::from_secs(60));
        assert_eq!(echo.as_deref(), Some("1\n"));
        assert_eq!(output(&mut Command::new("false"), Duration::from_secs(60)), None);
    }
}

//! The arguments of Codex CLI.

use watchbill_protocol::own::spec::{OwnKind, OwnResume, OwnSpec};

use super::driver::mode::Mode;
use crate::fold::words;

/// The name of our client. Codex writes it as the `originator` of the threads that our hosts begin.
pub const CLIENT_NAME: &str = "watchbill";

/// Source: `codex --help` of 0.169.0.
pub(crate) fn args(spec: &OwnSpec, kind: OwnKind) -> Result<Vec<String>, String> {
    let mode = spec.mode.as_deref().map(Mode::parse).transpose()?;
    if kind == OwnKind::Stream {
        return Ok(words(["app-server"]));
    }
    let mut args = match &spec.resume {
        None => Vec::new(),
        Some(OwnResume { session, fork: false }) => words(["resume", session]),
        Some(OwnResume { session, fork: true }) => words(["fork", session]),
    };
    // In the shared server, work goes on after its terminal has ended, and the server keeps the lock that names the process.
    args.extend(words(["--no-daemon"]));
    args.extend(spec.model.iter().flat_map(|model| words(["--model", model])));
    if let Some(Mode { approval, sandbox }) = mode {
        args.extend(words(["--ask-for-approval", &approval]));
        args.extend(sandbox.iter().flat_map(|sandbox| words(["--sandbox", sandbox])));
    }
    Ok(args)
}

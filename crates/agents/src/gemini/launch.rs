//! The arguments and variables of Gemini CLI.

use watchbill_protocol::own::spec::{OwnKind, OwnSpec};

use crate::fold::words;

/// Variables of the start. Without this one the program starts itself a second time, and the first one ignores signals (0.61.0).
pub(crate) const ENV: (&str, &str) = ("GEMINI_CLI_NO_RELAUNCH", "true");

/// Source: `gemini --help` of 0.61.0.
pub(crate) fn args(spec: &OwnSpec, kind: OwnKind) -> Result<Vec<String>, String> {
    if spec.resume.as_ref().is_some_and(|resume| resume.fork) {
        return Err("Gemini cannot fork a session. Start a new one.".to_owned());
    }
    if kind == OwnKind::Stream {
        return Ok(words(["--acp"]));
    }
    let mut args = match &spec.resume {
        None => words(["--session-id", &spec.session]),
        Some(resume) => words(["--resume", &resume.session]),
    };
    args.extend(spec.model.iter().flat_map(|model| words(["--model", model])));
    // Over the pipes the same mode is `autoEdit`.
    let mode = spec.mode.as_deref().map(|mode| if mode == "autoEdit" { "auto_edit" } else { mode });
    args.extend(mode.iter().flat_map(|mode| words(["--approval-mode", mode])));
    Ok(args)
}

//! The arguments of Claude Code.

use watchbill_protocol::own::spec::{OwnKind, OwnResume, OwnSpec};

use crate::fold::words;

/// Source: `claude --help` of 2.1.329, and what it answers to a session id that exists.
pub(crate) fn args(spec: &OwnSpec, kind: OwnKind) -> Vec<String> {
    let mut args = Vec::new();
    if kind == OwnKind::Stream {
        args.extend(words([
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
        ]));
        args.extend(words(["--permission-prompt-tool", "stdio", "--include-partial-messages"]));
        args.push("--replay-user-messages".to_owned());
    }
    match &spec.resume {
        None => args.extend(words(["--session-id", &spec.session])),
        Some(OwnResume { session, fork: false }) => args.extend(words(["--resume", session])),
        Some(OwnResume { session, fork: true }) => {
            args.extend(words(["--resume", session, "--fork-session", "--session-id", &spec.session]));
        }
    }
    args.extend(spec.model.iter().flat_map(|model| words(["--model", model])));
    args.extend(spec.mode.iter().flat_map(|mode| words(["--permission-mode", mode])));
    args
}

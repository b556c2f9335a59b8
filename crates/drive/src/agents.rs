//! The agents: for each, the program to start and the driver.

use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnResume, OwnSpec};

use crate::acp::Acp;
use crate::claude::Claude;
use crate::codex::Codex;
use crate::codex::mode::Mode;
use crate::driver::Driver;

/// The program of a start, its arguments, and variables that it gets beside the user's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// The program: a path, or a name in `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables.
    pub env: Vec<(String, String)>,
}

/// The program of a start. It has only the permissions that the specification names: a resume brings none back.
///
/// Model and mode of Codex and Gemini on pipes are not here: their drivers say them.
///
/// # Errors
/// When the specification names no program, or a part of it would be read as another option.
pub fn launch(spec: &OwnSpec) -> Result<Launch, String> {
    let mut words = spec.command.iter().cloned();
    let program = match (spec.agent, words.next()) {
        (_, Some(program)) => program,
        (OwnAgent::Shell, None) => return Err("The start names no command. Name one.".to_owned()),
        (OwnAgent::Claude, None) => "claude".to_owned(),
        (OwnAgent::Codex, None) => "codex".to_owned(),
        (OwnAgent::Gemini, None) => "gemini".to_owned(),
    };
    let mut launch = Launch { program, args: words.collect(), env: Vec::new() };
    let resumed = spec.resume.as_ref().map(|resume| resume.session.as_str());
    for value in
        [resumed, spec.model.as_deref(), spec.mode.as_deref(), Some(&*spec.session)].into_iter().flatten()
    {
        if value.is_empty() || value.starts_with('-') {
            return Err(format!("`{value}` is no session, model or mode: it would be read as an option."));
        }
    }
    let args = match (spec.agent, spec.kind) {
        (OwnAgent::Shell, _) => Vec::new(),
        (OwnAgent::Claude, kind) => claude(spec, kind),
        (OwnAgent::Codex, kind) => codex(spec, kind)?,
        (OwnAgent::Gemini, kind) => {
            // Without it the program starts itself a second time, and the first one ignores signals (0.61.0).
            launch.env.push(("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned()));
            gemini(spec, kind)?
        }
    };
    launch.args.extend(args);
    Ok(launch)
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// Source: `claude --help` of 2.1.329, and what it answers to a session id that exists.
fn claude(spec: &OwnSpec, kind: OwnKind) -> Vec<String> {
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

/// Source: `codex --help` of 0.169.0.
fn codex(spec: &OwnSpec, kind: OwnKind) -> Result<Vec<String>, String> {
    let mode = spec.mode.as_deref().map(Mode::parse).transpose()?;
    if kind == OwnKind::Stream {
        return Ok(words(["app-server"]));
    }
    let mut args = match &spec.resume {
        None => Vec::new(),
        Some(OwnResume { session, fork: false }) => words(["resume", session]),
        Some(OwnResume { session, fork: true }) => words(["fork", session]),
    };
    args.extend(spec.model.iter().flat_map(|model| words(["--model", model])));
    if let Some(Mode { approval, sandbox }) = mode {
        args.extend(words(["--ask-for-approval", &approval]));
        args.extend(sandbox.iter().flat_map(|sandbox| words(["--sandbox", sandbox])));
    }
    Ok(args)
}

/// Source: `gemini --help` of 0.61.0.
fn gemini(spec: &OwnSpec, kind: OwnKind) -> Result<Vec<String>, String> {
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

/// The driver of an agent that talks in lines; `None` for a terminal.
///
/// `spec` is that of the process: for a later process of the same own session it names the session that goes on.
pub fn driver(spec: &OwnSpec) -> Option<Box<dyn Driver>> {
    match (spec.kind, spec.agent) {
        (OwnKind::Pty, _) | (_, OwnAgent::Shell) => None,
        (OwnKind::Stream, OwnAgent::Claude) => Some(Box::new(Claude::new(spec))),
        (OwnKind::Stream, OwnAgent::Codex) => Some(Box::new(Codex::new(spec))),
        (OwnKind::Stream, OwnAgent::Gemini) => Some(Box::new(Acp::new(spec))),
    }
}

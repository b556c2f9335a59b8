//! The agents: which program runs, and which driver reads it.

use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnResume, OwnSpec};

use crate::claude::Claude;
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

/// What a start runs. It has the powers that the specification names and no others: a resume brings none back.
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
        (OwnAgent::Codex, OwnKind::Stream) => vec!["app-server"],
        (OwnAgent::Codex, OwnKind::Pty) => codex_terminal(spec)?,
        (OwnAgent::Gemini, kind) => {
            // Without it the program starts itself a second time, and the first one ignores signals (0.61.0).
            launch.env.push(("GEMINI_CLI_NO_RELAUNCH".to_owned(), "true".to_owned()));
            gemini(spec, kind)?
        }
    };
    launch.args.extend(args.into_iter().map(str::to_owned));
    Ok(launch)
}

/// Source: `claude --help` of 2.1.329, and what it answers to a session id that exists.
fn claude(spec: &OwnSpec, kind: OwnKind) -> Vec<&str> {
    let mut args = Vec::new();
    if kind == OwnKind::Stream {
        args.extend(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
        args.extend([
            "--permission-prompt-tool",
            "stdio",
            "--include-partial-messages",
            "--replay-user-messages",
        ]);
    }
    match &spec.resume {
        None => args.extend(["--session-id", &spec.session]),
        Some(OwnResume { session, fork: false }) => args.extend(["--resume", session]),
        Some(OwnResume { session, fork: true }) => {
            args.extend(["--resume", session, "--fork-session", "--session-id", &spec.session]);
        }
    }
    if let Some(model) = &spec.model {
        args.extend(["--model", model]);
    }
    if let Some(mode) = &spec.mode {
        args.extend(["--permission-mode", mode]);
    }
    args
}

/// Source: `codex --help` of 0.169.0.
fn codex_terminal(spec: &OwnSpec) -> Result<Vec<&str>, String> {
    let mut args = Vec::new();
    match &spec.resume {
        None => {}
        Some(OwnResume { session, fork: false }) => args.extend(["resume", session]),
        Some(OwnResume { session, fork: true }) => args.extend(["fork", session]),
    }
    if let Some(model) = &spec.model {
        args.extend(["--model", model]);
    }
    if let Some(mode) = &spec.mode {
        let (approval, sandbox) = codex_mode(mode)?;
        args.extend(["--ask-for-approval", approval]);
        if let Some(sandbox) = sandbox {
            args.extend(["--sandbox", sandbox]);
        }
    }
    Ok(args)
}

/// A mode of Codex: when it asks, and after a `/` what its sandbox allows.
///
/// Source: `AskForApproval` and `SandboxMode` in the schema of 0.169.0.
///
/// # Errors
/// For other words.
pub(crate) fn codex_mode(mode: &str) -> Result<(&str, Option<&str>), String> {
    let (approval, sandbox) = match mode.split_once('/') {
        Some((approval, sandbox)) => (approval, Some(sandbox)),
        None => (mode, None),
    };
    let is_sandbox = |word: &str| matches!(word, "read-only" | "workspace-write" | "danger-full-access");
    if matches!(approval, "untrusted" | "on-request" | "never") && sandbox.is_none_or(is_sandbox) {
        return Ok((approval, sandbox));
    }
    Err(format!(
        "Codex has no mode `{mode}`. Write untrusted, on-request or never, and after a slash read-only, workspace-write or \
         danger-full-access."
    ))
}

/// Source: `gemini --help` of 0.61.0.
fn gemini(spec: &OwnSpec, kind: OwnKind) -> Result<Vec<&str>, String> {
    if kind == OwnKind::Stream {
        return Ok(vec!["--acp"]);
    }
    let mut args = Vec::new();
    match &spec.resume {
        None => {}
        Some(OwnResume { session, fork: false }) => args.extend(["--resume", session]),
        Some(_) => return Err("Gemini cannot fork a session. Start a new one.".to_owned()),
    }
    if let Some(model) = &spec.model {
        args.extend(["--model", model]);
    }
    if let Some(mode) = &spec.mode {
        args.extend(["--approval-mode", mode]);
    }
    Ok(args)
}

/// The driver of an agent that talks in lines; `None` for a terminal.
///
/// `spec` is that of the process: for a later process of the same own session it names the session that goes on.
pub fn driver(spec: &OwnSpec) -> Option<Box<dyn Driver>> {
    match (spec.kind, spec.agent) {
        (OwnKind::Pty, _) | (_, OwnAgent::Shell) => None,
        (OwnKind::Stream, OwnAgent::Claude) => Some(Box::new(Claude::new(spec))),
        (OwnKind::Stream, OwnAgent::Codex | OwnAgent::Gemini) => None,
    }
}

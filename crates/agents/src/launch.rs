//! The program to start for an own session, and its driver.

use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};

use crate::acp::Acp;
use crate::claude::driver::Claude;
use crate::codex::driver::Codex;
use crate::driver::Driver;
use crate::{claude, codex, gemini, traits};

/// The program of a start, its arguments, and variables that it gets beside the user's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// The program: a path, or a name in `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables.
    pub env: Vec<(String, String)>,
    /// The folder in which the agent keeps its sessions, if the start names one.
    pub root: Option<Root>,
}

/// The folder in which an agent keeps its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The variable that names it.
    pub variable: &'static str,
    /// The folder below the home folder that the agent takes without the variable.
    pub usual: &'static str,
    /// Its path.
    pub path: String,
}

/// The program of a start. It has only the permissions that the specification names: a resume brings none back.
///
/// Model and mode of Codex and Gemini on pipes are not here: their drivers say them.
///
/// # Errors
/// When the specification names no program, or a part of it would be read as another option.
pub fn launch(spec: &OwnSpec) -> Result<Launch, String> {
    let mut words = spec.command.iter().cloned();
    let program = words.next().or_else(|| Some(traits(spec.agent.agent()?).program.to_owned()));
    let program = program.ok_or("The start names no command. Name one.")?;
    let root = spec.agent.agent().map(traits).zip(spec.root.clone());
    let root = root.and_then(|(traits, path)| {
        let (variable, _) = traits.folder_variable?;
        Some(Root { variable, usual: traits.folder, path })
    });
    let mut launch = Launch { program, args: words.collect(), env: Vec::new(), root };
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
        (OwnAgent::Claude, kind) => claude::launch::args(spec, kind),
        (OwnAgent::Codex, kind) => codex::launch::args(spec, kind)?,
        (OwnAgent::Gemini, kind) => {
            let (name, value) = gemini::launch::ENV;
            launch.env.push((name.to_owned(), value.to_owned()));
            gemini::launch::args(spec, kind)?
        }
    };
    launch.args.extend(args);
    Ok(launch)
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

//! The agents: which program runs, and which driver reads it.

use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};

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

/// What a start runs.
///
/// # Errors
/// When the specification names no program.
pub fn launch(spec: &OwnSpec) -> Result<Launch, String> {
    let mut words = spec.command.iter().cloned();
    let program = words.next().ok_or("the start names no program")?;
    Ok(Launch { program, args: words.collect(), env: Vec::new() })
}

/// The driver of an agent that talks in lines; `None` for a terminal.
pub fn driver(spec: &OwnSpec) -> Option<Box<dyn Driver>> {
    match (spec.kind, spec.agent) {
        (OwnKind::Pty, _) | (_, OwnAgent::Shell) => None,
        _ => None,
    }
}

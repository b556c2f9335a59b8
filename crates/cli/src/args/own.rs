//! Options of the commands that start and steer sessions of your own.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use watchbill_protocol::own::spec::OwnAgent;

/// The program that a session runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    /// Claude Code
    Claude,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
    /// Any command, with --pty
    Shell,
}

impl From<Agent> for OwnAgent {
    fn from(agent: Agent) -> Self {
        match agent {
            Agent::Claude => Self::Claude,
            Agent::Codex => Self::Codex,
            Agent::Gemini => Self::Gemini,
            Agent::Shell => Self::Shell,
        }
    }
}

/// The options of `run`.
#[derive(Debug, Clone, Args)]
pub struct Run {
    /// The agent
    #[arg(long, value_enum, default_value = "claude")]
    pub agent: Agent,
    /// The folder to work in; without it, the present one
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The model, in the agent's words
    #[arg(long)]
    pub model: Option<String>,
    /// The permission mode, in the agent's words
    #[arg(long)]
    pub mode: Option<String>,
    /// The id of the session, a UUID; the same command again starts nothing twice
    #[arg(long, value_name = "UUID")]
    pub id: Option<String>,
    /// Wait until the prompt is done, and print the events; exit code 0 if the turn was completed, else 1
    #[arg(long, conflicts_with = "pty")]
    pub wait: bool,
    /// Run the agent's own screen in a terminal, and attach to it
    #[arg(long)]
    pub pty: bool,
    /// Do not attach to the terminal
    #[arg(long, requires = "pty")]
    pub detach: bool,
    /// Print JSON: the row, or with --wait one event a line
    #[arg(long)]
    pub json: bool,
    /// The first prompt, as one argument; with --agent shell, the command and its arguments. Put it after -- if it begins
    /// with a hyphen
    #[arg(value_name = "PROMPT")]
    pub words: Vec<String>,
}

/// The options of `queue`.
#[derive(Debug, Clone, Args)]
pub struct Queue {
    /// Id of a session or work chain, or a unique beginning of one
    pub session: String,
    /// Take all queued prompts back
    #[arg(long, conflicts_with = "go_on")]
    pub clear: bool,
    /// Let queued prompts go on that were held after an interrupt or an error
    #[arg(long)]
    pub go_on: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The options of `resume`.
#[derive(Debug, Clone, Args)]
pub struct Resume {
    /// Go on in a copy; the session stays as it is
    #[arg(long)]
    pub fork: bool,
    #[command(flatten)]
    pub of: Fork,
}

/// Options for a change of the agent.
#[derive(Debug, Clone, Args)]
pub struct Switch {
    /// Go on with another agent, in a new session that is told what was said; needs a prompt
    #[arg(long, value_enum, requires = "prompt", conflicts_with = "pty")]
    pub agent: Option<Agent>,
    /// How many bytes of what was said the agent is told, the newest first
    #[arg(long, requires = "agent", default_value_t = 24_000, value_name = "BYTES")]
    pub budget: usize,
    /// Print the first prompt with all that the agent is told, and start nothing
    #[arg(long, requires = "agent")]
    pub preview: bool,
    /// The first prompt of the other agent, as one argument
    #[arg(requires = "agent", value_name = "PROMPT")]
    pub prompt: Option<String>,
}

/// The options of `fork`.
#[derive(Debug, Clone, Args)]
pub struct Fork {
    /// Id of a session or work chain, or a unique beginning of one
    pub session: String,
    /// Run the agent's own screen in a terminal, and attach to it
    #[arg(long)]
    pub pty: bool,
    /// Go on although the folder has another branch by now
    #[arg(long)]
    pub any_branch: bool,
    #[command(flatten)]
    pub switch: Switch,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A session, and whether to print JSON.
#[derive(Debug, Clone, Args)]
pub struct OneSession {
    /// Id of a session or work chain, or a unique beginning of one
    pub session: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

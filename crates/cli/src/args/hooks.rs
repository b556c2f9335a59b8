//! Options of `hooks`. The doc comments are help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use watchbill_agents::{Agent, traits};

/// The commands of `hooks`.
#[derive(Debug, Subcommand)]
pub enum HooksCommand {
    /// Write Watchbill's hooks into the agent's settings; the rest of the file stays as it is
    Install {
        /// Which settings
        #[command(flatten)]
        place: SettingsPlace,
        /// Leave a marker file in the project's .claude folder after a compaction
        #[arg(long)]
        markers: bool,
        /// Install instead the hook that waits for your answers; then `watchbill answer` and the window can answer
        #[arg(long, conflicts_with = "markers")]
        answer: bool,
        /// Install instead the hook that tells the agent memories: see `memory.context`
        #[arg(long, conflicts_with_all = ["markers", "answer"])]
        context: bool,
        /// Put Watchbill before your status line instead: it learns limits, context and cost, and your line stays as it is
        #[arg(long, conflicts_with_all = ["markers", "answer", "context"])]
        statusline: bool,
        /// Version of the agent, if Watchbill cannot find it out; Claude Code skips a settings file with unknown events
        #[arg(long, value_name = "VERSION", value_parser = parse_version)]
        client_version: Option<watchbill_hooks::install::Version>,
    },
    /// Remove Watchbill's hooks from the settings; the rest of the file stays as it is
    Uninstall {
        /// Which settings
        #[command(flatten)]
        place: SettingsPlace,
        /// Remove instead the hook that waits for your answers
        #[arg(long)]
        answer: bool,
        /// Remove instead the hook that tells the agent memories
        #[arg(long, conflicts_with = "answer")]
        context: bool,
        /// Take Watchbill away from your status line instead
        #[arg(long, conflicts_with_all = ["answer", "context"])]
        statusline: bool,
    },
    /// Show where the hooks are installed, and whether events arrive
    Status {
        /// Whose hooks: claude, codex, gemini, opencode, copilot, pi or cursor
        #[arg(long, value_name = "AGENT", default_value = DEFAULT, value_parser = parse_agent)]
        agent: Agent,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// The options that choose settings of the agent.
#[derive(Debug, Args)]
pub struct SettingsPlace {
    /// Whose settings: claude, codex, gemini, opencode, copilot, pi or cursor
    #[arg(long, value_name = "AGENT", default_value = DEFAULT, value_parser = parse_agent)]
    pub agent: Agent,
    /// Settings of all your sessions, a project's shared settings, or your own settings in a project
    #[arg(long, value_enum, default_value = "user")]
    pub scope: SettingsScope,
    /// Another settings file
    #[arg(long, value_name = "FILE", conflicts_with = "scope")]
    pub settings: Option<PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// The sessions that settings apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SettingsScope {
    /// All your sessions
    User,
    /// All users who work on the project in this folder
    Project,
    /// You alone, in the project in this folder
    Local,
}

/// The agent that is meant without a name.
pub const DEFAULT: &str = Agent::ALL[0].as_str();

/// Reads the name of an agent whose hooks are heard.
pub fn parse_agent(text: &str) -> Result<Agent, String> {
    let known = || Agent::ALL.into_iter().filter(|agent| traits(*agent).hooks.is_some());
    let names = || known().map(Agent::as_str).collect::<Vec<_>>().join(" or ");
    known().find(|agent| agent.as_str() == text).ok_or_else(|| format!("expected {}", names()))
}

fn parse_version(text: &str) -> Result<watchbill_hooks::install::Version, String> {
    watchbill_hooks::install::Version::parse(text)
        .ok_or_else(|| "expected a version such as 2.1.329".to_owned())
}

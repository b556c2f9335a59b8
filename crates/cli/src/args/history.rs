//! Options of `search`, `forget` and `stats`. The doc comments are help texts.

use clap::{Args, ValueEnum};
use watchbill_agents::Agent;

use crate::time_arguments::parse_time;

/// The options of `search`.
#[derive(Debug, Clone, Args)]
pub struct Search {
    /// The words to search for
    #[arg(required = true)]
    pub query: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The most places to show
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Only in projects whose folder has this in its path
    #[arg(long, value_name = "P")]
    pub project: Option<String>,
    /// Only sessions of this agent
    #[arg(long, value_name = "AGENT", value_parser = clap::builder::PossibleValuesParser::new(Agent::ALL.map(Agent::as_str)))]
    pub agent: Option<String>,
    /// Only texts since this time: a date, a time (RFC 3339), or a span such as 7d
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub since: Option<watchbill_engine::Timestamp>,
    /// Only texts of this role
    #[arg(long, value_name = "ROLE", value_parser = clap::builder::PossibleValuesParser::new(watchbill_history::query::search::roles()))]
    pub role: Option<String>,
    /// Only input and output of this tool
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only in this work chain: its id, the id of one of its sessions, or a unique beginning of one
    #[arg(long, value_name = "SESSION")]
    pub chain: Option<String>,
    /// Search the stored history, without reading new records first
    #[arg(long)]
    pub as_stored: bool,
}

/// The options of `forget`.
#[derive(Debug, Clone, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["sessions", "before"]))]
pub struct Forget {
    /// Ids of sessions or work chains, or unique beginnings of them; a chain means all its sessions
    #[arg(value_name = "SESSION")]
    pub sessions: Vec<String>,
    /// Every session without activity since this time: a date, a time (RFC 3339), or a span such as 90d
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub before: Option<watchbill_engine::Timestamp>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Only show what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Let a forgotten session be stored again
    #[arg(long, conflicts_with_all = ["before", "dry_run", "yes"])]
    pub again: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Keys of the rows of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatsKey {
    /// Days of your time zone
    Day,
    /// Projects
    Project,
    /// Models
    Model,
    /// Tools
    Tool,
}

//! Options of `chain` and `snooze`.

use clap::Args;

/// The options of `chain`: a session, and a user command for its chain.
#[derive(Debug, Clone, Args)]
#[command(group = clap::ArgGroup::new("word").args(["name", "join", "split", "accept", "undo"]))]
pub struct Chain {
    /// Id of a session or work chain, or a unique beginning of one
    pub session: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Name the chain; an empty name gives back its own title
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Join this chain and the chain of another session: the later one continues the earlier one
    #[arg(long, value_name = "OTHER")]
    pub join: Option<String>,
    /// Begin a new chain with this session, even if a link ties it to an earlier one
    #[arg(long)]
    pub split: bool,
    /// Accept the suggested link into the session
    #[arg(long)]
    pub accept: bool,
    /// Undo the last join, acceptance or split in the chain
    #[arg(long)]
    pub undo: bool,
}

/// The options of `snooze`: a session and a time.
#[derive(Debug, Clone, Args)]
#[command(group = clap::ArgGroup::new("time").required(true).args(["span", "until", "off"]))]
pub struct Snooze {
    /// Id of a session or work chain, or a unique beginning of one
    pub session: String,
    /// For how long: 15m, 1h, 2d
    #[arg(value_parser = parse_future_time)]
    pub span: Option<watchbill_engine::Timestamp>,
    /// Until this time: a clock time (15:00), a date, or a time (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = parse_future_time)]
    pub until: Option<watchbill_engine::Timestamp>,
    /// End the snooze
    #[arg(long)]
    pub off: bool,
}

pub(super) fn parse_future_time(text: &str) -> Result<watchbill_engine::Timestamp, String> {
    crate::time_arguments::parse_coming(text).map_err(|error| error.to_string())
}

//! Options of `answer`, which request and the decision, and of `prompt`.

use clap::Args;

use super::user_commands::parse_future_time;

/// Which request is answered, and how. Without a decision it is only shown.
#[derive(Debug, Clone, Args)]
pub struct Answer {
    /// Id of a session or work chain, or a unique beginning of one
    pub session: String,
    /// Answer this request only, and none that came after it
    #[arg(long, value_name = "ID")]
    pub request: Option<String>,
    /// Allow it this once; a plan: go on, and ask before each edit
    #[arg(long, conflicts_with_all = ["always", "deny", "stop", "choose", "text"])]
    pub allow: bool,
    /// Allow it, and add the rule that the session suggests; a plan: go on, and accept edits
    #[arg(long, conflicts_with_all = ["deny", "stop", "choose", "text"])]
    pub always: bool,
    /// Deny it; the model reads the reason
    #[arg(long, value_name = "REASON", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["stop", "choose", "text"])]
    pub deny: Option<String>,
    /// Deny it, and end the turn
    #[arg(long, conflicts_with_all = ["choose", "text"])]
    pub stop: bool,
    /// Choose options of a question by their numbers: 2, or 1,3; once for each question
    #[arg(long, value_name = "N[,N]")]
    pub choose: Vec<String>,
    /// Answer a question in your own words
    #[arg(long, value_name = "TEXT")]
    pub text: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl Answer {
    /// Whether it decides something.
    pub fn decides(&self) -> bool {
        let says = self.allow || self.always || self.stop || self.deny.is_some();
        says || !self.choose.is_empty() || !self.text.is_empty()
    }
}

/// Which session gets a prompt, and the text.
#[derive(Debug, Clone, Args)]
pub struct Prompt {
    /// Id of a session or work chain, or a unique beginning of one
    pub session: String,
    /// The prompt: one argument, of several lines if you like; after `--` if it looks like an option
    #[arg(allow_hyphen_values = true)]
    pub text: String,
    /// Interrupt the running turn of a session of your own first
    #[arg(long)]
    pub now: bool,
    /// Put it into the running turn of a session of your own, where the agent can take it
    #[arg(long, conflicts_with = "now")]
    pub steer: bool,
    /// Hold the queue of a session of your own until this time, and let it go on then: a clock time (15:00), a date, or a time
    /// (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = parse_future_time, conflicts_with_all = ["now", "steer"])]
    pub at: Option<watchbill_engine::Timestamp>,
    /// Wait until the prompt is done, and print the events; exit code 0 if the turn was completed, else 1
    #[arg(long)]
    pub wait: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

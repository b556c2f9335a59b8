//! Options and commands. Their doc comments are the texts of `--help`, completions and the man page.

mod hooks;

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};

pub use hooks::{HooksCommand, SettingsPlace, SettingsScope};

/// See every coding-agent session on this machine, what each is doing, and which one needs you.
///
/// Reads the agent's own files, and writes to none of them but its settings, when you install hooks. Works without the
/// window running.
#[derive(Debug, Parser)]
#[command(name = "watchbill", version, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options that every command takes.
    #[command(flatten)]
    pub global: Global,
}

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
pub struct Global {
    /// Claude configuration folder to watch; may be given several times
    ///
    /// Without it: WATCHBILL_CLAUDE_DIR (a list, separated as PATH is), the configuration file, CLAUDE_CONFIG_DIR, ~/.claude.
    #[arg(long = "claude-dir", value_name = "DIR", global = true)]
    pub claude_dirs: Vec<PathBuf>,
    /// Folder for Watchbill's own files [env: WATCHBILL_DATA_DIR]
    ///
    /// Without it: the platform's data folder, `watchbill` in ~/.local/share on Linux.
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,
    /// Configuration file [env: WATCHBILL_CONFIG]
    ///
    /// Without it: `watchbill/config.toml` in the platform's configuration folder, which need not be there.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Colours in the output; NO_COLOR is respected
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: ColorChoice,
    /// Play the bundled recordings instead of reading your sessions
    #[arg(long, global = true)]
    pub demo: bool,
}

/// When to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the roster now
    Roster {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Show superseded, ended and long idle sessions too
        #[arg(long)]
        all: bool,
        /// Show the roster of that time (a date, a time, a span such as 36h); from files alone
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        at: Option<watchbill_engine::Timestamp>,
        /// Use files alone: no registry, no processes
        #[arg(long)]
        no_live: bool,
    },
    /// Show the roster, then every change as it happens
    Watch {
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
        /// Show superseded, ended and long idle sessions too
        #[arg(long)]
        all: bool,
    },
    /// Keep watch without a window, in the foreground: for servers and containers
    ///
    /// What `watch` and the window do, without showing it: hooks are heard, the history is kept, and every other command asks
    /// this program. An interrupt ends it.
    Serve {
        /// Print a unit for systemd's user manager instead, with the folders that are given
        #[arg(long)]
        systemd: bool,
    },
    /// Say why a session is in its state: every witness, the winner first
    Why {
        /// Id of a session or work chain, or a unique beginning of one
        session: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the work chain of a session: all its segments, and how each link is known; or change it
    ///
    /// What you say here outweighs everything that is found out, and is kept until you take it back. A window that runs
    /// knows at once.
    Chain(Chain),
    /// Let a session need nobody for a while
    Snooze(Snooze),
    /// Take a session out of the roster until something new happens in it
    PutAway {
        /// Id of a session or work chain, or a unique beginning of one
        session: String,
        /// Take it back
        #[arg(long)]
        back: bool,
    },
    /// Bring the terminal tab or pane of a session to the front
    Focus {
        /// Id of a session or work chain, or a unique beginning of one
        session: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the timeline of a session: prompts, tools, answers, compactions
    Show {
        /// Id of a session or work chain, or a unique beginning of one
        session: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Index of the first entry; without it the last ones are shown
        #[arg(long, value_name = "N")]
        from: Option<u64>,
        /// How many entries
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u64,
    },
    /// Find what was ever said: prompts, answers, tools and their output
    ///
    /// All words must occur; "a phrase" in quotes stands as it is, begin* finds words that begin so. What is new is
    /// read first.
    Search(Search),
    /// Bring the stored history up to date
    ///
    /// While the window or `watch` runs, that one does it: this waits until everything that is there now is stored.
    Index {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Read everything anew, whatever is stored
        #[arg(long)]
        full: bool,
        /// Store at most N bytes of each tool's input and output
        #[arg(long, value_name = "N")]
        cut: Option<usize>,
    },
    /// Count what was used: tokens, requests, tools
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// What the rows are by
        #[arg(long, value_enum, default_value = "day")]
        by: StatsKey,
        /// Count from this time on: a date, a time (RFC 3339), or a span such as 7d
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        since: Option<watchbill_engine::Timestamp>,
    },
    /// Write a work chain as Markdown or JSON
    ///
    /// What stands between `<private>` and `</private>` is left out. Of what a tool was given or gave back there are the first
    /// 16 KiB, and where that is not all it is said. Markdown shows what was said as quotations and blocks of code, so that
    /// nothing in it passes for an entry of the document: HTML in it is text, an image is a link, and a link that leads neither to
    /// the web nor to mail is text.
    Export {
        /// Id of a session or work chain, or a unique beginning of one
        session: String,
        /// Form of the document
        #[arg(long, value_enum, default_value = "md")]
        format: ExportFormat,
        /// File to write, which must not exist; without it, or with -, standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Remove sessions from the stored history for good
    ///
    /// The agent's own files are never touched. A forgotten session is not stored again, unless --again says so.
    Forget(Forget),
    /// Print one line with the counts, for status bars
    Status {
        /// Form of the line
        #[arg(long, value_enum, default_value = "plain")]
        format: StatusFormat,
    },
    /// Open the window, or raise it, with a session selected
    Open {
        /// Id of a session or work chain, or a unique beginning of one
        session: Option<String>,
    },
    /// Pass one event of the agent on, from standard input; the agent's settings call this
    ///
    /// Prints nothing and ends with 0, whatever happens. When nobody listens the event waits in the data folder.
    Hook {
        /// Leave a marker file in the project's .claude folder when a session was compacted
        #[arg(long)]
        markers: bool,
    },
    /// Install the hooks into the agent's settings, take them out, or see how they are
    Hooks {
        /// What to do with them
        #[command(subcommand)]
        command: HooksCommand,
    },
    /// Report what is found, what is watched and how, limits, versions, and the health of the store
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the schema of the store instead, for those who ask it with `sqlite3`
        #[arg(long, conflicts_with = "json")]
        schema: bool,
    },
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the man page
    Man {
        /// Write a page for each command into this folder instead
        #[arg(long, value_name = "DIR")]
        folder: Option<PathBuf>,
    },
}

/// The options of `chain`: a session, and a user command for its chain.
#[derive(Debug, Clone, Args)]
#[command(group = clap::ArgGroup::new("word").args(["name", "join", "split", "accept", "undo"]))]
pub struct Chain {
    /// Id of a session or work chain, or a unique beginning of one
    pub session: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Call the chain so; an empty name gives it back its own title
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Make one chain of this one and that of another session: the later one goes on where the earlier one was
    #[arg(long, value_name = "OTHER")]
    pub join: Option<String>,
    /// Let the session begin a chain of its own, whatever links it to an earlier one
    #[arg(long)]
    pub split: bool,
    /// The suggested link into the session is right
    #[arg(long)]
    pub accept: bool,
    /// Take back what was last joined, accepted or split in the chain
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
    #[arg(value_parser = parse_coming)]
    pub span: Option<watchbill_engine::Timestamp>,
    /// Until then: a clock time (15:00), a date, or a time (RFC 3339)
    #[arg(long, value_name = "TIME", value_parser = parse_coming)]
    pub until: Option<watchbill_engine::Timestamp>,
    /// The snooze is over
    #[arg(long)]
    pub off: bool,
}

/// The options of `search`.
#[derive(Debug, Clone, Args)]
pub struct Search {
    /// The words
    #[arg(required = true)]
    pub query: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// How many places at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: u32,
    /// Only in projects whose folder has this in its path
    #[arg(long, value_name = "P")]
    pub project: Option<String>,
    /// Only what was said since: a date, a time (RFC 3339), or a span such as 7d
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub since: Option<watchbill_engine::Timestamp>,
    /// Only texts of this role
    #[arg(long, value_name = "ROLE", value_parser = clap::builder::PossibleValuesParser::new(watchbill_history::query::search::roles()))]
    pub role: Option<String>,
    /// Only input and output of this tool
    #[arg(long, value_name = "TOOL")]
    pub tool: Option<String>,
    /// Only in this work chain: its id or a session of it, or a unique beginning of one
    #[arg(long, value_name = "SESSION")]
    pub chain: Option<String>,
    /// Search what is stored, without reading what is new first
    #[arg(long)]
    pub as_stored: bool,
}

/// The options of `forget`.
#[derive(Debug, Clone, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["session", "before"]))]
pub struct Forget {
    /// Id of a session or work chain, or a unique beginning of one; of a chain all sessions are forgotten
    pub session: Option<String>,
    /// Every session that has been silent since before this: a date, a time (RFC 3339), or a span such as 90d
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub before: Option<watchbill_engine::Timestamp>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
    /// Only say what would be removed
    #[arg(long)]
    pub dry_run: bool,
    /// Let a session that was forgotten be stored again
    #[arg(long, conflicts_with_all = ["before", "dry_run", "yes"])]
    pub again: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Keys of the rows of statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatsKey {
    /// Days, in UTC
    Day,
    /// Projects
    Project,
    /// Models
    Model,
    /// Tools
    Tool,
}

/// Forms of an exported chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Markdown
    Md,
    /// JSON
    Json,
}

/// Forms of the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusFormat {
    /// Words
    Plain,
    /// JSON object
    Json,
    /// JSON for Waybar's custom module
    Waybar,
    /// Text with tmux colours
    Tmux,
}

/// Prints a usage error as clap does, and ends the program. It is for errors that clap's checks of single options
/// cannot find.
pub fn wrong_usage(command: &str, what: &str) -> ! {
    let mut all = Cli::command();
    all.build();
    let mut command = all.find_subcommand(command).cloned().unwrap_or(all);
    command.error(ErrorKind::ValueValidation, what).exit()
}

fn parse_time(text: &str) -> Result<watchbill_engine::Timestamp, String> {
    crate::when::parse(text).map_err(|error| error.to_string())
}

fn parse_coming(text: &str) -> Result<watchbill_engine::Timestamp, String> {
    crate::when::parse_coming(text).map_err(|error| error.to_string())
}

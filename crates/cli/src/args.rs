//! Options and commands. Their doc comments are the texts of `--help`, completions and the man page.

mod answer;
mod history;
mod hooks;
mod memory;
mod own;
mod user_commands;

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use watchbill_agents::Root;
use watchbill_agents::layout::{ROOT_ALIAS, ROOT_NAME};

use crate::time_arguments::parse_time;

pub use answer::{Answer, Prompt};
pub use history::{Forget, Search, StatsKey};
pub use hooks::{HooksCommand, SettingsPlace, SettingsScope};
pub use memory::{Memory, MemoryCommand, MemoryFormat, SummaryOf};
pub use own::{Agent, Fork, OneSession, Queue, Resume, Run, Switch};
pub use user_commands::{Chain, Snooze};

/// See every session of your coding agents on this machine, what each is doing, and which one needs you.
///
/// Reads the agent's own files. It changes none of them, except the settings when you install hooks. Works whether or
/// not the window runs.
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
    /// An agent's folder to watch; may be given several times
    ///
    /// A path alone is a folder of Claude Code; AGENT=DIR one of another agent, AGENT= leaves that agent out. Without it, the
    /// first of these that is set: WATCHBILL_CLAUDE_DIR (a list, separated like PATH), `roots` in the configuration file,
    /// CLAUDE_CONFIG_DIR. Else ~/.claude. Folders of other agents are found by themselves.
    #[arg(long = ROOT_NAME, visible_alias = ROOT_ALIAS, value_name = "DIR", global = true)]
    #[arg(value_parser = OsStringValueParser::new().try_map(|text| Root::of_option(&text)))]
    pub roots: Vec<Root>,
    /// Folder for Watchbill's own files [env: WATCHBILL_DATA_DIR]
    ///
    /// Without it: the platform's data folder, `watchbill` in ~/.local/share on Linux.
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,
    /// Configuration file [env: WATCHBILL_CONFIG]
    ///
    /// Without it: `watchbill/config.toml` in the platform's configuration folder. The file may be missing.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Colours in the output; NO_COLOR is respected
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true)]
    pub color: ColorChoice,
    /// Show made-up sessions instead of yours
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
        /// Show superseded, put-away and older sessions too
        #[arg(long)]
        all: bool,
        /// Show the roster of a past time, from files alone: a date, a time (RFC 3339), or a span such as 36h
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        at: Option<watchbill_engine::Timestamp>,
        /// Use files alone: no registry, no processes
        #[arg(long)]
        no_live: bool,
        /// Show each session that a program started, not one line for each starter
        #[arg(long)]
        programs: bool,
        /// Show only sessions whose calls the agent's reviewer refused, with the rule that would allow the last one
        #[arg(long)]
        refused: bool,
    },
    /// Show the roster, then every change as it happens
    Watch {
        /// Print one JSON object a line
        #[arg(long)]
        json: bool,
        /// Show superseded, put-away and older sessions too
        #[arg(long)]
        all: bool,
    },
    /// Keep watch without a window, in the foreground: for servers and containers
    ///
    /// Does what `watch` does without showing anything: it receives hooks, stores the history, and answers the other
    /// commands. An interrupt ends it.
    Serve {
        /// Also serve the roster and the history over HTTP, to programs on this machine that have the token
        ///
        /// The file `service.json` in the data folder has the address and the token.
        #[arg(long, conflicts_with = "systemd")]
        http: bool,
        /// Port for --http; without it, `service.port`, or a free one
        #[arg(long, value_name = "N", requires = "http", default_value_t = 0, hide_default_value = true)]
        port: u16,
        /// Print a unit for systemd's user manager instead, with the given folders
        #[arg(long)]
        systemd: bool,
    },
    /// Serve the history to an agent over MCP, on standard input and output
    ///
    /// The agent gets read-only tools: search, timeline, one session, the sessions now, what was learned. It sees nothing of excluded folders and
    /// no private text. You add it to an agent yourself: `claude mcp add watchbill -- watchbill mcp`.
    Mcp,
    /// Say why a session is in its state: every witness, the winner first
    Why(OneSession),
    /// Show or change the work chain of a session: all its segments, and how each link is known
    ///
    /// Your changes override what Watchbill finds out, and stay until you undo them. A running window shows them at
    /// once.
    Chain(Chain),
    /// Answer what a session asks: allow, deny, or choose
    ///
    /// A Watchbill has to run. For a session that it did not start, the hook of `hooks install --answer` is needed too.
    /// Type it yourself: an agent may not answer.
    Answer(Answer),
    /// List your answers, refused attempts and expired requests
    Answers {
        /// Only answers since then: a date, a time (RFC 3339), or a span such as 7d
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        since: Option<watchbill_engine::Timestamp>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Start a session of your own
    ///
    /// It runs in the background, and goes on when every window is closed. Without a prompt, the agent starts when the first
    /// prompt arrives. `prompt`, `queue`, `interrupt`, `answer`, `attach` and `stop` steer it, from any terminal. An
    /// agent may not send prompts, answer, interrupt or stop.
    Run(Run),
    /// Show a session of your own as it works, or take part in its terminal; Ctrl-] detaches from a terminal
    Attach(OneSession),
    /// Show the prompts that wait in a session of your own
    Queue(Queue),
    /// End the running turn of a session of your own; queued prompts wait
    Interrupt(OneSession),
    /// End a session of your own with everything that it started
    #[command(visible_alias = "kill")]
    Stop(OneSession),
    /// Go on with a session that has ended, as a session of your own
    ///
    /// The command fails while a process has the session open, because two agents on one session lose each other's turns. With
    /// --agent, another agent goes on with the work in a new session.
    Resume(Resume),
    /// Go on in a copy of a session; the session stays as it is
    Fork(Fork),
    /// Send a prompt to a session of your own, or to one that is idle in one of your terminals
    ///
    /// A session of your own queues the prompt behind the running turn. Into another session, a running Watchbill types it. That
    /// works in tmux and WezTerm, and in kitty with remote control. The command then waits until the agent has the prompt.
    /// Nothing is typed into a session that works or asks something. A prompt is never sent twice. Type it yourself: an agent may
    /// not send prompts.
    #[command(visible_alias = "send")]
    Prompt(Prompt),
    /// Snooze a session: until a time, it counts as idle and gives no alerts
    Snooze(Snooze),
    /// Take a session out of the roster until something new happens in it
    PutAway {
        /// Id of a session or work chain, or a unique beginning of one
        session: String,
        /// Show the session in the roster again
        #[arg(long)]
        back: bool,
    },
    /// Bring the terminal tab or pane of a session to the front
    Focus(OneSession),
    /// Show the timeline of a session: prompts, tools, answers, compactions
    Show {
        /// Id of a session or work chain, or a unique beginning of one
        session: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Index of the first entry, counted from 0; without it, the last entries are shown
        #[arg(long, value_name = "N")]
        from: Option<u64>,
        /// The most entries to show
        #[arg(long, value_name = "N", default_value_t = 100)]
        limit: u64,
    },
    /// Search the history: prompts, answers, tools and their output
    ///
    /// All words must occur. "a phrase" in quotes must occur exactly so. begin* finds words that begin with it. New
    /// records are read first.
    Search(Search),
    /// Bring the stored history up to date
    ///
    /// While the window, `watch` or `serve` runs, that program does it. `index` then waits until it has stored
    /// everything.
    Index {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Read everything again, even if it is stored
        #[arg(long)]
        full: bool,
        /// Store at most N bytes of each tool's input and output
        #[arg(long, value_name = "N")]
        cut: Option<usize>,
    },
    /// Show what each work chain did on a day, and how long it waited for you
    Day {
        /// The day, such as 2026-11-20; without it, today
        date: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show when sessions needed you in the last seven days, and what became of it
    Alerts {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the limits of your plans, and which work uses them up, by estimate
    Limits {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Count tokens, requests and tool calls
    Stats {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Make one row for each day, project, model or tool
        #[arg(long, value_enum, default_value = "day")]
        by: StatsKey,
        /// Say what the requests would cost by list prices; on a plan none of it is billed
        #[arg(long)]
        cost: bool,
        /// Count from this time on: a date, a time (RFC 3339), or a span such as 7d
        #[arg(long, value_name = "TIME", value_parser = parse_time)]
        since: Option<watchbill_engine::Timestamp>,
    },
    /// Write a work chain as Markdown or JSON
    ///
    /// Text between `<private>` and `</private>` is left out. Of each input and output of a tool, the document has
    /// the first 16 KiB, and a note if that is not all. Markdown shows prompts and answers as quotations, and texts
    /// of tools as blocks of code, so that no text looks like a part of the document. HTML stays text. An image
    /// becomes a link. A link that leads neither to the web nor to mail becomes text.
    Export {
        /// Id of a session or work chain, or a unique beginning of one
        session: String,
        /// Format of the document
        #[arg(long, value_enum, default_value = "md")]
        format: ExportFormat,
        /// New file to write; without it, or with -, standard output
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Show memories of earlier sessions, and decide about them
    ///
    /// Rules find them in the stored history: corrections, cured errors, commands that work, agreed plans. An agent is told
    /// nothing before you install `hooks install --context` and set `memory.context`.
    Memory(Memory),
    /// Sum up a session: request, investigated, learned, completed, next steps
    Summary(SummaryOf),
    /// Remove sessions from the stored history for good
    ///
    /// The agent's own files are never touched. A forgotten session is not stored again, unless --again says so.
    Forget(Forget),
    /// Print one line with the counts, for status bars
    Status {
        /// Format of the line
        #[arg(long, value_enum, default_value = "plain")]
        format: StatusFormat,
    },
    /// Open the window, or raise it, with a session selected
    Open {
        /// Id of a session or work chain, or a unique beginning of one
        session: Option<String>,
    },
    /// Pass on one event of the agent, from standard input; the agent calls this, not you
    ///
    /// Prints nothing and always exits with 0. If no Watchbill runs, the event waits in the data folder.
    Hook {
        /// Whose event: claude, codex or opencode
        #[arg(long, value_name = "AGENT", default_value = hooks::DEFAULT, value_parser = hooks::parse_agent)]
        agent: watchbill_agents::Agent,
        /// Leave a marker file in the project's .claude folder after a compaction
        #[arg(long)]
        markers: bool,
        /// Wait for your answer to a request, and print it
        #[arg(long)]
        answer: bool,
        /// Print memories for the agent
        #[arg(long, conflicts_with = "answer")]
        context: bool,
    },
    /// Read what the agent says to its status line, and draw your own status line; the agent calls this, not you
    ///
    /// Your own command gets the same input, and this program ends as it ends. Without one, it prints nothing.
    Statusline {
        /// Your own command, in one word
        #[arg(last = true)]
        own: Option<std::ffi::OsString>,
    },
    /// Install hooks into the agent's settings, remove them, or show their state
    Hooks {
        /// What to do with them
        #[command(subcommand)]
        command: HooksCommand,
    },
    /// Report what Watchbill finds and how it watches, problems, limits, versions, and the health of the store
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Print the schema of the store instead, for queries with `sqlite3`
        #[arg(long, conflicts_with = "json")]
        schema: bool,
        /// Print a report to send to someone who helps: numbers and versions, without paths, titles or texts
        #[arg(long, conflicts_with_all = ["json", "schema"])]
        report: bool,
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

//! Options of `memory` and `summary`. The doc comments are help texts.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// The options of `memory`.
#[derive(Debug, Clone, Args)]
pub struct Memory {
    /// What to do
    #[command(subcommand)]
    pub command: MemoryCommand,
    /// A folder of the project, instead of the current one
    #[arg(long, value_name = "DIR", global = true)]
    pub project: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands of `memory`.
#[derive(Debug, Clone, Subcommand)]
pub enum MemoryCommand {
    /// List the memories of this project
    List {
        /// Also rejected, replaced and faded memories, and those with evidence of too few sessions
        #[arg(long)]
        all: bool,
    },
    /// Show a memory with its evidence: sessions, turns, and where their records begin
    #[command(visible_alias = "why")]
    Show {
        /// Id of a memory, or a unique beginning of one
        id: String,
    },
    /// Add a memory by hand
    Add {
        /// One line
        text: String,
        /// The file that it is about
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
    },
    /// Accept a memory: it counts, however old it is
    Accept {
        /// Id of a memory, or a unique beginning of one
        id: String,
    },
    /// Reject a memory: no agent is told it, and later evidence does not bring it back
    Reject {
        /// Id of a memory, or a unique beginning of one
        id: String,
    },
    /// Give a memory another text
    Edit {
        /// Id of a memory, or a unique beginning of one
        id: String,
        /// One line
        text: String,
    },
    /// Remove a memory for good; only a hash of it stays, so that it never comes back
    Forget {
        /// Id of a memory, or a unique beginning of one
        id: String,
    },
    /// Show the memories about a file
    At {
        /// The file
        path: String,
    },
    /// Show the lines that an agent was told in a session, with tokens
    Said {
        /// Id of a session, or a unique beginning of one
        session: String,
    },
    /// Show what an agent here would be told, at its start and about each file; no agent is told anything
    Try {
        /// Only about this file
        #[arg(long, value_name = "FILE")]
        file: Option<String>,
        /// Also with this prompt
        #[arg(long, value_name = "TEXT")]
        prompt: Option<String>,
        /// Instead, ask the model of the settings about earlier turns here, and show what it would propose; nothing is stored
        #[arg(long, conflicts_with_all = ["file", "prompt"])]
        model: bool,
        /// About turns of this many sessions, the newest
        #[arg(long, value_name = "N", default_value_t = 5, requires = "model", value_parser = clap::value_parser!(u16).range(1..=200))]
        sessions: u16,
    },
    /// Ask the model about all turns that wait or were given up, also about old ones; the limits of the day hold
    CatchUp,
    /// Say nothing to any agent for a time, and do not ask the model
    Pause {
        /// A span such as 1h, or a time; without it, for a day
        span: Option<String>,
        /// End the pause
        #[arg(long, conflicts_with = "span")]
        off: bool,
    },
    /// Write the memories in force as a document
    Export {
        /// Format of the document
        #[arg(long, value_enum, default_value = "md")]
        format: MemoryFormat,
    },
}

/// Forms of exported memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MemoryFormat {
    /// Markdown, as lines for the agent's instructions
    Md,
    /// JSON
    Json,
}

/// The options of `summary`.
#[derive(Debug, Clone, Args)]
pub struct SummaryOf {
    /// Id of a session, or a unique beginning of one
    pub session: String,
    /// Print JSON
    #[arg(long, conflicts_with = "hand_over")]
    pub json: bool,
    /// Write a hand-over text for a new session: request, plan, files in work, open points
    #[arg(long)]
    pub hand_over: bool,
}

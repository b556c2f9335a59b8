//! `memory` and `summary`: memories, lines that agents were told, and the user's decisions.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

use crate::model::ModelQueue;

/// `memory list --json`, `memory at --json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryList {
    /// The project: the repository's common git folder, else the working folder.
    pub project: String,
    /// The memories: those in force first, then by their newest evidence.
    pub memories: Vec<MemoryEntry>,
}

/// One memory.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MemoryEntry {
    /// 16 hexadecimal digits.
    pub id: String,
    /// `fix`, `correction`, `refusal`, `command`, `hot_file`, `plan`, `note`; of a model: `gotcha`, `decision`, `bug_fix`,
    /// `trade_off`, `discovery`.
    pub kind: String,
    /// One line.
    pub text: String,
    /// The file, relative to the top of the working tree.
    pub path: Option<String>,
    /// `active`, `proposed`, `counting`, `faded`, `superseded`, `rejected`.
    pub standing: String,
    /// The newer memory that replaces it.
    pub superseded_by: Option<String>,
    /// From 0 to 1, in hundredths.
    pub confidence: f64,
    /// `medium`, `high`.
    pub importance: String,
    /// It may hold text that the user did not write.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub suspect: bool,
    /// The user's last decision: `added`, `accepted`, `rejected`, `edited`.
    pub decision: Option<String>,
    /// How many sessions show it.
    pub sessions: u64,
    /// How often they show it.
    pub times: u64,
    /// The newest evidence.
    pub last_seen: String,
}

/// `memory show --json`, `memory why --json`: a memory with its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MemoryDetail {
    /// The memory.
    #[serde(flatten)]
    pub memory: MemoryEntry,
    /// What shows it, the newest first.
    pub evidence: Vec<MemoryEvidence>,
    /// How often an agent was told a line of it.
    pub times_said: u64,
    /// To how many sessions.
    pub sessions_told: u64,
}

/// A finding in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MemoryEvidence {
    /// The session.
    pub session_id: String,
    /// The turn.
    pub batch: String,
    /// Where the record begins in the session's transcript.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte: Option<u64>,
    /// When.
    pub at: String,
    /// How often.
    pub times: u64,
    /// The text there.
    pub text: String,
}

/// `memory said --json`: the lines that an agent was told in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SaidList {
    /// The session.
    pub session_id: String,
    /// The lines, oldest first.
    pub lines: Vec<SaidLine>,
    /// Tokens of all lines that were printed, estimated as a quarter of the characters.
    pub tokens: u64,
}

/// A line that an agent was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SaidLine {
    /// When.
    pub at: String,
    /// The agent's name of the hook.
    pub event: String,
    /// The file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The memory.
    pub memory: String,
    /// The line, verbatim.
    pub line: String,
    /// Its tokens.
    pub tokens: u64,
    /// Whether the hook process has printed it. If not, it came too late.
    pub printed: bool,
    /// Whether a compaction has removed it from the agent's context since.
    pub lost: bool,
}

/// What the window shows beside the timeline of a chain.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MemoryPage {
    /// The project.
    pub project: String,
    /// The working folder, for a memory that is added by hand.
    pub cwd: String,
    /// The memories in force and those that wait for the user, as in `memory list`.
    pub memories: Vec<MemoryEntry>,
    /// `off`, `files`, `all`: the setting.
    pub context: String,
    /// Agents are told nothing until then.
    pub paused_until: Option<String>,
    /// The lines that agents were told in the sessions of the chain, in their order. Sessions without a line are left out.
    pub said: Vec<SaidList>,
    /// Where memories came from in these sessions, by time.
    pub marks: Vec<MemoryMark>,
    /// Documents that the agent reads at each start.
    pub documents: Vec<AgentDocument>,
    /// The model that is asked after turns, if the user chose one.
    pub model: Option<ModelQueue>,
}

/// A record that shows a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MemoryMark {
    /// The session.
    pub session_id: String,
    /// The time of the record.
    pub at: String,
    /// The memory.
    pub memory: String,
    /// Its text.
    pub text: String,
}

/// A document of the agent: the project's instructions, or its own memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct AgentDocument {
    /// The file.
    pub path: String,
    /// When it was written last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<String>,
    /// Its text, 64 KiB at most.
    pub text: String,
}

/// `memory try --json`: the lines that an agent would be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MemoryPreview {
    /// The project.
    pub project: String,
    /// `off`, `files`, `all`: the setting. The lines are those of `all`.
    pub context: String,
    /// At the start of a session.
    pub start: Vec<String>,
    /// To the prompt that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Vec<String>>,
    /// When the agent reads or changes a file.
    pub files: Vec<FilePreview>,
    /// Files with memories that are left out here.
    pub more_files: u64,
}

/// The lines that an agent is told about one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FilePreview {
    /// The file, relative to the top of the working tree.
    pub path: String,
    /// The lines.
    pub lines: Vec<String>,
}

/// `summary --json`: the five fields, by rules or by the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct SessionSummary {
    /// The session.
    pub session_id: String,
    /// The strongest title, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The model proposed that title. No one gave another one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub title_proposed: bool,
    /// The model filled the fields at the end of the session. Otherwise they are by rules.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub by_model: bool,
    /// What the user asked first.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>")]
    pub request: String,
    /// The files that were read and not changed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>")]
    pub investigated: String,
    /// What was learned.
    pub learned: Vec<String>,
    /// Changed files, commits and passed commands.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[ts(as = "Option<String>")]
    pub completed: String,
    /// Open points.
    pub next_steps: Vec<String>,
}

/// A record that the user marked in the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct MarkedRecord {
    /// Its session.
    pub session_id: String,
    /// Its time.
    pub at: String,
}

/// A summary of a work chain for the window, and what a fresh session needs to go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SummaryPage {
    /// The five fields.
    pub summary: SessionSummary,
    /// The hand-over, as Markdown.
    pub hand_over: String,
}

/// A session in the words of the claude-recall document.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSession {
    /// The agent's id.
    pub claude_session_id: String,
    /// The name of the working folder, without those above it.
    pub project: Option<String>,
    /// The working folder.
    pub cwd: Option<String>,
    /// `initialized`, `active`, `observation queued`, `summarizing` or `completed`.
    pub status: String,
    /// What the user asked first.
    pub first_user_prompt: Option<String>,
    /// How many prompts.
    pub prompt_counter: u64,
    /// When it began.
    pub created_at: Option<String>,
    /// When it ended, or its last sign before it counted as ended.
    pub completed_at: Option<String>,
    /// The newest activity.
    pub updated_at: Option<String>,
}

/// A change of memories by the user.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum MemoryChange {
    /// Let the rules see all sessions that they have not seen.
    Learn,
    /// Add a memory by hand.
    Add {
        /// The working folder.
        cwd: String,
        /// The text.
        text: String,
        /// The file that it is about: absolute, or relative to the working folder.
        #[ts(optional)]
        path: Option<String>,
        /// The record whose text it is.
        #[ts(optional)]
        from: Option<MarkedRecord>,
    },
    /// Accept a memory.
    Accept {
        /// Its id, or a unique beginning.
        id: String,
    },
    /// Reject a memory.
    Reject {
        /// Its id, or a unique beginning.
        id: String,
    },
    /// Give a memory another text.
    Edit {
        /// Its id, or a unique beginning.
        id: String,
        /// The text.
        text: String,
    },
    /// Remove a memory for good.
    Forget {
        /// Its id, or a unique beginning.
        id: String,
    },
    /// Ask the model about every turn that waits or was given up, however old it is.
    CatchUp,
    /// Say nothing to any agent, and do not ask the model, until a time.
    Pause {
        /// RFC 3339; absent: the pause ends.
        #[ts(optional)]
        until: Option<String>,
    },
}

/// The result of a change.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct MemoryChanged {
    /// The id of the memory, if the change was about one.
    pub id: Option<String>,
    /// How many sessions the rules have seen.
    pub sessions: Option<u64>,
    /// How many turns the model will be asked about.
    pub turns: Option<u64>,
}

/// What a hook process that injects asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextCall {
    /// The hook payload as the agent wrote it.
    pub payload: String,
}

/// What the hook process prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextText {
    /// The id of the text.
    pub answer: String,
    /// One line of JSON for the agent.
    pub output: String,
}

//! The specification from which an own session starts.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;
use watchbill_core::ids::Agent;

/// How an own session talks to its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OwnKind {
    /// Lines of JSON on pipes.
    Stream,
    /// A terminal.
    Pty,
}

/// The program that a host runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OwnAgent {
    /// Claude Code: `stream-json` both ways, or its terminal.
    Claude,
    /// Codex CLI: `app-server`, or its terminal.
    Codex,
    /// Gemini CLI over the Agent Client Protocol, or its terminal.
    Gemini,
    /// Any command of the user, in a terminal.
    Shell,
}

impl OwnAgent {
    /// The agent; `None` for a command of the user.
    pub const fn agent(self) -> Option<Agent> {
        match self {
            Self::Claude => Some(Agent::Claude),
            Self::Codex => Some(Agent::Codex),
            Self::Gemini => Some(Agent::Gemini),
            Self::Shell => None,
        }
    }

    /// The program of an agent whose sessions can be started here.
    pub const fn of(agent: Agent) -> Option<Self> {
        match agent {
            Agent::Claude => Some(Self::Claude),
            Agent::Codex => Some(Self::Codex),
            Agent::Gemini => Some(Self::Gemini),
            Agent::Opencode
            | Agent::Copilot
            | Agent::Pi
            | Agent::Cursor
            | Agent::Kimi
            | Agent::Grok
            | Agent::Droid
            | Agent::Qwen
            | Agent::Goose
            | Agent::Antigravity
            | Agent::Amp => None,
        }
    }

    /// The word in JSON and text output.
    pub const fn as_str(self) -> &'static str {
        match self.agent() {
            Some(agent) => agent.as_str(),
            None => "shell",
        }
    }
}

/// Everything that a start needs. The host keeps it beside its log, and starts nothing that is not written there.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct OwnSpec {
    /// The id of the own session, a UUID that was made at the click. Claude takes it as the session's id.
    pub session: String,
    /// The program.
    pub agent: OwnAgent,
    /// Pipes or a terminal.
    pub kind: OwnKind,
    /// The folder that the agent works in, absolute.
    pub cwd: String,
    /// The model; absent: the agent's own choice.
    pub model: Option<String>,
    /// The permission mode in the agent's words; absent: the agent's own choice.
    pub mode: Option<String>,
    /// The session that goes on.
    pub resume: Option<OwnResume>,
    /// The program and its arguments for [`OwnAgent::Shell`]. For an agent: its program, where it is not the one in `PATH`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub command: Vec<String>,
    /// The size of the terminal at first.
    pub size: Option<OwnSize>,
    /// When the user asked for it, RFC 3339.
    pub created_at: String,
    /// The folder in which the agent keeps its sessions, absolute; absent: the agent's own choice.
    pub root: Option<String>,
    /// The session whose work goes on here with another agent: its first prompt holds what was said there.
    pub switched: Option<OwnResume>,
    /// An agent started the session, or went on with it. Nothing in it may answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>", optional)]
    pub started_by_agent: bool,
}

/// The session that an own session goes on with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OwnResume {
    /// The agent's id of that session; of a change of the agent, the id of its row.
    pub session: String,
    /// Goes on in a copy, under the id of the own session.
    pub fork: bool,
}

/// How the window asks that a session goes on in an own one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OwnResumeCall {
    /// The id of the new own session, a UUID that was made at the click.
    pub id: String,
    /// The session that goes on.
    pub session_id: String,
    /// Its agent.
    pub agent: OwnAgent,
    /// Pipes or a terminal.
    pub kind: OwnKind,
    /// Goes on in a copy.
    pub fork: bool,
    /// Goes on although the folder has another branch by now.
    pub any_branch: bool,
}

/// How another agent goes on with the work of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OwnSwitchCall {
    /// The id of the new own session, a UUID that was made at the click.
    pub id: String,
    /// The session whose work goes on.
    pub session_id: String,
    /// The other agent.
    pub agent: OwnAgent,
    /// Goes on in a copy: the session stays the head of its chain.
    pub fork: bool,
    /// Goes on although the folder has another branch by now.
    pub any_branch: bool,
    /// Most bytes of what was said.
    #[ts(type = "number")]
    pub budget: usize,
}

/// A change of the agent before it starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OwnSwitch {
    /// What starts the new session.
    pub spec: OwnSpec,
    /// What was said before. The first prompt begins with it, and an empty line follows.
    pub context: String,
}

/// The size of a terminal, in cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct OwnSize {
    /// Lines.
    pub rows: u16,
    /// Columns.
    pub cols: u16,
}

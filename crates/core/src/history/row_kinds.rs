//! The enums in rows: the role of a text, the origin of a prompt, the end of a turn and of a call, the steps of a
//! plan.

as_str!(Role, BatchOrigin, BatchStatus, CallOutcome, PlanEventKind);

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum Role {
    /// A prompt: by the user, or for a subagent by its caller.
    Prompt,
    /// The agent answered.
    Answer,
    /// The agent thought.
    Thinking,
    /// The input of a tool call.
    ToolInput,
    /// The output of a tool call.
    ToolResult,
    /// The summary of a compaction, or one for a user who was away.
    Summary,
    /// A title of the session.
    Title,
    /// A slash command or a `!` line of the user, or its output.
    Command,
    /// A notice that background work has ended, a message of another session, or an API error.
    Notice,
}

impl Role {
    /// Every role, in the order of their numbers.
    pub const ALL: [Self; 9] = [
        Self::Prompt,
        Self::Answer,
        Self::Thinking,
        Self::ToolInput,
        Self::ToolResult,
        Self::Summary,
        Self::Title,
        Self::Command,
        Self::Notice,
    ];
}

/// The source of a prompt. Of two reports, the later variant wins: it is further from what a person typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum BatchOrigin {
    /// The user typed it.
    Human,
    /// The user typed it while a turn ran. The agent took the prompt into that turn.
    Queued,
    /// A program sent it: print mode, the agent's library, a timer, the agent itself.
    Program,
    /// A background task or subagent has ended.
    TaskNotification,
    /// Another session.
    Peer,
}

impl BatchOrigin {
    /// Whether the prompt asks for work. A notice of a task and a message of another session do not.
    pub const fn is_request(self) -> bool {
        matches!(self, Self::Human | Self::Queued | Self::Program)
    }

    /// Whether a person typed it.
    pub const fn is_typed(self) -> bool {
        matches!(self, Self::Human | Self::Queued)
    }
}

/// The state of a turn. If two witnesses name the same time, the later variant wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum BatchStatus {
    /// It runs.
    Active,
    /// The agent gave its last answer.
    Completed,
    /// The user stopped it.
    Interrupted,
    /// The request failed for good.
    Failed,
}

/// How a tool call ended. Of two reports, the later variant wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum CallOutcome {
    /// There is no result yet.
    Pending,
    /// Its turn ended without a result.
    Lost,
    /// It goes on in the background.
    Background,
    /// It went well.
    Ok,
    /// It failed.
    Error,
    /// It was refused, by the user or by a rule.
    Denied,
}

/// What happened to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum PlanEventKind {
    /// It was written or changed.
    Written,
    /// The agent showed it to the user.
    Proposed,
    /// The user sent it back.
    Rejected,
    /// The user agreed.
    Approved,
}

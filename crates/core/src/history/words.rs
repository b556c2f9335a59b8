//! The closed sets of words in rows: whose text, who asked, how it ended.

/// Whose words a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Somebody asked: the person, or for a subagent its caller.
    Prompt,
    /// The agent answered.
    Answer,
    /// The agent thought.
    Thinking,
    /// What a tool was called with.
    ToolInput,
    /// What a tool gave.
    ToolResult,
    /// What a compaction kept.
    Summary,
    /// A title of the session.
    Title,
    /// A slash command or a `!` line of the person, and what it printed.
    Command,
    /// The notice that background work has ended, or the words of another session.
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

    /// The word in JSON, on the command line and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Thinking => "thinking",
            Self::ToolInput => "tool_input",
            Self::ToolResult => "tool_result",
            Self::Summary => "summary",
            Self::Title => "title",
            Self::Command => "command",
            Self::Notice => "notice",
        }
    }

    /// The role of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.word() == word)
    }
}

/// Who asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BatchOrigin {
    /// The person.
    Human,
    /// The person, while a turn ran: the prompt was taken into it.
    Queued,
    /// A background task or subagent has ended.
    TaskNotification,
    /// Another session.
    Peer,
}

impl BatchOrigin {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Queued => "queued",
            Self::TaskNotification => "task_notification",
            Self::Peer => "peer",
        }
    }

    /// The origin of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Human, Self::Queued, Self::TaskNotification, Self::Peer].into_iter().find(|o| o.word() == word)
    }
}

/// How a turn stands. Later ones win where two witnesses name the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BatchStatus {
    /// It runs.
    Active,
    /// The agent said its last word.
    Completed,
    /// The person stopped it.
    Interrupted,
    /// The request failed for good.
    Failed,
}

impl BatchStatus {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        }
    }

    /// The status of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Active, Self::Completed, Self::Interrupted, Self::Failed]
            .into_iter()
            .find(|s| s.word() == word)
    }
}

/// How a tool call ended. Later ones win where two are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
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
    /// It was refused, by the person or by a rule.
    Denied,
}

impl Outcome {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Lost => "lost",
            Self::Background => "background",
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Denied => "denied",
        }
    }

    /// The outcome of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Pending, Self::Lost, Self::Background, Self::Ok, Self::Error, Self::Denied]
            .into_iter()
            .find(|o| o.word() == word)
    }
}

/// What happened to a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlanWord {
    /// It was written or changed.
    Written,
    /// It was shown to the person.
    Proposed,
    /// The person sent it back.
    Rejected,
    /// The person agreed.
    Approved,
}

impl PlanWord {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Proposed => "proposed",
            Self::Rejected => "rejected",
            Self::Approved => "approved",
        }
    }

    /// The value of a word.
    pub fn of(word: &str) -> Option<Self> {
        [Self::Written, Self::Proposed, Self::Rejected, Self::Approved].into_iter().find(|w| w.word() == word)
    }
}

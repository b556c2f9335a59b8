//! The kinds of memories, and how much each is trusted.

/// The rule that found a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MemoryKind {
    /// A command failed, files were changed, and the same command passed.
    Fix,
    /// The user corrected the agent.
    Correction,
    /// The user refused a tool call and said why.
    Refusal,
    /// A command that passes here again and again.
    Command,
    /// The same error follows changes of this file again and again.
    HotFile,
    /// A plan that the user approved.
    Plan,
    /// The user asked to remember it, or wrote it by hand.
    Note,
}

impl MemoryKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Fix, Self::Correction, Self::Refusal, Self::Command, Self::HotFile, Self::Plan, Self::Note];

    /// The word in JSON, on the command line and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fix => "fix",
            Self::Correction => "correction",
            Self::Refusal => "refusal",
            Self::Command => "command",
            Self::HotFile => "hot_file",
            Self::Plan => "plan",
            Self::Note => "note",
        }
    }

    /// The kind of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The confidence of fresh evidence, from 0 to 1.
    pub(super) const fn confidence(self) -> f64 {
        match self {
            Self::Note => 0.95,
            Self::Correction | Self::Refusal => 0.85,
            Self::Fix => 0.8,
            Self::Plan => 0.75,
            Self::Command => 0.7,
            Self::HotFile => 0.6,
        }
    }

    /// After so many days without new evidence the confidence is halved.
    pub(super) const fn half_life_days(self) -> f64 {
        match self {
            Self::Fix => 30.0,
            _ => 90.0,
        }
    }

    /// How many sessions must show it, and how often in all, before it counts.
    pub(super) const fn threshold(self) -> (usize, u64) {
        match self {
            Self::Command => (2, 3),
            Self::HotFile => (3, 3),
            _ => (1, 1),
        }
    }
}

/// How much a colleague would lose without it. A later variant is more important.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Importance {
    /// Some minutes.
    Medium,
    /// More.
    High,
}

impl Importance {
    /// The word in JSON and in the store.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Medium => "medium",
            Self::High => "high",
        }
    }

    /// The value of a word; another word is medium.
    pub fn of(word: &str) -> Self {
        if word == "high" { Self::High } else { Self::Medium }
    }
}

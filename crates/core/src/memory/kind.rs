//! The kinds of memories, and how much each is trusted.

use serde::{Deserialize, Serialize};

as_str!(MemoryKind, Importance);

/// The rule that found a memory, or what a model calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
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
    /// A model: a trap with its symptom.
    Gotcha,
    /// A model: a decision, with the rejected alternative.
    Decision,
    /// A model: the cause of an error and its cure.
    BugFix,
    /// A model: a trade-off.
    TradeOff,
    /// A model: another finding.
    Discovery,
}

impl MemoryKind {
    /// Every kind.
    pub const ALL: [Self; 12] = [
        Self::Fix,
        Self::Correction,
        Self::Refusal,
        Self::Command,
        Self::HotFile,
        Self::Plan,
        Self::Note,
        Self::Gotcha,
        Self::Decision,
        Self::BugFix,
        Self::TradeOff,
        Self::Discovery,
    ];
    /// The kinds that a model finds.
    pub const OF_MODEL: [Self; 5] =
        [Self::Gotcha, Self::Decision, Self::BugFix, Self::TradeOff, Self::Discovery];

    /// Whether a model finds it. Then it is a proposal until the user accepts it.
    pub fn is_of_model(self) -> bool {
        Self::OF_MODEL.contains(&self)
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
            Self::Gotcha | Self::Decision | Self::BugFix | Self::TradeOff | Self::Discovery => 0.4,
        }
    }

    /// After so many days without new evidence the confidence is halved.
    pub(super) const fn half_life_days(self) -> f64 {
        match self {
            Self::Fix | Self::BugFix => 30.0,
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
#[derive(Serialize, Deserialize, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Importance {
    /// Some minutes.
    Medium,
    /// More.
    High,
}

impl Importance {
    /// The value of a word; another word is medium.
    pub fn of(word: &str) -> Self {
        if word == "high" { Self::High } else { Self::Medium }
    }
}

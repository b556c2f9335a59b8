//! The day: what each work chain did, and how long it waited for the user.

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;
use ts_rs::TS;

/// `day --json`. Times are RFC 3339, spans are seconds.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct Day {
    /// The day, such as `2026-11-20`.
    pub date: String,
    /// The time zone.
    pub zone: String,
    /// When it begins.
    pub from: String,
    /// When it ends.
    pub to: String,
    /// Up to when the stretches go: now, on the present day. Absent on an earlier one.
    pub now: Option<String>,
    /// All waits for the user together.
    pub waited_for_you: f64,
    /// How many waits there were.
    pub waits: u64,
    /// Half of the waits were shorter.
    pub median: f64,
    /// The longest wait.
    pub longest: f64,
    /// Where that was.
    pub longest_wait: Option<DayPlace>,
    /// How long two or more chains waited at once.
    pub two_or_more: f64,
    /// The work of all chains together.
    pub worked: f64,
    /// How long one or more chains worked.
    pub one_or_more: f64,
    /// The chains that did something, by project.
    pub chains: Vec<DayChain>,
    /// How many chains worked and waited, from each time at which that changed.
    pub band: Vec<DayCount>,
    /// What the user did: prompts, and answers to what was asked.
    pub you: Vec<DayDeed>,
    /// The last day before with sessions, if nothing ran on this one.
    pub last_day: Option<String>,
}

/// A time in a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DayPlace {
    /// The chain.
    pub work_chain_id: String,
    /// The time.
    pub at: String,
}

/// What one work chain did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DayChain {
    /// The chain.
    pub work_chain_id: String,
    /// Its title.
    pub title: String,
    /// The name of its folder; empty if that is not known.
    pub project: String,
    /// How long it worked.
    pub worked: f64,
    /// How long it waited for the user.
    pub waited_for_you: f64,
    /// What it did, in order. It had ended where there is none.
    pub stretches: Vec<DayStretch>,
    /// When its context was compacted.
    pub compactions: Vec<String>,
}

/// A span in which a chain's state was the same.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
pub struct DayStretch {
    /// When it began, or the day.
    pub from: String,
    /// When it ended.
    pub to: String,
    /// The state, as in the roster.
    pub state: String,
    /// Its kind.
    pub state_kind: Option<String>,
    /// What that means on this day.
    pub doing: DayDoing,
    /// The session.
    pub session_id: String,
    /// It was concluded from silence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(as = "Option<bool>")]
    pub inferred: bool,
}

/// What a chain does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum DayDoing {
    /// Nothing, for long.
    Idle,
    /// The turn is over.
    YourTurn,
    /// A turn runs.
    Working,
    /// A request failed, is tried again, or a limit was reached.
    Failed,
    /// It asks the user.
    Waiting,
}

/// How many chains work and wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DayCount {
    /// From then on.
    pub at: String,
    /// Chains that work.
    pub working: u32,
    /// Chains that wait.
    pub waiting: u32,
}

/// Something that the user did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct DayDeed {
    /// When.
    pub at: String,
    /// In which chain.
    pub work_chain_id: String,
    /// An answer; else a prompt.
    pub answer: bool,
}

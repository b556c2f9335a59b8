//! The limits of plans, and what used them.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use watchbill_core::limits::{KnownLimit, Limit};

/// How much of a plan's limit is used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlanLimit {
    /// The agent that says so.
    pub agent: String,
    /// The agent's folder. Each has an account of its own.
    pub folder: String,
    /// The length of the span in minutes: 300 for five hours, 10080 for a week.
    pub minutes: u32,
    /// How much of it is used.
    pub percent: f64,
    /// When the span ends.
    pub resets_at: String,
    /// When the agent said so.
    pub said_at: String,
    /// The session that said so.
    pub session_id: String,
    /// How much was used when, in this span: steps of 2 percent at least, the oldest first. Not in `status`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<LimitStep>>", optional)]
    pub growth: Vec<LimitStep>,
}

/// How much of a limit was used when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
pub struct LimitStep {
    /// When.
    pub at: String,
    /// How much.
    pub percent: f64,
}

/// What work chains used of a plan's limit, by estimate: what the limit grew between two words of the agent is divided among the requests
/// between them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LimitUse {
    /// The limit.
    pub limit: PlanLimit,
    /// The work chains that used most, at most ten.
    pub shares: Vec<LimitShare>,
    /// What others used, on this machine or elsewhere.
    pub rest: f64,
}

/// What one work chain used of a limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LimitShare {
    /// The chain's name or title.
    pub name: String,
    /// One of its sessions.
    pub session_id: String,
    /// Percent of the limit.
    pub percent: f64,
    /// Of these, in the hour before the agent's newest word.
    pub last_hour: f64,
}

impl PlanLimit {
    /// The length of its span in words, such as `5 hours`.
    pub fn span(&self) -> String {
        Limit::span_words(self.minutes)
    }

    /// The newest word alone.
    pub fn without_growth(&self) -> Self {
        Self { growth: Vec::new(), ..self.clone() }
    }
}

impl From<&KnownLimit> for PlanLimit {
    fn from(known: &KnownLimit) -> Self {
        Self {
            agent: known.agent.as_str().into(),
            folder: known.folder.to_string(),
            minutes: known.limit.minutes,
            percent: percent(known.limit.used),
            resets_at: known.limit.resets_at.to_string(),
            said_at: known.said_at.to_string(),
            session_id: known.session.to_string(),
            growth: known
                .growth
                .iter()
                .map(|(at, used)| LimitStep { at: at.to_string(), percent: percent(*used) })
                .collect(),
        }
    }
}

/// Hundredths of a percent as a percentage.
pub(crate) fn percent(hundredths: u32) -> f64 {
    f64::from(hundredths) / 100.0
}

//! `status --format json`: how many sessions count for each group, and how many need the user for what.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::roster::{Group, PlanLimit, RosterSnapshot};

/// Counts by group. Superseded sessions do not count: their work is counted where it goes on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
#[ts(optional_fields)]
#[allow(missing_docs)] // The names are those of the groups.
pub struct Status {
    pub needs_you: u32,
    pub working: u32,
    pub your_turn: u32,
    pub idle: u32,
    /// How many sessions need the user, by need: `approval`, `question`, `plan`, `dialog`, `error`.
    #[serde(default)]
    pub needs: BTreeMap<String, u32>,
    /// How many sessions work on although their newest call was refused by the agent's reviewer; absent for 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[ts(as = "Option<u32>", optional)]
    pub refused: u32,
    /// The limits of plans, as the agents say them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<PlanLimit>>", optional)]
    pub limits: Vec<PlanLimit>,
    /// Why the history is not kept at the moment, as a text for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference.
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl From<&RosterSnapshot> for Status {
    fn from(snapshot: &RosterSnapshot) -> Self {
        let trouble = snapshot.problems.iter().find(|problem| problem.kind == "store");
        let mut counts = Self {
            limits: snapshot.limits.iter().map(PlanLimit::without_growth).collect(),
            trouble: trouble.map(|problem| problem.detail.clone()),
            ..Self::default()
        };
        for session in snapshot.sessions.iter().filter(|s| s.superseded != Some(true)) {
            match session.group {
                Group::NeedsYou => counts.needs_you += 1,
                Group::Working => counts.working += 1,
                Group::YourTurn => counts.your_turn += 1,
                Group::Idle => counts.idle += 1,
            }
            let refused = session.refused.as_ref().is_some_and(|refused| refused.in_a_row > 0);
            counts.refused += u32::from(refused && session.state == "working");
            if let Some(need) = &session.needs {
                *counts.needs.entry(need.clone()).or_default() += 1;
            }
        }
        counts
    }
}

//! What a client says of a session and of the account in its status line.

use std::sync::Arc;

use crate::limits::Limit;

/// One word of a client. What it does not say is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatusLine {
    /// How full the context is.
    pub context: Option<SaidContext>,
    /// What the client counts as the cost of the session, in millionths of a dollar.
    pub cost: Option<u64>,
    /// The model's id.
    pub model: Option<Arc<str>>,
    /// How hard the model thinks, in the client's word.
    pub effort: Option<Arc<str>>,
    /// The pull request of the branch.
    pub pull_request: Option<SaidPullRequest>,
    /// The limits of the account's plan.
    pub limits: Vec<Limit>,
}

impl StatusLine {
    /// Whether the session has talked to the model since the other word. Otherwise its limits are an old word too.
    pub fn is_after_request(&self, before: &Self) -> bool {
        (&self.context, self.cost, &self.limits) != (&before.context, before.cost, &before.limits)
    }
}

/// How full a context is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaidContext {
    /// Its size, in tokens.
    pub size: u64,
    /// The tokens in it, and the same in hundredths of a percent. `None` before the first answer and after a compaction.
    pub used: Option<(u64, u32)>,
}

/// A pull request, as the client found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidPullRequest {
    /// Its number.
    pub number: u64,
    /// Its address.
    pub url: Arc<str>,
    /// `approved`, `changes_requested`, `pending`, `draft`; an open set.
    pub review: Option<Arc<str>>,
}

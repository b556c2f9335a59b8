//! Why a tool call did not run.

use serde::{Deserialize, Serialize};

as_str!(RefusalKind);

/// Why a tool call did not run: from `toolDenialKind` since 2.1.220, from the result's text before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// The user refused it.
    User,
    /// A rule or a hook.
    Policy,
    /// The agent's own reviewer.
    Reviewer(RefusalKind),
}

/// Why the agent's reviewer refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RefusalKind {
    /// It judged the call to be risky.
    Blocked,
    /// It could not judge: it was not reachable.
    Unavailable,
}

//! The states of a session and the finer kinds within them, as every module names them.

use serde::{Deserialize, Serialize};

as_str!(State, StateKind, Confidence);

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum State {
    /// A turn runs.
    Working,
    /// The user has to decide something: a permission, a question, a plan.
    WaitingForApproval,
    /// The turn is over; the user is next.
    WaitingForInput,
    /// Nothing has happened for long.
    Idle,
    /// The process is gone.
    Ended,
}

impl State {
    /// The states in which a turn runs, or waits for the user.
    pub const GOES_ON: [Self; 3] = [Self::Working, Self::WaitingForApproval, Self::WaitingForInput];
}

/// What kind of working, waiting or ending it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum StateKind {
    /// A tool wants permission.
    Permission,
    /// `AskUserQuestion` waits for its answer.
    Question,
    /// `ExitPlanMode` waits for a verdict.
    Plan,
    /// A dialog of the agent is open (trust, resume picker, model menu, …).
    Dialog,
    /// The turn ended by itself.
    TurnEnded,
    /// The user interrupted.
    Interrupted,
    /// The context is being compacted.
    Compacting,
    /// The request failed and is tried again.
    Retrying,
    /// The request failed for good.
    Error,
    /// A usage limit was reached.
    Limit,
    /// Only background work goes on.
    Background,
    /// The process ended without reporting its end.
    Crashed,
    /// A status file says that the task is finished.
    Completed,
    /// A status file says that something else has to happen first.
    Blocked,
}

/// How sure a reading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Confidence {
    /// A witness reported it.
    Observed,
    /// It follows from silence or from a rule of thumb.
    Inferred,
}

/// The source document's timeouts, as settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// `APPROVAL_TIMEOUT_MS`: a pending tool counts as a question after this long. 5 s.
    pub approval: crate::time::Millis,
    /// `STALE_TIMEOUT_MS`: a silent turn counts as ended after this long. 60 s.
    pub stale: crate::time::Millis,
    /// `IDLE_TIMEOUT_MS`: a silent session is idle after this long. 10 min.
    pub idle: crate::time::Millis,
}

impl Default for Timeouts {
    fn default() -> Self {
        use crate::time::Millis;
        Self { approval: Millis::from_secs(5), stale: Millis::from_secs(60), idle: Millis::from_secs(600) }
    }
}

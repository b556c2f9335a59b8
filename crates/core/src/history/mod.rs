//! The history of a session: records and hook events in, rows for the store out.
//!
//! [`rows`] holds the rows. The transcript and hooks may report a row in parts, more than once and in any order. So
//! its `merge` is commutative, associative and idempotent: the stored row does not depend on the order. [`private`]
//! removes text that the user does not want stored; every storing path goes through it. [`recovery`] ends turns and
//! sessions whose end no event reports.

pub(crate) mod boilerplate;
pub mod exclude;
pub mod fold;
pub mod hooks;
pub mod private;
pub mod recovery;
mod row_kinds;
pub mod rows;
pub mod settings;
mod snapshot;

pub use boilerplate::without_quotes;
pub use exclude::{Exclude, Links};
pub use fold::HistoryFold;
pub use fold::MATCH_SPAN;
pub use fold::plans::{PLAN_LIMIT, plan_text};
pub use hooks::HookEventParts;
pub use private::{is_wholly_private, keep_public, may_hold_private, strip_private};
pub use recovery::{Correction, Recovery, RecoverySettings, SessionView, recover};
pub use rows::{
    Activity, Batch, BatchId, BatchOrigin, BatchStatus, CallOutcome, Ended, Execution, Item, PlanEvent,
    PlanEventKind, Request, Role, Segment, Text,
};
pub use settings::{ArchiveSettings, HistorySettings};

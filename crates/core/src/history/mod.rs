//! What is remembered of a session: records and hook events in, rows for the store out.
//!
//! [`rows`] holds the rows. A row may be told in parts and more than once, by the transcript and by hooks, in any
//! order: its `merge` is commutative, associative and idempotent, so that what is stored does not depend on who
//! spoke first. [`private`] strips what the person does not want stored; every storing path goes through it. [`recovery`] ends what nobody ended.

pub(crate) mod boilerplate;
pub mod exclude;
pub mod fold;
pub mod hooks;
pub mod private;
pub mod recovery;
pub mod rows;
pub mod settings;
mod snapshot;
mod words;

pub use exclude::{Exclude, Links};
pub use fold::HistoryFold;
pub use hooks::Heard;
pub use private::{keep_public, strip_private};
pub use recovery::{Recovered, Recovery, RecoverySettings, SessionView, recover};
pub use rows::{
    Activity, Batch, BatchId, BatchOrigin, BatchStatus, Ended, Execution, Item, Outcome, PlanVersion,
    PlanWord, Request, Role, Segment, Text,
};
pub use settings::{ArchiveSettings, HistorySettings};

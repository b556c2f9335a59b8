//! One session: the machine of the turn, and all other facts that are folded from its records.
//!
//! [`SessionFold`] is the entry point. `machine` holds the source document's four states. `turn` holds the facts
//! that the machine reads, and says when silence ends a state; `describe_state` describes why a state holds. `pending` holds
//! the tool calls without a result, `background` the work that goes on after a turn, and [`facts`] what a row shows.
//! [`refusals`] holds the calls that a reviewer refused, and `ancestry` the facts for the chain resolver. [`subagent`] folds a
//! subagent's own file, [`usage`] counts tokens, and `id_set` knows which records were applied. [`snapshot`] carries a fold over a restart, and
//! [`lazy`] delays its decoding.

mod ancestry;
pub(crate) mod answer;
mod background;
mod describe_state;
pub mod effect;
pub mod facts;
pub mod fold;
pub(crate) mod id_set;
pub mod lazy;
mod machine;
pub(crate) mod pending;
mod record_data;
pub mod refusals;
mod shown;
pub mod snapshot;
pub mod state;
pub mod subagent;
mod title;
mod turn;
pub use turn::{COMPACTION_LASTS, QUESTION_LASTS};
pub mod usage;
pub mod work;

pub use effect::{Effect, Reading};
pub use facts::TranscriptFacts;
pub use fold::SessionFold;
pub use id_set::IdSet;
pub use lazy::LazyFold;
pub use subagent::SubagentFold;
pub use usage::{RequestKey, RequestLedger};

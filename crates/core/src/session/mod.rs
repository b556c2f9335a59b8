//! One session: the machine of the turn, and everything else that is folded from its records.
//!
//! [`SessionFold`] is the way in. Behind it `machine` holds the document's four states, `turn` what they ask of a session
//! and when silence ends one, and `words` says why they hold; `pending` the tool calls without a result, `background` what
//! goes on after a turn, [`facts`] what a row shows and `ancestry` what the chain resolver needs. [`subagent`] folds a
//! subagent's own file, [`usage`] counts tokens, `id_set` knows which records have been applied, [`snapshot`] carries a fold
//! over a restart, and [`resting`] puts off taking it apart.

mod ancestry;
pub(crate) mod answer;
mod background;
pub mod effect;
pub mod facts;
pub mod fold;
pub(crate) mod id_set;
mod machine;
mod memory;
mod pending;
pub mod resting;
mod shown;
pub mod snapshot;
pub mod state;
pub mod subagent;
mod turn;
pub mod usage;
mod words;

pub use effect::{Effect, Reading};
pub use facts::Facts;
pub use fold::SessionFold;
pub use id_set::IdSet;
pub use resting::RestingFold;
pub use subagent::SubagentFold;
pub use usage::{RequestKey, RequestLedger};

//! Memories: facts that rules find in the stored rows of earlier sessions. An agent is told a few lines of them.
//!
//! [`mod@signals`] applies the rules to the rows of one session. [`evidence`] joins the findings of several sessions to
//! memories, and decides which of them are in force. [`mod@choose`] selects the lines for one place within its budget. [`summary`] fills the
//! five fields of a session's summary. [`mod@model`] asks a model about a turn, if the user chose one, and
//! checks its reply. [`secrets`] and [`plain`] keep out what must not be repeated.
//!
//! Text of tools never becomes a memory, except one line of an error. Texts come from the user, from the agent's answer and
//! from plans that the user approved.

pub mod choose;
pub mod evidence;
pub mod kind;
pub mod likeness;
pub mod model;
mod open_ends;
pub mod plain;
pub mod secrets;
pub mod settings;
pub mod signals;
pub mod summary;

pub use choose::{Budget, Chosen, Place, choose, render};
pub use evidence::{AcceptRule, Edit, EditKind, Evidence, Mark, Memory, Standing, gather, standings};
pub use kind::{Importance, MemoryKind};
pub use open_ends::open_ends;
pub use settings::{ContextChoice, MemorySettings, ModelSettings};
pub use signals::{PlanRow, RuleState, SessionRows, Signal, signals};
pub use summary::{Summary, hand_over, summarize};

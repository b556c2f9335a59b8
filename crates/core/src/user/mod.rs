//! The user's commands about sessions: names, joins and splits of chains, snoozes, put-away.
//!
//! No transcript holds this data. It outweighs every witness, is kept in the store, and only the user can undo it.
//! [`changes_of_command()`] turns a command ([`SessionCommand`]) into [`EditChange`]s of the stored [`UserEdits`], or refuses it.

mod decide_command;
mod deferral;
mod user_edits;

pub use decide_command::{CommandFacts, CommandRefusal, changes_of_command};
pub use deferral::{Deferral, SeenActivity};
pub use user_edits::{EditChange, SessionCommand, UserEdits};

//! The user's commands about sessions: names, joins and splits of chains, snoozes, put-away.
//!
//! No transcript holds this data. It outweighs every witness, is kept in the store, and only the user can undo it.
//! [`say()`] turns a command ([`Word`]) into [`Change`]s of the stored [`Words`], or refuses it.

mod aside;
mod say;
mod words;

pub use aside::{Aside, Seen};
pub use say::{Known, Refusal, say};
pub use words::{Change, Word, Words};

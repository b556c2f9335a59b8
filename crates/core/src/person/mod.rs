//! What the person says of their sessions: names, which belong together, what is to wait, what is done with.
//!
//! Nothing here is found out, and no transcript can tell it again: it outweighs every witness, is kept in the store
//! and undone by the person alone. [`say()`] turns a [`Word`] into [`Change`]s of all [`Words`], or refuses it.

mod aside;
mod say;
mod words;

pub use aside::{Aside, Seen};
pub use say::{Known, Refusal, say};
pub use words::{Change, Word, Words};

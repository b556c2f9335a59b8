//! One session: the machine of the turn, and everything else that is folded from its records.

pub mod state;

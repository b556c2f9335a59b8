//! What the command line does without an engine of its own that runs: it looks once, and writes the store or asks its holder.

pub mod answers;
pub mod forget;
mod holder;
pub mod index;
pub mod memory;
pub mod single_look;
pub mod user_commands;

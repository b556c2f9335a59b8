//! Hook events of the agent as facts: who sent one, from where, and what it says.

pub mod origin;

pub use origin::{HookOrigin, TerminalContext};

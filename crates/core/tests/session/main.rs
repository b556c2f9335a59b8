//! The fold of one transcript, through its public interface: states, edge cases, lineage, tokens, properties.

mod background;
mod clock;
mod edge_cases;
mod facts;
mod file_lines;
mod lineage;
mod properties;
mod recordings;
mod script;
mod snapshots;
mod subagents;
mod transitions;

//! Work chains from facts: what the documents say, the numbered edge cases, recorded facts, and properties.

mod compaction;
mod edges;
mod facts;
mod forks;
mod in_process;
mod properties;
mod recorded;

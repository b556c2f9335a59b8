//! The history for agents: an MCP server on standard input and output, read-only.
//!
//! It answers from a [`source::Records`] and knows neither the store nor the engine. It stores nothing, sends nothing elsewhere
//! and starts nothing. Each answer is a quotation: it says so, has no hidden characters, and has a bounded size.

#![forbid(unsafe_code)]

pub mod quote;
pub mod server;
pub mod source;

//! What each coding agent is, in a folder of its own: the layout of its files, its registry, its processes, its requests, and
//! how it is started and driven.
//!
//! [`traits`] says in data what an agent is. All code here is pure: bytes, paths and facts come in as values. Other crates read
//! and write files, and ask this one what they mean.

#![forbid(unsafe_code)]

pub mod acp;
pub mod claude;
pub mod codex;
pub mod driver;
mod fold;
pub mod gemini;
pub mod launch;
pub mod resume;
pub mod traits;

pub use traits::{Agent, Traits, traits};

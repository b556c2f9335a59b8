//! What each coding agent is, in a folder of its own: the layout of its files, its registry, its processes, its requests, and
//! how it is started and driven.
//!
//! [`traits()`] says in data what an agent is. All code here is pure: bytes, paths and facts come in as values. Other crates read
//! and write files, and ask this one what they mean.

#![forbid(unsafe_code)]

pub mod acp;
pub mod caller;
pub mod claude;
pub mod codex;
pub mod driver;
pub mod excluded;
pub mod files;
mod fold;
pub mod gemini;
pub mod hooks;
pub mod launch;
mod lines;
pub mod marks;
pub mod named_paths;
mod paths;
pub mod process;
pub mod resume;
mod target;
pub mod traits;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;

// What only one agent has so far. The next one that has it brings a choice by `Agent`, as `files` does.
pub use claude::{install, layout, private_events, registry, reported, requests, supplement};
pub use files::{Root, root_of};
pub use traits::{HookTraits, Layout, Traits, Trust};
pub use watchbill_core::ids::Agent;

/// Folders below a home or a project in which agents keep plans.
pub const PLAN_FOLDERS: [&str; 3] = [".claude/plans", ".cursor/plans", ".gemini/plans"];

/// How an agent runs hooks. One whose hooks are not heard has none of its own in any settings.
pub fn hook_traits(agent: Agent) -> &'static HookTraits {
    traits(agent).hooks.unwrap_or(&claude::HOOKS)
}

/// The traits of an agent.
pub fn traits(agent: Agent) -> &'static Traits {
    match agent {
        Agent::Claude => &claude::TRAITS,
        Agent::Codex => &codex::TRAITS,
        Agent::Gemini => &gemini::TRAITS,
    }
}

/// The agent's folder, found in an environment as the agent finds it.
pub fn folder_of(agent: Agent, env: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let traits = traits(agent);
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    traits.folder_variable.and_then(set).or_else(|| Some(set("HOME")?.join(traits.folder)))
}

//! What each coding agent is, in a folder of its own: the layout of its files, its registry, its processes, its requests, and
//! how it is started and driven.
//!
//! [`traits()`] says in data what an agent is. All code here is pure: bytes, paths and facts come in as values. Other crates read
//! and write files, and ask this one what they mean.

#![forbid(unsafe_code)]

pub mod acp;
pub mod amp;
pub mod antigravity;
pub mod caller;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod document;
pub mod driver;
pub mod droid;
pub mod excluded;
pub mod files;
mod fold;
pub mod gemini;
pub mod goose;
pub mod grok;
pub mod hooks;
pub mod kimi;
pub mod launch;
mod lines;
pub mod marks;
pub mod named_paths;
pub mod opencode;
mod paths;
pub mod pi;
pub mod process;
pub mod qwen;
mod raw_fields;
pub mod resume;
mod target;
pub mod traits;
mod translated;
mod words;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

// What only one agent has so far. The next one that has it brings a choice by `Agent`, as `files` does.
pub use claude::{install, layout, private_events, registry, reported, requests, status_line, supplement};
pub use files::{Root, root_of};
pub use traits::{HookTraits, Layout, OtherForm, Traits, Trust};
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
        Agent::Opencode => &opencode::TRAITS,
        Agent::Copilot => &copilot::TRAITS,
        Agent::Pi => &pi::TRAITS,
        Agent::Cursor => &cursor::TRAITS,
        Agent::Kimi => &kimi::TRAITS,
        Agent::Grok => &grok::TRAITS,
        Agent::Droid => &droid::TRAITS,
        Agent::Qwen => &qwen::TRAITS,
        Agent::Goose => &goose::TRAITS,
        Agent::Antigravity => &antigravity::TRAITS,
        Agent::Amp => &amp::TRAITS,
    }
}

/// An environment: the value of a variable.
pub type Environment<'e> = &'e dyn Fn(&str) -> Option<OsString>;

/// The variable that names the person's folder. Programs of Node ignore `HOME` on Windows.
pub const HOME: &str = if cfg!(windows) { "USERPROFILE" } else { "HOME" };

/// The agent's folder, found in an environment as the agent finds it.
pub fn folder_of(agent: Agent, env: Environment<'_>) -> Option<PathBuf> {
    let traits = traits(agent);
    found(traits.folder, traits.folder_variable, env)
}

/// The folder of the settings that name an agent's hooks. `root` is the agent's folder.
pub fn settings_folder(agent: Agent, root: &Path, env: Environment<'_>) -> Option<PathBuf> {
    match hook_traits(agent).settings_folder {
        Some((usual, variable)) => found(usual, Some(variable), env),
        None => Some(root.to_owned()),
    }
}

fn found(usual: &str, variable: Option<(&str, &str)>, env: Environment<'_>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let named = |(variable, below): (&str, &str)| Some(set(variable)?.join(below));
    variable.and_then(named).or_else(|| Some(set(HOME)?.join(usual)))
}

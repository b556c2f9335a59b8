//! Whether the hooks are installed, and whether the agent will run them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value;
use serde::{Deserialize, Serialize};

use super::file::{FileError, SettingsFile};
use super::text::parse;
use super::{Event, HookCommand, command, find_ours, is_installed, without_mark};

/// One settings file as far as our hooks are concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The file.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
    /// What our hooks are here.
    pub state: State,
    /// Events that our handlers are there for.
    pub events: Vec<String>,
    /// Events that we would ask for as well.
    pub missing: Vec<String>,
    /// Command lines of ours that are not what we would write now.
    pub outdated: Vec<String>,
    /// Programs that our handlers start and that are not there: nothing of what they should pass on arrives.
    pub missing_programs: Vec<PathBuf>,
    /// `disableAllHooks`: the agent runs none at all.
    pub disabled: bool,
    /// `allowManagedHooksOnly`: the agent runs only those of its administrator.
    pub managed_only: bool,
    /// Why the file could not be read.
    pub problem: Option<String>,
}

/// What our hooks are in a settings file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Not there.
    #[default]
    Absent,
    /// All there, as they should be.
    Installed,
    /// Some are there, or others than would be written now.
    Outdated,
    /// The file cannot be understood, and then the agent cannot either.
    Unreadable,
}

/// Looks at one settings file.
pub fn status(path: &Path, wanted: &HookCommand, events: &[&Event]) -> Status {
    let unread = |error: FileError| Status {
        path: path.to_owned(),
        exists: true,
        state: State::Unreadable,
        problem: Some(error.to_string()),
        ..Status::default()
    };
    let file = match SettingsFile::read(path) {
        Ok(file) => file,
        Err(error) => return unread(error),
    };
    let Some(text) = &file.text else { return Status { path: path.to_owned(), ..Status::default() } };
    let ours = match find_ours(text) {
        Ok(ours) => ours,
        Err(error) => return unread(file.refused(error)),
    };
    let there: BTreeSet<&str> = ours.iter().map(|o| o.event.as_str()).collect();
    let lines: BTreeSet<&str> = ours.iter().map(|o| o.line.as_str()).collect();
    let line = wanted.line();
    let complete = is_installed(text, wanted, events).unwrap_or(false);
    let (disabled, managed_only) = switches(text);
    Status {
        path: path.to_owned(),
        exists: true,
        state: match (complete, ours.is_empty()) {
            (true, _) => State::Installed,
            (false, true) => State::Absent,
            (false, false) => State::Outdated,
        },
        events: there.iter().map(|name| (*name).to_owned()).collect(),
        missing: match ours.is_empty() {
            true => Vec::new(),
            false => events.iter().map(|e| e.name).filter(|e| !there.contains(e)).map(Into::into).collect(),
        },
        outdated: lines.iter().filter(|l| **l != line).map(|l| (*l).to_owned()).collect(),
        missing_programs: lines
            .iter()
            .filter_map(|line| command::program_of(line))
            .collect::<BTreeSet<_>>()
            .into_iter()
            .filter(|program| program.is_absolute() && !program.exists())
            .collect(),
        disabled,
        managed_only,
        problem: None,
    }
}

/// The two settings that keep the agent from running our hooks.
fn switches(text: &str) -> (bool, bool) {
    let Ok(Value::Object(root)) = parse(without_mark(text).1) else { return (false, false) };
    let on = |name: &str| {
        root.properties
            .iter()
            .any(|p| p.name.as_str() == name && matches!(&p.value, Value::BooleanLit(value) if value.value))
    };
    (on("disableAllHooks"), on("allowManagedHooksOnly"))
}

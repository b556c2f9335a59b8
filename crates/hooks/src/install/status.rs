//! Whether the hooks are installed, and whether the agent will run them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value;
use serde::{Deserialize, Serialize};
use watchbill_agents::{Agent, hook_traits};

use super::file::{FileError, SettingsFile};
use super::text::{parse, parts};
use super::{Event, HookCommand, HookTarget, Ours, Purpose, Version, events_for, find_ours, status_line};
use crate::places::platform_data_dir;
use watchbill_platform::files::real_path;

/// The state of our hooks in one settings file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The file.
    pub path: PathBuf,
    /// Whether the file exists.
    pub exists: bool,
    /// The state of our hooks in this file.
    pub state: State,
    /// The events that have a handler of ours.
    pub events: Vec<String>,
    /// Whether a handler of ours waits for answers.
    #[serde(default)]
    pub answers: bool,
    /// Whether handlers of ours tell the agent what was learned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub context: bool,
    /// Whether the status line is ours, which runs the person's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub status_line: bool,
    /// The program that the status line starts, if it is not there. The client then shows no line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_status_line: Option<PathBuf>,
    /// Known memory programs that these settings start: they tell the agent something too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<String>,
    /// The agent runs some handlers of ours only when the user has trusted them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_trust: bool,
    /// The events that an installation would add.
    pub missing: Vec<String>,
    /// Events that the agent does not know. Because of them it skips the whole file.
    pub unknown: Vec<String>,
    /// Command lines of ours that differ from those of this version. They may work as well.
    pub outdated: Vec<String>,
    /// Other data folders that our handlers name. Their events do not arrive in this one.
    pub elsewhere: Vec<PathBuf>,
    /// Whether a handler of ours is there twice, or has another `async` than this version writes.
    pub irregular: bool,
    /// Programs that our handlers start and that do not exist. Their events do not arrive.
    pub missing_programs: Vec<PathBuf>,
    /// `disableAllHooks`: the agent runs no hooks at all.
    pub disabled: bool,
    /// `allowManagedHooksOnly`: the agent runs only its administrator's hooks.
    pub managed_only: bool,
    /// Why the file could not be read.
    pub problem: Option<String>,
}

/// The state of our hooks in a settings file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// No handler of ours.
    #[default]
    Absent,
    /// All handlers are there, and their events arrive.
    Installed,
    /// Some events do not arrive as they should; the other fields say why.
    Outdated,
    /// The file cannot be parsed, so the agent cannot read it either.
    Unreadable,
}

/// Checks one settings file: whether events of this client version arrive where `wanted` would send them.
///
/// `hooks status`, `doctor` and the window all use this function. A handler may start another program of ours than
/// `wanted`, as long as that program exists.
/// `root`: the agent's folder.
pub fn status(path: &Path, root: &Path, wanted: &HookCommand, client: Option<Version>) -> Status {
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
    let ours = match find_ours(text, Purpose::Events) {
        Ok(ours) => ours,
        Err(error) => return unread(file.refused(error)),
    };
    let (disabled, managed_only) = switches(text);
    let answers = find_ours(text, Purpose::Answers).is_ok_and(|answers| !answers.is_empty());
    let context = find_ours(text, Purpose::Context).is_ok_and(|context| !context.is_empty());
    let status_line = status_line(text).ok().flatten();
    let rivals = super::rivals::rivals(text);
    let waits_for_trust = waits_for_trust(path, root, wanted.agent, text);
    let found = Status {
        path: path.to_owned(),
        exists: true,
        disabled,
        managed_only,
        answers,
        context,
        lost_status_line: status_line.as_ref().and_then(missing_program),
        status_line: status_line.is_some(),
        rivals,
        waits_for_trust,
        ..Status::default()
    };
    if ours.is_empty() {
        return found;
    }
    let mut found = judged(found, &ours, wanted, &events_for(wanted.agent, client, Some(text)));
    let wrong = !found.missing.is_empty()
        || !found.unknown.is_empty()
        || !found.elsewhere.is_empty()
        || !found.missing_programs.is_empty()
        || found.irregular;
    found.state = if wrong { State::Outdated } else { State::Installed };
    found
}

/// Whether the agent waits for the user's trust in a handler of ours. A file that cannot be read says nothing of trust.
fn waits_for_trust(path: &Path, root: &Path, agent: Agent, text: &str) -> bool {
    let Some(trust) = hook_traits(agent).trust else { return false };
    let read = SettingsFile::read(&root.join(trust.file)).ok().and_then(|file| file.text);
    let config = read.unwrap_or_default();
    // The agent may name its folder with links followed.
    let names = [Some(path.to_owned()), real_path(path).ok()];
    let names: Vec<String> = names.into_iter().flatten().map(|name| name.to_string_lossy().into()).collect();
    let ours = [Purpose::Events, Purpose::Answers, Purpose::Context].map(|purpose| find_ours(text, purpose));
    ours.into_iter().flatten().flatten().any(|handler| {
        let (_, group, place) = handler.at;
        !names
            .iter()
            .any(|name| (trust.is_given)(&config, name, &handler.event, group, place.unwrap_or_default()))
    })
}

fn judged(found: Status, ours: &[Ours], wanted: &HookCommand, events: &[&Event]) -> Status {
    let there: BTreeSet<&str> = ours.iter().map(|o| o.event.as_str()).collect();
    let lines: BTreeSet<&str> = ours.iter().map(|o| o.line.as_str()).collect();
    let programs: BTreeSet<PathBuf> = ours.iter().filter_map(|ours| missing_program(&ours.called)).collect();
    let others = ours.iter().filter(|o| wanted.has_other_data_dir(&o.called));
    let others: BTreeSet<PathBuf> =
        others.filter_map(|o| o.called.data_dir.clone().or_else(platform_data_dir)).collect();
    let asked = |name: &str| events.iter().find(|event| event.name == name);
    let line = wanted.line();
    let named = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Status {
        missing: named(events.iter().map(|e| e.name).filter(|name| !there.contains(name)).collect()),
        unknown: named(there.iter().copied().filter(|name| asked(name).is_none()).collect()),
        outdated: named(lines.into_iter().filter(|l| *l != line).collect()),
        elsewhere: others.into_iter().collect(),
        irregular: ours.len() > there.len()
            || ours.iter().any(|o| asked(&o.event).is_some_and(|event| event.waits == o.is_async)),
        missing_programs: programs.into_iter().collect(),
        events: named(there.into_iter().collect()),
        ..found
    }
}

/// The program of a handler of ours, if it is not there.
fn missing_program(called: &HookTarget) -> Option<PathBuf> {
    Some(&called.program).filter(|program| program.is_absolute() && !program.exists()).cloned()
}

/// The two settings that keep the agent from running our hooks.
fn switches(text: &str) -> (bool, bool) {
    let Ok(Value::Object(root)) = parse(parts(text).1) else { return (false, false) };
    let on = |name: &str| {
        root.properties
            .iter()
            .any(|p| p.name.as_str() == name && matches!(&p.value, Value::BooleanLit(value) if value.value))
    };
    (on("disableAllHooks"), on("allowManagedHooksOnly"))
}

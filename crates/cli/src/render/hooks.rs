//! `hooks`: changes, dry runs, and the status.

use std::path::Path;

use serde::Serialize;
use watchbill_agents::{Agent, hook_traits, traits};
use watchbill_hooks::health::Health;
use watchbill_hooks::install::file::SettingsFile;
use watchbill_hooks::install::status::{State, Status};
use watchbill_hooks::install::{Event, HookCommand, Purpose, Scope, Version};

use super::{local_date_time, plural, size};
use crate::terminal_text::{Paint, Tone, lines, one_line};

/// The whole status, as `hooks status --json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Whose hooks they are.
    pub agent: Agent,
    /// The version of the agent that a shell would start, if known.
    pub client: Option<String>,
    /// Each settings file that the agent reads.
    pub scopes: Vec<ScopeReport>,
    /// Ears, spool and journal.
    pub health: Health,
}

/// One settings file.
#[derive(Debug, Serialize)]
pub struct ScopeReport {
    /// The sessions that the file applies to.
    pub scope: Scope,
    /// The state of our hooks in the file.
    #[serde(flatten)]
    pub status: Status,
}

/// The changes that a command would make to a settings file.
pub fn change(file: &SettingsFile, after: Option<&str>, paint: Paint) -> String {
    let before = file.text.as_deref();
    let path = one_line(&file.path.display().to_string());
    if before == after {
        return format!("{path} would stay as it is\n");
    }
    let name = |there: bool| if there { path.clone() } else { "/dev/null".to_owned() };
    let diff = similar::TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
    let text = diff
        .unified_diff()
        .context_radius(3)
        .header(&name(before.is_some()), &name(after.is_some()))
        .to_string();
    let tone = |line: &str| match line.as_bytes().first() {
        Some(b'+') => paint.tone(Tone::Work, line),
        Some(b'-') => paint.tone(Tone::Error, line),
        _ => line.to_owned(),
    };
    lines(&text.replace('\t', "    ")).map(|line| tone(&line) + "\n").collect()
}

/// The command that repairs a settings file, if there is one.
pub type Advice<'a> = &'a dyn Fn(Agent, Scope, &Path) -> Option<String>;

/// A command for the user to type. Spaces within a name stay.
pub fn typed(command: &str) -> String {
    lines(command).collect()
}

/// The events that were installed, and those that were not.
pub fn installed(
    path: &Path,
    changed: bool,
    command: &HookCommand,
    events: &[&Event],
    client: Option<Version>,
) -> String {
    let path = one_line(&path.display().to_string());
    let done = if changed { "installed into" } else { "already installed in" };
    match command.purpose {
        Purpose::Answers => return format!("the hook that waits for your answers is {done} {path}\n"),
        Purpose::Context => {
            return format!(
                "the hook that tells the agent what was learned is {done} {path}\n\
                 it says nothing before `memory.context` is set to files or all\n"
            );
        }
        Purpose::StatusLine => return format!("Watchbill before your status line is {done} {path}\n"),
        Purpose::Events => {}
    }
    let known = hook_traits(command.agent).events;
    let mut out = format!("hooks for {} {done} {path}\n", plural(events.len(), "event"));
    if events.len() < known.len() {
        let left_out: Vec<_> = known.iter().filter(|e| !events.contains(e)).map(|e| e.name).collect();
        let why = match client {
            Some(version) => format!("not known to the client, which is {version}"),
            None => {
                "left out, because the client's version is not known, and a client that does not know them \
                     would skip the whole file; name the version with --client-version"
                    .to_owned()
            }
        };
        out.push_str(&format!("{} {why}\n", left_out.join(", ")));
    }
    out
}

/// What is left to do, and how to undo the installation. `place` has the options of `hooks` that name these settings, unless a path
/// is not valid UTF-8.
pub fn after_install(place: &Option<String>, purpose: Purpose, agent: Agent) -> String {
    let hooks = hook_traits(agent);
    let trust = hooks
        .trust
        .map(|trust| format!("{} runs them once you trust them: {}\n", traits(agent).title, trust.how));
    let note = hooks.note.map(|note| format!("{note}\n"));
    [trust, note, Some(undo(place, purpose))].into_iter().flatten().collect()
}

fn undo(place: &Option<String>, purpose: Purpose) -> String {
    let answer = match purpose {
        Purpose::Events => "",
        Purpose::Answers => " --answer",
        Purpose::Context => " --context",
        Purpose::StatusLine => " --statusline",
    };
    match place {
        Some(place) => typed(format!("undo: watchbill hooks uninstall{answer} {place}").trim_end()) + "\n",
        None => format!("undo: watchbill hooks uninstall{answer}, with the same options\n"),
    }
}

/// The result of uninstalling.
pub fn uninstalled(path: &Path, changed: bool, purpose: Purpose) -> String {
    let path = one_line(&path.display().to_string());
    match purpose {
        Purpose::StatusLine if changed => format!("Watchbill taken out of the status line in {path}\n"),
        Purpose::StatusLine => format!("no status line of ours in {path}\n"),
        _ if changed => format!("hooks taken out of {path}\n"),
        _ => format!("no hooks of ours in {path}\n"),
    }
}

/// The status of the hooks.
pub fn render(report: &Report, advice: Advice<'_>, paint: Paint) -> String {
    let mut out = match &report.client {
        Some(version) => format!("client {version}\n"),
        None => "no client found that reports its version\n".to_owned(),
    };
    for scope in &report.scopes {
        let advice = |scope, path: &Path| advice(report.agent, scope, path);
        out.push_str(&one_scope(scope.scope, &scope.status, &advice, report.agent, paint));
    }
    let health = &report.health;
    out.push_str(&format!(
        "\n{} receiving, {} waiting, {} of events kept\n",
        plural(health.receivers, "program"),
        plural(health.waiting, "event"),
        size(health.journal_bytes)
    ));
    let mut warn = |text: String| out.push_str(&(paint.tone(Tone::Error, &text) + "\n"));
    if health.waiting_elsewhere > 0 {
        warn(format!(
            "{} could not be written into the data folder",
            plural(health.waiting_elsewhere, "event")
        ));
    }
    if health.damaged > 0 {
        warn(format!("{} could not be read and were set aside in the spool", plural(health.damaged, "file")));
    }
    if health.overfull || health.dropped > 0 {
        warn(format!(
            "{} dropped{}, because no Watchbill has read the others; start it, or uninstall the hooks",
            plural(usize::try_from(health.dropped).unwrap_or(usize::MAX), "event"),
            last(health.dropped_at.as_deref())
        ));
    }
    out
}

/// When the last event was dropped, if known: the user wants to know whether it still happens.
pub fn last(dropped_at: Option<&str>) -> String {
    dropped_at.map_or_else(String::new, |at| format!(", the last one {}", local_date_time(at)))
}

fn one_scope(
    scope: Scope,
    status: &Status,
    advice: &dyn Fn(Scope, &Path) -> Option<String>,
    agent: Agent,
    paint: Paint,
) -> String {
    let name = match scope {
        Scope::User => "user",
        Scope::Project => "project",
        Scope::Local => "local",
        Scope::Managed => "managed",
    };
    let state = match status.state {
        State::Absent if !status.exists => paint.tone(Tone::Dim, "no file"),
        State::Absent if status.answers || status.context || status.status_line => {
            "no hooks for events".to_owned()
        }
        State::Absent => "not installed".to_owned(),
        State::Installed => {
            paint.tone(Tone::Work, &format!("installed, {}", plural(status.events.len(), "event")))
        }
        State::Outdated => {
            let what = match advice(scope, &status.path) {
                Some(command) => format!("run `{}`", typed(&command)),
                None => "their administrator has to change them".to_owned(),
            };
            paint.tone(Tone::Error, &format!("outdated; {what}"))
        }
        State::Unreadable => paint.tone(Tone::Error, "unreadable"),
    };
    let mut out = format!("\n{name:8} {state}\n         {}\n", one_line(&status.path.display().to_string()));
    let mut add = |text: String| out.push_str(&format!("         {text}\n"));
    if let Some(trust) = hook_traits(agent).trust.filter(|_| status.waits_for_trust) {
        add(paint.tone(Tone::Error, &format!("waits for trust: {}", trust.how)));
    }
    if status.answers {
        add("with the hook that waits for your answers".to_owned());
    }
    if status.context {
        add("with the hook that tells the agent what was learned".to_owned());
    }
    match &status.lost_status_line {
        Some(program) => {
            let program = one_line(&program.display().to_string());
            let what = "so your status line is not drawn; run `watchbill hooks install --statusline`";
            add(paint.tone(Tone::Error, &format!("{program} is not there, {what}")));
        }
        None if status.status_line => add("before your status line".to_owned()),
        None => (),
    }
    if !status.missing.is_empty() {
        add(format!("missing: {}", one_line(&status.missing.join(", "))));
    }
    if !status.unknown.is_empty() {
        let unknown = one_line(&status.unknown.join(", "));
        let why = "the client does not know these and skips the whole file:";
        add(paint.tone(Tone::Error, &format!("{why} {unknown}")));
    }
    for folder in &status.elsewhere {
        let folder = one_line(&folder.display().to_string());
        add(paint.tone(Tone::Error, &format!("events go to another data folder: {folder}")));
    }
    if status.irregular {
        let what = "some events arrive twice, or make the agent wait without need";
        add(paint.tone(Tone::Error, what));
    }
    for line in &status.outdated {
        add(format!("other command: {}", one_line(line)));
    }
    for program in &status.missing_programs {
        add(paint.tone(Tone::Error, &format!("not there: {}", one_line(&program.display().to_string()))));
    }
    if status.disabled {
        add(paint.tone(Tone::Error, "disableAllHooks is set: the agent runs no hooks"));
    }
    if status.managed_only {
        add(paint.tone(
            Tone::Error,
            "allowManagedHooksOnly is set: the agent runs only its administrator's hooks",
        ));
    }
    if let Some(problem) = &status.problem {
        add(one_line(problem));
    }
    out
}

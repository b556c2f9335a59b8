//! `hooks install`, `uninstall`, `status`: our handlers in the agent's settings.

use std::path::{Path, PathBuf};

use serde::Serialize;
use watchbill_engine::settings::Settings;
use watchbill_hooks::health::{Health, health};
use watchbill_hooks::install::file::SettingsFile;
use watchbill_hooks::install::status::{Status, status};
use watchbill_hooks::install::{
    Event, HookCommand, Scope, Version, change, client, events_of, install, quoted, uninstall,
};
use watchbill_hooks::places::{Places, default_data_dir};

use super::{emit, settings, to_json};
use crate::args::{Global, HooksCommand, SettingsPlace, SettingsScope};
use crate::paint::Paint;
use crate::render;

/// What is asked of the hooks.
///
/// # Errors
/// When a settings file cannot be understood or written; then it is as it was.
pub fn run(global: &Global, command: HooksCommand, paint: Paint) -> anyhow::Result<()> {
    let settings = settings(global)?;
    if let (Some(doubt), HooksCommand::Install { .. } | HooksCommand::Uninstall { .. }) =
        (&settings.doubt, &command)
    {
        // Whose settings would be written is among what is not known.
        anyhow::bail!("{doubt}");
    }
    match command {
        HooksCommand::Install { place, markers, client_version } => {
            add(global, &Setting::of(&settings, client_version, markers)?, &place, paint)
        }
        HooksCommand::Uninstall { place } => take_out(&settings, &place, paint),
        HooksCommand::Status { json } => {
            let report = report(&Setting::of(&settings, None, false)?)?;
            emit(&if json { to_json(&report)? } else { render::hooks::render(&report, paint) })
        }
    }
}

/// What the hooks are installed for.
struct Setting {
    claude_dir: PathBuf,
    data_dir: PathBuf,
    client: Option<Version>,
    command: HookCommand,
}

impl Setting {
    fn of(settings: &Settings, client: Option<Version>, markers: bool) -> anyhow::Result<Self> {
        let env = |name: &str| std::env::var_os(name);
        let claude_dir = claude_dir(settings)?;
        let data_dir = absolute(settings.data_dir.as_deref().ok_or_else(|| {
            anyhow::anyhow!("no folder for Watchbill's own files is known; name one with --data-dir")
        })?)?;
        // An agent has no variable of ours set, so only the platform's own folder goes without saying.
        let unsaid = default_data_dir(&|_| None);
        let program = client::own_program(&env)?;
        let named = (unsaid.as_ref() != Some(&data_dir)).then(|| data_dir.clone());
        let command = HookCommand { program, data_dir: named, markers };
        let client = client.or_else(|| client::client_version(&env, &claude_dir));
        Ok(Self { claude_dir, data_dir, client, command })
    }

    fn events(&self) -> Vec<&'static Event> {
        events_of(self.client).collect()
    }
}

fn claude_dir(settings: &Settings) -> anyhow::Result<PathBuf> {
    let first = settings.roots.first();
    absolute(
        first
            .ok_or_else(|| anyhow::anyhow!("no folder of the agent is known; name one with --claude-dir"))?,
    )
}

/// The agent runs hooks in a folder of its own choice.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    Ok(std::path::absolute(path)?)
}

fn file_of(place: &SettingsPlace, claude_dir: &Path) -> anyhow::Result<PathBuf> {
    if let Some(file) = &place.settings {
        return absolute(file);
    }
    let scope = match place.scope {
        SettingsScope::User => Scope::User,
        SettingsScope::Project => Scope::Project,
        SettingsScope::Local => Scope::Local,
    };
    Ok(scope.file(claude_dir, &std::env::current_dir()?))
}

/// The options that name this file once more, as a shell takes them, in whatever folder it is.
fn options_of(global: &Global, place: &SettingsPlace, file: &SettingsFile) -> anyhow::Result<String> {
    let user = place.settings.is_none() && matches!(place.scope, SettingsScope::User);
    let named = [
        // A scope of a project means the folder in which one is.
        ("--settings", (!user).then_some(&file.path)),
        ("--claude-dir", global.claude_dirs.first().filter(|_| user)),
        // Which may name the agent's folder.
        ("--config", global.config.as_ref().filter(|_| user)),
        ("--data-dir", global.data_dir.as_ref()),
    ];
    let mut options = Vec::new();
    for (option, path) in named {
        if let Some(path) = path {
            options.push(format!("{option} {}", quoted(&absolute(path)?.to_string_lossy())));
        }
    }
    Ok(options.join(" "))
}

fn add(global: &Global, setting: &Setting, place: &SettingsPlace, paint: Paint) -> anyhow::Result<()> {
    let file = SettingsFile::read(&file_of(place, &setting.claude_dir)?)?;
    let events = setting.events();
    let text =
        install(file.text.as_deref(), &setting.command, &events).map_err(|error| file.refused(error))?;
    if place.dry_run {
        return emit(&render::hooks::change(&file, Some(&text), paint));
    }
    let places = Places::new(&setting.data_dir);
    let changed = change::put_in(&file, &text, &places)?;
    let undo = options_of(global, place, &file)?;
    emit(&render::hooks::installed(&file.path, changed, &events, setting.client, &undo))
}

fn take_out(settings: &Settings, place: &SettingsPlace, paint: Paint) -> anyhow::Result<()> {
    let file = SettingsFile::read(&file_of(place, &claude_dir(settings)?)?)?;
    let left = match &file.text {
        Some(text) => uninstall(text).map_err(|error| file.refused(error))?,
        None => None,
    };
    if place.dry_run {
        return emit(&render::hooks::change(&file, left.as_deref(), paint));
    }
    let data_dir = settings.data_dir.as_deref().map(absolute).transpose()?;
    let changed = change::take_out(&file, left.as_deref(), data_dir.as_deref().map(Places::new).as_ref())?;
    emit(&render::hooks::uninstalled(&file.path, changed))
}

/// Everything about the hooks, as `hooks status --json` prints it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The client that would be started, where it says its version.
    pub client: Option<String>,
    /// Each settings file that the agent reads.
    pub scopes: Vec<ScopeReport>,
    /// Ears, spool and journal.
    pub health: Health,
}

/// One settings file.
#[derive(Debug, Serialize)]
pub struct ScopeReport {
    /// Whom it is for.
    pub scope: Scope,
    /// How it is.
    #[serde(flatten)]
    pub status: Status,
}

fn report(setting: &Setting) -> anyhow::Result<Report> {
    let project = std::env::current_dir()?;
    let events = setting.events();
    let scopes = Scope::OURS.into_iter().chain([Scope::Managed]).map(|scope| ScopeReport {
        scope,
        status: status(&scope.file(&setting.claude_dir, &project), &setting.command, &events),
    });
    Ok(Report {
        client: setting.client.map(|version| version.to_string()),
        scopes: scopes.collect(),
        health: health(&Places::new(&setting.data_dir)),
    })
}

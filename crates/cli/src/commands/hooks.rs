//! `hooks install`, `uninstall`, `status`: our handlers in the agent's settings.

use std::path::{Path, PathBuf};

use watchbill_hooks::health::health;
use watchbill_hooks::install::file::SettingsFile;
use watchbill_hooks::install::status::status;
use watchbill_hooks::install::{
    HookCommand, Scope, Version, change, client, events_for, install, quoted, uninstall,
};
use watchbill_hooks::places::{Places, platform_data_dir};
use watchbill_settings::Settings;

use super::{emit, settings, to_json};
use crate::args::{Global, HooksCommand, SettingsPlace, SettingsScope};
use crate::paint::Paint;
use crate::render;
use crate::render::hooks::{Report, ScopeReport};

/// What is asked of the hooks.
///
/// # Errors
/// When a settings file cannot be understood or written; then it is as it was, and the others are done.
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
            let all = Setting::all(&settings, client_version, markers)?;
            each(&place, &all, |setting, file| add(setting, file, place.dry_run, paint))?;
            if place.dry_run { Ok(()) } else { emit(&render::hooks::undo(&options_of(global, &place)?)) }
        }
        HooksCommand::Uninstall { place } => {
            let roots = settings.roots.iter().map(|root| absolute(root)).collect::<Result<Vec<_>, _>>()?;
            let data_dir = settings.data_dir.as_deref().map(absolute).transpose()?;
            each(&place, &roots, |_, file| take_out(file, data_dir.as_deref(), place.dry_run, paint))
        }
        HooksCommand::Status { json } => {
            let report = report(&Setting::all(&settings, None, false)?)?;
            let advice = |scope, path: &Path| advice(global, scope, path);
            emit(&if json { to_json(&report)? } else { render::hooks::render(&report, &advice, paint) })
        }
    }
}

/// What the hooks are installed for: one of the agent's folders.
struct Setting {
    claude_dir: PathBuf,
    data_dir: PathBuf,
    client: Option<Version>,
    command: HookCommand,
}

impl AsRef<Path> for Setting {
    fn as_ref(&self) -> &Path {
        &self.claude_dir
    }
}

impl Setting {
    /// One for each of the agent's folders.
    fn all(settings: &Settings, client: Option<Version>, markers: bool) -> anyhow::Result<Vec<Self>> {
        let env = |name: &str| std::env::var_os(name);
        let data_dir = absolute(settings.data_dir.as_deref().ok_or_else(|| {
            anyhow::anyhow!("no folder for Watchbill's own files is known; name one with --data-dir")
        })?)?;
        // An agent has no variable of ours set, so only the platform's own folder goes without saying.
        let named = Some(&*data_dir).filter(|named| platform_data_dir().as_deref() != Some(named));
        let command = HookCommand::new(&client::own_program(&env)?, named, markers)?;
        let of = |root: &PathBuf| {
            let claude_dir = absolute(root)?;
            let client = client.or_else(|| client::client_version(&env, &claude_dir));
            Ok(Self { claude_dir, data_dir: data_dir.clone(), client, command: command.clone() })
        };
        settings.roots.iter().map(of).collect()
    }
}

/// The agent runs hooks in a folder of its own choice.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    Ok(std::path::absolute(path)?)
}

/// Does something with each settings file that is meant: the person's own in every folder of the agent's, or one. What
/// fails for one keeps nothing from the others.
fn each<T: AsRef<Path>>(
    place: &SettingsPlace,
    roots: &[T],
    mut act: impl FnMut(&T, &Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let scope = match place.scope {
        SettingsScope::User => Scope::User,
        SettingsScope::Project => Scope::Project,
        SettingsScope::Local => Scope::Local,
    };
    let all = place.settings.is_none() && scope == Scope::User;
    let mut failed = Vec::new();
    for root in &roots[..if all { roots.len() } else { roots.len().min(1) }] {
        let file = match &place.settings {
            Some(file) => absolute(file)?,
            None => scope.file(root.as_ref(), &std::env::current_dir()?),
        };
        failed.extend(act(root, &file).err());
    }
    match failed.len() {
        0 => Ok(()),
        1 => Err(failed.remove(0)),
        _ => {
            let each: Vec<String> = failed.iter().map(|error| format!("{error:#}")).collect();
            anyhow::bail!("{}", each.join("; "))
        }
    }
}

/// The options of `hooks` that name these settings once more, as a shell takes them, in whatever folder it is; `None` where
/// a name is no text.
fn options_of(global: &Global, place: &SettingsPlace) -> anyhow::Result<Option<String>> {
    let file = match (&place.settings, place.scope) {
        (Some(file), _) => Some(file.clone()),
        (None, SettingsScope::User) => None,
        // A scope of a project means the folder in which one is.
        (None, SettingsScope::Project) => Some(Scope::Project.file(Path::new(""), &std::env::current_dir()?)),
        (None, SettingsScope::Local) => Some(Scope::Local.file(Path::new(""), &std::env::current_dir()?)),
    };
    options(global, file.as_deref())
}

/// A word of a line to be typed.
fn word(text: &str) -> String {
    if cfg!(windows) { quoted(text) } else { watchbill_engine::focus::quoted(text) }
}

/// The same for the person's own settings, or for the file that is named.
fn options(global: &Global, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let user = file.is_none();
    let roots = global.claude_dirs.iter().filter(|_| user).map(|root| ("--claude-dir", root.as_path()));
    let named = file.map(|file| ("--settings", file)).into_iter().chain(roots).chain(
        // The configuration may name the agent's folders.
        [
            global.config.as_deref().filter(|_| user).map(|path| ("--config", path)),
            global.data_dir.as_deref().map(|path| ("--data-dir", path)),
        ]
        .into_iter()
        .flatten(),
    );
    let mut options = Vec::new();
    for (option, path) in named {
        let path = absolute(path)?;
        let Some(text) = path.to_str() else { return Ok(None) };
        options.push(format!("{option} {}", word(text)));
    }
    Ok(Some(options.join(" ")))
}

/// The command that puts a settings file right, as a shell takes it; `None` for those that only an administrator writes.
pub fn advice(global: &Global, scope: Scope, path: &Path) -> Option<String> {
    let file = match scope {
        Scope::User => None,
        Scope::Project | Scope::Local => Some(path),
        Scope::Managed => return None,
    };
    let options = options(global, file).ok().flatten()?;
    Some(format!("watchbill hooks install {options}").trim_end().to_owned())
}

fn add(setting: &Setting, path: &Path, dry_run: bool, paint: Paint) -> anyhow::Result<()> {
    let file = SettingsFile::read(path)?;
    let before = file.text.as_deref();
    let events = events_for(setting.client, before);
    let text = install(before, &setting.command, &events).map_err(|error| file.refused(error))?;
    if dry_run {
        return emit(&render::hooks::change(&file, Some(&text), paint));
    }
    let changed = change::put_in(&file, &text, &Places::new(&setting.data_dir))?;
    emit(&render::hooks::installed(&file.path, changed, &events, setting.client))
}

fn take_out(path: &Path, data_dir: Option<&Path>, dry_run: bool, paint: Paint) -> anyhow::Result<()> {
    let file = SettingsFile::read(path)?;
    let left = match &file.text {
        Some(text) => uninstall(text).map_err(|error| file.refused(error))?,
        None => None,
    };
    if dry_run {
        return emit(&render::hooks::change(&file, left.as_deref(), paint));
    }
    let changed = change::take_out(&file, left.as_deref(), data_dir.map(Places::new).as_ref())?;
    emit(&render::hooks::uninstalled(&file.path, changed))
}

fn report(all: &[Setting]) -> anyhow::Result<Report> {
    let project = std::env::current_dir()?;
    // Every list of roots has one.
    let first = all.first().ok_or_else(|| anyhow::anyhow!("no folder of the agent is known"))?;
    let users = all.iter().map(|setting| (Scope::User, setting));
    let others = [Scope::Project, Scope::Local, Scope::Managed].map(|scope| (scope, first));
    let scopes = users.chain(others).map(|(scope, setting)| ScopeReport {
        scope,
        status: status(&scope.file(&setting.claude_dir, &project), &setting.command, setting.client),
    });
    Ok(Report {
        client: first.client.map(|version| version.to_string()),
        scopes: scopes.collect(),
        health: health(&Places::new(&first.data_dir)),
    })
}

//! `hooks install`, `uninstall`, `status`: our handlers in the agent's settings.

use std::path::{Path, PathBuf};

use watchbill_agents::layout::ROOT_OPTION;
use watchbill_agents::{Agent, Root, hook_traits, traits};
use watchbill_hooks::health::health;
use watchbill_hooks::install::file::SettingsFile;
use watchbill_hooks::install::status::status;
use watchbill_hooks::install::{
    HookCommand, Purpose, Scope, Version, change, client, install, quoted, takes_status_line, uninstall,
    wanted_events,
};
use watchbill_hooks::places::{HookPaths, platform_data_dir};
use watchbill_settings::Settings;

use super::{emit, settings, to_json};
use crate::args::{Global, HooksCommand, SettingsPlace, SettingsScope};
use crate::render;
use crate::render::hooks::{Report, ScopeReport};
use crate::terminal_text::Paint;

/// Runs one of the `hooks` commands.
///
/// # Errors
/// When a settings file cannot be parsed or written. That file stays as it was, and the others are changed.
pub fn run(global: &Global, command: HooksCommand, paint: Paint) -> anyhow::Result<()> {
    let settings = settings(global)?;
    if let (Some(doubt), HooksCommand::Install { .. } | HooksCommand::Uninstall { .. }) =
        (&settings.doubt, &command)
    {
        // The doubt is also about which settings to write.
        anyhow::bail!("{doubt}");
    }
    match command {
        HooksCommand::Install { place, markers, answer, context, statusline, client_version } => {
            let title = traits(place.agent).title;
            if context && hook_traits(place.agent).context_events.is_empty() {
                anyhow::bail!("{title} cannot be told what was learned yet");
            }
            if answer && hook_traits(place.agent).answer_event.is_none() {
                anyhow::bail!("{title} takes answers in its terminal alone");
            }
            if markers && place.agent != Agent::default() {
                anyhow::bail!("{title} leaves no markers");
            }
            if statusline && !takes_status_line(place.agent) {
                anyhow::bail!("{title} has no status line that Watchbill can draw here");
            }
            if statusline && place.scope != SettingsScope::User {
                anyhow::bail!("a status line of a project would hide yours there; install it for the user");
            }
            let mut all = Setting::all(&settings, place.agent, client_version, markers)?;
            let purpose = purpose(answer, context, statusline);
            all.iter_mut().for_each(|setting| setting.command = setting.command.for_purpose(purpose));
            each(&place, &all, |setting, file| add(setting, file, place.dry_run, paint))?;
            if place.dry_run {
                Ok(())
            } else {
                emit(&render::hooks::after_install(&options_of(global, &place)?, purpose, place.agent))
            }
        }
        HooksCommand::Uninstall { place, answer, context, statusline } => {
            let purpose = purpose(answer, context, statusline);
            let roots = settings
                .roots_of(place.agent)
                .iter()
                .map(|root| absolute(root))
                .collect::<Result<Vec<_>, _>>()?;
            let data_dir = settings.data_dir.as_deref().map(absolute).transpose()?;
            each(&place, &roots, |_, file| take_out(file, purpose, data_dir.as_deref(), place.dry_run, paint))
        }
        HooksCommand::Status { agent, json } => {
            let report = report(&Setting::all(&settings, agent, None, false)?)?;
            let advice = |agent, scope, path: &Path| advice(global, agent, scope, path);
            emit(&if json { to_json(&report)? } else { render::hooks::render(&report, &advice, paint) })
        }
    }
}

fn purpose(answer: bool, context: bool, statusline: bool) -> Purpose {
    match (answer, context, statusline) {
        (true, ..) => Purpose::Answers,
        (_, true, _) => Purpose::Context,
        (.., true) => Purpose::StatusLine,
        _ => Purpose::Events,
    }
}

/// The data for installing into one of the agent's folders.
struct Setting {
    root: PathBuf,
    data_dir: PathBuf,
    client: Option<Version>,
    command: HookCommand,
}

impl AsRef<Path> for Setting {
    fn as_ref(&self) -> &Path {
        &self.root
    }
}

impl Setting {
    /// One for each of the agent's folders.
    fn all(
        settings: &Settings,
        agent: Agent,
        client: Option<Version>,
        markers: bool,
    ) -> anyhow::Result<Vec<Self>> {
        let env = |name: &str| std::env::var_os(name);
        let data_dir = absolute(settings.data_dir.as_deref().ok_or_else(|| {
            anyhow::anyhow!("no folder for Watchbill's own files is known; name one with --data-dir")
        })?)?;
        // The agent runs hooks without our variables, so a hook finds only the platform's own folder by itself.
        let named = Some(&*data_dir).filter(|named| platform_data_dir().as_deref() != Some(named));
        let command = HookCommand::new(agent, &client::own_program(&env)?, named, markers)?;
        let of = |root: &PathBuf| -> anyhow::Result<Self> {
            let root = absolute(root)?;
            let client = client.or_else(|| client::client_version(agent, &env, &root));
            Ok(Self { root, data_dir: data_dir.clone(), client, command: command.clone() })
        };
        let all: Vec<Self> = settings.roots_of(agent).iter().map(of).collect::<Result<_, _>>()?;
        anyhow::ensure!(!all.is_empty(), "no folder of {} is watched", traits(agent).title);
        Ok(all)
    }
}

/// Hooks run in a working folder that the agent chooses, so paths must be absolute.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    Ok(std::path::absolute(path)?)
}

/// Runs `act` for each settings file: the user's file in each of the agent's folders, or a single file. An error of
/// one file does not stop the others.
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
    anyhow::ensure!(!roots.is_empty(), "no folder of {} is watched", traits(place.agent).title);
    let mut failed = Vec::new();
    for root in &roots[..if all { roots.len() } else { roots.len().min(1) }] {
        let file = match &place.settings {
            Some(file) => absolute(file)?,
            None => {
                let file = scope.file(place.agent, root.as_ref(), &std::env::current_dir()?);
                let missing = || anyhow::anyhow!("{} has no such settings", traits(place.agent).title);
                file.ok_or_else(missing)?
            }
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

/// The options of `hooks` that name the same settings from any working folder, quoted for a shell; `None` if a path
/// is not valid UTF-8.
fn options_of(global: &Global, place: &SettingsPlace) -> anyhow::Result<Option<String>> {
    let of_project = |scope: Scope| -> anyhow::Result<_> {
        Ok(scope.file(place.agent, Path::new(""), &std::env::current_dir()?))
    };
    let file = match (&place.settings, place.scope) {
        (Some(file), _) => Some(file.clone()),
        (None, SettingsScope::User) => None,
        // The scope of a project means the current folder.
        (None, SettingsScope::Project) => of_project(Scope::Project)?,
        (None, SettingsScope::Local) => of_project(Scope::Local)?,
    };
    options(global, place.agent, file.as_deref())
}

/// One word of a command line, quoted for the user's shell.
fn word(text: &str) -> String {
    if cfg!(windows) { quoted(text) } else { watchbill_engine::handle::focus::quoted(text) }
}

/// The same for the user's settings, or for a named file.
fn options(global: &Global, agent: Agent, file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let user = file.is_none();
    let roots =
        global.roots.iter().filter(|root| user && root.agent == agent).map(|root| (ROOT_OPTION, &**root));
    let named = file.map(|file| ("--settings", file)).into_iter().chain(roots).chain(
        // The configuration file may name the agent's folders.
        [
            global.config.as_deref().filter(|_| user).map(|path| ("--config", path)),
            global.data_dir.as_deref().map(|path| ("--data-dir", path)),
        ]
        .into_iter()
        .flatten(),
    );
    let mut options = Vec::new();
    if agent != Agent::default() {
        options.push(format!("--agent {}", agent.as_str()));
    }
    for (option, path) in named {
        let path = absolute(path)?;
        let text = if option == ROOT_OPTION { Root::new(agent, path).named() } else { path.into() };
        let Some(text) = text.to_str() else { return Ok(None) };
        options.push(format!("{option} {}", word(text)));
    }
    Ok(Some(options.join(" ")))
}

/// The command that repairs a settings file, quoted for a shell; `None` for files that only an administrator writes.
pub fn advice(global: &Global, agent: Agent, scope: Scope, path: &Path) -> Option<String> {
    let file = match scope {
        Scope::User => None,
        Scope::Project | Scope::Local => Some(path),
        Scope::Managed => return None,
    };
    let options = options(global, agent, file).ok().flatten()?;
    Some(format!("watchbill hooks install {options}").trim_end().to_owned())
}

fn add(setting: &Setting, path: &Path, dry_run: bool, paint: Paint) -> anyhow::Result<()> {
    let file = SettingsFile::read(path)?;
    let before = file.text.as_deref();
    let events = wanted_events(&setting.command, setting.client, before);
    let text = install(before, &setting.command, &events).map_err(|error| file.refused(error))?;
    if dry_run {
        return emit(&render::hooks::change(&file, Some(&text), paint));
    }
    let changed = change::apply_install(&file, &text, &HookPaths::new(&setting.data_dir))?;
    emit(&render::hooks::installed(&file.path, changed, &setting.command, &events, setting.client))
}

fn take_out(
    path: &Path,
    purpose: Purpose,
    data_dir: Option<&Path>,
    dry_run: bool,
    paint: Paint,
) -> anyhow::Result<()> {
    let file = SettingsFile::read(path)?;
    let left = match &file.text {
        Some(text) => uninstall(text, purpose).map_err(|error| file.refused(error))?,
        None => None,
    };
    if dry_run {
        return emit(&render::hooks::change(&file, left.as_deref(), paint));
    }
    let changed = change::take_out(&file, left.as_deref(), data_dir.map(HookPaths::new).as_ref())?;
    emit(&render::hooks::uninstalled(&file.path, changed, purpose))
}

fn report(all: &[Setting]) -> anyhow::Result<Report> {
    let project = std::env::current_dir()?;
    // A list of roots is never empty.
    let first = all.first().ok_or_else(|| anyhow::anyhow!("no folder of the agent is known"))?;
    let users = all.iter().map(|setting| (Scope::User, setting));
    let others = [Scope::Project, Scope::Local, Scope::Managed].map(|scope| (scope, first));
    let scopes = users.chain(others).filter_map(|(scope, setting)| {
        let path = scope.file(setting.command.agent, &setting.root, &project)?;
        let status = status(&path, &setting.root, &setting.command, setting.client);
        Some(ScopeReport { scope, status })
    });
    Ok(Report {
        agent: first.command.agent,
        client: first.client.map(|version| version.to_string()),
        scopes: scopes.collect(),
        health: health(&HookPaths::new(&first.data_dir)),
    })
}

//! Installs and removes hooks. It first shows the exact change. It also reports the hooks in each scope.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use watchbill_agents::{Agent, Root, hook_traits, traits};
use watchbill_hooks::install::change::{self, InstallError};
use watchbill_hooks::install::file::SettingsFile;
use watchbill_hooks::install::status::{State, Status, status};
use watchbill_hooks::install::{
    HookCommand, Purpose, Scope, Version, client, install, takes_status_line, uninstall, wanted_events,
};
use watchbill_hooks::places::{HookPaths, default_data_dir};
use watchbill_protocol::doctor::HookSettings;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::hooks::{DiffKind, DiffLine, HooksPreview, HooksStep};
use watchbill_watch::fs::StdFs;

use watchbill_history::query::diff::hunks;
use watchbill_settings::configuration::refusal;
use watchbill_settings::{Environment, Settings};

/// The target of an installation: one of the agent's folders, and the program that its hooks start.
pub struct HookSetup {
    agent: Agent,
    root: PathBuf,
    data_dir: PathBuf,
    client: Option<Version>,
    /// The command for the hooks. Removing hooks does not need it.
    command: Result<HookCommand, ApiError>,
}

/// A change that is computed, but not made yet.
struct PlannedChange {
    file: SettingsFile,
    after: Option<String>,
    preview: HooksPreview,
}

impl HookSetup {
    /// Prepares changes for a watched root. Asks the agent for its version, which may take a moment.
    ///
    /// # Errors
    /// When the root is not watched.
    pub fn of(settings: &Settings, root: &str, env: Environment<'_>) -> Result<Self, ApiError> {
        if let Some(doubt) = &settings.doubt {
            return Err(ApiError::new(ErrorCode::Invalid, &**doubt));
        }
        let roots = settings.roots_now(&StdFs);
        let known = roots
            .iter()
            .find(|known| known.as_os_str() == root && traits(known.agent).hooks.is_some())
            .ok_or_else(|| ApiError::new(ErrorCode::NotFound, format!("the folder {root} is not watched")))?;
        let data_dir = settings.data_dir.clone().ok_or_else(|| {
            ApiError::new(
                ErrorCode::Unsupported,
                "no folder for Watchbill's own files is known; name one with --data-dir",
            )
        })?;
        let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let (agent, root, data_dir) = (known.agent, absolute(known), absolute(&data_dir));
        let program = client::sender_program(env).map_err(|error| {
            ApiError::new(
                ErrorCode::NotFound,
                format!("{error}; install the command line program, or put it on the PATH"),
            )
        });
        // The agent does not set our environment variables. So each hook needs `--data-dir`, unless the data folder is
        // the default of the platform.
        let unsaid = default_data_dir(&|_| None);
        let named = (unsaid.as_ref() != Some(&data_dir)).then(|| data_dir.clone());
        let command = program.and_then(|program| {
            HookCommand::new(agent, &program, named.as_deref(), false)
                .map_err(|error| ApiError::new(ErrorCode::Unsupported, error.to_string()))
        });
        let client = client::client_version(agent, env, &root);
        Ok(Self { agent, root, data_dir, client, command })
    }

    /// The change that a step would make in the user's settings of the agent.
    ///
    /// # Errors
    /// When the settings cannot be read or parsed, or when an installation does not find our command line program.
    pub fn preview(&self, step: HooksStep) -> Result<HooksPreview, ApiError> {
        Ok(self.plan(step)?.preview)
    }

    /// Makes the previewed change.
    ///
    /// # Errors
    /// When the settings or the resulting change differ from the preview, or when the settings cannot be written. In
    /// these cases, the settings stay unchanged.
    pub fn make(&self, step: HooksStep, token: &str) -> Result<(), ApiError> {
        let plan = self.plan(step)?;
        if plan.preview.token != token {
            let message = format!("{} has changed since this was shown; look at it again", plan.preview.path);
            return Err(ApiError::new(ErrorCode::Conflict, message));
        }
        let places = HookPaths::new(&self.data_dir);
        match (meaning(step), &plan.after) {
            ((_, true), Some(text)) => {
                change::apply_install(&plan.file, text, &places).map_err(|error| match &error {
                    InstallError::File(error) => refusal(error),
                    InstallError::Places { .. } | InstallError::OthersFolder { .. } => {
                        ApiError::new(ErrorCode::Unreadable, error.to_string())
                    }
                })
            }
            (_, left) => {
                change::take_out(&plan.file, left.as_deref(), Some(&places)).map_err(|error| refusal(&error))
            }
        }
        .map(drop)
    }

    fn plan(&self, step: HooksStep) -> Result<PlannedChange, ApiError> {
        let unsupported = |what: &str| ApiError::new(ErrorCode::Unsupported, what);
        let path = Scope::User.file(self.agent, &self.root, Path::new(""));
        let path = path.ok_or_else(|| unsupported("the agent has no settings for hooks"))?;
        let file = SettingsFile::read(&path).map_err(|error| refusal(&error))?;
        let before = file.text.as_deref();
        let (purpose, installs) = meaning(step);
        let after = if installs {
            let command = self.command.as_ref().map_err(Clone::clone)?.for_purpose(purpose);
            let events = wanted_events(&command, self.client, before);
            let takes = match purpose {
                Purpose::StatusLine => takes_status_line(self.agent),
                _ => !events.is_empty(),
            };
            if !takes {
                return Err(unsupported("this agent has no hook for that"));
            }
            install(before, &command, &events).map(Some)
        } else {
            before.map_or(Ok(None), |text| uninstall(text, purpose))
        };
        let after = after.map_err(|error| refusal(&file.refused(error)))?;
        let mut hasher = DefaultHasher::new();
        (&path, &file.text, &after).hash(&mut hasher);
        let preview = HooksPreview {
            path: path.to_string_lossy().into_owned(),
            root: self.root.to_string_lossy().into_owned(),
            step,
            lines: difference(file.text.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default()),
            program: match &self.command {
                Ok(command) => command.program.clone(),
                Err(_) => String::new(),
            },
            client: self.client.map(|version| version.to_string()),
            token: format!("{:016x}", hasher.finish()),
        };
        Ok(PlannedChange { file, after, preview })
    }
}

/// What a step is about, and whether it installs that.
fn meaning(step: HooksStep) -> (Purpose, bool) {
    match step {
        HooksStep::Install => (Purpose::Events, true),
        HooksStep::Uninstall => (Purpose::Events, false),
        HooksStep::InstallAnswers => (Purpose::Answers, true),
        HooksStep::UninstallAnswers => (Purpose::Answers, false),
        HooksStep::InstallContext => (Purpose::Context, true),
        HooksStep::UninstallContext => (Purpose::Context, false),
        HooksStep::InstallStatusLine => (Purpose::StatusLine, true),
        HooksStep::UninstallStatusLine => (Purpose::StatusLine, false),
    }
}

fn difference(before: &str, after: &str) -> Vec<DiffLine> {
    let gap = || DiffLine { kind: DiffKind::Gap, text: String::new() };
    let parts = hunks(before, after).into_iter().enumerate();
    parts.flat_map(|(number, hunk)| (number > 0).then(gap).into_iter().chain(hunk.lines)).collect()
}

/// The hooks that we expect: their data folder, and the events that each client has.
#[derive(Debug, Clone)]
pub struct ExpectedHooks {
    /// The agent's folders, each with the agent's version if known.
    roots: Vec<(Root, Option<Version>)>,
    wanted: HookCommand,
}

impl ExpectedHooks {
    /// Asks the agent of each folder for its version.
    pub fn asking_clients(settings: &Settings, client_of: &dyn Fn(&Root) -> Option<Version>) -> Self {
        let heard = settings.roots_now(&StdFs).into_iter().filter(|root| traits(root.agent).hooks.is_some());
        let roots = heard.map(|root| (root.clone(), client_of(&root))).collect();
        let data_dir =
            settings.data_dir.as_deref().map(|path| std::path::absolute(path).unwrap_or(path.into()));
        // A hook may start any of our programs. A hook command is UTF-8, so a data folder that is not UTF-8 cannot be in one.
        let data_dir = data_dir.and_then(|path| path.to_str().map(str::to_owned));
        Self {
            roots,
            wanted: HookCommand {
                agent: Agent::default(),
                program: "watchbill".to_owned(),
                data_dir,
                markers: false,
                purpose: Purpose::Events,
            },
        }
    }

    /// Asks no client. Assumes that each version of the agent has exactly the installed events.
    pub fn without_client_versions(settings: &Settings) -> Self {
        Self::asking_clients(settings, &|_| None)
    }
}

/// The hooks in the user's settings of every root, in the settings of these projects, and in the administrator's
/// settings. Leaves out the settings of projects and of the administrator if they have no hooks.
pub fn every_scope(judge: &ExpectedHooks, projects: &BTreeSet<PathBuf>) -> Vec<HookSettings> {
    let one = |scope: Scope, (root, client): &(Root, Option<Version>), project: &Path| {
        let path = scope.file(root.agent, root, project)?;
        let path = std::path::absolute(&path).unwrap_or(path);
        let wanted = HookCommand { agent: root.agent, ..judge.wanted.clone() };
        Some(hook_settings_of(scope, root, status(&path, root, &wanted, *client)))
    };
    let of_users = judge.roots.iter().filter_map(|root| one(Scope::User, root, Path::new("")));
    let mut all: Vec<HookSettings> = of_users.collect();
    // The first folder of each agent stands for it.
    let mut firsts: Vec<&(Root, Option<Version>)> = judge.roots.iter().collect();
    firsts.dedup_by_key(|(root, _)| root.agent);
    for first in firsts {
        let of_projects = projects.iter().flat_map(|project| {
            [Scope::Project, Scope::Local].into_iter().filter_map(|scope| one(scope, first, project))
        });
        let managed = one(Scope::Managed, first, Path::new(""));
        all.extend(of_projects.chain(managed).filter(|settings| settings.state != "absent"));
    }
    all
}

fn hook_settings_of(scope: Scope, root: &Root, found: Status) -> HookSettings {
    let status_line = match &found {
        Status { lost_status_line: Some(_), .. } => "program_missing",
        Status { status_line: true, .. } => "installed",
        _ => "absent",
    };
    let only_missing = found.unknown.is_empty() && found.elsewhere.is_empty() && !found.irregular;
    let state = match found.state {
        State::Unreadable => "unreadable",
        _ if found.disabled || found.managed_only => "disabled",
        State::Absent => "absent",
        _ if !found.missing_programs.is_empty() => "program_missing",
        State::Outdated if !only_missing => "outdated",
        State::Outdated | State::Installed if found.waits_for_trust => "waits_for_trust",
        State::Outdated | State::Installed => "installed",
    };
    HookSettings {
        path: found.path.to_string_lossy().into_owned(),
        state: state.to_owned(),
        agent: Some(root.agent)
            .filter(|agent| *agent != Agent::default())
            .map_or("", |agent| agent.as_str())
            .to_owned(),
        missing: found.missing,
        scope: match scope {
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
            Scope::Managed => "managed",
        }
        .to_owned(),
        root: root.to_string_lossy().into_owned(),
        context: found.context,
        problem: found.problem,
        answers: found.answers,
        takes_answers: hook_traits(root.agent).answer_event.is_some(),
        status_line: takes_status_line(root.agent).then(|| status_line.to_owned()),
        rivals: found.rivals,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a broken expectation should fail loudly")]
mod tests {
    use super::*;

    /// Makes a step with a `PATH` of this folder alone.
    fn make(settings: &Settings, path: &Path, step: HooksStep) -> Result<(), ApiError> {
        let env = |name: &str| (name == "PATH").then(|| path.as_os_str().to_owned());
        let setup = HookSetup::of(settings, settings.roots[0].to_str().unwrap(), &env)?;
        setup.make(step, &setup.preview(step)?.token)
    }

    #[test]
    fn uninstalling_removes_the_folder_made_for_hooks_and_needs_no_program() {
        for (before, stays) in [(false, false), (true, true)] {
            let home = tempfile::tempdir().unwrap();
            let (root, bin) = (home.path().join("deep/claude"), home.path().join("bin"));
            let mut settings = Settings::for_roots(vec![root.clone()]);
            settings.data_dir = Some(home.path().join("data"));
            if before {
                std::fs::create_dir_all(&root).unwrap();
            }
            let refused = make(&settings, &bin, HooksStep::Install).unwrap_err();
            assert!(refused.message.contains("put it on the PATH"), "{refused}");
            std::fs::create_dir(&bin).unwrap();
            std::fs::write(bin.join(format!("watchbill{}", std::env::consts::EXE_SUFFIX)), "").unwrap();
            make(&settings, &bin, HooksStep::Install).unwrap();
            assert!(root.join("settings.json").is_file());

            std::fs::remove_dir_all(&bin).unwrap();
            make(&settings, &bin, HooksStep::Uninstall).unwrap();
            assert!(!root.join("settings.json").exists());
            assert_eq!(home.path().join("deep").exists(), stays);
            let places = HookPaths::new(&home.path().join("data"));
            assert!(places.root().is_dir() && !places.made_folders().exists(), "nothing is noted any more");
        }
    }

    #[test]
    fn the_hook_that_tells_what_was_learned_comes_and_goes_apart() {
        let home = tempfile::tempdir().unwrap();
        let (root, bin) = (home.path().join("claude"), home.path().join("bin"));
        let mut settings = Settings::for_roots(vec![root.clone()]);
        settings.data_dir = Some(home.path().join("data"));
        std::fs::create_dir(&bin).unwrap();
        std::fs::write(bin.join(format!("watchbill{}", std::env::consts::EXE_SUFFIX)), "").unwrap();
        let read = || std::fs::read_to_string(root.join("settings.json")).unwrap();
        make(&settings, &bin, HooksStep::Install).unwrap();
        let observed = read();
        make(&settings, &bin, HooksStep::InstallContext).unwrap();
        assert!(read().contains("--context") && !observed.contains("--context"));
        let found = every_scope(&ExpectedHooks::without_client_versions(&settings), &BTreeSet::new());
        assert!(found[0].context && found[0].state == "installed", "{found:?}");
        make(&settings, &bin, HooksStep::UninstallContext).unwrap();
        assert_eq!(read(), observed);

        // The folder was missing at the start.
        settings.awaited = std::mem::replace(&mut settings.roots, vec![home.path().join("other").into()]);
        let setup = HookSetup::of(&settings, root.to_str().unwrap(), &|_| None).unwrap();
        assert_eq!(setup.root, root);
        let found = every_scope(&ExpectedHooks::without_client_versions(&settings), &BTreeSet::new());
        assert!(found.iter().any(|found| found.state == "installed"), "{found:?}");
    }

    #[cfg(unix)]
    #[test]
    fn the_status_line_goes_before_the_users_own_and_a_lost_program_is_told() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("claude");
        let mut settings = Settings::for_roots(vec![root.clone()]);
        settings.data_dir = Some(home.path().join("data"));
        std::fs::create_dir(&root).unwrap();
        let before = r#"{"statusLine": {"type": "command", "command": "mine"}}"#;
        std::fs::write(root.join("settings.json"), before).unwrap();
        std::fs::write(home.path().join("watchbill"), "").unwrap();
        let read = || std::fs::read_to_string(root.join("settings.json")).unwrap();
        let expected = ExpectedHooks::without_client_versions(&settings);
        let shown = || every_scope(&expected, &BTreeSet::new())[0].status_line.clone().unwrap();
        assert_eq!(shown(), "absent");
        make(&settings, home.path(), HooksStep::InstallStatusLine).unwrap();
        assert!(shown() == "installed" && read().contains("mine"), "{}", read());
        std::fs::remove_file(home.path().join("watchbill")).unwrap();
        assert_eq!(shown(), "program_missing");
        make(&settings, home.path(), HooksStep::UninstallStatusLine).unwrap();
        assert_eq!(read(), before);
    }

    #[test]
    fn the_hook_that_waits_for_answers_goes_in_and_out_apart_from_the_others() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join("claude");
        let mut settings = Settings::for_roots(vec![root.clone()]);
        settings.data_dir = Some(home.path().join("data"));
        std::fs::create_dir(&root).unwrap();
        let before = "{\n  \"model\": \"opus\"\n}\n";
        std::fs::write(root.join("settings.json"), before).unwrap();
        std::fs::write(home.path().join(format!("watchbill{}", std::env::consts::EXE_SUFFIX)), "").unwrap();
        let read = || std::fs::read_to_string(root.join("settings.json")).unwrap();
        let shown = || every_scope(&ExpectedHooks::without_client_versions(&settings), &BTreeSet::new());

        make(&settings, home.path(), HooksStep::InstallAnswers).unwrap();
        let answers_alone = read();
        assert_eq!(answers_alone.matches(" hook ").count(), 1, "{answers_alone}");
        assert_eq!((shown()[0].answers, &*shown()[0].state), (true, "absent"));
        make(&settings, home.path(), HooksStep::Install).unwrap();
        assert_eq!((shown()[0].answers, &*shown()[0].state), (true, "installed"));
        make(&settings, home.path(), HooksStep::Uninstall).unwrap();
        assert_eq!(read(), answers_alone);
        make(&settings, home.path(), HooksStep::UninstallAnswers).unwrap();
        assert_eq!((read().as_str(), shown()[0].answers), (before, false));
    }

    #[test]
    fn an_install_is_refused_without_a_folder_for_events() {
        let home = tempfile::tempdir().unwrap();
        let mut settings = Settings::for_roots(vec![home.path().join("claude")]);
        settings.data_dir = Some(home.path().join("data"));
        std::fs::write(home.path().join("data"), "a file").unwrap();
        std::fs::write(home.path().join(format!("watchbill{}", std::env::consts::EXE_SUFFIX)), "").unwrap();
        let refused = make(&settings, home.path(), HooksStep::Install).unwrap_err();
        assert!(refused.message.starts_with("nothing was installed: the folder for events, "), "{refused}");
        assert!(!home.path().join("claude").exists());
    }
}

//! Configuration and engine follow the configuration file after every kind of edit.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use watchbill_core::time::Millis;
use watchbill_engine::handle::start;
use watchbill_protocol::error::ErrorCode;
use watchbill_protocol::settings::{SettingChange, SettingKey, SettingSource, SettingValue, SettingsView};
use watchbill_settings::configuration::SettingsChange;
use watchbill_settings::follow::{FileFollower, follow};
use watchbill_settings::{CommandLineOptions, Configuration, Settings};

use crate::subscriber::{Folder, Subscriber, TIMEOUT, now, row};

/// A followed configuration in a home of its own.
struct FollowedConfiguration {
    home: tempfile::TempDir,
    configuration: Arc<Configuration>,
    changes: Receiver<SettingsChange>,
    _following: FileFollower,
}

impl FollowedConfiguration {
    /// `prepare` may write into the file's folder before it is read.
    fn new(prepare: impl FnOnce(&Path)) -> Self {
        Self::with(prepare, |_| Vec::new())
    }

    fn with(prepare: impl FnOnce(&Path), vars: impl FnOnce(&Path) -> Vec<(&'static str, String)>) -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config/config.toml");
        prepare(&path);
        let vars = vars(home.path());
        let folder = home.path().to_path_buf();
        let env = move |name: &str| match name {
            "HOME" => Some(folder.clone().into_os_string()),
            _ => vars.iter().find(|(var, _)| *var == name).map(|(_, value)| value.into()),
        };
        let named = path.exists().then(|| path.clone());
        let configuration =
            Configuration::open(&CommandLineOptions { config: named, ..CommandLineOptions::default() }, &env)
                .unwrap();
        let configuration = Arc::new(configuration);
        let (told, changes) = channel();
        configuration.subscribe(Box::new(move |changed| told.send(changed.clone()).is_ok()));
        let following = follow(&configuration);
        Self { home, configuration, changes, _following: following }
    }

    fn path(&self) -> PathBuf {
        self.configuration.path().unwrap().to_path_buf()
    }

    /// Waits until the settings are as wanted.
    fn until(&self, what: &str, wanted: impl Fn(&Settings, &SettingsView) -> bool) {
        let so = |settings: &Settings, view: &SettingsView| wanted(settings, view);
        if so(&self.configuration.settings(), &self.configuration.view()) {
            return;
        }
        loop {
            let changed = self.changes.recv_timeout(TIMEOUT).unwrap_or_else(|_| panic!("waited for {what}"));
            if so(&changed.settings, &changed.view) {
                return;
            }
        }
    }

    fn until_idle(&self, secs: i64) {
        self.until(&format!("idle = {secs}"), |settings, _| {
            settings.timeouts.idle == Millis::from_secs(secs)
        });
    }

    fn change(
        &self,
        key: SettingKey,
        value: SettingValue,
    ) -> Result<SettingsView, watchbill_protocol::error::ApiError> {
        self.configuration.change(&[SettingChange { key, value: Some(value) }])
    }
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn idle(secs: u32) -> String {
    format!("[timeouts]\nidle = {secs}\n")
}

#[test]
fn every_way_to_save_a_file_is_noticed() {
    let followed = FollowedConfiguration::new(|path| write(path, &idle(1)));
    followed.until_idle(1);
    let path = followed.path();
    std::fs::write(&path, idle(2)).unwrap();
    followed.until_idle(2);
    // Most editors save so: another file replaces the old one.
    let beside = path.with_extension("swp");
    std::fs::write(&beside, idle(3)).unwrap();
    std::fs::rename(&beside, &path).unwrap();
    followed.until_idle(3);
    // Other editors rename the old file and write a new one.
    std::fs::rename(&path, path.with_extension("bak")).unwrap();
    std::fs::write(&path, idle(4)).unwrap();
    followed.until_idle(4);
    std::fs::remove_file(&path).unwrap();
    followed.until("the defaults", |settings, view| {
        settings.timeouts.idle == Millis::from_secs(600) && !view.exists
    });
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    write(&path, &idle(5));
    followed.until_idle(5);
}

#[cfg(unix)]
#[test]
fn a_linked_configuration_file_is_followed_and_stays_a_link() {
    let followed = FollowedConfiguration::new(|path| {
        let dotfiles = path.parent().unwrap().with_file_name("dotfiles");
        write(&dotfiles.join("watchbill.toml"), &idle(1));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(dotfiles.join("watchbill.toml"), path).unwrap();
    });
    let real = followed.home.path().join("dotfiles/watchbill.toml");
    std::fs::write(&real, idle(2)).unwrap();
    followed.until_idle(2);
    followed.change(SettingKey::TimeoutsIdle, SettingValue::Text("3s".into())).unwrap();
    assert_eq!(std::fs::read_to_string(&real).unwrap(), idle(3));
    assert!(followed.path().is_symlink());
    // The link gets another target.
    let other = followed.home.path().join("elsewhere/w.toml");
    write(&other, &idle(4));
    std::fs::remove_file(followed.path()).unwrap();
    std::os::unix::fs::symlink(&other, followed.path()).unwrap();
    followed.until_idle(4);
    std::fs::write(&other, idle(5)).unwrap();
    followed.until_idle(5);
}

#[test]
fn a_mistake_keeps_the_last_right_value_and_names_its_line_and_column() {
    let followed = FollowedConfiguration::new(|path| write(path, "[timeouts]\nidle = 7\nstale = 8\n"));
    let path = followed.path();
    std::fs::write(&path, "[timeouts]\nidle = 'soon'\nstale = 9\n").unwrap();
    followed.until("the other key", |settings, _| settings.timeouts.stale == Millis::from_secs(9));
    let settings = followed.configuration.settings();
    assert_eq!(settings.timeouts.idle, Millis::from_secs(7), "what was last right");
    let view = followed.configuration.view();
    let problem = &view.problems[0];
    assert_eq!(
        (problem.key, problem.line, problem.column),
        (Some(SettingKey::TimeoutsIdle), Some(2), Some(8))
    );
    assert!(settings.problems[0].detail.contains("line 2, column 8: timeouts.idle"));
    assert_eq!(settings.doubt, None, "nothing that protects is in doubt");

    std::fs::write(&path, b"[timeouts]\nstale = 10 # \xff\n").unwrap();
    followed.until("the byte", |_, view| view.problems.first().is_some_and(|p| p.message.contains("UTF-8")));
    let view = followed.configuration.view();
    assert_eq!((view.problems[0].line, view.problems[0].column), (Some(2), Some(14)));
    assert_eq!(followed.configuration.settings().timeouts.stale, Millis::from_secs(9), "all of it as it was");

    std::fs::write(&path, "[timeouts\n").unwrap();
    followed.until("the bracket", |_, view| view.problems.first().is_some_and(|p| p.line == Some(1)));
    let refused = followed.change(SettingKey::TimeoutsIdle, SettingValue::Text("1m".into())).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Invalid);
    assert!(refused.message.contains("line 1"), "{}", refused.message);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "[timeouts\n", "left as it is");

    std::fs::write(&path, idle(11)).unwrap();
    followed.until_idle(11);
    assert_eq!(followed.configuration.view().problems, []);
}

#[cfg(unix)]
#[test]
fn an_unreadable_configuration_file_is_a_problem() {
    let followed = FollowedConfiguration::new(|path| write(path, &idle(1)));
    let path = followed.path();
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    followed.until("the folder", |_, view| {
        view.problems.first().is_some_and(|p| p.message.contains("no ordinary file"))
    });
    assert_eq!(followed.configuration.settings().timeouts.idle, Millis::from_secs(1));
    std::fs::remove_dir(&path).unwrap();
    std::fs::write(&path, vec![b'#'; 2 << 20]).unwrap();
    followed
        .until("the length", |_, view| view.problems.first().is_some_and(|p| p.message.contains("too long")));
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink(&path, &path).unwrap();
    followed.until("the loop", |_, view| {
        view.problems.first().is_some_and(|p| p.message.contains("cannot be read"))
    });
    std::fs::remove_file(&path).unwrap();
    write(&path, &idle(2));
    followed.until_idle(2);
}

#[test]
fn a_mistake_in_the_archive_settings_removes_no_archive() {
    let followed =
        FollowedConfiguration::new(|path| write(path, "[archive]\nenabled = true\nbudget = '20.5GiB'\n"));
    let settings = followed.configuration.settings();
    assert!(
        settings.doubt.as_deref().is_some_and(|doubt| doubt.contains("line 3, column 10: archive.budget"))
    );
    assert!(
        settings.problems[0].detail.ends_with("the default counts until then"),
        "{:?}",
        settings.problems
    );
    std::fs::write(followed.path(), "[archive]\nenabled = true\nbudget = '20GiB'\n").unwrap();
    followed.until("the budget", |settings, _| settings.doubt.is_none());
    for mistake in ["budget = '1G'", "bugdet = '1GiB'", "budget"] {
        std::fs::write(followed.path(), format!("[archive]\nenabled = true\n{mistake}\n")).unwrap();
        followed.until(mistake, |_, view| !view.problems.is_empty());
        let settings = followed.configuration.settings();
        assert_eq!((settings.archive.budget, &settings.doubt), (20 << 30, &None), "what was last right");
        assert!(settings.problems[0].detail.ends_with("the last right value counts until then"));
        std::fs::write(followed.path(), "[archive]\nenabled = true\nbudget = '20GiB'\n").unwrap();
        followed.until("no mistake", |_, view| view.problems.is_empty());
    }
}

#[test]
fn a_mistake_in_exclude_at_the_start_stores_nothing() {
    let followed = FollowedConfiguration::new(|path| write(path, "[store]\nexclude = '~/secret'\n"));
    let doubt = followed.configuration.settings().doubt.clone().unwrap();
    assert!(doubt.contains("line 2, column 11: store.exclude"), "{doubt}");
    let folder = Folder::new();
    let data_dir = followed.home.path().join("data");
    let engine = |settings: &Settings| Settings {
        roots: vec![folder.root.clone().into()],
        data_dir: Some(data_dir.clone()),
        ..settings.clone()
    };
    let mut subscriber = Subscriber::on(engine(&followed.configuration.settings()));
    subscriber.handle.follow(&followed.configuration);
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    subscriber.until_state(&author, "working");
    subscriber
        .until("the problem", |copy| copy.problems.iter().any(|problem| problem.kind == "configuration"));
    assert!(!data_dir.join("watchbill.db").exists());

    std::fs::write(followed.path(), "[store]\nexclude = ['~/secret']\n").unwrap();
    followed.until("certainty", |settings, _| settings.doubt.is_none());
    subscriber.until("the problem to be over", |copy| copy.problems.is_empty());
    let end = std::time::Instant::now() + TIMEOUT;
    let stored =
        || subscriber.handle.doctor().unwrap().store.is_some_and(|store| store.exists && store.texts > 0);
    while !stored() {
        assert!(std::time::Instant::now() < end, "it is stored by now");
        std::thread::yield_now();
    }
}

#[test]
fn a_running_engine_takes_changed_timeouts() {
    let followed =
        FollowedConfiguration::new(|path| write(path, "[timeouts]\nstale = \"1h\"\nidle = \"1h\"\n"));
    let folder = Folder::new();
    let settings = (*followed.configuration.settings()).clone();
    let mut subscriber = Subscriber::of(
        start(Settings { roots: vec![folder.root.clone().into()], data_dir: None, ..settings }).unwrap(),
    );
    subscriber.handle.follow(&followed.configuration);
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    subscriber.until_state(&author, "working");
    std::fs::write(followed.path(), "[timeouts]\nstale = \"1s\"\n").unwrap();
    subscriber.until("the turn to be taken for over", |copy| {
        row(copy, &author).is_some_and(|row| row.state != "working")
    });
    assert_eq!(subscriber.handle.settings().timeouts.stale, Millis::from_secs(1));
    assert_eq!(subscriber.handle.settings().roots, [folder.root.clone().into()], "the engine's own");
}

#[test]
fn the_window_saves_into_the_file_and_keeps_its_comments() {
    let text =
        "# mine\n[timeouts]\nidle = 600 # minutes\n\n[store]\nexclude = [\n  '~/a', # one\n  '~/b',\n]\n";
    let followed = FollowedConfiguration::new(|path| write(path, text));
    let read = || std::fs::read_to_string(followed.path()).unwrap();
    let view = followed.change(SettingKey::TimeoutsIdle, SettingValue::Text("5m".into())).unwrap();
    assert_eq!(read(), text.replace("600", "300"));
    let setting = view.settings.iter().find(|setting| setting.key == SettingKey::TimeoutsIdle).unwrap();
    assert_eq!((&setting.value, setting.source), (&SettingValue::Text("5m".into()), SettingSource::File));
    assert_eq!(
        followed.changes.try_recv().unwrap().settings.timeouts.idle,
        Millis::from_secs(300),
        "told at once"
    );

    // Setting the default removes the line.
    followed.change(SettingKey::TimeoutsIdle, SettingValue::Text("10m".into())).unwrap();
    let removed = text.replace("idle = 600 # minutes\n", "");
    assert_eq!(read(), removed);

    let wrong = followed.change(SettingKey::TimeoutsIdle, SettingValue::Text("soon".into())).unwrap_err();
    assert_eq!(wrong.code, ErrorCode::Invalid);
    assert!(wrong.message.contains("expected a time above zero"), "{}", wrong.message);
    assert_eq!(read(), removed);
}

#[test]
fn a_set_of_changes_is_saved_whole_or_not_at_all() {
    let followed =
        FollowedConfiguration::new(|path| write(path, "roots = ['~/x']\n[alerts]\nsound = true\n"));
    let before = std::fs::read_to_string(followed.path()).unwrap();
    let changes = [
        SettingChange { key: SettingKey::AlertsSound, value: None },
        SettingChange { key: SettingKey::ArchiveLevel, value: Some(SettingValue::Number(40)) },
    ];
    assert!(followed.configuration.change(&changes).is_err());
    assert_eq!(std::fs::read_to_string(followed.path()).unwrap(), before);
}

#[test]
fn a_change_by_another_program_is_not_overwritten() {
    let followed = FollowedConfiguration::new(|path| write(path, &idle(1)));
    let theirs = "# theirs\n[timeouts]\nidle = 2\n";
    // The change and the other program's write race. In either order, none of their text is lost.
    std::fs::write(followed.path(), theirs).unwrap();
    let answer = followed.change(SettingKey::AlertsSound, SettingValue::Flag(true));
    let text = std::fs::read_to_string(followed.path()).unwrap();
    match answer {
        Err(refused) => assert_eq!((refused.code, text.as_str()), (ErrorCode::Conflict, theirs)),
        Ok(_) => assert!(text.starts_with(theirs)),
    }
    followed.until_idle(2);
    followed.change(SettingKey::AlertsSound, SettingValue::Flag(true)).unwrap();
    assert_eq!(
        std::fs::read_to_string(followed.path()).unwrap(),
        format!("{theirs}\n[alerts]\nsound = true\n")
    );
}

#[test]
fn concurrent_changes_lose_nothing() {
    let followed = FollowedConfiguration::new(|path| write(path, &idle(1)));
    let keys = [
        SettingKey::AlertsApproval,
        SettingKey::AlertsQuestion,
        SettingKey::AlertsPlan,
        SettingKey::AlertsDialog,
        SettingKey::AlertsError,
        SettingKey::AlertsFinished,
    ];
    std::thread::scope(|scope| {
        for key in keys {
            let configuration = &followed.configuration;
            let off = [SettingChange { key, value: Some(SettingValue::Flag(false)) }];
            scope.spawn(move || configuration.change(&off).unwrap());
        }
    });
    let text = std::fs::read_to_string(followed.path()).unwrap();
    assert_eq!(text.matches("= false").count(), keys.len(), "{text}");
}

#[cfg(unix)]
#[test]
fn a_changed_file_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt;
    let followed = FollowedConfiguration::new(|path| {
        write(path, "");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o640)).unwrap();
    });
    followed.change(SettingKey::WindowTheme, SettingValue::Text("dark".into())).unwrap();
    assert_eq!(std::fs::metadata(followed.path()).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_to_string(followed.path()).unwrap(), "[window]\ntheme = \"dark\"\n");
}

#[test]
fn a_setting_fixed_by_a_variable_is_reported_and_not_changed() {
    let followed = FollowedConfiguration::with(
        |path| write(path, "roots = ['~/file']\n"),
        |home| vec![("WATCHBILL_CLAUDE_DIR", home.join("variable").to_str().unwrap().to_owned())],
    );
    let view = followed.configuration.view();
    let roots = view.settings.iter().find(|setting| setting.key == SettingKey::Roots).unwrap();
    assert_eq!(roots.source, SettingSource::Environment);
    assert_eq!(roots.fixed_by.as_deref(), Some("WATCHBILL_CLAUDE_DIR"));
    let refused = followed.change(SettingKey::Roots, SettingValue::List(vec!["/x".into()])).unwrap_err();
    assert!(refused.message.starts_with("WATCHBILL_CLAUDE_DIR decides this"), "{}", refused.message);
}

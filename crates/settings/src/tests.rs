//! Settings that result from options, environment and file together.

use std::ffi::OsString;
use std::time::Duration;

use watchbill_core::history::RecoverySettings;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::Millis;

use watchbill_agents::{Agent, HOME, Root};
use watchbill_watch::WatchMethod;
use watchbill_watch::fs::StdFs;

use crate::{CommandLineOptions, Settings, SettingsError, resolve_settings};

fn with(vars: &[(&str, &str)], given: CommandLineOptions) -> Result<Settings, SettingsError> {
    let vars: Vec<(String, OsString)> = vars
        .iter()
        .map(|(k, v)| ((if *k == "HOME" { HOME } else { k }).to_owned(), OsString::from(v)))
        .collect();
    resolve_settings(&given, &move |name| vars.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()))
}

#[test]
fn options_win_over_environment_over_home() {
    let home = ("HOME", "/home/dev");
    let roots = |vars: &[(&str, &str)], given| with(vars, given).unwrap().roots;
    assert_eq!(roots(&[home], CommandLineOptions::default()), ["/home/dev/.claude"].map(Root::from));
    assert_eq!(
        roots(&[home, ("CLAUDE_CONFIG_DIR", "/c")], CommandLineOptions::default()),
        ["/c"].map(Root::from)
    );
    let both = [home, ("CLAUDE_CONFIG_DIR", "/c"), ("WATCHBILL_CLAUDE_DIR", "/a:/b")];
    assert_eq!(roots(&both, CommandLineOptions::default()), ["/a", "/b"].map(Root::from));
    let given = CommandLineOptions { roots: vec!["/x".into()], ..CommandLineOptions::default() };
    assert_eq!(roots(&both, given), ["/x"].map(Root::from));
}

#[test]
fn folders_of_other_agents_are_found_unless_they_are_named() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("elsewhere");
    std::fs::create_dir_all(home.path().join(".codex")).unwrap();
    std::fs::create_dir_all(&path).unwrap();
    let (of_claude, of_codex) =
        (Root::from(home.path().join(".claude")), Root::new(Agent::Codex, home.path().join(".codex")));
    let at = ("HOME", home.path().to_str().unwrap());
    let roots = |vars: &[(&str, &str)], given| with(vars, given).unwrap().roots;
    let without = with(&[at], CommandLineOptions::default()).unwrap();
    assert_eq!(
        without.roots,
        std::slice::from_ref(&of_codex),
        "a usual folder that is missing is no problem"
    );
    assert!(without.awaited.contains(&of_claude) && !without.awaited.contains(&of_codex));
    assert_eq!(without.roots_of(Agent::Claude), [&*of_claude.path], "hooks go there");
    assert_eq!(without.roots_now(&StdFs), std::slice::from_ref(&of_codex));
    std::fs::create_dir(&*of_claude.path).unwrap();
    assert_eq!(without.roots_now(&StdFs), [of_codex.clone(), of_claude.clone()]);
    assert_eq!(roots(&[at], CommandLineOptions::default()), [of_claude.clone(), of_codex]);
    let moved = ("CODEX_HOME", path.to_str().unwrap());
    let elsewhere = Root::new(Agent::Codex, &path);
    assert_eq!(roots(&[at, moved], CommandLineOptions::default()), [of_claude, elsewhere.clone()]);

    let named = |list: &[&str]| CommandLineOptions {
        roots: list.iter().map(|text| Root::parse(text.as_ref())).collect(),
        ..CommandLineOptions::default()
    };
    let of_list = format!("codex={}", path.display());
    assert_eq!(roots(&[at], named(&["/c", &of_list])), [Root::from("/c"), elsewhere.clone()]);
    assert_eq!(roots(&[at], named(&["/c", "codex="])), [Root::from("/c")], "switched off");
    let off = with(&[at], named(&["/c", "codex=", "gemini="])).unwrap().awaited;
    let is_of = |agent| off.iter().any(|root| root.agent == agent);
    assert!(is_of(Agent::Pi) && !is_of(Agent::Gemini) && !is_of(Agent::Claude), "{off:?}");
    assert_eq!(elsewhere.named(), of_list.as_str());
}

#[test]
fn without_any_folder_that_of_the_default_agent_counts() {
    let home = tempfile::tempdir().unwrap();
    let settings = with(&[("HOME", home.path().to_str().unwrap())], CommandLineOptions::default()).unwrap();
    let of_claude = Root::from(home.path().join(".claude"));
    assert_eq!(settings.roots, std::slice::from_ref(&of_claude));
    assert_eq!(settings.awaited.len(), Agent::ALL.len());
    assert_eq!(settings.roots_now(&StdFs), [of_claude], "it is a problem that it is missing");
    assert!(settings.roots_of(Agent::Codex).is_empty());
    let codex = home.path().join(".codex");
    std::fs::create_dir(&codex).unwrap();
    assert_eq!(settings.roots_now(&StdFs), [Root::new(Agent::Codex, &codex)]);
    assert_eq!(settings.roots_of(Agent::Codex), [&*codex], "it has appeared since the start");
    let named = CommandLineOptions { roots: vec!["/typed/wrong".into()], ..CommandLineOptions::default() };
    let settings = with(&[("HOME", home.path().to_str().unwrap())], named).unwrap();
    let now = settings.roots_now(&StdFs);
    assert_eq!(now, [Root::from("/typed/wrong"), Root::new(Agent::Codex, &codex)], "what is named stays one");
}

#[test]
fn a_relative_folder_in_a_variable_is_below_the_working_folder() {
    let here = std::env::current_dir().unwrap();
    let settings = |vars: &[(&str, &str)]| with(vars, CommandLineOptions::default()).unwrap();
    let data = ("WATCHBILL_DATA_DIR", "d");
    let named = settings(&[("HOME", "/home/dev"), ("WATCHBILL_CLAUDE_DIR", "a:/b"), data]);
    assert_eq!(
        (named.roots, named.data_dir),
        (vec![here.join("a").into(), "/b".into()], Some(here.join("d")))
    );
    let of_client = settings(&[("HOME", "/home/dev"), ("CLAUDE_CONFIG_DIR", "c")]);
    assert_eq!(of_client.roots, [here.join("c").into()]);
}

#[test]
fn a_change_of_each_part_of_the_history_is_told_to_its_thread() {
    let before = with(&[("HOME", "/home/dev")], CommandLineOptions::default()).unwrap();
    let changed = |change: &dyn Fn(&mut Settings)| {
        let mut after = before.clone();
        change(&mut after);
        after.changes_history_settings(&before)
    };
    assert!(changed(&|settings| settings.history.cut += 1));
    assert!(changed(&|settings| settings.recovery.stuck = Millis(1)));
    assert!(changed(&|settings| settings.archive.enabled = true));
    assert!(changed(&|settings| settings.memory.enabled = false));
    assert!(!changed(&|settings| settings.recent = Millis(1)));
}

#[test]
fn the_file_takes_seconds_and_units_and_reports_mistakes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    let given = CommandLineOptions { config: Some(path.clone()), ..CommandLineOptions::default() };
    std::fs::write(&path, "roots=['~/a','/b']\n[timeouts]\napproval = 7\nidle = \"10m\"\nstale=1.5\n[roster]\nrecent=\"2d\"\n[watch]\nmode=\"poll\"\npoll_interval=\"500ms\"\n").unwrap();
    let s = with(&[("HOME", "/home/dev")], given.clone()).unwrap();
    assert_eq!(s.roots, ["/home/dev/a", "/b"].map(Root::from));
    assert_eq!(s.timeouts, Timeouts { approval: Millis(7000), stale: Millis(1500), idle: Millis(600_000) });
    assert_eq!(s.recent, Millis(172_800_000));
    assert_eq!(s.watch, WatchMethod::Poll(Duration::from_millis(500)));

    let store = "roots=['~/a']\n[store]\ncut = 100\nexclude = ['~/secret/**']\nskip_tools = ['TodoWrite']\nplan_folders=['~/plans']\n[archive]\nenabled=true\nbudget='2GB'\nkeep='365d'\n";
    std::fs::write(&path, store).unwrap();
    let s = with(&[("HOME", "/home/dev")], given.clone()).unwrap();
    assert_eq!(
        (s.archive.enabled, s.archive.budget, s.archive.keep),
        (true, 2_000_000_000, Some(Millis(31_536_000_000)))
    );
    let view = s.view();
    assert!(!s.history.exclude.excludes(path.to_str().unwrap()));
    assert!(s.view() == view, "the cache of a look is no part of the settings");
    let s = s.history;
    assert!(s.exclude.excludes("/home/dev/secret/x") && !s.exclude.excludes("/home/dev/work"));
    assert!(s.is_plan("/home/dev/plans/x.md") && s.is_plan("/home/dev/a/plans/x.md"));
    assert_eq!((s.cut, s.skips_tool("TodoWrite")), (100, true));

    assert_eq!(with(&[("HOME", "/home/dev")], given.clone()).unwrap().recovery, RecoverySettings::default());
    // Checking without a pause would keep the store busy.
    std::fs::write(&path, "[recovery]\nstuck='2m'\nstale=90\nevery='1ms'\n").unwrap();
    let s = with(&[("HOME", "/home/dev")], given.clone()).unwrap();
    let (stuck, stale, every) = (Millis(120_000), Millis(90_000), Millis(1_000));
    assert_eq!(s.recovery, RecoverySettings { stuck, stale, every });

    std::fs::write(&path, "[prices]\nown=['my-model 3 15 3.75 0.3']\n").unwrap();
    assert_eq!(with(&[("HOME", "/home/dev")], given.clone()).unwrap().prices, ["my-model 3 15 3.75 0.3"]);
    std::fs::write(&path, "[prices]\nown=['my-model 3']\n").unwrap();
    let s = with(&[("HOME", "/home/dev")], given.clone()).unwrap();
    assert!(s.prices.is_empty() && s.problems[0].detail.contains("a list of prices"), "{:?}", s.problems);

    std::fs::write(&path, "[timeouts]\napproval = \"soon\"\nidle=7\n[timeout]\n").unwrap();
    let s = with(&[("HOME", "/home/dev")], given).unwrap();
    assert_eq!(s.timeouts, Timeouts { idle: Millis(7000), ..Timeouts::default() }, "the rest counts");
    let [problem] = &s.problems[..] else { panic!("{:?}", s.problems) };
    assert!(problem.path.ends_with("config.toml") && problem.count == 2);
    assert!(problem.detail.contains("line 2, column 12: timeouts.approval"), "{}", problem.detail);
    assert!(problem.detail.contains("line 4, column 2: `timeout` is not known"), "{}", problem.detail);
}

#[test]
fn a_list_without_a_folder_is_an_error_and_not_an_empty_roster() {
    let vars = [("HOME", "/home/dev"), ("WATCHBILL_CLAUDE_DIR", ":")];
    assert!(matches!(with(&vars, CommandLineOptions::default()), Err(SettingsError::NoRoots)));
}

#[test]
fn a_named_file_that_is_missing_is_an_error() {
    let given =
        CommandLineOptions { config: Some("/nonexistent/w.toml".into()), ..CommandLineOptions::default() };
    assert!(matches!(with(&[("HOME", "/h")], given), Err(SettingsError::Unreadable { .. })));
}

#[test]
fn a_file_that_another_program_wrote_lets_no_scripts_answer_until_a_person_says_so() {
    use watchbill_protocol::settings::{SettingChange, SettingKey, SettingValue};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    let given = CommandLineOptions {
        config: Some(path.clone()),
        roots: vec![folder.path().into()],
        ..CommandLineOptions::default()
    };
    let write = |text: &str| std::fs::write(&path, text).unwrap();
    let open = || crate::Configuration::open(&given, &|_| None).unwrap();
    write("");
    let configuration = open();
    let state = || {
        let settings = configuration.settings();
        (settings.scripts_answer, settings.problems.len())
    };
    let on = "[answers]\nscripts = true\n";
    let change = |key, value| {
        let changes = [SettingChange { key, value: Some(value) }];
        configuration.change(&changes).map(drop).unwrap();
    };
    write(on);
    configuration.reload();
    assert_eq!(state(), (false, 1));
    let problem = &configuration.settings().problems[0];
    assert!(
        problem.detail.contains("answers.scripts: a program has just turned this on"),
        "{}",
        problem.detail
    );
    let shown = |view: &watchbill_protocol::settings::SettingsView| {
        view.settings.iter().find(|one| one.key == SettingKey::AnswersScripts).map(|one| one.value.clone())
    };
    assert_eq!(shown(&configuration.view()), Some(SettingValue::Flag(false)), "the window shows what counts");
    // Another change in the window does not confirm it, and neither does the same text again.
    change(SettingKey::AlertsSound, SettingValue::Flag(false));
    write(&format!("{on}# again\n"));
    configuration.reload();
    assert_eq!(state(), (false, 1));
    change(SettingKey::AnswersScripts, SettingValue::Flag(true));
    assert_eq!(state(), (true, 0));
    write(&format!("# kept\n{on}"));
    configuration.reload();
    assert_eq!(state(), (true, 0), "it was confirmed");
    // Any program can turn it off.
    write("");
    configuration.reload();
    assert_eq!(state(), (false, 0));
    write(on);
    configuration.reload();
    assert_eq!(state(), (false, 1));
    assert!(open().settings().scripts_answer, "a person starts Watchbill");
}

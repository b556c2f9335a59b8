//! One file has many names: excluded data is not stored under any of them.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use watchbill_agents::excluded::is_named_in;

use proptest::prelude::*;
use watchbill_core::history::ArchiveSettings;
use watchbill_core::history::Exclude;
use watchbill_engine::handle::start;
use watchbill_settings::Settings;
use watchbill_settings::symlinks::DiskLinks;

use crate::archived::{age, archived};
use crate::exclude_later::{file_containing, run_index, stored_texts};
use crate::wait::until;

/// A home with a private folder, a public folder, and links to both.
struct Home {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["secret", "public"] {
            std::fs::create_dir_all(root.join("dev").join(name).join("deep")).unwrap();
            std::fs::write(root.join("dev").join(name).join("key"), "x").unwrap();
            std::fs::create_dir_all(root.join("dev/app")).unwrap();
            symlink(format!("../{name}"), root.join(format!("dev/app/to-{name}"))).unwrap();
            symlink(format!("../{name}/key"), root.join(format!("dev/app/one-{name}"))).unwrap();
            symlink(format!("../{name}/deep"), root.join(format!("dev/app/deep-{name}"))).unwrap();
        }
        symlink("dev", root.join("alias")).unwrap();
        Self { _folder: folder, root }
    }

    fn path(&self, below: &str) -> String {
        self.root.join(below).to_str().unwrap().to_owned()
    }

    fn exclude(&self, rule: &str) -> Exclude {
        Exclude::new([rule.replace("ROOT", &self.path(""))])
            .on_disk(Some(self.path("dev")), Arc::new(DiskLinks::default()))
    }

    /// The spellings of the path to the key in that folder, from `dev/app`, links included.
    fn spellings(&self, name: &str) -> Vec<String> {
        let root = self.path("");
        [
            "{root}dev/{name}/key",
            "{root}/dev//./{name}/key",
            "{root}dev/app/../{name}/key",
            "{root}dev/app/not-there/../../{name}/key",
            "{root}alias/{name}/key",
            "{root}alias/app/to-{name}/key",
            "{root}dev/app/to-{name}/key",
            "{root}dev/app/one-{name}",
            "{root}dev/app/deep-{name}/../key",
            "../{name}/key",
            "./../{name}/deep/../key",
            "to-{name}/key",
            "deep-{name}/../key",
            "~/{name}/key",
            "~/app/one-{name}",
            "$HOME/{name}/key",
            "${HOME}/app/../{name}/key",
            "file://{root}dev/{name}/key",
            "file://{root}dev/%{first}/key",
        ]
        .iter()
        .map(|pattern| {
            let first = format!("{:02x}{}", name.as_bytes()[0], &name[1..]);
            pattern.replace("{root}", &root).replace("{name}", name).replace("{first}", &first)
        })
        .collect()
    }
}

/// Rules that exclude the private folder.
const RULES: [&str; 6] = [
    "ROOTdev/secret/**",
    "ROOTdev/secret",
    "ROOTalias/secret/**",
    "ROOTdev/app/to-secret",
    "**/secret",
    "ROOT*/secre?/**",
];

/// Calls that name a path.
const CALLS: [(&str, &str); 18] = [
    ("Read", r#"{"file_path":"PATH"}"#),
    ("Edit", r#"{"old_string":"a","new_string":"b","file_path":"PATH"}"#),
    ("NotebookEdit", r#"{"notebook_path":"PATH","new_source":"x"}"#),
    ("LS", r#"{"path":"PATH"}"#),
    ("Grep", r#"{"pattern":"x","path":"PATH"}"#),
    ("Glob", r#"{"pattern":"PATH"}"#),
    ("mcp__a__read", r#"{"paths":["other","PATH"]}"#),
    ("mcp__a__read", r#"{"filePath":"PATH"}"#),
    ("mcp__a__read", r#"{"relative_path":"PATH"}"#),
    ("mcp__a__read", r#"{"options":{"uri":"PATH"},"z":1}"#),
    ("mcp__a__run", r#"{"what":"look at PATH, please"}"#),
    ("mcp__a__move", r#"{"files":{"PATH":"content"}}"#),
    ("Bash", r#"{"command":"cat PATH"}"#),
    ("Bash", r#"{"command":"cd /tmp && tail -n 3 \"PATH\" | wc"}"#),
    ("Bash", r#"{"command":"sh -c 'cat PATH >x'"}"#),
    ("Bash", r#"{"command":"tool --file=PATH:3 -v"}"#),
    ("Bash", r#"{"command":"tool -fPATH:/x -v"}"#),
    ("Agent", r#"{"description":"d","prompt":"Read PATH."}"#),
];

/// Adds detours without effect at some of the slashes.
fn detours(path: &str, at: &[usize]) -> String {
    let mut out = path.to_owned();
    let kinds = ["/./", "//", "/x/../", "/./././"];
    for (n, at) in at.iter().enumerate() {
        // A link's target has no such folder, and addresses have no detours.
        let slashes: Vec<usize> = out.match_indices('/').map(|(at, _)| at).collect();
        if out.starts_with("file:") || slashes.is_empty() {
            return out;
        }
        let slash = slashes[at % slashes.len()];
        out.replace_range(slash..=slash, kinds[(at + n) % kinds.len()]);
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn all_spellings_of_a_file_are_excluded_or_none_is(
        rule in 0..RULES.len(), call in 0..CALLS.len(), which in 0..19usize,
        at in proptest::collection::vec(0..12usize, 0..4),
    ) {
        thread_local!(static HOME: Home = Home::new());
        HOME.with(|home| {
            let exclude = home.exclude(RULES[rule]);
            let (tool, input) = CALLS[call];
            let cwd = home.path("dev/app");
            for (name, out) in [("secret", true), ("public", false)] {
                let path = detours(&home.spellings(name)[which], &at);
                let input = input.replace("PATH", &path);
                let named = exclude.call_names_excluded(tool, &input, Some(&cwd));
                prop_assert_eq!(named, out, "{} {} by {}", tool, input, RULES[rule]);
                if tool == "Read" {
                    prop_assert_eq!(exclude.excludes_in(Some(&cwd), &path), out, "{}", path);
                }
                let event = format!(
                    r#"{{"session_id":"s","hook_event_name":"PreToolUse","cwd":"{cwd}","tool_name":"{tool}","tool_input":{input}}}"#
                );
                prop_assert_eq!(is_named_in(&exclude, &event), out, "{}", event);
                let line = format!(
                    r#"{{"type":"assistant","cwd":"{cwd}","message":{{"content":[{{"type":"tool_use","id":"t","name":"{tool}","input":{input}}}]}}}}"#
                );
                prop_assert_eq!(is_named_in(&exclude, &line), out, "{}", line);
            }
            Ok(())
        })?;
    }
}

fn record(session: &str, n: usize, cwd: &str, kind: &str, content: &str) -> String {
    format!(
        r#"{{"type":"{kind}","uuid":"{session}-{n}","sessionId":"{session}","cwd":"{cwd}","timestamp":"2026-10-01T15:00:{:02}.000Z","message":{{"id":"m{session}{n}","content":{content}}}}}"#,
        n % 60
    ) + "\n"
}

/// A session that makes every call with every spelling, and sessions that work in the folder under other names.
fn sessions_with_all_spellings(home: &Home) -> Settings {
    let project = home.root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let cwd = home.path("dev/app");
    let mut text = record("calls", 1, &cwd, "user", r#""open question""#);
    let mut n = 1;
    for (name, word) in [("secret", "HIDDEN"), ("public", "open")] {
        for (tool, input) in CALLS {
            for path in home.spellings(name) {
                n += 1;
                // The word is beside the path, in another field of the input.
                let input =
                    input.replace("PATH", &path).replacen('{', &format!(r#"{{"beside":"{word} beside","#), 1);
                let call = format!(r#"[{{"type":"tool_use","id":"t{n}","name":"{tool}","input":{input}}}]"#);
                let result =
                    format!(r#"[{{"type":"tool_result","tool_use_id":"t{n}","content":"{word} content"}}]"#);
                text += &record("calls", n, &cwd, "assistant", &call);
                text += &record("calls", n + 5_000, &cwd, "user", &result);
            }
        }
    }
    // A search from a folder above prints lines of the folder below.
    let result = format!(
        r#"[{{"type":"tool_result","tool_use_id":"above","content":"{}/key:3:HIDDEN found\nand more"}}]"#,
        home.path("dev/secret")
    );
    let call = r#"[{"type":"tool_use","id":"above","name":"Grep","input":{"pattern":"x","path":"~"}}]"#;
    text += &record("calls", 9_001, &cwd, "assistant", call);
    text += &record("calls", 9_002, &cwd, "user", &result);
    let selection = format!(
        "<ide_selection>The user selected the lines 1 to 2 from {}/key:\\nHIDDEN lines</ide_selection>open words",
        home.path("dev/secret")
    );
    text += &record("calls", 9_003, &cwd, "user", &format!(r#""{selection}""#));
    text += &record("calls", 9_004, &cwd, "user", r#""<bash-input>cat ../secret/key</bash-input>""#);
    text += &record("calls", 9_005, &cwd, "user", r#""<bash-stdout>HIDDEN printed</bash-stdout>""#);
    std::fs::write(project.join("calls.jsonl"), text).unwrap();
    for (n, cwd) in
        ["dev/secret/", "dev/app/../secret", "alias/secret/deep", "dev/app/to-secret", "dev//secret"]
            .into_iter()
            .enumerate()
    {
        let session = format!("in{n}");
        let text = record(&session, 1, &format!("{}{cwd}", home.path("")), "user", r#""HIDDEN words""#);
        std::fs::write(project.join(format!("{session}.jsonl")), text).unwrap();
    }
    for entry in std::fs::read_dir(&project).unwrap() {
        age(&entry.unwrap().path(), 20);
    }
    let mut settings = Settings::for_roots(vec![home.root.join("claude")]);
    settings.data_dir = Some(home.root.join("data"));
    settings
}

fn found(data: &Path, word: &str) -> Vec<String> {
    stored_texts(data).into_iter().filter(|row| row.contains(word)).collect()
}

#[test]
fn no_spelling_of_an_excluded_file_is_stored_and_public_files_are() {
    let home = Home::new();
    let mut settings = sessions_with_all_spellings(&home);
    settings.history.exclude = home.exclude("ROOTdev/secret/**");
    run_index(&settings);
    let data = settings.data_dir.clone().unwrap();
    assert_eq!(found(&data, "HIDDEN"), [""; 0]);
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    let open = found(&data, "open content").len();
    // Each call with each spelling has one result.
    assert_eq!(open, CALLS.len() * home.spellings("public").len(), "{open}");
    assert!(!found(&data, "open words").is_empty());
}

#[test]
fn a_later_rule_removes_every_spelling_and_keeps_it_out_of_the_archive() {
    let home = Home::new();
    let mut settings = sessions_with_all_spellings(&home);
    run_index(&settings);
    let data = settings.data_dir.clone().unwrap();
    assert!(file_containing(&data, "HIDDEN").is_some());
    settings.history.exclude = home.exclude("ROOTdev/secret/**");
    run_index(&settings);
    assert_eq!(found(&data, "HIDDEN"), [""; 0]);
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    assert_eq!(found(&data, "open content").len(), CALLS.len() * home.spellings("public").len());

    let out = home.root.join("claude/projects/p/out.jsonl");
    std::fs::write(&out, record("out", 1, &home.path("dev/app"), "user", r#""open elsewhere""#)).unwrap();
    age(&out, 20);
    settings.archive = ArchiveSettings { enabled: true, ..ArchiveSettings::default() };
    let engine = start(settings).unwrap();
    assert_eq!(archived(&data, 1), 1);
    until("the rest of the archiving", || {
        file_containing(&data.join("archive"), "out").is_some() || archived(&data, 1) == 1
    });
    engine.stop();
    let names: Vec<_> = std::fs::read_dir(data.join("archive")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

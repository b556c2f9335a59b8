//! The installer over settings of many shapes. It changes only our handlers, and uninstalling restores the text.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use watchbill_agents::Agent;
use watchbill_hooks::install::{
    ANSWER_EVENT, EVENTS, Event, HookCommand, Purpose, SettingsError, Version, events_for, events_of,
    find_ours, install, is_installed, status_line, uninstall, wanted_events,
};

fn command() -> HookCommand {
    HookCommand {
        agent: Agent::default(),
        program: "/usr/local/bin/watchbill".into(),
        data_dir: None,
        markers: false,
        purpose: Purpose::Events,
    }
}

fn all() -> Vec<&'static Event> {
    EVENTS.iter().collect()
}

/// The settings that the agent reads from a text, without comments and extra commas.
fn meaning(text: &str) -> serde_json::Value {
    use jsonc_parser::ast::Value;
    fn value(from: Value<'_>) -> serde_json::Value {
        match from {
            Value::StringLit(text) => text.value.into_owned().into(),
            Value::NumberLit(number) => serde_json::from_str(number.value).unwrap(),
            Value::BooleanLit(bool) => bool.value.into(),
            Value::Object(object) => object
                .properties
                .into_iter()
                .map(|property| (property.name.as_str().to_owned(), value(property.value)))
                .collect(),
            Value::Array(array) => array.elements.into_iter().map(value).collect(),
            Value::NullKeyword(_) => serde_json::Value::Null,
        }
    }
    let text = text.trim_start_matches('\u{feff}');
    value(jsonc_parser::parse_to_ast(text, &Default::default(), &Default::default()).unwrap().value.unwrap())
}

fn without_ours(mut settings: serde_json::Value) -> serde_json::Value {
    if let Some(hooks) = settings.get_mut("hooks").and_then(|hooks| hooks.as_object_mut()) {
        for groups in hooks.values_mut() {
            let Some(groups) = groups.as_array_mut() else { continue };
            groups.retain(|group| !group.to_string().contains("/watchbill hook"));
        }
        hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
    }
    settings
}

/// The same settings with a hook of a person, as Cursor has it.
fn with_cursors_hooks(mut settings: serde_json::Value) -> serde_json::Value {
    settings
        .as_object_mut()
        .unwrap()
        .insert("hooks".into(), serde_json::json!({ "stop": [{ "command": "mine" }] }));
    settings
}

/// White space and comments, as users put them between the parts of a file.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(String::new()),
        4 => Just(" ".to_owned()),
        4 => Just("\n  ".to_owned()),
        2 => Just("\n\t\t".to_owned()),
        1 => Just("\r\n    ".to_owned()),
        1 => Just(" // a note, with [brackets] and \"quotes\"\n".to_owned()),
        1 => Just(" /* one, { */ ".to_owned()),
        1 => Just("\n/* over\n lines */\n".to_owned()),
    ]
}

fn list(
    open: char,
    close: char,
    items: Vec<(String, String, String)>,
    end: String,
    trailing: bool,
) -> String {
    let mut text = String::from(open);
    let last = items.len().saturating_sub(1);
    for (number, (before, item, after)) in items.into_iter().enumerate() {
        text.push_str(&format!("{before}{item}{after}"));
        if number < last || trailing {
            text.push(',');
        }
    }
    text.push_str(&end);
    text.push(close);
    text
}

fn container(
    open: char,
    close: char,
    item: impl Strategy<Value = String> + 'static,
    most: usize,
) -> impl Strategy<Value = String> {
    let items = prop::collection::vec((gap(), item, gap()), 0..=most);
    (items, gap(), any::<bool>()).prop_map(move |(items, end, trailing)| {
        let trailing = trailing && !items.is_empty();
        list(open, close, items, end, trailing)
    })
}

fn group() -> impl Strategy<Value = String> {
    let handler = prop_oneof![
        Just(r#"{"type":"command","command":"echo ']}, // no' "}"#.to_owned()),
        Just("{ \"type\": \"http\", \"url\": \"http://localhost:1/\\\"x\" }".to_owned()),
    ];
    (gap(), gap(), container('[', ']', handler, 2))
        .prop_map(|(a, b, handlers)| format!("{{{a}\"matcher\": \"Bash|Edit\",{b}\"hooks\":{handlers}}}"))
}

fn hooks() -> impl Strategy<Value = String> {
    let events = ["Stop", "SessionStart", "PreToolUse", "WorktreeCreate"].map(str::to_owned);
    let event = (prop::sample::subsequence(events.to_vec(), 0..=4), any::<prop::sample::Index>())
        .prop_flat_map(|(names, _)| {
            let lists: Vec<_> =
                names.iter().map(|_| (gap(), gap(), container('[', ']', group(), 2))).collect();
            (Just(names), lists, gap(), any::<bool>())
        });
    event.prop_map(|(names, lists, end, trailing)| {
        let trailing = trailing && !names.is_empty();
        let items = names
            .into_iter()
            .zip(lists)
            .map(|(name, (before, after, groups))| (before, format!("\"{name}\":{groups}"), after));
        list('{', '}', items.collect(), end, trailing)
    })
}

fn settings() -> impl Strategy<Value = String> {
    let others = [
        r#""model": "opus""#,
        r#""permissions": {"allow": ["Bash(git *)", ], "defaultMode":"plan"}"#,
        r#""env":{"KEY":"ünï, } ] // no comment"}"#,
        "\"a\":\n[]",
    ];
    let items = prop_oneof![
        3 => hooks().prop_map(|hooks| format!("\"hooks\": {hooks}")).prop_map(Some),
        2 => Just(None),
    ];
    let order = (prop::sample::subsequence(others.to_vec(), 0..=4), items, any::<prop::sample::Index>());
    (order, prop::collection::vec((gap(), gap()), 6), gap(), gap(), gap(), any::<bool>(), any::<bool>())
        .prop_map(|((others, hooks, place), gaps, end, head, tail, trailing, mark)| {
            let mut items: Vec<String> = others.into_iter().map(str::to_owned).collect();
            if let Some(hooks) = hooks {
                items.insert(place.index(items.len() + 1), hooks);
            }
            let trailing = trailing && !items.is_empty();
            let items = items.into_iter().zip(gaps).map(|(item, (before, after))| (before, item, after));
            let mark = if mark { "\u{feff}" } else { "" };
            format!("{mark}{head}{}{tail}", list('{', '}', items.collect(), end, trailing))
        })
}

/// A command in the spellings that JSON allows.
fn spelled() -> impl Strategy<Value = String> {
    let parts =
        ["'", r"\u0027", r"\\", r"\\u0027", r#"\""#, r"\n", r"\/", " -- '", "$(a | b)", "ü", "~/x.sh "];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..9).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn uninstalling_restores_the_text_from_before_the_installation(before in settings()) {
        let installed = install(Some(&before), &command(), &all()).unwrap();
        prop_assert!(is_installed(&installed, &command(), &all()).unwrap());
        let others = without_ours(meaning(&before));
        let mut still = without_ours(meaning(&installed));
        if meaning(&before).get("hooks").is_none() {
            still.as_object_mut().unwrap().shift_remove("hooks");
        }
        prop_assert_eq!(still, others);
        prop_assert_eq!(install(Some(&installed), &command(), &all()).unwrap(), installed.clone());
        prop_assert_eq!(uninstall(&installed, Purpose::Events).unwrap(), Some(before));
    }

    #[test]
    fn the_hook_for_answers_and_those_for_events_come_and_go_apart(before in settings()) {
        let answers = command().for_answers();
        let both = install(Some(&install(Some(&before), &command(), &all()).unwrap()), &answers, &[&ANSWER_EVENT]).unwrap();
        prop_assert!(is_installed(&both, &command(), &all()).unwrap());
        prop_assert!(is_installed(&both, &answers, &[&ANSWER_EVENT]).unwrap());
        prop_assert_eq!(install(Some(&both), &answers, &[&ANSWER_EVENT]).unwrap(), both.clone());
        let events_alone = uninstall(&both, Purpose::Answers).unwrap().unwrap();
        prop_assert_eq!(events_alone, install(Some(&before), &command(), &all()).unwrap());
        let answers_alone = uninstall(&both, Purpose::Events).unwrap().unwrap();
        prop_assert_eq!(find_ours(&answers_alone, Purpose::Answers).unwrap().len(), 1);
        prop_assert!(answers_alone.contains("\"timeout\": 3600") && answers_alone.contains("hook --answer"));
        prop_assert_eq!(uninstall(&answers_alone, Purpose::Answers).unwrap(), Some(before));
    }

    #[test]
    fn a_status_line_is_run_by_ours_and_every_byte_comes_back(
        own in spelled(), gaps in prop::collection::vec(gap(), 6),
    ) {
        let ours = command().for_purpose(Purpose::StatusLine);
        let [a, b, c, d, e, f] = &gaps[..] else { unreachable!() };
        let before = format!("{a}{{{b}\"statusLine\":{c}{{{d}\"padding\": 0, \"command\":{e}\"{own}\"}}{f}}}");
        let installed = install(Some(&before), &ours, &[]).unwrap();
        let command_in = |text: &str| meaning(text)["statusLine"]["command"].as_str().unwrap().to_owned();
        let quoted = command_in(&before).replace('\'', r"'\''");
        prop_assert_eq!(command_in(&installed), format!("exec /usr/local/bin/watchbill statusline -- '{quoted}'"));
        prop_assert_eq!(install(Some(&installed), &ours, &[]).unwrap(), installed.clone());
        let other = HookCommand { data_dir: Some("/my data".into()), ..ours.clone() };
        let moved = install(Some(&installed), &other, &[]).unwrap();
        prop_assert!(moved.contains(" --data-dir '/my data' -- '"));
        for text in [&installed, &moved] {
            prop_assert_eq!(uninstall(text, Purpose::StatusLine).unwrap(), Some(before.clone()));
        }
    }

    #[test]
    fn a_status_line_of_ours_and_hooks_come_and_go_apart(before in settings()) {
        let ours = command().for_purpose(Purpose::StatusLine);
        let both = install(Some(&install(Some(&before), &command(), &all()).unwrap()), &ours, &[]).unwrap();
        prop_assert!(status_line(&both).unwrap().is_some() && is_installed(&both, &command(), &all()).unwrap());
        let hooks_alone = uninstall(&both, Purpose::StatusLine).unwrap().unwrap();
        prop_assert_eq!(hooks_alone, install(Some(&before), &command(), &all()).unwrap());
        let line_alone = uninstall(&both, Purpose::Events).unwrap().unwrap();
        prop_assert_eq!(install(Some(&line_alone), &ours, &[]).unwrap(), line_alone.clone());
        prop_assert_eq!(uninstall(&line_alone, Purpose::StatusLine).unwrap(), Some(before));
    }

    #[test]
    fn an_older_version_is_replaced_and_uninstalling_restores_the_text(before in settings(), old in 0u32..400) {
        let older = HookCommand { agent: Agent::default(), program: "/home/dev/my tools/watchbill".into(), data_dir: None, markers: true, purpose: Purpose::Events };
        let some: Vec<_> = events_of(EVENTS, Some(Version(2, 1, old))).collect();
        let first = install(Some(&before), &older, &some).unwrap();
        let second = install(Some(&first), &command(), &all()).unwrap();
        prop_assert_eq!(find_ours(&second, Purpose::Events).unwrap().len(), EVENTS.len());
        prop_assert!(!second.contains("my tools"));
        prop_assert_eq!(uninstall(&second, Purpose::Events).unwrap(), Some(before));
    }

    #[test]
    fn uninstalling_from_reformatted_settings_keeps_their_meaning(before in settings()) {
        let installed = install(Some(&before), &command(), &all()).unwrap();
        // Agents rewrite their settings when one of them is changed in a dialog.
        let anew = serde_json::to_string_pretty(&meaning(&installed)).unwrap();
        let others = without_ours(meaning(&before));
        let left = uninstall(&anew, Purpose::Events).unwrap();
        let left = left.map_or(serde_json::json!({}), |text| without_ours(meaning(&text)));
        let no_hooks = |mut settings: serde_json::Value| {
            // The rewritten text no longer shows whether an empty list was there before; it has no meaning.
            if settings.get("hooks").is_some_and(|hooks| hooks.as_object().is_some_and(|h| h.is_empty())) {
                settings.as_object_mut().unwrap().shift_remove("hooks");
            }
            settings
        };
        prop_assert_eq!(no_hooks(left), no_hooks(others));
    }

    #[test]
    fn cursor_gets_a_version_where_none_is_and_every_byte_back(before in settings()) {
        let before = format!("{}\n", serde_json::to_string_pretty(&with_cursors_hooks(meaning(&before))).unwrap());
        for before in [before.clone(), before.replace(['\n', ' '], ""), before.replace("\"model\"", "\"version\"")] {
            let (events, context) = (HookCommand { agent: Agent::Cursor, ..command() }, Purpose::Context);
            let first = install(Some(&before), &events, &events_for(Agent::Cursor, None, None)).unwrap();
            let told = events.for_purpose(context);
            let both = install(Some(&first), &told, &wanted_events(&told, None, None)).unwrap();
            let has = |text: &str, name: &str| meaning(text).get(name).is_some();
            prop_assert!(has(&first, "version") && has(&both, "version"));
            prop_assert_eq!(uninstall(&both, context).unwrap(), Some(first.clone()));
            let told = uninstall(&both, Purpose::Events).unwrap().unwrap();
            prop_assert!(has(&told, "version"));
            prop_assert_eq!(uninstall(&told, context).unwrap(), Some(before.clone()));
            prop_assert_eq!(uninstall(&first, Purpose::Events).unwrap(), Some(before));
        }
    }

    #[test]
    fn any_text_is_handled_without_panic_and_errors_have_a_position(text in "(?s)[\\[\\]{}:,\"/* \na-c\\\\hooks]{0,80}") {
        for result in [install(Some(&text), &command(), &all()), uninstall(&text, Purpose::Events).map(|_| String::new())] {
            if let Err(SettingsError::Malformed { line, column, .. }) = result {
                prop_assert!(line > 0 && column > 0);
            }
        }
    }
}

#[test]
fn a_missing_file_is_made_and_removed_again() {
    let made = install(None, &command(), &all()).unwrap();
    insta::assert_snapshot!(made);
    assert_eq!(uninstall(&made, Purpose::Events).unwrap(), None);
    assert_eq!(uninstall("{}\n", Purpose::Events).unwrap().as_deref(), Some("{}\n"));
}

#[test]
fn a_file_for_the_status_line_alone_is_made_and_removed_again() {
    let ours = command().for_purpose(Purpose::StatusLine);
    let made = install(None, &ours, &[]).unwrap();
    assert_eq!(
        made,
        "{\n  \"statusLine\": { \"type\": \"command\", \"command\": \"exec /usr/local/bin/watchbill statusline\" }\n}\n"
    );
    assert_eq!(uninstall(&made, Purpose::StatusLine).unwrap(), None);
    let both = install(Some(&made), &command(), &all()).unwrap();
    let left = uninstall(&both, Purpose::Events).unwrap();
    assert_eq!(left.as_deref(), Some(&*made));
    let left = uninstall(&both, Purpose::StatusLine).unwrap().unwrap();
    assert_eq!(uninstall(&left, Purpose::Events).unwrap(), None);
}

#[test]
fn a_status_line_that_is_no_command_or_was_changed_by_hand_stays() {
    let ours = command().for_purpose(Purpose::StatusLine);
    for text in [
        "{\"statusLine\": null}",
        "{\"statusLine\": {\"type\": \"command\"}}",
        "{\"statusLine\": {\"command\": 1}}",
    ] {
        assert!(matches!(install(Some(text), &ours, &[]), Err(SettingsError::Malformed { .. })), "{text}");
        assert_eq!(uninstall(text, Purpose::StatusLine).unwrap().as_deref(), Some(text));
    }
    let piped =
        r#"{"statusLine": {"command": "exec /usr/local/bin/watchbill statusline -- 'mine' | tee log"}}"#;
    assert_eq!(uninstall(piped, Purpose::StatusLine).unwrap().as_deref(), Some(piped));
}

#[test]
fn handlers_are_added_in_the_style_of_the_file() {
    let before = r#"{
  "model": "opus", // the large one
  "hooks": {
    "Stop": [
      { "hooks": [{ "type": "command", "command": "notify-send done" }] } // keep
    ]
  },
  "permissions": {
    "allow": ["Bash(git *)"]
  }
}
"#;
    let events: Vec<_> = EVENTS.iter().filter(|e| ["Stop", "SessionStart"].contains(&e.name)).collect();
    insta::assert_snapshot!(install(Some(before), &command(), &events).unwrap());
}

#[test]
fn a_handler_that_a_person_put_beside_ours_stays() {
    let shared = r#"{"hooks":{"Stop":[{"hooks":[
      {"type":"command","command":"/old/watchbill hook"}, {"type":"command","command":"mine"}]}]}}"#;
    let left = uninstall(shared, Purpose::Events).unwrap().unwrap();
    assert!(left.contains("mine") && !left.contains("watchbill"), "{left}");
    meaning(&left);
}

#[test]
fn malformed_settings_are_refused_with_line_and_column() {
    let place = |text: &str| match install(Some(text), &command(), &all()) {
        Err(SettingsError::Malformed { line, column, .. }) => (line, column),
        other => panic!("{other:?}"),
    };
    assert_eq!(place("{\n  \"a\": tru\n}"), (2, 8));
    assert_eq!(place("[]"), (1, 1));
    assert_eq!(place("{\n \"hooks\": []}"), (2, 11));
    assert_eq!(place("{\"hooks\":\n{\"Stop\": {}}}"), (2, 10));
    assert_eq!(place("{'a': 1}").0, 1);
    assert!(matches!(install(Some(" \n"), &command(), &all()), Err(SettingsError::Empty)));
    assert!(install(Some(&"[".repeat(100_000)), &command(), &all()).is_err());
}

#[test]
fn a_renamed_copy_replaces_the_handlers_of_another_copy() {
    let before = "{\n  \"model\": \"opus\"\n}\n";
    let named = |program: &str| HookCommand {
        agent: Agent::default(),
        program: program.into(),
        data_dir: None,
        markers: false,
        purpose: Purpose::Events,
    };
    let mut text = before.to_owned();
    for program in
        ["/opt/watchbill-0.1.0", "/opt/wb", "/usr/local/bin/watchbill", "/opt/my watchbill", "/opt/wb"]
    {
        text = install(Some(&text), &named(program), &all()).unwrap();
        assert_eq!(find_ours(&text, Purpose::Events).unwrap().len(), EVENTS.len(), "{program}: {text}");
    }
    // Lines of a version before the mark, with a plain program name and with a version in it.
    for line in ["/usr/bin/watchbill hook", "'/my tools/watchbill-0.1.0' hook --data-dir /x --markers"] {
        let old = text.replace("/opt/wb hook --watchbill", line);
        assert!(old.contains(line));
        assert_eq!(uninstall(&old, Purpose::Events).unwrap().as_deref(), Some(before), "{line}");
    }
    assert_eq!(uninstall(&text, Purpose::Events).unwrap().as_deref(), Some(before));
}

#[test]
fn a_handler_with_separate_arguments_is_recognised() {
    let text = |command: &str, args: &str| {
        format!(
            r#"{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command","command":"{command}","args":{args}}}]}}]}}}}"#
        )
    };
    for (command, args) in [
        ("/it's here/watchbill", r#"["hook"]"#),
        ("/opt/wb", r#"["hook", "--data-dir", "/it's; $x", "--watchbill"]"#),
    ] {
        assert_eq!(find_ours(&text(command, args), Purpose::Events).unwrap().len(), 1, "{command}");
    }
    for (command, args) in
        [("/opt/wb", r#"["hook"]"#), ("/opt/watchbill", r#"["status"]"#), ("watchbill", "[]")]
    {
        assert_eq!(find_ours(&text(command, args), Purpose::Events).unwrap().len(), 0, "{command}");
    }
}

#[test]
fn events_installed_for_a_named_version_stay_when_the_version_is_unknown() {
    let named: Vec<_> = events_of(EVENTS, Some(Version(2, 1, 100))).collect();
    let text = install(None, &command(), &named).unwrap();
    let names = |events: Vec<&Event>| events.iter().map(|event| event.name).collect::<Vec<_>>();
    assert_eq!(names(events_for(Agent::default(), None, Some(&text))), names(named));
    assert_eq!(names(events_for(Agent::default(), None, None)), names(events_of(EVENTS, None).collect()));
    let older = Some(Version(2, 1, 40));
    assert_eq!(
        names(events_for(Agent::default(), older, Some(&text))),
        names(events_of(EVENTS, older).collect())
    );
}

#[test]
fn codex_gets_plain_json_for_its_own_events_and_every_byte_back() {
    let command = HookCommand { agent: Agent::Codex, ..command() };
    let events = events_for(Agent::Codex, None, None);
    let made = install(None, &command, &events).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&made).unwrap();
    let handler = |event: &str| settings["hooks"][event][0]["hooks"][0].clone();
    let line = "/usr/local/bin/watchbill hook --agent codex";
    let with = |timeout: u32| serde_json::json!({ "type": "command", "command": line, "timeout": timeout });
    assert_eq!((handler("Stop"), handler("Interrupt"), handler("SessionEnd")), (with(10), with(3), with(3)));
    assert_eq!(settings["hooks"].as_object().unwrap().len(), 12);
    assert!(handler("StopFailure").is_null() && handler("Notification").is_null());
    assert_eq!(uninstall(&made, Purpose::Events).unwrap(), None);

    let others = "{\n \"hooks\": {\n  \"Stop\": [\n   { \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }\n  ]\n }\n}\n";
    let both = install(Some(others), &command, &events).unwrap();
    assert_eq!(install(Some(&both), &command, &events).unwrap(), both);
    let settings: serde_json::Value = serde_json::from_str(&both).unwrap();
    assert_eq!(
        settings["hooks"]["Stop"][0]["hooks"][0]["command"], "say done",
        "its place is a part of its trust"
    );
    assert_eq!(uninstall(&both, Purpose::Events).unwrap().as_deref(), Some(others));

    let answers = command.for_answers();
    let asking = install(Some(&both), &answers, &wanted_events(&answers, None, None)).unwrap();
    assert!(asking.contains("hook --agent codex --answer\", \"timeout\": 30"), "{asking}");
    assert_eq!(uninstall(&asking, Purpose::Answers).unwrap(), Some(both));
    assert!(wanted_events(&command.for_purpose(Purpose::Context), None, None).is_empty());
}

#[test]
fn settings_that_codex_could_not_read_are_refused_with_the_place() {
    let command = HookCommand { agent: Agent::Codex, ..command() };
    let events = events_for(Agent::Codex, None, None);
    for (text, at) in [("{\n  // mine\n}", (2, 3)), ("{ \"hooks\": {}, }", (1, 16)), ("{", (1, 1))] {
        let Err(SettingsError::Malformed { line, column, .. }) = install(Some(text), &command, &events)
        else {
            panic!("{text} is no plain JSON")
        };
        assert_eq!((line, column), at, "{text}");
    }
    assert_eq!(install(Some(" \n"), &command, &events), Err(SettingsError::Empty));
}

#[test]
fn some_agents_get_a_plugin_of_our_own_and_no_other_file_is_touched() {
    for agent in [Agent::Opencode, Agent::Pi] {
        let command = HookCommand { agent, ..command() };
        let events = events_for(agent, None, None);
        let made = install(None, &command, &events).unwrap();
        assert_eq!(find_ours(&made, Purpose::Events).unwrap().len(), events.len());
        let line = format!("/usr/local/bin/watchbill hook --agent {}\"", agent.as_str());
        assert!(made.contains(&line), "{made}");
        assert_eq!(install(Some(&made), &command, &events).unwrap(), made);
        assert_eq!(uninstall(&made, Purpose::Events).unwrap(), None);
        // The program around the settings is of another version.
        let older = made.replace("the agent never waits for it", "");
        assert_ne!(older, made);
        assert_eq!(install(Some(&older), &command, &events).unwrap(), made);
        // An editor has written other line ends.
        let edited = made.replace('\n', "\r\n");
        assert_eq!(find_ours(&edited, Purpose::Events).unwrap().len(), events.len());
        let others = "export const Mine = async () => ({});\n";
        assert_eq!(install(Some(others), &command, &events), Err(SettingsError::NotOurs));
        assert!(uninstall(others, Purpose::Events).is_err());
    }
}

#[test]
fn a_plugin_has_handlers_for_answers_where_the_agent_takes_any() {
    let of = |agent| HookCommand { agent, ..command() };
    let (pi, opencode) = (of(Agent::Pi).for_answers(), of(Agent::Opencode));
    assert_eq!(wanted_events(&pi, None, None), Vec::<&Event>::new());
    let made = install(None, &opencode, &events_for(Agent::Opencode, None, None)).unwrap();
    let answers = opencode.for_answers();
    let asking = install(Some(&made), &answers, &wanted_events(&answers, None, None)).unwrap();
    assert_eq!(find_ours(&asking, Purpose::Answers).unwrap().len(), 1);
    assert_eq!(uninstall(&asking, Purpose::Answers).unwrap(), Some(made));
}

//! Registry files: those in recordings of the real client, including torn ones, and odd ones.

use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use watchbill_agents::claude::registry::{expects_registry, parse_registry};
use watchbill_core::evidence::registry::{RegistryEntry, RegistryError, RegistryStatus};
use watchbill_core::evidence::{asked_without_prefix, cause_without_prefix};
use watchbill_core::time::Timestamp;

/// Every content of a registry file in the recordings, with its path.
fn recorded() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings");
    let mut contents = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            let op: serde_json::Value = serde_json::from_str(line).unwrap();
            let path = op["path"].as_str().unwrap_or_default();
            if op["op"] == "write" && path.starts_with("sessions/") {
                contents.push((path.to_owned(), op["text"].as_str().unwrap().to_owned()));
            }
        }
    }
    contents
}

#[test]
fn recorded_files_are_entries_or_torn() {
    let (mut entries, mut torn, mut names) = (0, Vec::new(), BTreeSet::new());
    for (path, text) in recorded() {
        match (parse_registry(text.as_bytes()), serde_json::from_str::<serde_json::Value>(&text)) {
            (Ok(entry), Ok(_)) => {
                entries += 1;
                assert_eq!(path, format!("sessions/{}.json", entry.instance.pid));
                assert!(entry.instance.proc_start.is_some());
                assert!(!matches!(entry.status, Some(RegistryStatus::Unknown(_))), "{text}");
                assert!(entry.status.is_none() || entry.status_at.is_some());
                assert!(expects_registry(entry.version.as_deref(), Some("cli")));
                names.extend(entry.user_name.map(|name| name.to_string()));
            }
            (Err(RegistryError::Torn), Err(_)) => torn.push(text),
            other => panic!("{path}: {other:?}"),
        }
    }
    assert!(entries > 300, "{entries} entries");
    assert_eq!(names, BTreeSet::from(["rig-renamed".to_owned()]), "the others are derived names, no titles");
    assert_eq!(torn.len(), 8, "the recordings hold eight torn reads");
    assert!(torn.iter().any(String::is_empty));
    assert!(torn.iter().any(|text| text.ends_with("}}")), "one byte of the old text is enough");
    assert!(torn.iter().any(|text| text.ends_with(r#"}59,"waitingFor":"permission prompt"}"#)));
}

#[test]
fn every_field_is_read() {
    let text = br#"{"pid":17523,"sessionId":"645a2f0b","cwd":"/home/dev/work","startedAt":1795188650754,
        "procStart":"120613","version":"2.1.329","kind":"interactive","entrypoint":"cli",
        "pidDomain":"linux:3d12:pid:[4026531836]","tmux":"s1:@0.%0","name":"mine","nameSource":"user",
        "status":"waiting","updatedAt":1795188653000,"statusUpdatedAt":1795188653217,
        "waitingFor":"permission prompt","somethingNew":[{"a":null}]}"#;
    let entry = parse_registry(text).unwrap();
    let RegistryEntry { instance, session, cwd, started_at, status, status_at, .. } = &entry;
    assert_eq!((instance.pid, instance.proc_start.as_deref()), (17_523, Some("120613")));
    assert_eq!((session.as_str(), cwd.as_deref()), ("645a2f0b", Some("/home/dev/work")));
    assert_eq!(*started_at, Some(Timestamp::from_millis(1_795_188_650_754)));
    assert_eq!(*status, Some(RegistryStatus::Waiting("permission prompt".into())));
    assert_eq!(*status_at, Some(Timestamp::from_millis(1_795_188_653_217)));
    assert_eq!((entry.kind.as_deref(), entry.entrypoint.as_deref()), (Some("interactive"), Some("cli")));
    assert_eq!((entry.version.as_deref(), entry.user_name.as_deref()), (Some("2.1.329"), Some("mine")));
    assert_eq!(entry.pid_domain.as_deref(), Some("linux:3d12:pid:[4026531836]"));
    assert_eq!(entry.tmux.as_deref(), Some("s1:@0.%0"));
}

#[test]
fn the_oldest_form_is_an_entry_without_a_status() {
    let entry = parse_registry(
        br#"{"pid":1,"sessionId":"s","cwd":"/w","startedAt":1795188650754,"kind":"interactive","entrypoint":"cli"}"#,
    )
    .unwrap();
    assert_eq!((entry.instance.proc_start, entry.status, entry.status_at), (None, None, None));
}

#[test]
fn the_start_of_a_process_is_read_as_each_system_tells_it() {
    let start = |fields: &str| {
        let text = format!(r#"{{"pid":1,"sessionId":"s",{fields}}}"#);
        parse_registry(text.as_bytes()).unwrap().instance.proc_start
    };
    let of_windows = r#""procStartFt":"134396622507540000","pidDomain":"win32:desk""#;
    assert_eq!(start(of_windows).as_deref(), Some("1795188650"));
    assert_eq!(start(r#""procStart":"639307854507540000""#), None, "local time");
    let of_macos = r#""procStart":"Sat Nov  7 14:48:27 2026","pidDomain":"darwin""#;
    assert_eq!(start(of_macos).as_deref(), Some("Sat Nov 7 14:48:27 2026"));
    for odd in ["procStartFt\":\"7", "procStartFt\":\"99999999999999999999", "procStartFt\":\"x"] {
        assert_eq!(start(&format!("\"{odd}\"")), None, "{odd}");
    }
}

#[test]
fn odd_values_are_unknown_and_no_error() {
    let entry = parse_registry(
        br#"{"pid":1,"sessionId":"s","procStart":123,"status":"","statusUpdatedAt":"soon","updatedAt":7,
            "cwd":{"a":1},"kind":null,"name":"n","nameSource":"derived","startedAt":"2026-11-20T15:30:52.694Z"}"#,
    )
    .unwrap();
    assert_eq!(entry.instance.proc_start.as_deref(), Some("123"));
    assert_eq!((entry.status, entry.cwd, entry.kind, entry.user_name), (None, None, None, None));
    assert_eq!(entry.status_at, Some(Timestamp::from_millis(7)));
    assert_eq!(entry.started_at, Timestamp::parse("2026-11-20T15:30:52.694Z"));
    let strange = parse_registry(br#"{"pid":1,"sessionId":"s","status":"pondering"}"#).unwrap();
    assert_eq!(strange.status, Some(RegistryStatus::Unknown("pondering".into())));
    let bare = parse_registry(br#"{"pid":1,"sessionId":"s","status":"waiting"}"#).unwrap();
    assert_eq!(bare.status, Some(RegistryStatus::Waiting("".into())));
}

#[test]
fn complete_json_without_process_or_session_is_no_entry() {
    for text in [
        "[]",
        "null",
        "7",
        r#""s""#,
        "{}",
        r#"{"pid":1}"#,
        r#"{"sessionId":"s"}"#,
        r#"{"pid":1,"sessionId":""}"#,
        r#"{"pid":"one","sessionId":"s"}"#,
        r#"{"pid":-1,"sessionId":"s"}"#,
        r#"{"pid":4294967296,"sessionId":"s"}"#,
        r#"{"session_id":"s","cwd":"/w"}"#,
    ] {
        assert_eq!(parse_registry(text.as_bytes()), Err(RegistryError::NotAnEntry), "{text}");
    }
}

#[test]
fn a_registry_is_expected_of_the_versions_that_were_seen_to_keep_one() {
    for (version, entrypoint, expected) in [
        (Some("2.1.139"), Some("cli"), true),
        (Some("2.1.329"), Some("cli"), true),
        (Some("2.2.0"), Some("cli"), true),
        (Some("3"), Some("cli"), true),
        (Some("2.1.140-beta.1"), Some("cli"), true),
        (Some("2.1.138"), Some("cli"), false),
        (Some("1.9.999"), Some("cli"), false),
        (Some("next"), Some("cli"), false),
        (Some("2.1.329"), Some("sdk-cli"), true),
        (Some("2.1.328"), Some("sdk-cli"), false),
        (Some("2.1.329"), Some("sdk-ts"), false),
        (Some("2.1.329"), None, false),
        (None, Some("cli"), false),
    ] {
        assert_eq!(expects_registry(version, entrypoint), expected, "{version:?} {entrypoint:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn a_cut_file_is_torn(cut in any::<prop::sample::Index>()) {
        let text = br#"{"pid":1,"sessionId":"s","status":"waiting","waitingFor":"permission prompt"}"#;
        let torn = &text[..cut.index(text.len())];
        prop_assert_eq!(parse_registry(torn), Err(RegistryError::Torn));
    }

    #[test]
    fn the_tail_of_an_older_text_is_torn(
        new in prop::sample::select(vec!["idle", "busy", "shell"]),
        old in "[a-z ]{8,24}",
    ) {
        let new = format!(r#"{{"pid":1,"sessionId":"s","status":"{new}"}}"#);
        let old = format!(r#"{{"pid":1,"sessionId":"s","status":"waiting","waitingFor":"{old}"}}"#);
        let mixed = format!("{new}{}", &old[new.len()..]);
        prop_assert_eq!(parse_registry(mixed.as_bytes()), Err(RegistryError::Torn));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(parse_registry(&bytes).is_err());
    }
}

#[test]
fn nesting_without_end_is_no_entry_and_no_crash() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let depth = 250_000 / (open.len() + close.len());
        let torn = open.repeat(depth);
        let whole = format!("{torn}1{}", close.repeat(depth));
        let entry = format!(r#"{{"pid":7,"sessionId":"s","x":{whole}}}"#);
        for text in [torn, whole, entry] {
            assert_eq!(parse_registry(text.as_bytes()), Err(RegistryError::NotAnEntry));
        }
    }
    let brackets = format!(r#"{{"pid":7,"sessionId":"s","name":"{}"}}"#, "[".repeat(1000));
    assert_eq!(parse_registry(brackets.as_bytes()).unwrap().instance.pid, 7, "in a text they are text");
}

#[test]
fn what_was_asked_is_found_behind_the_words_of_the_rules() {
    let cases = [
        ("asks: Should I use `tokio` for async code?", Some("Should I use `tokio` for async code?")),
        ("asks: Who asks: you?", Some("Who asks: you?")),
        ("the agent asks: Bash wants permission for x", Some("Bash wants permission for x")),
        ("the agent asks: ", None),
        ("registry says `permission prompt`", None),
        ("registry says `permission prompt` for Bash: echo `a` for b", Some("Bash: echo `a` for b")),
        ("registry says `input needed` for a subagent: AskUserQuestion", Some("a subagent: AskUserQuestion")),
        (
            "registry says `permission prompt` for Bash: a; b; the process cannot be seen from here; 2 processes run this session",
            Some("Bash: a; b"),
        ),
        ("a hook says that the agent wants permission for Bash: a; 2 more wait", Some("Bash: a")),
        ("a hook says that a subagent asks a question: Who asks: me?", Some("Who asks: me?")),
        ("a hook says that the agent asks a question", None),
        ("a hook says that the agent shows a plan: 1. Ask", Some("1. Ask")),
        ("a subagent asks: registry says `permission prompt`", None),
        ("a subagent asks: registry says `permission prompt` for Bash: a", Some("Bash: a")),
        ("a subagent asks: a hook says that the agent wants permission for Edit: b", Some("Edit: b")),
        ("a subagent asks: asks: Which?", Some("Which?")),
        ("a plan waits for a verdict", None),
        ("a hook says that a server asks for something: it asks: X", None),
    ];
    for (reason, asked) in cases {
        assert_eq!(asked_without_prefix(reason), asked, "{reason}");
    }
    let failed = "registry says `idle`; API Error: 529; 2 processes run this session";
    assert_eq!(cause_without_prefix(failed), Some("API Error: 529"));
}

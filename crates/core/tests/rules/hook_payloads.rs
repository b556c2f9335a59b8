//! Hook payloads: every recorded payload of the real client, and invalid ones.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use proptest::prelude::*;
use watchbill_agents::claude::hooks::{parse_payload, read_texts};
use watchbill_core::hook::event::{Background, EndReason, NotificationKind, StartSource};
use watchbill_core::hook::{HookError, HookEvent, HookPayload, PAYLOAD_LIMIT};

/// Every recorded payload as (name, bytes).
fn recorded() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/hook-payloads");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the fixtures are there") {
        let path = entry.expect("readable").path();
        let text = fs::read_to_string(&path).expect("readable");
        let whole: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        found.push((name, serde_json::to_vec(&whole["payload"]).expect("JSON")));
    }
    found.sort();
    found
}

fn parsed(name: &str) -> HookPayload {
    let all = recorded();
    let (_, bytes) = all.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("no payload {name}"));
    parse_payload(bytes).expect("a payload")
}

#[test]
fn every_recorded_payload_is_read_as_the_event_it_is() {
    let mut events = BTreeSet::new();
    let all = recorded();
    assert!(all.len() >= 63, "{} payloads", all.len());
    for (name, bytes) in &all {
        let payload = parse_payload(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        let json: serde_json::Value = serde_json::from_slice(bytes).expect("JSON");
        assert_eq!(payload.session.as_str(), json["session_id"].as_str().expect("a session"), "{name}");
        assert_eq!(payload.transcript_path.as_deref(), json["transcript_path"].as_str(), "{name}");
        assert_eq!(payload.prompt_id.as_deref(), json["prompt_id"].as_str(), "{name}");
        assert_eq!(payload.permission_mode.as_deref(), json["permission_mode"].as_str(), "{name}");
        assert_eq!(payload.agent_id.as_deref(), json["agent_id"].as_str(), "{name}");
        let event = json["hook_event_name"].as_str().expect("an event");
        assert_eq!(payload.event.name(), event, "{name}");
        // Every word of a closed set is known.
        match &payload.event {
            HookEvent::SessionStart { source, .. } => assert_ne!(*source, StartSource::Unknown, "{name}"),
            HookEvent::Notification { kind } => assert_ne!(*kind, NotificationKind::Other, "{name}"),
            HookEvent::PreToolUse(call)
            | HookEvent::PostToolUse(call)
            | HookEvent::PermissionRequest(call)
            | HookEvent::PostToolUseFailure { call, .. } => {
                assert_eq!(Some(&*call.tool), json["tool_name"].as_str(), "{name}");
                assert_eq!(call.id.as_deref(), json["tool_use_id"].as_str(), "{name}");
            }
            HookEvent::Other(other) => assert_eq!(&**other, event, "{name}"),
            _ => {}
        }
        let text = String::from_utf8_lossy(bytes);
        let texts = read_texts(&text).expect("texts");
        assert_eq!(texts.prompt.as_deref(), json["prompt"].as_str(), "{name}");
        assert_eq!(
            texts.last_assistant_message.as_deref(),
            json["last_assistant_message"].as_str(),
            "{name}"
        );
        assert_eq!(texts.compact_summary.as_deref(), json["compact_summary"].as_str(), "{name}");
        let json_of = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        let input = json.get("tool_input").cloned();
        assert_eq!(texts.tool_input.map(json_of), input, "{name}");
        let response = json.get("tool_response").filter(|response| !response.is_string()).cloned();
        assert_eq!(
            texts.tool_response.filter(|_| response.is_some()).map(|text| json_of(&text)),
            response,
            "{name}"
        );
        events.insert(event.to_owned());
    }
    assert!(events.len() >= 22, "{events:?}");
}

#[test]
fn recorded_payloads_have_the_expected_fields() {
    let payload = parsed("SessionStart-startup");
    let HookEvent::SessionStart { source, model, .. } = payload.event else { panic!("{payload:?}") };
    assert_eq!((source, model.as_deref()), (StartSource::Startup, Some("claude-opus-5-5")));

    for (name, reason) in [
        ("SessionEnd-clear", EndReason::Clear),
        ("SessionEnd-resume", EndReason::Resume),
        ("SessionEnd-prompt_input_exit", EndReason::Exit),
        ("SessionEnd-other", EndReason::Other),
    ] {
        assert_eq!(parsed(name).event, HookEvent::SessionEnd { reason }, "{name}");
    }

    for (name, task_notification) in
        [("UserPromptSubmit", false), ("UserPromptSubmit-task-notification", true)]
    {
        assert_eq!(parsed(name).event, HookEvent::UserPromptSubmit { task_notification }, "{name}");
    }

    let request = parsed("PermissionRequest-Write-in-subagent");
    assert_eq!(request.agent_id.as_deref(), Some("ad0403d98d087792a"));
    let HookEvent::PermissionRequest(call) = request.event else { panic!("no request") };
    assert_eq!((&*call.tool, &*call.target, call.id), ("Write", "/home/dev/work/sub.txt", None));

    let HookEvent::Stop { last_message, background } = parsed("Stop-with-background-subagent").event else {
        panic!("no end")
    };
    assert_eq!(&*last_message, "The subagent reported.");
    assert_eq!(background, Background { agents: vec!["a231fdd1297b95b4f".into()], shells: 0 });
    let HookEvent::Stop { background, .. } = parsed("Stop-with-background-shell").event else {
        panic!("no end")
    };
    assert_eq!(background, Background { agents: vec![], shells: 1 });

    let HookEvent::StopFailure { error, message } = parsed("StopFailure-invalid_request").event else {
        panic!("no failure")
    };
    assert_eq!((&*error, &*message), ("invalid_request", "Prompt is too long"));
    assert_eq!(parsed("SubagentStop-compaction").agent_type.as_deref(), Some(""));

    let question = parsed("PermissionRequest-AskUserQuestion");
    let HookEvent::PermissionRequest(call) = question.event else { panic!("no request") };
    assert_eq!(&*call.target, "Which colour do you want?");
}

#[test]
fn a_request_has_the_fingerprint_of_its_call() {
    for tool in ["Bash", "Edit", "Write", "AskUserQuestion", "ExitPlanMode"] {
        let HookEvent::PreToolUse(call) = parsed(&format!("PreToolUse-{tool}")).event else {
            panic!("{tool}")
        };
        let HookEvent::PermissionRequest(request) = parsed(&format!("PermissionRequest-{tool}")).event else {
            panic!("{tool}")
        };
        // The recorded PreToolUse and PermissionRequest of one tool are of the same call if both were taken in one
        // scenario.
        assert_eq!(
            (call.tool, call.target, call.input),
            (request.tool, request.target, request.input),
            "{tool}"
        );
    }
}

#[test]
fn invalid_payloads_are_refused_with_a_reason() {
    for (bytes, error) in [
        (&b""[..], HookError::Malformed),
        (b"null", HookError::Malformed),
        (b"[]", HookError::Malformed),
        (br#"{"session_id":"a","hook_event_name":"Stop""#, HookError::Malformed),
        (br#"{"session_id":"a","hook_event_name":"Stop"} {}"#, HookError::Malformed),
        (br#"{"session_id":"a"}"#, HookError::NotAnEvent("Claude Code")),
        (br#"{"hook_event_name":"Stop"}"#, HookError::NotAnEvent("Claude Code")),
        (br#"{"session_id":"","hook_event_name":"Stop"}"#, HookError::NotAnEvent("Claude Code")),
        (br#"{"session_id":7,"hook_event_name":"Stop"}"#, HookError::NotAnEvent("Claude Code")),
    ] {
        assert_eq!(parse_payload(bytes), Err(error), "{}", String::from_utf8_lossy(bytes));
    }
    let deep =
        format!(r#"{{"session_id":"a","hook_event_name":"Stop","x":{}{}}}"#, "[".repeat(99), "]".repeat(99));
    assert_eq!(parse_payload(deep.as_bytes()), Err(HookError::TooDeep));
    let huge =
        format!(r#"{{"session_id":"a","hook_event_name":"Stop","x":"{}"}}"#, "y".repeat(PAYLOAD_LIMIT));
    assert_eq!(parse_payload(huge.as_bytes()), Err(HookError::TooLarge));
}

#[test]
fn unexpected_types_and_unknown_events_are_read_as_far_as_possible() {
    let odd = br#"{"session_id":"a","hook_event_name":"Stop","cwd":7,"prompt_id":null,"background_tasks":"x",
        "last_assistant_message":["y"]}"#;
    let payload = parse_payload(odd).expect("a payload");
    assert_eq!((payload.cwd, payload.prompt_id), (None, None));
    assert_eq!(payload.event, HookEvent::Stop { last_message: "".into(), background: Background::default() });
    let new = parse_payload(br#"{"hook_event_name":"Tomorrow","session_id":"a"}"#).expect("a payload");
    assert_eq!(new.event, HookEvent::Other("Tomorrow".into()));
    let invalid =
        parse_payload(b"{\"session_id\":\"a\",\"hook_event_name\":\"Elicitation\",\"message\":\"\xff!\"}");
    let message = "\u{fffd}!".into();
    assert_eq!(invalid.expect("a payload").event, HookEvent::Elicitation { message });
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_payload(&bytes);
    }

    #[test]
    fn no_cut_and_no_changed_byte_makes_it_panic(n in 0usize..63, at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let all = recorded();
        let mut bytes = all[n % all.len()].1.clone();
        let at = at.index(bytes.len());
        // A cut payload is refused: the missing rest might reverse its meaning.
        prop_assert!(parse_payload(&bytes[..at]).is_err());
        bytes[at] = byte;
        if parse_payload(&bytes).is_ok() {
            prop_assert!(read_texts(&String::from_utf8_lossy(&bytes)).is_ok());
        }
    }
}

//! The reasons of states, and the stored fold of a transcript, name the target of a call. Neither may name an
//! excluded path.

use std::path::Path;

use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::handle::start;
use watchbill_settings::Settings;
use watchbill_store::{OpenMode, Store};

use crate::exclude_later::{excluding, file_containing};
use crate::thread::released;
use crate::wait::until;

/// Sessions with an unanswered call: on a file, by a command, by a search whose summary is not the path.
const CALLS: [(&str, &str, &str); 3] = [
    ("reads", "Read", r#"{"file_path":"/home/dev/secret/HIDDEN"}"#),
    ("runs", "Bash", r#"{"command":"cat ../secret/HIDDEN"}"#),
    ("asks", "mcp__a__look", r#"{"for":"HIDDEN words","below":"/home/dev/secret"}"#),
];

fn sessions_with_open_calls(folder: &Path) -> Settings {
    let root = folder.canonicalize().unwrap();
    let project = root.join("claude/projects/p");
    std::fs::create_dir_all(&project).unwrap();
    let now = SystemClock.now();
    for (session, tool, input) in CALLS {
        let line = |n: i64, kind: &str, content: &str| {
            let at = now - Millis(20_000 - n * 1_000);
            format!(
                r#"{{"type":"{kind}","uuid":"{session}{n}","sessionId":"{session}","cwd":"/home/dev/work","timestamp":"{at}","message":{{"id":"m{n}","content":{content}}}}}"#
            ) + "\n"
        };
        let call = format!(r#"[{{"type":"tool_use","id":"t","name":"{tool}","input":{input}}}]"#);
        let text = line(1, "user", r#""open words""#) + &line(2, "assistant", &call);
        std::fs::write(project.join(format!("{session}.jsonl")), text).unwrap();
    }
    let mut settings = Settings::for_roots(vec![root.join("claude")]);
    settings.data_dir = Some(root.join("data"));
    settings
}

/// The stored reasons of all three sessions; empty until each session has one.
fn reasons(data: &Path) -> Vec<String> {
    let Ok(store) = Store::open(data, OpenMode::Read) else { return Vec::new() };
    let mut reasons = Vec::new();
    for (session, _, _) in CALLS {
        let Ok(Some(key)) = store.session_key(&SessionId::new(session)) else { return Vec::new() };
        let of_session = store.transitions(key, 100).unwrap();
        if of_session.is_empty() {
            return Vec::new();
        }
        reasons.extend(of_session.into_iter().map(|row| row.detail));
    }
    reasons
}

#[test]
fn no_reason_and_no_stored_state_names_an_excluded_path() {
    let folder = tempfile::tempdir().unwrap();
    let settings = excluding(&sessions_with_open_calls(folder.path()));
    let data = settings.data_dir.clone().unwrap();
    let engine = start(settings.clone()).unwrap();
    until("the states to be stored", || !reasons(&data).is_empty());
    let shown = engine.roster(true).unwrap().sessions;
    assert_eq!(shown.len(), CALLS.len());
    engine.stop();
    drop(engine);
    released(&data);
    assert!(reasons(&data).iter().any(|reason| reason.contains("Bash")), "{:?}", reasons(&data));
    assert_eq!(file_containing(&data, "HIDDEN"), None, "{:?}", reasons(&data));
    // The same after a start that restores the stored state.
    let engine = start(settings).unwrap();
    until("the states to be there", || engine.roster(true).unwrap().sessions.len() == CALLS.len());
    engine.stop();
    assert_eq!(file_containing(&data, "HIDDEN"), None);
}

#[test]
fn reasons_that_name_a_path_are_removed_when_it_is_excluded_while_the_engine_runs() {
    let folder = tempfile::tempdir().unwrap();
    let settings = sessions_with_open_calls(folder.path());
    let data = settings.data_dir.clone().unwrap();
    let engine = start(settings.clone()).unwrap();
    until("the states to be stored", || reasons(&data).iter().any(|reason| reason.contains("HIDDEN")));
    engine.apply(&excluding(&settings));
    until("all of it to be gone", || file_containing(&data, "HIDDEN").is_none());
    engine.stop();
    drop(engine);
    released(&data);
    assert_eq!(file_containing(&data, "HIDDEN"), None);
    assert!(!reasons(&data).is_empty(), "the states themselves stay");
}

#[test]
fn reasons_that_name_a_path_are_removed_when_it_is_excluded_before_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let settings = sessions_with_open_calls(folder.path());
    let data = settings.data_dir.clone().unwrap();
    let engine = start(settings.clone()).unwrap();
    until("the states to be stored", || reasons(&data).iter().any(|reason| reason.contains("HIDDEN")));
    engine.stop();
    drop(engine);
    released(&data);
    assert!(file_containing(&data, "HIDDEN").is_some());
    let mut other = settings.clone();
    other.history.exclude = Exclude::new(["/home/dev/sec*".to_owned()]);
    let engine = start(other).unwrap();
    until("all of it to be gone", || file_containing(&data, "HIDDEN").is_none());
    engine.stop();
    drop(engine);
    released(&data);
    assert_eq!(file_containing(&data, "HIDDEN"), None);
}

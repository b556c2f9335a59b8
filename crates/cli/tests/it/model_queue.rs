//! The model is asked after turns and sessions, through the real programs: once for each, while no session works.

use std::path::Path;
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::answers::Client;
use crate::faults::fill;
use crate::forget::{in_bytes, until};
use crate::home::Home;
use crate::memory::{Asked, FOUND, LATER, SESSION, endpoint, endpoint_when, memories, memory, turn, work};
use crate::process;
use crate::program::build;
use crate::tree::{append, now};
use crate::with_serve::Serve;

fn model_at(base: &str) -> String {
    format!("[model]\nbase_url = \"{base}\"\nname = \"small\"\n")
}

/// A home without sessions, and with this configuration.
fn home_with(config: &str) -> Home {
    let home = Home::empty().configured(config);
    work(&home);
    home
}

/// From here on the model counts as chosen.
fn note_choice(home: &Home) {
    assert_eq!(memory(home, &["list"]).code, 0);
}

fn count(asked: &Asked) -> usize {
    asked.lock().unwrap().len()
}

fn found(home: &Home) -> Vec<Value> {
    memories(home, &["list"]).into_iter().filter(|one| one["kind"] == "gotcha").collect()
}

fn queue(home: &Home) -> Value {
    home.json(&["doctor", "--json"])["store"]["model"].clone()
}

#[test]
fn each_ended_turn_is_asked_about_once_and_the_finding_is_a_proposal() {
    build("watchbill-model-client");
    let (base, asked) = endpoint(FOUND);
    let home = home_with(&model_at(&base));
    turn(&home, SESSION, "before the model was chosen", 0);
    let serve = Serve::of(&home);
    note_choice(&home);
    turn(&home, SESSION, "make the log nicer", 1);
    until("a finding", || !found(&home).is_empty());
    let one = &found(&home)[0];
    assert_eq!((&one["standing"], &one["path"]), (&json!("proposed"), &json!("src/log.rs")));
    assert!(asked.lock().unwrap()[0].contains("make the log nicer"), "{asked:?}");
    assert_eq!(count(&asked), 1, "not about the turn before");
    turn(&home, SESSION, "and once more", 2);
    until("the second question", || queue(&home)["today"]["questions"] == 2 && queue(&home)["queued"] == 0);
    let stats = home.json(&["stats", "--json"]);
    assert_eq!(
        (&stats["memoryModel"][0]["questions"], &stats["memoryModel"][0]["tokensIn"]),
        (&json!(2), &json!(600))
    );
    assert!(home.out(&["stats"]).contains("2 questions, 600 + 80 tokens"));
    let doctor = home.out(&["doctor"]);
    assert!(
        doctor.contains("model: small at http://127.0.0.1:") && doctor.contains("no turn waits"),
        "{doctor}"
    );
    drop(serve);
    // Another start asks nothing again, and forgetting the session takes its finding.
    let _serve = Serve::of(&home);
    assert_eq!((found(&home).len(), count(&asked)), (1, 2));
    assert_eq!(home.run_watchbill(&["forget", SESSION, "--yes"]).code, 0);
    assert!(found(&home).is_empty());
    assert_eq!(queue(&home)["today"]["questions"], 2, "what it took stays");
}

#[test]
fn while_a_session_works_or_during_a_pause_the_turn_waits() {
    build("watchbill-model-client");
    let (base, asked) = endpoint(FOUND);
    let home = home_with(&model_at(&base));
    let _serve = Serve::of(&home);
    note_choice(&home);
    let cwd = work(&home);
    let works = |part: &str, message: Value, kind: &str| {
        let record = json!({ "type": kind, "uuid": part, "timestamp": now().to_string(), "cwd": cwd, "sessionId": LATER, "message": message });
        append(&home.claude(), Path::new(&format!("projects/-work/{LATER}.jsonl")), &format!("{record}\n"));
    };
    works("p", json!({ "role": "user", "content": "think about it" }), "user");
    until("a session to work", || home.out(&["status"]).contains("1 working"));
    turn(&home, SESSION, "make the log nicer", 0);
    until("the turn to wait", || queue(&home)["queued"] == 1);
    assert_eq!(count(&asked), 0, "a session works");
    assert_eq!(memory(&home, &["pause", "1h"]).code, 0);
    let done = json!({ "id": "m", "role": "assistant", "model": "m", "stop_reason": "end_turn", "content": [{ "type": "text", "text": "Yes." }] });
    works("a", done, "assistant");
    until("no session to work", || !home.out(&["status"]).contains("1 working"));
    assert_eq!((&queue(&home)["queued"], count(&asked)), (&json!(1), 0), "paused");
    assert!(home.out(&["doctor"]).contains("paused until"));
    assert_eq!(memory(&home, &["pause", "--off"]).code, 0);
    until("a finding", || !found(&home).is_empty());
}

/// An answer to both questions: about a turn, and about a session.
const BOTH: &str = "{\"memories\":[{\"type\":\"gotcha\",\"text\":\"Local times in the log break the nightly merge of both hosts.\",\
    \"importance\":\"high\",\"file\":\"src/log.rs\",\"evidence\":[\"a1\"]}]}\n\
    {\"title\":\"Nicer times in the log.\",\"request\":\"Make the log nicer\",\"investigated\":\"The log\",\
     \"learned\":\"Times were local\",\"completed\":\"Times are UTC\",\"next_steps\":\"Tell the hosts\"}";

/// How many questions were about a session.
fn sessions_asked(asked: &Asked) -> usize {
    asked.lock().unwrap().iter().filter(|body| body.contains("sum up a coding session")).count()
}

fn shown_title(home: &Home, session: &str) -> Option<String> {
    let roster = home.json(&["roster", "--all", "--json"]);
    let row = roster["sessions"].as_array()?.iter().find(|row| row["sessionId"] == session)?.clone();
    Some(row["title"].as_str()?.to_owned())
}

fn summary(home: &Home, session: &str) -> Value {
    home.json(&["summary", session, "--json"])
}

/// A process that runs the session and waits for the user.
fn runs(home: &Home, session: &str) -> Client {
    let client = Client::start(home, session);
    client.write_status_in(&work(home), session, "idle");
    client
}

#[test]
fn a_session_that_ends_gets_a_title_and_a_summary_once_until_it_goes_on_and_ends_again() {
    build("watchbill-model-client");
    let (base, asked) = endpoint(BOTH);
    let home = home_with(&model_at(&base));
    let serve = Serve::of(&home);
    note_choice(&home);
    let client = runs(&home, SESSION);
    turn(&home, SESSION, "make the log nicer", 0);
    until("the turn to be asked about", || count(&asked) == 1 && !found(&home).is_empty());
    assert_eq!(
        (sessions_asked(&asked), shown_title(&home, SESSION).as_deref()),
        (0, Some("make the log nicer"))
    );
    assert_eq!(queue(&home)["queued"], 0, "a session that runs does not wait");
    drop(client);
    let proposed = Some("Nicer times in the log".to_owned());
    until("the title", || shown_title(&home, SESSION) == proposed);
    let by_model = json!({ "sessionId": SESSION, "title": proposed, "titleProposed": true, "byModel": true,
        "request": "Make the log nicer", "investigated": "The log", "learned": ["Times were local"],
        "completed": "Times are UTC", "nextSteps": ["Tell the hosts"] });
    assert_eq!(summary(&home, SESSION), by_model);
    let text = home.out(&["summary", SESSION]);
    assert!(text.contains("(proposed by the model)") && text.contains("made by       the model"), "{text}");
    assert!(
        !home.out(&["summary", SESSION, "--hand-over"]).contains("UTC"),
        "agents are told what rules say"
    );

    let client = runs(&home, SESSION);
    turn(&home, SESSION, "and once more", 1);
    until("the second turn to be asked about", || count(&asked) == 3);
    let stale = summary(&home, SESSION);
    assert_eq!((&stale["byModel"], &stale["titleProposed"]), (&Value::Null, &json!(true)), "{stale}");
    assert_eq!(sessions_asked(&asked), 1, "it runs again");
    drop(client);
    until("the summary anew", || summary(&home, SESSION) == by_model);
    assert_eq!((sessions_asked(&asked), count(&asked)), (2, 4));
    drop(serve);
    assert_eq!(shown_title(&home, SESSION), proposed, "also to a program that only looks");

    let _serve = Serve::of(&home);
    assert_eq!((shown_title(&home, SESSION), count(&asked)), (proposed, 4), "a start keeps it");
    let named = json!({ "type": "custom-title", "customTitle": "The log of mine", "sessionId": SESSION });
    append(&home.claude(), Path::new(&format!("projects/-work/{SESSION}.jsonl")), &format!("{named}\n"));
    until("the user's title", || shown_title(&home, SESSION).as_deref() == Some("The log of mine"));
    assert_eq!(summary(&home, SESSION)["titleProposed"], Value::Null);
    assert_eq!(home.run_watchbill(&["forget", SESSION, "--yes"]).code, 0);
    assert_eq!(in_bytes(&home, "Times are UTC"), Vec::<std::path::PathBuf>::new());
    assert_ne!(shown_title(&home, SESSION).as_deref(), Some("Nicer times in the log"));
    assert_eq!(count(&asked), 4);
}

#[test]
fn a_given_title_stays_a_private_session_is_not_asked_about_and_a_bad_reply_changes_nothing() {
    build("watchbill-model-client");
    let (base, asked) = endpoint(BOTH);
    let home = home_with(&model_at(&base));
    let _serve = Serve::of(&home);
    note_choice(&home);
    let clients = [SESSION, LATER].map(|session| runs(&home, session));
    let named = json!({ "type": "agent-name", "agentName": "Log keeper", "sessionId": SESSION });
    append(&home.claude(), Path::new(&format!("projects/-work/{SESSION}.jsonl")), &format!("{named}\n"));
    turn(&home, LATER, "<private>all of it</private>", 0);
    turn(&home, SESSION, "make the log nicer", 0);
    until("the turn to be asked about", || count(&asked) >= 1);
    drop(clients);
    until("the summary", || summary(&home, SESSION)["byModel"] == true);
    assert_eq!(shown_title(&home, SESSION).as_deref(), Some("Log keeper"));
    assert_eq!((sessions_asked(&asked), count(&asked)), (1, 2), "{asked:?}");

    let (base, asked) = endpoint(FOUND);
    let home = home_with(&model_at(&base));
    let _serve = Serve::of(&home);
    note_choice(&home);
    let client = runs(&home, SESSION);
    turn(&home, SESSION, "make the log nicer", 0);
    until("the turn to be asked about", || count(&asked) == 1 && !found(&home).is_empty());
    drop(client);
    until("the question", || sessions_asked(&asked) == 1 && queue(&home)["running"] != true);
    assert_eq!(summary(&home, SESSION)["byModel"], Value::Null);
    assert_eq!(shown_title(&home, SESSION).as_deref(), Some("make the log nicer"));
    assert_eq!((&queue(&home)["queued"], count(&asked)), (&json!(0), 2));
}

#[test]
fn an_answer_that_comes_while_the_disk_is_full_is_stored_later_and_not_asked_for_again() {
    let test =
        "model_queue::an_answer_that_comes_while_the_disk_is_full_is_stored_later_and_not_asked_for_again";
    let Some(folder) = process::on_a_small_disk(test) else { return };
    build("watchbill-model-client");
    let (release, held) = mpsc::channel();
    let (base, asked) = endpoint_when(FOUND, move || held.recv().unwrap());
    let home = Home::with(folder.join("data"), &model_at(&base));
    let serve = Serve::of(&home);
    note_choice(&home);
    turn(&home, SESSION, "make the log nicer", 0);
    until("the question", || count(&asked) == 1);
    let ballast = folder.join("ballast");
    fill(&ballast);
    release.send(()).unwrap();
    until("the end of the program that asks", || !has_children(serve.pid()));
    std::fs::remove_file(ballast).unwrap();
    until("a finding", || !found(&home).is_empty());
    assert_eq!((count(&asked), found(&home).len()), (1, 1));
}

/// Whether a process has children.
fn has_children(pid: u32) -> bool {
    let stats = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("stat"));
    // After the name in parentheses come the state and the id of the parent.
    let parent = |stat: String| stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok();
    stats.filter_map(|stat| parent(std::fs::read_to_string(stat).ok()?)).any(|parent: u32| parent == pid)
}

//! Folders of agents on a real disk: those that are missing at the start, and files in them that are never opened.

use std::path::{Path, PathBuf};
use std::time::Duration;

use watchbill_agents::{Agent, Root, traits};
use watchbill_protocol::roster::RosterSnapshot;
use watchbill_settings::Settings;

use crate::subscriber::{Folder, Subscriber, append, now, row};

/// Settings as they are found in a home folder: only these are there.
fn found(home: &Path, there: &[&Root]) -> Settings {
    let usual = [Root::from(home.join(".claude")), codex(home)];
    let (there, awaited) = usual.iter().cloned().partition::<Vec<_>, _>(|root| there.contains(&root));
    let roots = if there.is_empty() { vec![usual[0].clone()] } else { there };
    Settings { awaited, ..Settings::for_roots(roots) }
}

fn codex(home: &Path) -> Root {
    Root::new(Agent::Codex, home.join(".codex"))
}

/// Codex writes its first session.
fn write_rollout(home: &Path) {
    let day = home.join(".codex/sessions/2026/11/28");
    std::fs::create_dir_all(&day).unwrap();
    let at = now();
    let id = "01a1f9a8-51c2-7810-b121-7ef069913a9e";
    let file = day.join(format!("rollout-2026-11-28T22-00-00-{id}.jsonl"));
    let line = |kind: &str, payload: &str| {
        format!("{{\"timestamp\":\"{at}\",\"type\":\"{kind}\",\"payload\":{payload}}}\n")
    };
    append(&file, &line("session_meta", &format!(r#"{{"id":"{id}","cwd":"/","cli_version":"0.169.0"}}"#)));
    append(&file, &line("event_msg", r#"{"type":"task_started","turn_id":"t"}"#));
}

fn shows_codex(copy: &RosterSnapshot) -> bool {
    copy.sessions.iter().any(|row| row.agent == "codex" && row.state == "working")
}

fn problems(copy: &RosterSnapshot) -> Vec<&str> {
    copy.problems.iter().map(|problem| &*problem.kind).collect()
}

/// A home folder that is there, without folders of agents.
fn empty_home() -> (Folder, PathBuf) {
    let folder = Folder::missing();
    let home = folder.root.parent().unwrap().to_path_buf();
    std::fs::create_dir_all(&home).unwrap();
    (folder, home)
}

#[test]
fn a_folder_that_appears_is_seen_and_ends_the_problem_that_there_is_none() {
    let (folder, home) = empty_home();
    let mut subscriber = Subscriber::on(found(&home, &[]));
    assert_eq!(problems(&subscriber.copy), ["missing"]);
    write_rollout(&home);
    subscriber.until("the session of Codex", shows_codex);
    subscriber.until("no problem", |copy| copy.problems.is_empty());
    let author = folder.author(1);
    std::fs::create_dir_all(folder.root.join("projects/p")).unwrap();
    folder.append(&author, &author.prompt(1, now()));
    subscriber.until_state(&author, "working");
}

#[test]
fn without_claude_code_there_is_no_problem() {
    let (_folder, home) = empty_home();
    write_rollout(&home);
    let subscriber = Subscriber::on(found(&home, &[&codex(&home)]));
    assert!(shows_codex(&subscriber.copy));
    assert_eq!(problems(&subscriber.copy), [""; 0]);
}

#[test]
fn beside_claude_code_a_new_folder_is_seen_when_the_user_turns_to_the_window() {
    let folder = Folder::new();
    let home = folder.root.parent().unwrap().to_path_buf();
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    let mut subscriber = Subscriber::on(found(&home, &[&Root::from(folder.root.clone())]));
    write_rollout(&home);
    folder.append(&author, &author.answer(2, now()));
    subscriber.until_state(&author, "waiting_for_input");
    assert!(!shows_codex(&subscriber.copy), "the home folder is not watched");
    // The first looks, just after the start, find nothing to do.
    crate::until("the session of Codex", || {
        subscriber.handle.look_again();
        subscriber.add_hook_event(Duration::from_millis(100));
        shows_codex(&subscriber.copy)
    });
    assert!(row(&subscriber.copy, &author).is_some() && subscriber.copy.problems.is_empty());
    let ended = format!(
        "{{\"timestamp\":\"{}\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"task_complete\",\"turn_id\":\"t\"}}}}\n",
        now()
    );
    let file = home.join(
        ".codex/sessions/2026/11/28/rollout-2026-11-28T22-00-00-01a1f9a8-51c2-7810-b121-7ef069913a9e.jsonl",
    );
    append(&file, &ended);
    subscriber.until("its next record", |copy| !shows_codex(copy));
}

#[test]
fn a_document_is_read_anew_when_it_is_written_and_until_then_its_session_stays() {
    let (_folder, home) = empty_home();
    let amp = Root::new(Agent::Amp, home.join(traits(Agent::Amp).folder));
    let document = amp.join("threads/T-5928a90d-d53b-488f-a829-4e36442142ee.json");
    std::fs::create_dir_all(document.parent().unwrap()).unwrap();
    let mut subscriber = Subscriber::on(Settings::for_roots(vec![amp]));
    let message = |role: &str, state: &str| {
        format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"go"}}]{state}}}"#)
    };
    let typed = format!(r#""meta":{{"sentAt":{}}}"#, now().as_millis());
    let begun = message("user", &format!(",{typed}"));
    let thread = |messages: &str| format!(r#"{{"id":"T","messages":[{messages}],"title":"A kettle"}}"#);
    let title =
        |copy: &RosterSnapshot| copy.sessions.first().map(|row| (row.title.clone(), row.state.clone()));
    std::fs::write(&document, thread(&begun)).unwrap();
    subscriber.until("the session", |copy| title(copy) == Some((Some("A kettle".into()), "working".into())));
    let ended = message("assistant", r#","state":{"type":"complete","stopReason":"end_turn"}"#);
    let whole = thread(&format!("{begun},{ended}"));
    std::fs::write(&document, &whole[..whole.len() - 9]).unwrap();
    subscriber.until("a problem", |copy| !copy.problems.is_empty());
    assert_eq!(title(&subscriber.copy).unwrap().1, "working", "half a document says nothing");
    std::fs::write(&document, whole).unwrap();
    subscriber.until("its end", |copy| title(copy).is_some_and(|(_, state)| state == "waiting_for_input"));
    subscriber.until("no problem", |copy| copy.problems.is_empty());
    std::fs::remove_file(&document).unwrap();
    subscriber.until("no session", |copy| copy.sessions.is_empty());
}

/// A database may have tables with accounts and keys: that of opencode has.
#[test]
fn only_tables_of_sessions_are_asked() {
    for database in Agent::ALL.iter().filter_map(|agent| traits(*agent).layout.database) {
        for question in [database.sessions, database.session, database.units, database.rows] {
            let words: Vec<&str> = question.split_whitespace().collect();
            let tables = words.windows(2).filter(|pair| pair[0] == "FROM").map(|pair| pair[1]);
            for table in tables.filter(|table| !table.starts_with('(')) {
                assert!(["session", "message", "part", "sessions", "messages"].contains(&table), "{table}");
            }
            assert!(!question.contains("JOIN"), "{question}");
        }
    }
}

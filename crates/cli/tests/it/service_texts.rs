//! What programs send over HTTP is found, shown, exported and told to agents, under the rules of all that is stored.

use std::path::Path;

use serde_json::{Value, json};
use watchbill_engine::Millis;
use watchbill_engine::clock::{Clock as _, SystemClock};

use crate::forget::{holds, in_bytes, until};
use crate::history::found;
use crate::home::Home;
use crate::mcp::Agent;
use crate::program::{run, watchbill};
use crate::service::{PAGER, Service};
use crate::tree::append;

const ACCEPTS: &str = "[service]\naccept = true\n";
/// The id of the claude-recall document's examples.
const SESSION: &str = "claude-session-123";

impl Service {
    fn sends(&self, path: &str, body: Value) {
        let mut body = body;
        body["claudeSessionId"].is_null().then(|| body["claudeSessionId"] = SESSION.into());
        assert_eq!(self.post(path, &body), 202, "{path} {body}");
    }

    fn prompt(&self, number: u64, text: &str) {
        self.sends(
            "/api/sessions/init",
            json!({"userPrompt": text, "promptNumber": number, "project": "default"}),
        );
    }

    /// A call as the document's hook sends it, with a word of its own in its input and its output.
    fn call(&self, word: &str) {
        let body = json!({"tool_name": "Read", "tool_input": {"file_path": format!("/src/{word}in.ts")},
            "tool_response": format!("file contents {word}out")});
        self.sends("/api/sessions/observations", body);
    }

    fn ends(&self, text: &str) {
        self.sends("/api/sessions/summarize", json!({"last_assistant_message": text}));
    }

    fn finds(&self, word: &str) {
        until(word, || holds(&self.home, word));
    }

    /// Waits until all that was sent before is stored: the events of all sessions have one order.
    fn stores_all(&self, word: &str) {
        let other = json!({"claudeSessionId": "other-session-1", "userPrompt": format!("The {word}")});
        self.sends("/api/sessions/init", other);
        self.finds(word);
    }

    fn received(&self) -> std::path::PathBuf {
        self.home.data().join("received/projects/http")
    }
}

#[test]
fn what_a_program_sends_is_found_shown_exported_and_told() {
    let service = Service::with(ACCEPTS);
    service.prompt(1, "Add the loginword feature");
    service.call("first");
    let list = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "objectword"}});
    service.sends("/api/sessions/observations", list);
    service.ends("The answerword works.");
    service.prompt(2, "And a logoutword");
    service.sends("/api/sessions/complete", json!({"reason": "exit"}));
    for word in ["loginword", "firstin", "firstout", "objectword", "answerword", "logoutword"] {
        service.finds(word);
        assert_eq!(found(&service.home, &[word]), [SESSION], "{word}");
    }
    assert_eq!(found(&service.home, &["loginword", "--project", "default"]), [SESSION]);
    assert_eq!(service.get(&format!("/sessions/{SESSION}")).json()["project"], "default");
    let over_http = service.get("/api/search?q=firstout").json();
    assert_eq!(
        (&over_http["hits"][0]["sessionId"], &over_http["hits"][0]["tool"]),
        (&json!(SESSION), &json!("Read"))
    );
    let mut agent = Agent::of(&service.home);
    let shown = [
        service.home.out(&["show", SESSION]),
        service.home.out(&["show", "claude-ses"]),
        service.home.out(&["export", SESSION]),
        service.home.out(&["export", SESSION, "--format", "json"]),
        service.get(&format!("/api/sessions/{SESSION}/timeline")).body,
        agent.tool("read_session_timeline", json!({"session": SESSION})).0,
    ];
    for text in &shown {
        for word in ["loginword", "firstin", "answerword", "logoutword"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
    let refused = service.home.run_watchbill(&["put-away", SESSION]);
    assert!(refused.code == 1 && refused.err.contains("has no transcript"), "it has no row: {}", refused.err);
    assert!(agent.tool("describe_session", json!({"session": SESSION})).0.contains(SESSION));
    assert!(agent.tool("search_history", json!({"query": "answerword"})).0.contains(SESSION));
    let tools = service.home.json(&["stats", "--by", "tool", "--json"]).to_string();
    assert!(tools.contains("Read") && tools.contains("Bash"), "{tools}");
}

#[test]
fn what_is_sent_again_is_there_once_also_after_a_kill() {
    let mut service = Service::with(ACCEPTS);
    let send = |service: &Service| {
        service.prompt(1, "Mend the pumpword");
        service.call("again");
        service.ends("It is mendedword.");
    };
    send(&service);
    service.finds("mendedword");
    service.restart(|_| {});
    // The service knows no prompt of the session yet.
    service.call("again");
    service.ends("It is mendedword.");
    send(&service);
    send(&service);
    service.prompt(2, "Thanks, lastword");
    service.finds("lastword");
    for word in ["pumpword", "againin", "againout", "lastword"] {
        assert_eq!(found(&service.home, &[word]).len(), 1, "{word}");
    }
    let shown = service.home.out(&["show", SESSION]);
    for word in ["pumpword", "againin", "mendedword", "lastword"] {
        assert_eq!(shown.matches(word).count(), 1, "{word}: {shown}");
    }
}

#[test]
fn private_excluded_and_forgotten_texts_are_kept_nowhere() {
    let service = Service::with("[service]\naccept = true\n[store]\nexclude = [\"/home/dev/secret\"]\n");
    service.prompt(1, "An openword <private>hushword</private> here");
    service.prompt(2, "<private>the keyword under the mat</private>");
    service.call("hidden");
    service.ends("The hiddenanswer is there.");
    service.prompt(3, "The nextword");
    let excluded =
        json!({"claudeSessionId": "elsewhere-1", "userPrompt": "The farword", "cwd": "/home/dev/secret/x"});
    service.sends("/api/sessions/init", excluded);
    let named = json!({"tool_name": "Read", "tool_input": {"file_path": "/home/dev/secret/a"}, "tool_response": "namedword"});
    service.sends("/api/sessions/observations", named);
    let later = json!({"claudeSessionId": "later-session-1", "userPrompt": "The laterword", "cwd": "/home/dev/later"});
    service.sends("/api/sessions/init", later);
    let called = json!({"tool_name": "Read", "tool_input": {"file_path": "/home/dev/later/a"}, "tool_response": "resultword"});
    service.sends("/api/sessions/observations", called);
    for word in ["openword", "nextword", "laterword", "resultword"] {
        service.finds(word);
    }
    // What another program left there stops nothing.
    std::fs::write(service.received().join("torn-1.jsonl"), b"{\"x\":\"\xc3").unwrap();
    std::fs::create_dir(service.received().join("folder-1.jsonl")).unwrap();
    let all = ["hushword", "keyword", "hiddenin", "hiddenout", "hiddenanswer", "farword", "namedword"];
    let texts = service.home.data().join("received");
    for word in all {
        assert!(!holds(&service.home, word), "{word} is found");
        assert!(!held(&texts, word), "{word} is kept");
    }
    service.configure(
        "[service]\naccept = true\n[store]\nexclude = [\"/home/dev/secret\", \"/home/dev/later\"]\n",
    );
    for word in ["laterword", "resultword"] {
        until(&format!("{word} to go"), || !holds(&service.home, word) && !held(&texts, word));
    }
    assert!(holds(&service.home, "openword"));
    std::fs::write(service.received().join("torn-1.jsonl"), b"{\"x\":\"\xc3").unwrap();
    std::fs::write(service.received().join(format!("{SESSION}.7.new")), "openword").unwrap();
    service.home.out(&["forget", SESSION, "--yes"]);
    until("the forgotten text to go", || in_bytes(&service.home, "openword").is_empty());
    service.prompt(4, "The lateword");
    let other = json!({"claudeSessionId": "other-session-1", "userPrompt": "The otherword"});
    service.sends("/api/sessions/init", other);
    service.finds("otherword");
    assert!(!holds(&service.home, "lateword") && !held(&texts, "lateword"));
    assert_eq!(service.home.run_watchbill(&["show", SESSION]).code, 1);
}

fn held(folder: &Path, word: &str) -> bool {
    let files = walk(folder);
    files.iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.contains(word)))
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn the_agent_s_transcript_takes_the_place_of_what_a_program_reported() {
    let service = Service::with(ACCEPTS);
    service.prompt(1, "Mend the pumpword");
    service.finds("pumpword");
    let record = |n: u8, kind: &str, content: Value| {
        let record = json!({"type": kind, "uuid": format!("agent-{n}"), "timestamp": format!("2026-11-20T15:00:0{n}.000Z"),
            "cwd": "/home/dev/api", "sessionId": SESSION, "promptId": "p1", "message": {"role": kind, "content": content}});
        append(
            &service.home.claude(),
            Path::new(&format!("projects/-home-dev-api/{SESSION}.jsonl")),
            &format!("{record}\n"),
        );
    };
    record(1, "user", json!("Mend the pumpword"));
    record(2, "assistant", json!([{"type": "text", "text": "The agentword"}]));
    service.finds("agentword");
    service.prompt(2, "The nextword of a program");
    service.call("program");
    record(3, "user", json!("The realword"));
    service.finds("realword");
    until("one text of the prompt", || found(&service.home, &["pumpword"]).len() == 1);
    assert!(walk(&service.home.data().join("received")).is_empty());
    let shown = service.home.out(&["show", SESSION]);
    assert_eq!(shown.matches("pumpword").count(), 1, "{shown}");
}

#[test]
fn a_data_folder_that_was_moved_keeps_what_programs_sent() {
    let mut service = Service::with(ACCEPTS);
    service.prompt(1, "The movedword");
    service.finds("movedword");
    service.restart(|home| {
        let elsewhere = home.path().join("elsewhere");
        std::fs::rename(home.data(), &elsewhere).unwrap();
        let indexed = run(watchbill(home.path()).arg("--data-dir").arg(&elsewhere).arg("index"));
        assert_eq!(indexed.code, 0, "{}", indexed.err);
        assert!(held(&elsewhere.join("received"), "movedword"));
        std::fs::rename(elsewhere, home.data()).unwrap();
    });
    service.prompt(2, "The nextword");
    service.finds("nextword");
    assert_eq!(found(&service.home, &["movedword"]).len(), 1);
    let shown = service.home.out(&["show", SESSION]);
    assert!(shown.matches("movedword").count() == 1 && shown.contains("nextword"), "{shown}");
}

#[test]
fn a_private_turn_stays_private_when_the_service_starts_again() {
    let mut service = Service::with(ACCEPTS);
    service.prompt(1, "The openword");
    service.prompt(2, "<private>the keyword under the mat</private>");
    service.stores_all("firstmark");
    service.restart(|_| {});
    service.call("hidden");
    service.ends("The hiddenanswer is there.");
    service.stores_all("secondmark");
    for word in ["hiddenin", "hiddenout", "hiddenanswer"] {
        assert!(!held(&service.received(), word) && !is_stored(&service.home, word), "{word} is kept");
    }
    service.prompt(3, "The nextword");
    service.call("shown");
    service.finds("shownout");
}

#[test]
fn a_text_that_cannot_be_kept_holds_up_no_other_session() {
    let service = Service::with(ACCEPTS);
    std::fs::create_dir_all(service.received().join(format!("{SESSION}.jsonl"))).unwrap();
    service.prompt(1, "The lostword");
    service.call("lost");
    service.stores_all("keptword");
    until("a problem", || service.home.out(&["roster", "--json"]).contains("could not be kept"));
}

#[test]
fn a_received_file_that_cannot_be_read_does_not_stop_a_change_of_exclude() {
    let mut service = Service::with(ACCEPTS);
    service.call("secret");
    service.finds("secretout");
    let place = service.received().join("unreadable-1.jsonl");
    // It is a regular file, and each read of it fails, also for an administrator.
    std::os::unix::fs::symlink("/proc/self/mem", &place).unwrap();
    let excludes = format!("{ACCEPTS}[store]\nexclude = [\"/src/**\"]\n");
    service.configure(&excludes);
    until("the rule to be carried out", || !held(&service.received(), "secretin"));
    until("no text in the store", || !is_stored(&service.home, "secretout"));
    until("a problem", || service.home.out(&["roster", "--json"]).contains("could not be kept or read"));
    service.restart(|_| {});
    service.stores_all("nextword");
}

#[test]
fn a_program_changes_no_answer_of_the_agent() {
    let service = Service::with(ACCEPTS);
    let said = json!({"type": "assistant", "uuid": "u2", "timestamp": "2026-11-20T15:00:01.000Z", "cwd": "/home/dev/api",
        "sessionId": PAGER, "message": {"role": "assistant", "content": [
            {"type": "text", "text": "The realanswer"}]}});
    let path = format!("projects/-home-dev-x/{PAGER}.jsonl");
    append(&service.home.claude(), Path::new(&path), &format!("{said}\n"));
    service.finds("realanswer");
    let forged = json!({"claudeSessionId": PAGER, "last_assistant_message": "The forgedanswer"});
    service.sends("/api/sessions/summarize", forged);
    service.prompt(1, "The openword");
    service.ends("The <system-reminder>programnote</system-reminder> sentanswer");
    service.stores_all("markword");
    for (word, is) in
        [("realanswer", true), ("sentanswer", true), ("forgedanswer", false), ("programnote", false)]
    {
        assert_eq!(is_stored(&service.home, word), is, "{word}");
    }
}

#[test]
fn an_event_belongs_to_the_newest_prompt_also_if_that_is_the_agents() {
    let service = Service::with(ACCEPTS);
    service.prompt(1, "The openword");
    service.finds("openword");
    let record = |n: u64, content: &str| {
        let at = SystemClock.now() + Millis::from_secs(n as i64);
        let record = json!({"type": "user", "uuid": format!("u{n}"), "promptId": format!("p{n}"), "timestamp": at.to_string(),
            "cwd": "/home/dev/api", "sessionId": SESSION, "message": {"role": "user", "content": content}});
        format!("{record}\n")
    };
    let typed = record(1, "The agentword") + &record(2, "<private>the key under the mat</private>");
    append(&service.home.claude(), Path::new(&format!("projects/-home-dev-api/{SESSION}.jsonl")), &typed);
    service.finds("agentword");
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "cat hiddenin"},
        "tool_response": "hiddenout"});
    service.sends("/api/sessions/observations", call);
    service.stores_all("secondmark");
    for word in ["hiddenin", "hiddenout"] {
        assert!(!is_stored(&service.home, word), "{word} is kept");
    }
}

/// Whether the database has the word.
fn is_stored(home: &Home, word: &str) -> bool {
    let is_database =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("watchbill.db"));
    in_bytes(home, word).iter().any(|path| is_database(path))
}

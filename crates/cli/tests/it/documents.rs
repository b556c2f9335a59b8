//! Sessions that are documents: those of older clients of Gemini, and of Amp. Both fixtures were written by hand, by Gemini's public
//! source and by programs of others that read Amp's threads.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::home::Home;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures");
const OF_GEMINI: &str = "5c2a9d10";
const OF_AMP: &str = "T-5928a90d-d53b-488f-a829-4e36442142ee";

fn gemini(home: &Home) -> PathBuf {
    home.path().join(".gemini/tmp/work/chats/session-2026-02-23T08-04-5c2a9d10.json")
}

fn home(config: &str) -> Home {
    let home = Home::empty().configured(config);
    let amp = home.path().join(".local/share/amp/threads").join(format!("{OF_AMP}.json"));
    for (from, to) in [("gemini/document.json", gemini(&home)), ("amp/thread.json", amp)] {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(Path::new(FIXTURES).join(from), to).unwrap();
    }
    std::fs::write(home.path().join(".gemini/tmp/work/.project_root"), "/home/dev/work").unwrap();
    std::fs::create_dir_all(home.claude().join("projects")).unwrap();
    home
}

fn hits(home: &Home, words: &[&str]) -> usize {
    home.json(&[&["search", "--json"], words].concat())["hits"].as_array().unwrap().len()
}

fn rows(home: &Home) -> (Vec<Value>, Value) {
    let roster = home.json(&["roster", "--all", "--json"]);
    (roster["sessions"].as_array().unwrap().clone(), roster["problems"].clone())
}

#[test]
fn they_have_rows_and_are_found_and_resumed() {
    let home = home("");
    let (rows, problems) = rows(&home);
    assert_eq!(problems, json!([]));
    for (agent, session, cwd, tokens, resume) in [
        ("gemini", OF_GEMINI, "/home/dev/work", [9490, 2214], "gemini --resume 5c2a9d10-5307"),
        ("amp", OF_AMP, "/home/dev/my work", [20, 150], "amp threads continue T-5928a90d"),
    ] {
        let row = rows.iter().find(|row| row["agent"] == agent).unwrap();
        assert_eq!((&row["sessionId"], &row["title"]), (&json!(session), &json!("Kettle repair")));
        assert_eq!((&row["cwd"], &row["tokens"]["output"]), (&json!(cwd), &json!(tokens[1])), "{row}");
        assert_eq!(row["tokens"]["input"], tokens[0], "{row}");
        for words in [&["mend", "the", "kettle"][..], &["kettles"], &["is", "a", "teapot"]] {
            assert_eq!(hits(&home, &[&["--agent", agent], words].concat()), 1, "{agent} {words:?}");
        }
        assert!(home.out(&["show", session]).contains("ls kettles"));
        assert!(home.run_watchbill(&["resume", session]).err.contains(resume));
    }
}

#[test]
fn an_excluded_folder_leaves_nothing() {
    let home = home("[store]\nexclude = [\"/home/dev/work\", \"/home/dev/my work\"]\n");
    assert_eq!(hits(&home, &["kettle"]), 0);
}

/// A client writes the whole document with each message. A later one goes on in a file of lines beside it.
#[test]
fn a_document_that_is_written_anew_is_stored_once() {
    let home = home("");
    let document = gemini(&home);
    assert_eq!(hits(&home, &["--agent", "gemini", "kettle"]), 3);
    let mut chat: Value = serde_json::from_slice(&std::fs::read(&document).unwrap()).unwrap();
    let more = json!({ "id": "x", "timestamp": "2026-02-23T08:06:00.000Z", "type": "user", "content": "a kettle whistles" });
    chat["messages"].as_array_mut().unwrap().push(more);
    std::fs::write(&document, chat.to_string()).unwrap();
    home.out(&["index"]);
    assert_eq!(hits(&home, &["--agent", "gemini", "kettle"]), 4);
    let half = &chat.to_string()[..chat.to_string().len() / 2];
    std::fs::write(&document, half).unwrap();
    let said = home.run_watchbill(&["search", "--json", "--agent", "gemini", "kettle"]);
    assert!(said.err.contains("its stored rows stay"), "{}", said.err);
    let found: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(found["hits"].as_array().unwrap().len(), 4, "half a document leaves the stored rows");
    let mut head = chat.clone();
    let messages = head.as_object_mut().unwrap().remove("messages").unwrap();
    let lines = std::iter::once(&head).chain(messages.as_array().unwrap()).map(|line| format!("{line}\n"));
    std::fs::write(document.with_extension("jsonl"), lines.collect::<String>()).unwrap();
    std::fs::write(&document, chat.to_string()).unwrap();
    home.out(&["index"]);
    assert_eq!(hits(&home, &["--agent", "gemini", "kettle"]), 4);
    let (rows, problems) = rows(&home);
    assert_eq!((rows.len(), problems), (2, json!([])));
}

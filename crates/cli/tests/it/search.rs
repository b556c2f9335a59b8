//! `search`: long texts, and letters that people type as others.

use serde_json::{Value, json};

use crate::history::found;
use crate::home::Home;
use crate::tree::transcript;

const LONG: &str = "dddddddd-0000-4000-8000-000000000004";

/// The records of a session, each with a text that ends in a word of its own.
fn long_texts(bytes: usize) -> Vec<Value> {
    let text = |word: &str| format!("{} {word}", "lorem ipsum ".repeat(bytes / 12));
    let record = |n: u32, kind: &str, content: Value| {
        json!({"type": kind, "uuid": format!("{}-{n:012}", &LONG[..23]), "sessionId": LONG, "cwd": "/home/dev/x",
            "timestamp": format!("2026-11-20T15:00:{n:02}.000Z"), "message": {"id": format!("m{n}"), "role": kind,
            "content": content}})
    };
    let mut summary = record(3, "user", json!(text("endofsummary")));
    summary["isCompactSummary"] = json!(true);
    let mut queued = record(4, "attachment", Value::Null);
    queued["attachment"] = json!({"type": "queued_command", "prompt": text("endofqueued")});
    vec![
        record(1, "user", json!(text("endofprompt"))),
        record(2, "assistant", json!([{"type": "text", "text": text("endofanswer")}])),
        summary,
        queued,
        record(5, "user", json!(format!("<bash-stdout>{}</bash-stdout>", text("endofoutput")))),
    ]
}

#[test]
fn a_word_at_the_end_of_a_long_text_is_found_and_what_was_cut_is_told() {
    let ends = ["endofprompt", "endofanswer", "endofsummary", "endofqueued", "endofoutput"];
    let home = Home::empty();
    transcript(&home.claude(), LONG, &long_texts(100_000));
    for word in ends {
        assert_eq!(found(&home, &[word]), [LONG], "{word}");
    }
    assert_eq!(home.out(&["search", "unheard-of"]), "Nothing found.\n");
    let home = Home::empty();
    transcript(&home.claude(), LONG, &long_texts(1_200_000));
    let told = "at the ends of long texts cannot be searched";
    for word in ends {
        let said = home.out(&["search", word]).replace('\n', " ");
        assert!(said.contains("Nothing found.") && said.contains(told), "{word}: {said}");
        let cut = home.json(&["search", "--json", word])["cutBytes"].as_u64().unwrap();
        assert!((750_000..780_000).contains(&cut), "five times what is beyond 1 MiB, not {cut}");
    }
    assert!(home.run_watchbill(&["doctor"]).out.contains(told));
    assert_eq!(found(&home, &["lorem"]).len(), 5, "their beginnings are found");
}

#[test]
fn a_word_is_found_as_people_type_its_letters() {
    let home = Home::empty();
    let text = "Die lange Straße, die HAUPTSTRAẞE, smørrebrød in Łódź, une œuvre, Ærø, Þing";
    let prompt = json!({"type": "user", "uuid": "u1", "sessionId": LONG, "cwd": "/home/dev/x",
        "timestamp": "2026-11-20T15:00:01.000Z", "message": {"role": "user", "content": text}});
    transcript(&home.claude(), LONG, &[prompt]);
    for typed in [
        "strasse",
        "Straße",
        "STRASSE",
        "stras*",
        "straß*",
        "\"lange strasse\"",
        "hauptstrasse",
        "smorrebrod",
        "smørrebrød",
        "lodz",
        "łódź",
        "oeuvre",
        "œuvre",
        "aero",
        "thing",
    ] {
        assert_eq!(found(&home, &[typed]), [LONG], "{typed}");
    }
    let hits = home.json(&["search", "--json", "strasse"]);
    let parts = hits["hits"][0]["snippetParts"].as_array().unwrap();
    assert!(parts.contains(&json!({"text": "Straße", "found": true})), "{parts:?}");
    home.out(&["forget", LONG, "--yes"]);
    assert!(found(&home, &["strasse"]).is_empty());
}

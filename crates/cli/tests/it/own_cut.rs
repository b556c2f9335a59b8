//! Own sessions whose agents are killed while they speak: what was received is stored.

use std::process::Command;

use serde_json::{Value, json};
use watchbill_drive::folder::Folder;
use watchbill_drive::replay;
use watchbill_protocol::own::event::OwnWhat;

use crate::forget::until;
use crate::own::Place;
use crate::with_serve::Serve;

/// What the agent of a session said, by the events: the words of its texts and calls.
fn received(place: &Place, own: &str) -> Vec<String> {
    let folder = Folder::of(&place.home.data(), own).unwrap();
    let mut said = String::new();
    replay::read(&folder, &folder.spec().unwrap(), 0, &mut |events| {
        for event in events {
            match event.what {
                OwnWhat::Text { delta, .. } => said.push_str(&delta),
                OwnWhat::ToolUse { input, .. } => said.push_str(input["command"].as_str().unwrap()),
                _ => {}
            }
        }
        true
    })
    .unwrap();
    said.split_whitespace().map(str::to_owned).collect()
}

fn found(place: &Place, word: &str) -> Vec<Value> {
    place.json(&["search", word, "--json"])["hits"].as_array().unwrap().clone()
}

/// Starts a session that is killed after so many bytes, waits for its end, and gives its id.
fn killed(place: &Place, bytes: usize, name: &str, kept: &str) -> String {
    let row = place.json(&["run", "--json", &format!("cut {bytes} {name} {kept}")]);
    let own = row["ownId"].as_str().unwrap().to_owned();
    let folder = Folder::of(&place.home.data(), &own).unwrap();
    until("its end", || folder.path().join("summary").exists());
    own
}

#[test]
fn what_an_agent_said_before_it_was_killed_is_stored_once() {
    let place = Place::new();
    std::fs::create_dir_all(place.home.claude()).unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    };
    let runs = std::env::var("WATCHBILL_KILLS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(100);
    let kills: Vec<_> = (0..runs)
        .map(|n| (format!("n{n}n"), random(3_600) as usize, ["none", "0", "1", "2"][random(4) as usize]))
        .collect();
    let kill = |(name, bytes, kept): &(String, usize, &'static str)| {
        (killed(&place, *bytes, name, kept), name.clone(), *kept, *bytes)
    };
    let sessions: Vec<_> = std::thread::scope(|threads| {
        let started: Vec<_> = kills
            .chunks(kills.len().div_ceil(4))
            .map(|kills| threads.spawn(move || kills.iter().map(kill).collect::<Vec<_>>()))
            .collect();
        started.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for (own, name, kept, bytes) in sessions {
        let case = format!("{bytes} bytes, {kept} blocks kept");
        let mut words = received(&place, &own);
        if kept != "none" {
            // What the transcript has is stored, too.
            let there = usize::from(kept != "0") * 6 + usize::from(kept == "2") * 6;
            let all = (0..3).flat_map(|part| (0..6).map(move |word| (part, word)));
            let there = all.take(there).map(|(part, word)| format!("{name}part{part}word{word}"));
            words = there.chain(words).collect();
            words.sort();
            words.dedup();
        }
        let shown = place.say(&["show", &own]).out;
        // A long command is shortened.
        for word in words.iter().filter(|word| !word.contains("part1")) {
            assert_eq!(shown.matches(word.as_str()).count(), 1, "{case}: {word}: {shown}");
        }
        let Some(last) = words.last() else { continue };
        assert_eq!(found(&place, last).len(), 1, "{case}: {last}");
        let context = place.say(&["fork", &own, "--agent", "claude", "--preview", "Go on."]).out;
        assert_eq!(context.matches(last.as_str()).count(), 1, "{case}: {last}: {context}");
        let texts: Vec<&String> = words.iter().filter(|word| !word.contains("part1")).collect();
        let answers = responses(&place, &own);
        assert_eq!(answers.len(), 1, "{case}: {answers:?}");
        assert!(texts.last().is_none_or(|last| answers[0].contains(last.as_str())), "{case}: {answers:?}");
    }
}

/// The stored answers to the prompts of a session.
fn responses(place: &Place, own: &str) -> Vec<String> {
    let sql = "SELECT coalesce(response, '') FROM batches JOIN sessions ON sessions.id = session WHERE session_id = ?";
    let script = "import json, sqlite3, sys\nprint(json.dumps([row[0] for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2], sys.argv[3:])]))";
    let database = place.home.data().join("watchbill.db");
    let said = Command::new("python3").args(["-c", script]).arg(database).args([sql, own]).output().unwrap();
    serde_json::from_slice(&said.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&said.stderr)))
}

#[test]
fn what_the_transcript_brings_later_is_there_once() {
    for (with_serve, kept) in [(false, "none"), (false, "0"), (true, "none"), (true, "0")] {
        let place = Place::new();
        std::fs::create_dir_all(place.home.claude()).unwrap();
        let serve = with_serve.then(|| Serve::of(&place.home));
        let own = killed(&place, 900, "late", kept);
        until("the text to be found", || found(&place, "latepart0word1").len() == 1);
        let transcript = place.home.claude().join("projects/-work").join(&own).with_extension("jsonl");
        std::fs::create_dir_all(transcript.parent().unwrap()).unwrap();
        let prompt = place.noted("received")[0].split(' ').next().unwrap().to_owned();
        let record = |more: Value| {
            let mut record =
                json!({ "sessionId": own, "cwd": place.work(), "timestamp": "2036-11-25T04:00:00.000Z" });
            record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            format!("{record}\n")
        };
        let user = record(
            json!({ "type": "user", "uuid": prompt, "message": { "role": "user", "content": "cut 900 late" } }),
        );
        let text = "latepart0word0 latepart0word1 latepart0word2 latepart0word3 and the rest";
        let block = json!([{ "type": "text", "text": text }]);
        let answer = record(json!({ "type": "assistant", "uuid": "22222222-0000-4000-8000-000000000001",
            "message": { "id": format!("msg-{prompt}-0"), "role": "assistant", "content": block } }));
        let before = std::fs::read_to_string(&transcript).unwrap_or_default();
        let lines = if kept == "none" { [user, answer].concat() } else { answer };
        std::fs::write(&transcript, before + &lines).unwrap();
        let case = format!("serve {with_serve}, {kept} blocks kept");
        until("it to be shown once", || {
            let shown = place.say(&["show", &own]).out;
            shown.contains("and the rest") && shown.matches("latepart0word1").count() == 1
        });
        until("the whole text to be found", || found(&place, "rest").len() == 1);
        assert_eq!(found(&place, "latepart0word1").len(), 1, "{case}");
        let shown = place.say(&["show", &own]).out;
        assert_eq!(shown.matches("latepart0word1").count(), 1, "{case}: {shown}");
        assert!(!shown.contains("before it had said all"), "{case}: {shown}");
        let answers = responses(&place, &own);
        assert_eq!(answers, [text], "{case}");
        drop(serve);
    }
}

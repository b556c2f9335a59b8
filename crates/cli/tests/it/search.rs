//! `search`: long texts, letters that people type as others, and searches that take long.

use std::io::Write;
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::forget::until;
use crate::history::found;
use crate::home::Home;
use crate::service::Service;
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

/// A search that takes seconds: each of its words is the beginning of every stored word.
const SLOW: &str =
    "a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a* a*";

/// A running program with a database in which such a search takes seconds.
fn with_many_words() -> Service {
    let service = Service::with("");
    let mut words = 0_u32;
    let mut text = || {
        let all = (0..100_000).map(|_| {
            words = words.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("a{} ", words >> 15)
        });
        all.collect::<String>()
    };
    let prompts = (0..20).map(|n| {
        json!({"type": "user", "uuid": format!("{}-{n:012}", &LONG[..23]), "sessionId": LONG, "cwd": "/home/dev/x",
            "timestamp": format!("2026-11-20T15:00:{n:02}.000Z"), "message": {"role": "user", "content": text()}})
    });
    transcript(&service.home.claude(), LONG, &prompts.collect::<Vec<_>>());
    service.home.out(&["index"]);
    service
}

/// Processor time of a process so far.
fn processor_time(pid: u32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<u64>().unwrap();
    Duration::from_millis((ticks(11) + ticks(12)) * 10)
}

/// Waits until a process rests. Returns the processor time that it took until then.
fn until_at_rest(pid: u32) -> Duration {
    let (began, before) = (Instant::now(), processor_time(pid));
    let mut last = before;
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = processor_time(pid);
        if now - last < Duration::from_millis(30) {
            return now - before;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "it never rests");
        last = now;
    }
}

/// Waits until a process has worked for longer than any short request takes.
fn until_it_works(pid: u32) {
    let before = processor_time(pid);
    until("the search to begin", || processor_time(pid) - before > Duration::from_millis(100));
}

#[test]
fn a_search_ends_with_its_client_and_blocks_no_other() {
    let service = with_many_words();
    until_at_rest(service.pid());
    let spawn = || {
        let mut command = service.home.command(&["search", SLOW]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    // How long it takes if it may: each face says that it was cut.
    let begun = processor_time(service.pid());
    let cut = Instant::now();
    assert_eq!(service.home.json(&["search", "--json", SLOW])["index"], "cut");
    assert!(cut.elapsed() < Duration::from_secs(30), "a search has a time of its own: {:?}", cut.elapsed());
    let whole = processor_time(service.pid()) - begun;
    assert!(whole > Duration::from_secs(1), "the search is too fast for this test: {whole:?}");
    let said = service.home.out(&["search", SLOW, "--as-stored"]).replace('\n', " ");
    assert!(said.contains("ended after three seconds"), "{said}");
    // What was found until then is given: the newest texts match at once.
    let few = service.home.json(&["search", "--json", "a*", "--limit", "1"]);
    assert_eq!((few["hits"].as_array().unwrap().len(), &few["index"]), (1, &json!("current")));
    let mut slow = spawn();
    until_it_works(service.pid());
    assert_eq!(found(&service.home, &["unheard-of"]), [] as [&str; 0]);
    assert_eq!(service.get("/api/search?q=unheard-of").status, 200);
    assert!(slow.try_wait().unwrap().is_none(), "two other searches were answered before the slow one");
    slow.kill().unwrap();
    slow.wait().unwrap();
    let rest = until_at_rest(service.pid());
    assert!(rest < whole / 2, "{rest:?} after its client was killed, of {whole:?}");
    let mut stream = TcpStream::connect(service.address).unwrap();
    let path = format!("/api/search?q={}", SLOW.replace(' ', "%20"));
    write!(stream, "GET {path} HTTP/1.1\r\n{}\r\n{}\r\n\r\n", service.host(), service.bearer()).unwrap();
    until_it_works(service.pid());
    drop(stream);
    let rest = until_at_rest(service.pid());
    assert!(rest < whole / 2, "{rest:?} after its client hung up, of {whole:?}");
    assert!(!found(&service.home, &["a1*"]).is_empty(), "searches go on");
    let doctor = service.home.run_watchbill(&["doctor"]).out;
    assert!(!doctor.contains("damaged"), "{doctor}");
}

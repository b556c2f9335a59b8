//! Any lines between Watchbill and an agent: nothing panics, the same lines give the same events, and nothing happens twice.
//!
//! The fuzzer runs it, and so does a test over the inputs in `fuzz/seeds`. The first line of an input names the agent. Each other
//! line begins with `<` (the agent wrote it), `>` (it was written to the agent), `!` (standard error) or `?` (a command).

use std::collections::BTreeSet;

use watchbill_agents::driver::LogLine;
use watchbill_agents::launch::driver;
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};

/// Panics if a rule is broken.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.lines();
    let agent = match lines.next() {
        Some("codex") => OwnAgent::Codex,
        Some("gemini") => OwnAgent::Gemini,
        _ => OwnAgent::Claude,
    };
    let lines: Vec<&str> = lines.collect();
    let (events, records) = talk(agent, &lines, &[]);
    check_once(&events);
    // A replay has the records alone: commands are not in it, their lines are.
    let (again, _) = talk(agent, &[], &records);
    assert_eq!(events, again, "a replay gives other events");
}

/// A record of a log: who wrote it, and the line.
type Record = (char, String);

/// The events of some records and then of some lines, and all records.
fn talk(agent: OwnAgent, lines: &[&str], before: &[Record]) -> (Vec<OwnWhat>, Vec<Record>) {
    let mut driver = driver(&spec(agent)).expect("an agent on pipes");
    let mut records = before.to_vec();
    let mut events = Vec::new();
    for line in lines {
        let Some(way) = line.chars().next() else { continue };
        let rest = &line[way.len_utf8()..];
        if way == '?' {
            let Ok(command) = serde_json::from_str(rest) else { continue };
            for line in driver.command(&command).unwrap_or_default() {
                events.extend(driver.fold(Timestamp::from_millis(0), LogLine::In(&line)));
                records.push(('>', line));
            }
            continue;
        }
        records.push((way, rest.to_owned()));
        events.extend(driver.fold(Timestamp::from_millis(0), log(way, rest)));
    }
    for (way, line) in before {
        events.extend(driver.fold(Timestamp::from_millis(0), log(*way, line)));
    }
    let _ = (driver.due(), driver.is_idle());
    (events, records)
}

fn log(way: char, line: &str) -> LogLine<'_> {
    match way {
        '>' => LogLine::In(line),
        '!' => LogLine::Err(line),
        _ => LogLine::Out(line),
    }
}

fn spec(agent: OwnAgent) -> OwnSpec {
    OwnSpec {
        session: "5e55a000-0000-4000-8000-000000000001".into(),
        agent,
        kind: OwnKind::Stream,
        cwd: "/home/dev/work".into(),
        model: None,
        mode: None,
        resume: None,
        command: Vec::new(),
        size: None,
        created_at: "2026-11-23T16:00:00Z".into(),
        root: None,
        switched: None,
        started_by_agent: false,
    }
}

/// Each prompt is sent at most once and ends at most once; each request is closed at most once, after it was opened.
pub fn check_once(events: &[OwnWhat]) {
    let (mut sent, mut over) = (BTreeSet::new(), BTreeSet::new());
    let (mut open, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        match event {
            OwnWhat::Prompt { id, place: PromptPlace::Sent, .. } => {
                assert!(sent.insert(id), "{id} sent twice")
            }
            OwnWhat::Prompt { id, place: PromptPlace::Done | PromptPlace::Dropped, .. } => {
                assert!(sent.contains(id) && over.insert(id), "{id} ended twice, or was never sent");
            }
            OwnWhat::Request { request } => {
                assert!(seen.insert(&request.id), "{} opened twice", request.id);
                open.insert(&request.id);
            }
            OwnWhat::RequestClosed { request, .. } => assert!(open.remove(request), "{request} was not open"),
            _ => {}
        }
    }
}

//! Timelines of invented chains.

use std::path::PathBuf;

use proptest::prelude::*;
use watchbill_watch::mem::MemFs;

use watchbill_protocol::timeline::What;

use super::*;

#[test]
fn an_emptied_transcript_has_an_empty_timeline_and_begins_anew() {
    let fs = MemFs::new();
    let (session, path) = (SessionId::new("s"), PathBuf::from("/c/projects/p/s.jsonl"));
    let plan = TimelinePlan {
        beside: Vec::new(),
        session: session.clone(),
        chain: "c".into(),
        name: None,
        parts: vec![(session, path.clone(), None)],
        agents: Vec::new(),
        exclude: Exclude::default(),
    };
    let line = |text: &str| format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n");
    let mut reader = TimelineReader::default();
    let mut total = || reader.read(&fs, &plan, ItemRange::new(None, 10)).unwrap().total;
    fs.append(&path, (line("one") + &line("two") + "{\"torn").as_bytes());
    assert_eq!(total(), 2);
    fs.truncate(&path, 0);
    assert_eq!(total(), 0);
    fs.append(&path, line("three").as_bytes());
    assert_eq!(total(), 1);
}

/// A record of a generated chain: its number is its id and its text.
fn said(number: usize, seconds: i64) -> String {
    let at = watchbill_core::time::Timestamp::from_millis(1_795_000_000_000 + seconds * 1_000);
    format!(
        r#"{{"type":"user","uuid":"{:08}-0000-4000-8000-000000000000","timestamp":"{at}","message":{{"content":"{number}"}}}}"#,
        number
    )
}

/// One session of a generated chain.
#[derive(Debug, Clone)]
struct Told {
    /// How many records of the session before it are copied to its beginning.
    copied: usize,
    /// Seconds from the last record of the session before to its first one. Negative: the session before goes on.
    pause: i64,
    /// Seconds between its own records.
    steps: Vec<i64>,
    /// A compaction stands behind so many of its records. With 8 or more, the session has no compaction.
    compacted: usize,
}

fn told() -> impl Strategy<Value = Told> {
    let steps = proptest::collection::vec(0..90i64, 0..6);
    (0..9usize, -120..90i64, steps, 0..12usize).prop_map(|(copied, pause, steps, compacted)| Told {
        copied,
        pause,
        steps,
        compacted,
    })
}

/// Writes the chain. Returns its plan, and the time of each record by number.
fn write_chain(fs: &MemFs, chain: &[Told]) -> (TimelinePlan, Vec<i64>) {
    let (mut times, mut before): (Vec<i64>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut parts = Vec::new();
    let mut began = 0;
    for (n, told) in chain.iter().enumerate() {
        let mut numbers: Vec<usize> = before.iter().copied().take(told.copied).collect();
        let last = before.iter().map(|number| times[*number]).max().unwrap_or(0);
        let mut at = (last + told.pause).max(began);
        began = at + told.steps.first().copied().unwrap_or(0);
        for step in &told.steps {
            at += step;
            numbers.push(times.len());
            times.push(at);
        }
        let path = format!("/c/projects/p/{n}.jsonl");
        let mut lines: Vec<String> = numbers.iter().map(|number| said(*number, times[*number])).collect();
        let boundary =
            r#"{"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"auto"}}"#;
        if told.compacted < 8 {
            lines.insert(told.compacted.min(lines.len()), boundary.to_owned());
        }
        write(fs, &path, &lines);
        parts.push((SessionId::new(&format!("session{n}")), PathBuf::from(path), Some("clear")));
        before = numbers;
    }
    (TimelinePlan { parts, ..plan(&[("session0", "")], &[]) }, times)
}

proptest! {
    /// Along a chain with compactions, copied history and sessions that went on after their successor began.
    #[test]
    fn a_chain_is_shown_in_the_order_of_time_and_each_divider_ends_the_session_before_it(
        chain in proptest::collection::vec(told(), 1..5)
    ) {
        let fs = MemFs::new();
        let (plan, times) = write_chain(&fs, &chain);
        let shown = TimelineReader::default().read(&fs, &plan, ItemRange::whole()).unwrap().items;
        let number = |item: &TimelineItem| match &item.what {
            What::Prompt { text, .. } => text.parse::<usize>().ok(),
            _ => None,
        };
        let mut all: Vec<usize> = shown.iter().filter_map(number).collect();
        let moments: Vec<i64> = all.iter().map(|number| times[*number]).collect();
        let mut latest = 0;
        for at in &moments {
            prop_assert!(*at + 2 >= latest, "{moments:?} in {chain:?}");
            latest = latest.max(*at);
        }
        all.sort_unstable();
        prop_assert_eq!(all, (0..times.len()).collect::<Vec<_>>(), "each record once");
        let mut session = shown.first().map(|item| item.session_id.clone());
        let mut keys = std::collections::HashSet::new();
        for item in &shown {
            prop_assert!(keys.insert(&item.key), "{} twice", item.key);
            prop_assert_eq!(Some(&item.session_id), session.as_ref(), "{:?} in {:?}", item, chain);
            if let What::Continued { to, .. } = &item.what {
                session = Some(to.clone());
            }
        }
        for pair in shown.windows(2).filter(|pair| number(&pair[0]).is_none() && number(&pair[1]).is_some()) {
            let is_divider = matches!(pair[0].what, What::Continued { .. });
            prop_assert!(!is_divider || pair[0].at == pair[1].at, "{:?} in {:?}", pair, chain);
        }
    }
}

#[test]
fn a_session_that_goes_on_after_its_successor_began_is_shown_in_two_parts() {
    let fs = MemFs::new();
    write(&fs, "/c/projects/p/a.jsonl", &[said(1, 0), said(2, 10), said(5, 900)]);
    write(&fs, "/c/projects/p/b.jsonl", &[said(1, 0), said(2, 10), said(3, 100), said(4, 200)]);
    let plan = plan(&[("a", "/c/projects/p/a.jsonl"), ("b", "/c/projects/p/b.jsonl")], &[]);
    let items = TimelineReader::default().read(&fs, &plan, ItemRange::whole()).unwrap().items;
    let shown = items.iter().map(|item| match &item.what {
        What::Prompt { text, .. } => format!("{} {text}", item.session_id),
        What::Continued { to, .. } => {
            format!("{} goes on in {to} at {}", item.session_id, &item.at.as_deref().unwrap_or("?")[14..19])
        }
        other => panic!("{other:?}"),
    });
    let shown: Vec<String> = shown.collect();
    let expected = ["a 1", "a 2", "a goes on in b at 08:20", "b 3", "b 4", "b goes on in a at 21:40", "a 5"];
    assert_eq!(shown, expected);
}

const SESSION: &str = "/c/projects/p/s.jsonl";
const AGENT: &str = "/c/projects/p/s/subagents/agent-a1.jsonl";
const DEEPER: &str = "/c/projects/p/s/subagents/agent-a2.jsonl";

fn prompt(uuid: &str) -> String {
    format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"content":"{uuid}"}}}}"#)
}

fn call(uuid: &str, id: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{uuid}","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"Task","input":{{}}}}]}}}}"#
    )
}

fn result(uuid: &str, id: &str, agent: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"{uuid}","toolUseResult":{{"agentId":"{agent}"}},"message":{{"content":[{{"type":"tool_result","tool_use_id":"{id}","content":"done"}}]}}}}"#
    )
}

/// Writes the lines and returns the offset of each.
fn write(fs: &MemFs, path: &str, lines: &[String]) -> Vec<u64> {
    let mut offsets = Vec::new();
    let mut text = String::new();
    for line in lines {
        offsets.push(text.len() as u64);
        text.push_str(line);
        text.push('\n');
    }
    fs.append(path, text.as_bytes());
    offsets
}

fn plan(parts: &[(&str, &str)], agents: &[(&str, &str)]) -> TimelinePlan {
    TimelinePlan {
        beside: Vec::new(),
        session: SessionId::new(parts[parts.len() - 1].0),
        chain: "c".into(),
        name: None,
        parts: parts.iter().map(|(id, path)| (SessionId::new(id), PathBuf::from(path), None)).collect(),
        exclude: Exclude::default(),
        agents: agents
            .iter()
            .map(|(id, path)| AgentFile {
                session: SessionId::new(parts[parts.len() - 1].0),
                agent: (*id).into(),
                path: PathBuf::from(path),
            })
            .collect(),
    }
}

fn at(index: u64, within: &[(&str, u64)]) -> TimelinePlace {
    let within = within.iter().map(|(id, index)| AgentPlace { agent_id: (*id).into(), index: *index });
    TimelinePlace { index, within: within.collect() }
}

#[test]
fn a_record_is_found_by_its_line_and_a_result_at_its_call() {
    let fs = MemFs::new();
    let mode = r#"{"type":"mode","mode":"plan"}"#.to_owned();
    let lines = [prompt("1"), call("2", "t"), mode, prompt("3"), result("4", "t", "x"), prompt("5")];
    let offsets = write(&fs, SESSION, &lines);
    let plan = plan(&[("s", SESSION)], &[]);
    let mut reader = TimelineReader::default();
    let found: Vec<u64> =
        offsets.iter().map(|offset| reader.place(&fs, &plan, None, *offset).unwrap().index).collect();
    assert_eq!(found, [0, 1, 1, 2, 1, 3], "the mode is no entry, so the one before it is shown");
    assert_eq!(reader.place(&fs, &plan, None, 1 << 40).unwrap(), at(3, &[]));
}

#[test]
fn a_copied_record_is_found_at_its_original() {
    let fs = MemFs::new();
    write(&fs, "/c/projects/p/a.jsonl", &[prompt("1"), prompt("2")]);
    let offsets = write(&fs, "/c/projects/p/b.jsonl", &[prompt("1"), prompt("2"), prompt("3")]);
    let plan = plan(&[("a", "/c/projects/p/a.jsonl"), ("b", "/c/projects/p/b.jsonl")], &[]);
    let mut reader = TimelineReader::default();
    let found: Vec<u64> =
        offsets.iter().map(|offset| reader.place(&fs, &plan, None, *offset).unwrap().index).collect();
    assert_eq!(found, [0, 1, 3], "the divider between the sessions counts");
}

#[test]
fn a_record_of_a_nested_subagent_is_found_through_both_calls() {
    let fs = MemFs::new();
    write(&fs, SESSION, &[prompt("1"), call("2", "t"), result("3", "t", "a1")]);
    write(&fs, AGENT, &[prompt("4"), call("5", "u"), result("6", "u", "a2"), prompt("7")]);
    let offsets = write(&fs, DEEPER, &[prompt("8"), prompt("9")]);
    let plan = plan(&[("s", SESSION)], &[("a1", AGENT), ("a2", DEEPER)]);
    let mut reader = TimelineReader::default();
    assert_eq!(reader.place(&fs, &plan, Some("a1"), 0).unwrap(), at(1, &[("a1", 0)]));
    assert_eq!(reader.place(&fs, &plan, Some("a2"), offsets[1]).unwrap(), at(1, &[("a1", 1), ("a2", 1)]));
    let timeline = reader.read(&fs, &plan, ItemRange::whole()).unwrap();
    let What::Tool { subagent: Some(agent), .. } = &timeline.items[1].what else { panic!("{timeline:?}") };
    let What::Tool { subagent: Some(deeper), .. } = &agent.items[1].what else { panic!("{agent:?}") };
    assert_eq!((agent.total, deeper.total), (Some(3), Some(2)));
}

#[test]
fn a_subagent_without_a_known_call_is_placed_by_time() {
    let fs = MemFs::new();
    let said = |uuid: &str, at: &str| prompt(uuid).replacen('{', &format!(r#"{{"timestamp":"{at}","#), 1);
    write(
        &fs,
        SESSION,
        &[
            said("1", "2026-11-20T15:00:00.000Z"),
            said("2", "2026-11-20T15:00:10.000Z"),
            said("3", "2026-11-20T15:00:20.000Z"),
        ],
    );
    write(&fs, AGENT, &[said("4", "2026-11-20T15:00:12.000Z")]);
    let plan = plan(&[("s", SESSION)], &[("a1", AGENT)]);
    assert_eq!(TimelineReader::default().place(&fs, &plan, Some("a1"), 0).unwrap(), at(1, &[]));
}

fn keys(reader: &mut TimelineReader, fs: &MemFs, plan: &TimelinePlan) -> Vec<String> {
    let timeline = reader.read(fs, plan, ItemRange::whole()).unwrap();
    timeline.items.into_iter().map(|item| item.key).collect()
}

#[test]
fn an_item_keeps_its_key_when_its_file_is_written_anew_or_a_session_comes_before_it() {
    let fs = MemFs::new();
    let two = r#"{"type":"assistant","uuid":"4","message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#;
    write(&fs, SESSION, &[prompt("1"), prompt("2"), prompt("3"), two.to_owned()]);
    let alone = plan(&[("s", SESSION)], &[]);
    let mut reader = TimelineReader::default();
    let before = keys(&mut reader, &fs, &alone);
    let once: std::collections::HashSet<_> = before.iter().collect();
    assert_eq!((before.len(), once.len()), (5, 5), "each has one of its own, also two of one record");
    fs.truncate(SESSION, 0);
    write(&fs, SESSION, &[prompt("1"), prompt("3"), two.to_owned(), prompt("5")]);
    let rewritten = keys(&mut reader, &fs, &alone);
    assert_eq!((&rewritten[0], &rewritten[1..4]), (&before[0], &before[2..]));
    write(&fs, "/c/projects/p/r.jsonl", &[prompt("0"), prompt("1")]);
    let joined = plan(&[("r", "/c/projects/p/r.jsonl"), ("s", SESSION)], &[]);
    let joined = keys(&mut reader, &fs, &joined);
    assert_eq!(
        (&joined[1], &joined[3..]),
        (&rewritten[0], &rewritten[1..]),
        "a copy is where it was first said"
    );
}

#[test]
fn a_question_beside_the_work_and_its_answer_stand_where_the_user_asked() {
    let fs = MemFs::new();
    let at = |line: String, second: u32| {
        line.replacen('{', &format!(r#"{{"timestamp":"2026-11-20T15:00:{second:02}.000Z","#), 1)
    };
    let said = |uuid: &str| {
        format!(
            r#"{{"type":"assistant","uuid":"{uuid}","message":{{"content":[{{"type":"text","text":"{uuid}"}}]}}}}"#
        )
    };
    let own = [at(prompt("p1"), 1), at(said("a1"), 2), at(prompt("p2"), 8), at(said("a2"), 9)];
    write(&fs, SESSION, &own);
    let asked = [at(prompt("question"), 5), at(said("answer"), 6)];
    let other = |text: &str| text.replace("\"uuid\":\"", "\"uuid\":\"copied-");
    let copied: Vec<String> = own[..2].iter().map(|line| other(line)).collect();
    for (n, begin) in [own[..2].to_vec(), copied, Vec::new()].into_iter().enumerate() {
        let side = format!("/c/projects/p/s/subagents/agent-aside_question-{n}.jsonl");
        write(&fs, &side, &[&begin[..], &asked].concat());
        let agent = format!("aside_question-{n}");
        let plan = plan(&[("s", SESSION)], &[(&agent, &side)]);
        let timeline = TimelineReader::default().read(&fs, &plan, ItemRange::whole()).unwrap();
        let texts: Vec<String> = timeline
            .items
            .into_iter()
            .map(|item| match item.what {
                What::Prompt { text, .. } | What::Response { text } => text,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(texts, ["p1", "a1", "question", "answer", "p2", "a2"], "file {n}");
    }
}

#[test]
fn each_record_that_the_transcript_lacks_is_shown_at_its_time() {
    let fs = MemFs::new();
    let beside = "/data/own/projects/s/s.jsonl";
    write(&fs, SESSION, &[said(1, 0), said(3, 20), said(5, 40)]);
    let long = said(4, 30).replace("\"4\"", &format!("\"{}\"", "x".repeat(600_000)));
    write(&fs, beside, &[said(2, 10), long, said(6, 50), said(7, 60)]);
    let mut plan = plan(&[("s", SESSION)], &[]);
    plan.beside = vec![(SessionId::new("s"), PathBuf::from(beside))];
    let timeline = TimelineReader::default().read(&fs, &plan, ItemRange::whole()).unwrap();
    let mut at: Vec<_> = timeline.items.iter().map(|item| item.at.clone().unwrap()).collect();
    assert!(at.len() == 7 && at.is_sorted(), "{at:?}");
    at.dedup();
    assert_eq!(at.len(), 7);
}

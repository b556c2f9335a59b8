//! Ends of invented transcripts, compared with their whole timelines.

use std::path::PathBuf;

use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_protocol::timeline::{TimelineItem, What};
use watchbill_watch::mem::MemFs;

use super::super::plan::AgentFile;
use super::*;

const PATH: &str = "/c/projects/p/s.jsonl";

/// This many turns: each has a prompt of about two kilobytes, a call and its result.
fn turns(name: &str, turns: usize) -> String {
    let words = "word ".repeat(400);
    let mut text = String::new();
    for n in 0..turns {
        text += &format!(
            "{{\"type\":\"user\",\"uuid\":\"{name}-{n}-1\",\"message\":{{\"content\":\"{n} {words}\"}}}}\n\
             {{\"type\":\"assistant\",\"uuid\":\"{name}-{n}-2\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"{name}{n}\",\"name\":\"Read\",\"input\":{{}}}}]}}}}\n\
             {{\"type\":\"user\",\"uuid\":\"{name}-{n}-3\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{name}{n}\",\"content\":\"done\"}}]}}}}\n"
        );
    }
    text
}

fn plan(parts: &[(&str, &str)], agents: Vec<AgentFile>) -> TimelinePlan {
    let part = |(id, path): &(&str, &str)| (SessionId::new(id), PathBuf::from(path), Some("clear"));
    TimelinePlan {
        beside: Vec::new(),
        session: SessionId::new("s"),
        chain: "c".into(),
        name: None,
        parts: parts.iter().map(part).collect(),
        agents,
        exclude: Exclude::default(),
    }
}

fn only(fs: &MemFs, text: &str) -> TimelinePlan {
    fs.append(PATH, text.as_bytes());
    plan(&[("s", PATH)], Vec::new())
}

/// The items without their indexes.
fn uncounted(items: &[TimelineItem]) -> Vec<TimelineItem> {
    items.iter().map(|item| TimelineItem { index: 0, ..item.clone() }).collect()
}

/// The newest items, after a check that they are the end of the whole.
fn checked_newest(fs: &MemFs, plan: &TimelinePlan) -> Timeline {
    let whole = TimelineReader::default().read(fs, plan, ItemRange::whole()).unwrap();
    let newest = read_newest(fs, plan, 200).unwrap();
    assert_eq!((newest.from, newest.total), (0, newest.items.len() as u64));
    let places: Vec<u64> = newest.items.iter().map(|item| item.index).collect();
    assert_eq!(places, (0..newest.total).collect::<Vec<_>>());
    let end = &whole.items[whole.items.len() - newest.items.len()..];
    assert_eq!(uncounted(&newest.items), uncounted(end));
    newest
}

#[test]
fn the_newest_items_are_the_last_ones_of_the_whole() {
    let fs = MemFs::new();
    let text = turns("a", 3000) + "{\"type\":\"user\",\"message\":{\"content\":\"torn";
    let plan = only(&fs, &text);
    assert_eq!(checked_newest(&fs, &plan).total, 200);
}

#[test]
fn records_without_ids_have_the_same_keys_when_only_the_end_is_read() {
    let fs = MemFs::new();
    let plan = only(&fs, &turns("a", 3000).replace("\"uuid\"", "\"other\""));
    assert_eq!(checked_newest(&fs, &plan).total, 200);
}

#[test]
fn the_end_of_a_chain_reaches_over_its_sessions() {
    let fs = MemFs::new();
    let (a, b) = ("/c/projects/p/a.jsonl", "/c/projects/p/b.jsonl");
    fs.append(a, turns("a", 3000).as_bytes());
    fs.append(b, turns("b", 10).as_bytes());
    fs.append(PATH, turns("s", 10).as_bytes());
    let newest = checked_newest(&fs, &plan(&[("a", a), ("b", b), ("s", PATH)], Vec::new()));
    let dividers = newest.items.iter().filter(|item| matches!(item.what, What::Continued { .. })).count();
    assert_eq!((newest.total, dividers), (200, 2));
}

#[test]
fn more_is_read_where_the_end_is_one_long_record() {
    let fs = MemFs::new();
    let long = format!(
        "{{\"type\":\"user\",\"uuid\":\"l\",\"message\":{{\"content\":\"{}\"}}}}\n",
        "x".repeat(3 << 20)
    );
    let plan = only(&fs, &(turns("a", 3000) + &long));
    assert_eq!(checked_newest(&fs, &plan).total, 200);
}

#[test]
fn a_short_or_missing_transcript_or_one_endless_line_gives_no_newest_items() {
    let fs = MemFs::new();
    let plan = only(&fs, &turns("a", 100));
    assert_eq!(read_newest(&fs, &plan, 200), None);
    assert_eq!(read_newest(&MemFs::new(), &plan, 200), None);
    let fs = MemFs::new();
    let plan = only(&fs, &"x".repeat(20 << 20));
    assert_eq!(read_newest(&fs, &plan, 200), None);
}

#[test]
fn a_message_to_a_subagent_is_not_taken_for_the_call_that_started_it() {
    let fs = MemFs::new();
    let call = |id: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"{id}\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"{id}\",\"name\":\"Agent\",\"input\":{{}}}}]}}}}\n\
             {{\"type\":\"user\",\"uuid\":\"{id}-2\",\"toolUseResult\":{{\"agentId\":\"a1\"}},\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"{id}\",\"content\":\"done\"}}]}}}}\n"
        )
    };
    fs.append(PATH, (call("start") + &turns("a", 3000) + &call("message")).as_bytes());
    let agent = "/c/projects/p/s/subagents/agent-a1.jsonl";
    fs.append(agent, turns("b", 1).as_bytes());
    fs.append("/c/projects/p/s/subagents/agent-a1.meta.json", b"{\"toolUseId\":\"start\"}");
    let agents = vec![AgentFile { session: SessionId::new("s"), agent: "a1".into(), path: agent.into() }];
    checked_newest(&fs, &plan(&[("s", PATH)], agents));
}

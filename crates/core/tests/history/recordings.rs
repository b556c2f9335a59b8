//! Outlines of recorded sessions as rows, as snapshots.

use std::fmt::Write as _;

use crate::fixtures::transcripts;
use crate::model::{Model, Reader};

fn short(text: &str) -> String {
    let line = text.replace('\n', "\\n");
    match line.char_indices().nth(90) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn outline(model: &Model) -> String {
    let mut out = String::new();
    let mut batches: Vec<_> = model.batches.values().collect();
    batches.sort_by_key(|batch| (batch.started_at, batch.offset));
    for batch in batches {
        let ended = batch.ended.as_ref().map_or("-", |ended| ended.status.as_str());
        let origin = batch.origin.map_or("-", |origin| origin.as_str());
        let plan = if batch.plan { " plan" } else { "" };
        let prompt = short(batch.prompt.as_deref().unwrap_or("-"));
        let answer = batch.response.as_ref().map_or(String::new(), |(_, text)| short(text));
        writeln!(out, "batch {} {origin} {ended}{plan}: {prompt} => {answer}", batch.id)
            .expect("a string grows");
        let mut activities: Vec<_> =
            model.activities.values().filter(|a| a.batch.as_ref() == Some(&batch.id)).collect();
        activities.sort_by_key(|activity| (activity.at, activity.offset));
        for activity in activities {
            writeln!(
                out,
                "  {}{} [{}] {} {:?} {:?} {}",
                activity.agent.as_deref().map_or(String::new(), |agent| format!("({agent}) ")),
                activity.tool.as_deref().unwrap_or("-"),
                short(activity.target.as_deref().unwrap_or("")),
                activity.outcome.map_or("-", |outcome| outcome.as_str()),
                activity.duration_ms,
                activity.file.as_deref().unwrap_or(""),
                short(activity.error.as_deref().unwrap_or("")),
            )
            .expect("a string grows");
        }
    }
    for plan in &model.plans {
        let content = short(plan.content.as_deref().unwrap_or("-"));
        writeln!(out, "plan {} {:?} {}: {content}", plan.plan, plan.path, plan.word.as_str()).expect("grows");
    }
    for execution in &model.executions {
        writeln!(out, "execution {:?} by {}", execution.plan, execution.batch).expect("grows");
    }
    for text in model.texts.values() {
        let tool = text.tool.as_deref().unwrap_or("");
        let agent = text.agent.as_deref().map_or(String::new(), |agent| format!("({agent}) "));
        writeln!(out, "text {agent}{} {tool}: {}", text.role.as_str(), short(&text.text)).expect("grows");
    }
    for segment in model.segments.values().filter(|_| model.segments.len() > 1) {
        let boundary = segment.boundary.map(|boundary| (boundary.trigger, boundary.pre_tokens));
        let (from, to) = (segment.started_at, segment.ended_at);
        let time = |at: Option<watchbill_core::time::Timestamp>| at.map(|at| at.to_string());
        writeln!(
            out,
            "segment {} at byte {}, {:?} to {:?}, after {boundary:?}",
            segment.number,
            segment.offset,
            time(from),
            time(to)
        )
        .expect("grows");
    }
    let tokens = model.requests.values().map(|request| request.usage.output).sum::<u64>();
    writeln!(out, "{} requests, {tokens} tokens out", model.requests.len()).expect("grows");
    out
}

#[test]
fn recordings_become_history() {
    for name in [
        "04b-permission-deny",
        "04f-escape-while-tool-runs",
        "04i-exitplanmode",
        "05a-api-errors",
        "06a-compact-manual",
        "06f-kill9-while-tool-runs",
        "07a-subagent-foreground",
        "07e-background-bash",
        "07f-parallel-tools",
    ] {
        let mut out = String::new();
        // A subagent's file belongs to the session whose folder it lies in.
        let mut found: Vec<_> = transcripts().into_iter().filter(|t| t.name.starts_with(name)).collect();
        found.sort_by_key(|t| t.name.contains("/subagents/"));
        for transcript in found {
            let agent =
                transcript.name.rsplit_once("/agent-").map(|(_, rest)| rest.trim_end_matches(".jsonl"));
            let parts: Vec<_> = transcript.name.trim_end_matches(".jsonl").split('/').collect();
            let session = parts[if agent.is_some() { parts.len() - 3 } else { parts.len() - 1 }];
            let mut reader = Reader::new(session, agent);
            reader.text(0, &transcript.text);
            reader.settle();
            let agent = agent.map_or(String::new(), |agent| format!(" agent {agent}"));
            write!(out, "# session {session}{agent}\n{}", outline(&reader.model)).expect("a string grows");
            for orphan in reader.model.activities.values().filter(|a| a.batch.is_none()) {
                writeln!(out, "orphan {orphan:?}").expect("a string grows");
            }
            if agent.is_empty() {
                continue;
            }
            for activity in reader.model.activities.values() {
                writeln!(out, "activity of {:?}: {:?}", activity.batch, activity.tool)
                    .expect("a string grows");
            }
        }
        insta::assert_snapshot!(name, out);
    }
}

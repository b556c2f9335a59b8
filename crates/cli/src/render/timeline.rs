//! `show`: the timeline, one entry after the other.

use watchbill_protocol::chain::Boundary;
use watchbill_protocol::timeline::{Subagent, Timeline, TimelineItem, What};

use super::chain::boundary_words;
use super::local_time;
use super::{plural, short};
use crate::paint::{Paint, Tone, age, cut, lines, one_line, wrap};

/// The stretch as text, `width` columns wide.
pub fn render(timeline: &Timeline, width: usize, paint: Paint) -> String {
    let mut out = String::new();
    if let Some(name) = &timeline.work_chain_name {
        out.push_str(&format!("{}\n", paint.tone(Tone::Bold, &one_line(name))));
    }
    let last = timeline.from + timeline.items.len() as u64;
    if timeline.from > 0 || last < timeline.total {
        let shown = if timeline.items.is_empty() {
            "none".to_owned()
        } else {
            format!("{} to {}", timeline.from, last - 1)
        };
        let total = timeline.total;
        let note =
            format!("of the {total} entries, counted from 0: {shown}; see more with --from and --limit\n");
        out.push_str(&paint.tone(Tone::Dim, &note));
    }
    for item in &timeline.items {
        entry(&mut out, item, 0, width, paint);
    }
    if timeline.total == 0 {
        out.push_str("Nothing has been said yet.\n");
    }
    out
}

/// An entry, and below a call what the subagent that it started did, one step further in.
fn entry(out: &mut String, item: &TimelineItem, depth: usize, width: usize, paint: Paint) {
    let time = item.at.as_deref().map(local_time).unwrap_or_default();
    let time = if time.is_empty() { "        " } else { &time };
    // Clients of 1.0.x wrote what subagents did into the session's own transcript.
    let indent = "  │ ".repeat(depth.max(usize::from(item.agent_id.is_some())));
    let room = width.saturating_sub(10 + indent.chars().count()).max(40);
    let mut put = |tone: Option<Tone>, text: &str, most: usize| {
        let mut first = true;
        let mut left_out = 0usize;
        // What is one line by its nature is cut; what somebody said is broken.
        let broken =
            lines(text).flat_map(|line| if most == 1 { vec![cut(&line, room)] } else { wrap(&line, room) });
        for (n, line) in broken.enumerate() {
            if n >= most {
                left_out += 1;
                continue;
            }
            let stamp = if first { time } else { "        " };
            let line = tone.map_or_else(|| line.clone(), |tone| paint.tone(tone, &line));
            out.push_str(&format!("{}  {indent}{line}\n", paint.tone(Tone::Dim, stamp)));
            first = false;
        }
        if left_out > 0 {
            let more = plural(left_out, "more line");
            out.push_str(&paint.tone(Tone::Dim, &format!("          {indent}… {more}\n")));
        }
    };
    match &item.what {
        What::Prompt { text, origin } if origin == "human" || origin == "queued" => {
            put(Some(Tone::Bold), &format!("> {text}"), 20);
        }
        What::Prompt { text, origin } => {
            put(Some(Tone::Dim), &format!("> {} {text}", origin.replace('_', " ")), 4)
        }
        What::Response { text } => put(None, text, usize::MAX),
        What::Thinking { text } => put(Some(Tone::Dim), text, 2),
        What::Tool { tool, target, outcome, duration_ms, subagent, .. } => {
            let (mark, tone) = match outcome.as_str() {
                "ok" => ("✓", Tone::Turn),
                "error" => ("✕", Tone::Error),
                "denied" => ("⊘", Tone::Need),
                "background" => ("↷", Tone::Work),
                _ => ("…", Tone::Work),
            };
            let took = duration_ms.map(|ms| format!("  {}", span(ms))).unwrap_or_default();
            put(Some(tone), &one_line(&format!("{mark} {tool} {target}{took}")), 1);
            if let Some(subagent) = subagent {
                nested(out, subagent, depth + 1, width, paint);
            }
        }
        What::Boundary { trigger, pre_tokens, post_tokens } => {
            let boundary =
                Boundary { trigger: trigger.clone(), pre_tokens: *pre_tokens, post_tokens: *post_tokens };
            put(Some(Tone::Dim), &format!("──── {} ────", boundary_words(&boundary)), 1);
        }
        What::Continued { to, reason } => {
            put(Some(Tone::Dim), &format!("──── continued in {} ({reason}) ────", short(to)), 1);
        }
        What::Interrupted => put(Some(Tone::Need), "interrupted", 1),
        What::Error { text } => put(Some(Tone::Error), text, 4),
        What::Command { text } | What::Note { text } => put(Some(Tone::Dim), text, 4),
    }
}

fn nested(out: &mut String, subagent: &Subagent, depth: usize, width: usize, paint: Paint) {
    let total = subagent.total.unwrap_or(0);
    let rest = total.saturating_sub(subagent.items.len() as u64);
    let more = if rest > 0 { format!("; {rest} more, see --limit") } else { String::new() };
    let entries = if total == 1 { "1 entry".to_owned() } else { format!("{total} entries") };
    let head = format!("subagent {}, {entries}{more}", one_line(&subagent.agent_id));
    let indent = "  │ ".repeat(depth);
    out.push_str(&paint.tone(Tone::Dim, &format!("          {indent}{head}\n")));
    for item in &subagent.items {
        entry(out, item, depth, width, paint);
    }
}

fn span(ms: u64) -> String {
    if ms < 10_000 {
        format!("{}.{} s", ms / 1000, ms % 1000 / 100)
    } else {
        age(i64::try_from(ms).unwrap_or(i64::MAX))
    }
}

//! `chain`: segments in order, and the reason for each link.

use watchbill_protocol::chain::{Boundary, WorkChain};

use super::{local_date_time, local_moment, short};
use crate::terminal_text::{Paint, Tone, one_line};

/// The chain as a list.
pub fn render(chain: &WorkChain, paint: Paint) -> String {
    let mut out = format!("work chain {}\n", one_line(&chain.work_chain_id));
    if let Some(name) = &chain.name {
        out.push_str(&format!("name       {}\n", paint.tone(Tone::Bold, &one_line(name))));
    }
    out.push_str(&format!("head       {}\n\n", one_line(&chain.head)));
    for segment in &chain.segments {
        let fate = if segment.superseded {
            paint.tone(Tone::Dim, "superseded")
        } else if segment.session_id == chain.head {
            paint.tone(Tone::Turn, "head")
        } else {
            String::new()
        };
        let line = format!(
            "{:>2} {}  {}  {fate}",
            segment.index + 1,
            short(&segment.session_id),
            span(segment.started_at.as_deref(), segment.ended_at.as_deref()),
        );
        out.push_str(&format!("{}\n", line.trim_end()));
        if let Some(boundary) = &segment.boundary {
            out.push_str(&paint.tone(Tone::Dim, &format!("   ── {}\n", boundary_words(boundary))));
        }
    }
    let links: Vec<_> = chain.links.iter().filter(|link| link.from != link.to).collect();
    if !links.is_empty() {
        out.push('\n');
    }
    for link in links {
        out.push_str(&format!(
            "{} → {}  {} ({})\n",
            short(&link.from),
            short(&link.to),
            link.reason,
            link.confidence
        ));
    }
    out
}

/// Start and end. If both are on one day, the day is printed once.
fn span(from: Option<&str>, to: Option<&str>) -> String {
    let [began, ended] = [from, to].map(|at| at.map(local_moment).unwrap_or_default());
    let (day, clock) = ended.split_once(' ').unwrap_or_default();
    match (began.is_empty(), ended.is_empty()) {
        (true, _) => format!("? – {ended}").trim_end().to_owned(),
        (false, true) => format!("{began} –"),
        (false, false) if began.starts_with(day) => format!("{began} – {clock}"),
        // Over several days, seconds do not matter.
        (false, false) => [from, to].map(|at| at.map(local_date_time).unwrap_or_default()).join(" – "),
    }
}

/// A compaction as text.
pub fn boundary_words(boundary: &Boundary) -> String {
    let by = match boundary.trigger.as_str() {
        "auto" => "compacted automatically",
        "manual" => "compacted by hand",
        _ => "compacted",
    };
    match (boundary.pre_tokens, boundary.post_tokens) {
        (Some(pre), Some(post)) => format!("{by}, {pre} → {post} tokens"),
        (Some(pre), None) => format!("{by}, {pre} tokens before"),
        _ => by.to_owned(),
    }
}

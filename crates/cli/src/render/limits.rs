//! `limits`: how much of each limit is used, and which work used it.

use watchbill_protocol::limits::{LimitShare, LimitUse};

use super::local_date_time;
use super::status::agent_of;
use crate::terminal_text::{Paint, Tone, cut, one_line, wrap};

/// A head for each limit, with a line for each work chain below it.
pub fn render(limits: &[LimitUse], width: usize, paint: Paint) -> String {
    if limits.is_empty() {
        return "no agent has said how much of its plan is used; `watchbill hooks install --statusline` lets it say that in its status line\n".to_owned();
    }
    let mut out = String::new();
    for LimitUse { limit, shares, rest } in limits {
        let used = format!("{}: {:.0} % of {} used", agent_of(limit), limit.percent, limit.span());
        let times = format!(
            ", as said at {}; resets {}",
            local_date_time(&limit.said_at),
            local_date_time(&limit.resets_at)
        );
        out.push_str(&format!("{}{}\n", paint.tone(Tone::Bold, &used), paint.tone(Tone::Dim, &times)));
        let mut line = |percent: f64, hour: &str, name: &str| {
            let name = cut(&one_line(name), width.saturating_sub(34).max(12));
            out.push_str(&format!("  {percent:>3.0} %  {hour:>22}  {name}\n"));
        };
        for LimitShare { name, percent, last_hour, .. } in shares {
            let hour = format!("{last_hour:.0} % in the last hour");
            line(*percent, if *last_hour < 0.5 { "" } else { &hour }, name);
        }
        if *rest >= 0.5 {
            line(*rest, "", "others, or not on this machine");
        }
    }
    let note = "An estimate: what a limit grew between two words of the agent, divided among the requests between them.";
    for line in wrap(note, width) {
        out.push_str(&paint.tone(Tone::Dim, &format!("{line}\n")));
    }
    out
}

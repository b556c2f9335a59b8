//! `status`: one line with the counts, in the format of a status bar.

use serde_json::json;
use watchbill_protocol::roster::{Group, RosterSnapshot};
use watchbill_protocol::status::Status;

use super::{doing, name};
use crate::args::StatusFormat;
use crate::terminal_text::{json, one_line};

/// The line, without a line break.
pub fn render(roster: &RosterSnapshot, format: StatusFormat) -> String {
    let counts = Status::from(roster);
    let (needs, working, turn, idle) = (counts.needs_you, counts.working, counts.your_turn, counts.idle);
    match format {
        StatusFormat::Plain => {
            let verb = if needs == 1 { "needs" } else { "need" };
            let trouble = if counts.trouble.is_some() {
                "; the history is not kept, see `watchbill doctor`"
            } else {
                ""
            };
            let refused = match counts.refused {
                0 => String::new(),
                refused => format!(", {refused} refused a call"),
            };
            format!("{needs} {verb} you, {working} working, {turn} your turn, {idle} idle{refused}{trouble}")
        }
        StatusFormat::Json => json(json!(counts).to_string()),
        StatusFormat::Waybar => {
            let class = if needs > 0 {
                "needs-you"
            } else if working > 0 {
                "working"
            } else {
                "idle"
            };
            let tooltip: Vec<String> = roster
                .sessions
                .iter()
                .filter(|session| matches!(session.group, Group::NeedsYou | Group::Working))
                .map(|session| escape(&format!("{}: {}", name(session), doing(session))))
                .chain(counts.trouble.as_deref().map(|trouble| escape(&one_line(trouble))))
                .collect();
            json!({ "text": format!("▲{needs} ●{working}"), "class": class, "alt": class, "tooltip": tooltip.join("\n") })
                .to_string()
        }
        StatusFormat::Tmux => {
            let need =
                if needs > 0 { format!("#[fg=yellow,bold]▲{needs}#[default] ") } else { String::new() };
            format!("{need}●{working} ✓{turn}")
        }
    }
}

/// Waybar parses its tooltip as Pango markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

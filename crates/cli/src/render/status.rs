//! `status`: one line with the counts, in the format of a status bar.

use serde_json::json;
use watchbill_agents::{Agent, traits};
use watchbill_protocol::roster::{Group, PlanLimit, RosterSnapshot};
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
            let limits = limits(&counts.limits).map(|limits| format!("; {limits}")).unwrap_or_default();
            format!(
                "{needs} {verb} you, {working} working, {turn} your turn, {idle} idle{refused}{limits}{trouble}"
            )
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
                .chain(limits(&counts.limits).map(|limits| escape(&limits)))
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

/// The limits of plans in a line: `Claude Code 42 % of 5 hours and 7 % of the week used`. `None` if none is known.
fn limits(limits: &[PlanLimit]) -> Option<String> {
    let accounts = limits.chunk_by(|one, next| (&one.agent, &one.folder) == (&next.agent, &next.folder));
    let lines: Vec<String> = accounts
        .map(|account| {
            let parts: Vec<String> =
                account.iter().map(|limit| format!("{:.0} % of {}", limit.percent, limit.span())).collect();
            format!("{} {} used", agent_of(&account[0]), parts.join(" and "))
        })
        .collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// The agent that says a limit.
pub fn agent_of(limit: &PlanLimit) -> String {
    one_line(Agent::of(&limit.agent).map_or(&*limit.agent, |agent| traits(agent).title))
}

/// Waybar parses its tooltip as Pango markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

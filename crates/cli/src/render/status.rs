//! `status`: one line with the counts, in the form that a bar wants.

use std::collections::BTreeMap;

use serde_json::json;
use watchbill_protocol::roster::{Group, RosterSnapshot, TrackedSession};

use super::{doing, name};
use crate::args::StatusFormat;

/// The line, without a line break.
pub fn render(roster: &RosterSnapshot, format: StatusFormat) -> String {
    let count = |group| roster.sessions.iter().filter(|session| counted_as(session) == group).count();
    let (needs, working) = (count(Group::NeedsYou), count(Group::Working));
    let (turn, idle) = (count(Group::YourTurn), count(Group::Idle));
    match format {
        StatusFormat::Plain => {
            let verb = if needs == 1 { "needs" } else { "need" };
            format!("{needs} {verb} you, {working} working, {turn} your turn, {idle} idle")
        }
        StatusFormat::Json => {
            let mut needs_for: BTreeMap<&str, u32> = BTreeMap::new();
            for need in roster.sessions.iter().filter_map(|session| session.needs.as_deref()) {
                *needs_for.entry(need).or_default() += 1;
            }
            json!({
                "needsYou": needs, "working": working, "yourTurn": turn, "idle": idle, "needs": needs_for,
            })
            .to_string()
        }
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

/// Who needs the person is the engine's word, and comes a second after the row: until then the session is at work.
fn counted_as(session: &TrackedSession) -> Group {
    match session.group {
        Group::NeedsYou if session.needs.is_none() => Group::Working,
        group => group,
    }
}

/// Waybar reads its tooltip as Pango markup.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

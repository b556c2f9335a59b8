//! The roster as a table: groups, and one line for each session.

use watchbill_agents::{Agent, traits};
use watchbill_protocol::roster::{Group, Problem, Refused, RefusedCall, RosterSnapshot, TrackedSession};

use super::{age_at, doing, local_date_time, name, plural, short, tone};
use crate::terminal_text::{Paint, Tone, fit, one_line, wrap_all};

/// The text for a roster of refused calls that is empty.
pub const NO_REFUSED: &str = "No call was refused by an agent's reviewer.\n";

/// What of the roster is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct RosterView {
    /// Each session that a program started, not one line for each starter.
    pub programs: bool,
    /// Only sessions whose calls were refused, with the last call.
    pub refused: bool,
}

impl RosterView {
    /// The roster with the sessions that are shown.
    pub fn of(self, mut roster: RosterSnapshot) -> RosterSnapshot {
        roster.sessions.retain(|session| !self.refused || session.refused.is_some());
        roster
    }
}

/// The text for an empty roster. `hidden` counts the sessions without activity, now or (with `then`) at an earlier
/// time.
pub fn nothing(hidden: usize, then: bool) -> String {
    let sessions = plural(hidden, "older session");
    match (hidden, then) {
        (0, false) => {
            "No sessions. They appear here as soon as an agent writes its first record.\n".to_owned()
        }
        (0, true) => "There were no sessions then.\n".to_owned(),
        (_, false) => format!("Nothing is going on now; `watchbill roster --all` shows {sessions}.\n"),
        (_, true) => format!("Nothing went on then; --all shows {sessions}.\n"),
    }
}

/// The whole roster, `width` columns wide. `nothing` is the text for an empty roster.
pub fn render(
    roster: &RosterSnapshot,
    nothing: &str,
    view: RosterView,
    width: usize,
    paint: Paint,
) -> String {
    let mut out =
        if roster.sessions.is_empty() { wrap_all(nothing, width, None, paint) } else { String::new() };
    let groups = [Group::NeedsYou, Group::Working, Group::YourTurn, Group::Idle];
    let mut is_first = true;
    for group in groups {
        let sessions: Vec<_> = roster.sessions.iter().filter(|session| session.group == group).collect();
        if sessions.is_empty() {
            continue;
        }
        if !std::mem::take(&mut is_first) {
            out.push('\n');
        }
        out.push_str(&paint.tone(Tone::Bold, &format!("{} {}", heading(group), sessions.len())));
        out.push('\n');
        for line in lines_of(&sessions, &roster.generated_at, view, width, paint) {
            out.push_str(&line);
            out.push('\n');
        }
    }
    out.push_str(&problems(&roster.problems, paint));
    out
}

/// The lines of a group: people's sessions, then those of programs, one line for each starter.
fn lines_of(
    sessions: &[&TrackedSession],
    now: &str,
    view: RosterView,
    width: usize,
    paint: Paint,
) -> Vec<String> {
    let (people, programs): (Vec<&TrackedSession>, Vec<_>) =
        sessions.iter().partition(|session| session.started_by.is_none());
    let mut starters: Vec<Vec<&TrackedSession>> = Vec::new();
    for session in programs {
        let is_same = |runs: &&mut Vec<&TrackedSession>| starter(runs[0]) == starter(session);
        match starters.iter_mut().find(is_same).filter(|_| !(view.programs || view.refused)) {
            Some(runs) => runs.push(session),
            None => starters.push(vec![session]),
        }
    }
    let mut lines = Vec::new();
    for runs in people.into_iter().map(|session| vec![session]).chain(starters) {
        lines.push(match &*runs {
            [session] => line(session, now, width, paint),
            _ => line_of_runs(&runs, now, width, paint),
        });
        let refused = runs[0].refused.as_ref().filter(|_| view.refused);
        lines.extend(refused.map(|refused| last_refused(refused, paint)));
    }
    lines
}

/// Who started a session: those with the same entrypoint and folder have one starter.
fn starter(session: &TrackedSession) -> Option<(&str, Option<&str>)> {
    session.started_by.as_ref().map(|by| (by.entrypoint.as_str(), by.folder.as_deref()))
}

/// The runs of one starter in one line, under the name of the newest.
fn line_of_runs(runs: &[&TrackedSession], now: &str, width: usize, paint: Paint) -> String {
    let newest = runs[0];
    let starters = runs.iter().filter_map(|run| run.started_by.as_ref());
    let [title_width, place_width, what_width] = widths(width.saturating_sub(GLYPH_ID_AND_AGE));
    let failed = starters.clone().filter(|by| by.failed).count();
    let failed = if failed == 0 { String::new() } else { format!(", {failed} failed") };
    let entrypoint = starters.map(|by| one_line(&by.entrypoint)).next().unwrap_or_default();
    let what = format!("{}{failed} · {entrypoint}", plural(runs.len(), "run"));
    let place = match place_width {
        0 => String::new(),
        _ => paint.tone(Tone::Dim, &fit(&place(newest), place_width)) + " ",
    };
    format!(
        "{} {} {} {place}{} {}",
        paint.tone(Tone::Dim, "≡"),
        fit("", 8),
        fit(&name(newest), title_width),
        paint.tone(Tone::Dim, &fit(&what, what_width)),
        paint.tone(Tone::Dim, &format!("{:>7}", age_at(now, &newest.state_since))),
    )
}

/// "2 refused, last: git push origin main".
fn refused_words(refused: &Refused) -> String {
    format!("{} refused, last: {}", refused.count, call_words(&refused.last))
}

fn call_words(call: &RefusedCall) -> String {
    one_line(if call.target.is_empty() { &call.tool } else { &call.target })
}

/// The last refused call, and the rule that would allow it.
fn last_refused(Refused { last, .. }: &Refused, paint: Paint) -> String {
    let why = if last.kind == "unavailable" { "the reviewer was unavailable" } else { "blocked" };
    let at = local_date_time(&last.at);
    let mut out = format!("    {at}  {}: {} ({why})\n", one_line(&last.tool), call_words(last));
    if let Some(allow) = &last.allow {
        out.push_str(&format!("    allow it: {}, in {}\n", one_line(&allow.rule), one_line(&allow.place)));
    }
    paint.tone(Tone::Dim, out.trim_end_matches('\n'))
}

/// The heading of a group.
pub fn heading(group: Group) -> &'static str {
    match group {
        Group::NeedsYou => "Needs you",
        Group::Working => "Working",
        Group::YourTurn => "Your turn",
        Group::Idle => "Idle",
    }
}

/// One session in one line.
pub fn line(session: &TrackedSession, now: &str, width: usize, paint: Paint) -> String {
    let glyph = match session.group {
        Group::NeedsYou => "▲",
        Group::Working => "●",
        Group::YourTurn => "✓",
        Group::Idle => "○",
    };
    let age = age_at(now, &session.state_since);
    let [title_width, place_width, what_width] = widths(width.saturating_sub(GLYPH_ID_AND_AGE));
    let mut what = doing(session);
    if session.state_reason.confidence == "inferred" && session.state != "idle" && session.state != "ended" {
        what.push_str(" (a guess)");
    }
    if let Some(refused) = &session.refused {
        what.push_str(&format!(" · {}", refused_words(refused)));
    }
    if session.compaction_count > 0 {
        what.push_str(&format!(" · compacted {}×", session.compaction_count));
    }
    if let Some(agents) = session.subagents.filter(|agents| agents.running > 0) {
        what.push_str(&format!(" · {}", plural(agents.running as usize, "subagent")));
    }
    if let Some(until) = &session.snoozed_until {
        what = format!("snoozed until {} · {what}", local_date_time(until));
    }
    if session.attach_command.is_some() {
        what.push_str(" · background");
    }
    if session.put_away == Some(true) {
        what.push_str(" · put away");
    }
    if session.superseded == Some(true) {
        what.push_str(" · superseded");
    }
    if let Some(agent) = Agent::of(&session.agent).filter(|agent| *agent != Agent::default()) {
        what.push_str(&format!(" · {}", traits(agent).title));
    }
    let tone = tone(session);
    let id = short(&session.session_id);
    let id_width = id.chars().count().max(8);
    let place = match place_width {
        0 => String::new(),
        _ => paint.tone(Tone::Dim, &fit(&place(session), place_width)) + " ",
    };
    format!(
        "{} {} {} {place}{} {}",
        paint.tone(tone, glyph),
        paint.tone(Tone::Dim, &fit(&id, id_width)),
        fit(&name(session), title_width.saturating_sub(id_width - 8)),
        paint.tone(tone, &fit(&what, what_width)),
        paint.tone(Tone::Dim, &format!("{age:>7}")),
    )
}

/// The columns of a line beside name, place and activity, with the spaces between.
const GLYPH_ID_AND_AGE: usize = 2 + 9 + 8;
/// In less room, not even one word of each would fit.
const ROOM_FOR_PLACE: usize = 30;

/// The widths of name, place and activity. The activity matters most: it gets all room that the name leaves, and a
/// narrow terminal omits the place.
fn widths(room: usize) -> [usize; 3] {
    let (title, place) = match room {
        0..ROOM_FOR_PLACE => (room * 2 / 5, 0),
        _ => ((room * 3 / 8).min(44), (room / 6).clamp(8, 26)),
    };
    let spaces = if place == 0 { 1 } else { 2 };
    [title, place, room.saturating_sub(title + place + spaces)]
}

/// The project and the branch.
pub fn place(session: &TrackedSession) -> String {
    let folders = [&session.worktree_of, &session.repo_root, &session.cwd];
    let folder = folders.into_iter().find_map(|folder| folder.as_deref()).unwrap_or_default();
    let project = folder.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default();
    match session.branch.as_deref() {
        Some(branch) if !branch.is_empty() => one_line(&format!("{project} · {branch}")),
        _ => one_line(project),
    }
}

/// The files that could not be read, and advice for each.
pub fn problems(problems: &[Problem], paint: Paint) -> String {
    // An unknown record type matters to developers, not to the user; `doctor` lists it.
    let shown: Vec<_> = problems.iter().filter(|problem| problem.kind != "unknown_record").collect();
    let mut out = String::new();
    if !shown.is_empty() {
        out.push('\n');
    }
    for problem in &shown {
        let times = if problem.count > 1 { format!(" ({}×)", problem.count) } else { String::new() };
        // Nothing is cut: the end of the path names the file, and the end of the detail has the advice.
        out.push_str(&paint.tone(Tone::Error, &format!("! {}{times}", one_line(&problem.path))));
        out.push_str(&format!("\n  {}\n", one_line(&problem.detail)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_prints_its_whole_path_and_advice() {
        let path = format!("/home/dev/.claude/projects/{}/x.jsonl", "deep".repeat(40));
        let detail = format!("No permission to read this. {}chmod u+r", "Words. ".repeat(20));
        let problem = Problem {
            path: path.clone(),
            kind: "permission_denied".into(),
            count: 2,
            detail: detail.clone(),
        };
        let text = problems(&[problem], Paint(false));
        assert_eq!(text, format!("\n! {path} (2×)\n  {detail}\n"));
    }

    #[test]
    fn a_row_fills_the_width() {
        for room in 12..200 {
            let widths = widths(room);
            let shown = widths.into_iter().filter(|width| *width > 0);
            assert_eq!(shown.clone().sum::<usize>() + shown.clone().count() - 1, room);
            assert!(shown.clone().all(|width| width >= 4), "{room}: {widths:?}");
            assert_eq!(shown.count(), if room < 30 { 2 } else { 3 });
        }
    }

    #[test]
    fn an_empty_roster_fits_a_narrow_terminal() {
        let empty = serde_json::json!({ "revision": 0, "generatedAt": "", "sessions": [], "problems": [] });
        let empty: RosterSnapshot = serde_json::from_value(empty).unwrap();
        let text = render(&empty, &nothing(0, false), RosterView::default(), 40, Paint(false));
        assert_eq!(text, "No sessions. They appear here as soon as\nan agent writes its first record.\n");
    }
}

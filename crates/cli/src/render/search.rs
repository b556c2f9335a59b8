//! `search`: each match with its place, its time and the text around it.

use watchbill_protocol::search::{Hit, IndexState, SearchAnswer};

use super::{local_date_time, short, size};
use crate::terminal_text::{Paint, Tone, cut, fit, one_line, wrap, wrap_all};

/// The most lines of a snippet.
const LINES: usize = 3;
/// The indentation of a snippet.
const INDENT: &str = "    ";

/// The matches, `width` columns wide.
pub fn render(answer: &SearchAnswer, width: usize, paint: Paint) -> String {
    let mut out = String::new();
    for hit in &answer.hits {
        out.push_str(&format!("{}\n", head(hit, width, paint)));
        for line in snippet(hit, width.saturating_sub(INDENT.len()), paint) {
            out.push_str(&format!("{INDENT}{line}\n"));
        }
    }
    if answer.hits.is_empty() {
        let words = match answer.index {
            IndexState::Absent => "Nothing is stored yet: `watchbill index` reads your history.",
            _ => "Nothing found.",
        };
        out.push_str(&wrap_all(words, width, None, paint));
        if let Some(cut) = answer.cut_bytes {
            out.push_str(&wrap_all(&cut_words(cut), width, Some(Tone::Dim), paint));
        }
    } else if answer.more {
        let words = "There is more; see --limit, --project, --since and --role.";
        out.push_str(&wrap_all(words, width, Some(Tone::Dim), paint));
    }
    let note = match answer.index {
        IndexState::Behind => "The stored history is not up to date: `watchbill index` reads what is new.",
        IndexState::Cut => {
            "The search ended after three seconds, so texts may be missing: use longer or fewer words."
        }
        IndexState::Current | IndexState::Absent => "",
    };
    if !note.is_empty() {
        out.push_str(&wrap_all(note, width, Some(Tone::Dim), paint));
    }
    out
}

/// What no search finds, because texts were cut.
pub fn cut_words(bytes: u64) -> String {
    format!(
        "{} at the ends of long texts cannot be searched: those of tools are cut by `store.cut`, others at 1 MiB",
        size(bytes)
    )
}

/// The least room for speaker and place after id and time.
const ROOM_FOR_NAME: usize = 20;

/// Id, time, speaker and place. In a narrow terminal, speaker and place get a line of their own.
fn head(hit: &Hit, width: usize, paint: Paint) -> String {
    let at = hit.at.as_deref().map(local_date_time).unwrap_or_default();
    let project = project(&hit.project);
    let title = hit.title.as_deref().map(one_line).filter(|title| !title.is_empty());
    let title = title.map(|title| format!(" · {title}")).unwrap_or_default();
    let name = format!("{} in {project}{title}", speaker(hit));
    // The id comes first, because users copy it.
    let id = short(&hit.session_id);
    let id_width = id.chars().count().max(8);
    let id = paint.tone(Tone::Bold, &fit(&id, id_width));
    let at = paint.tone(Tone::Dim, &fit(&at, 16));
    let rest = width.saturating_sub(id_width + 2 + 16 + 2);
    match rest < ROOM_FOR_NAME {
        true => format!("{id}  {at}\n  {}", cut(&name, width.saturating_sub(2))),
        false => format!("{id}  {at}  {}", cut(&name, rest)),
    }
}

/// The speaker of the text.
fn speaker(hit: &Hit) -> String {
    let tool = hit.tool.as_deref().map(one_line).filter(|tool| !tool.is_empty());
    let tool = tool.unwrap_or_else(|| "a tool".to_owned());
    let words = match hit.role.as_str() {
        "tool_input" => tool,
        "tool_result" => format!("output of {tool}"),
        role => one_line(role),
    };
    match &hit.agent_id {
        Some(agent) => format!("{words} (subagent {})", short(agent)),
        None => words,
    }
}

/// The last part of a path, which is the project's name in the roster.
fn project(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if name.is_empty() { "?".to_owned() } else { one_line(name) }
}

/// The snippet in lines, with the matches highlighted.
fn snippet(hit: &Hit, width: usize, paint: Paint) -> Vec<String> {
    let mut found: Vec<(char, bool)> = Vec::new();
    let mut plain = String::new();
    for part in &hit.snippet_parts {
        // Control characters are dropped. A space at the edge of a part is kept, because the parts are joined into one line.
        let text = part.text.replace(char::is_whitespace, " ");
        for c in crate::terminal_text::lines(&text).flat_map(|line| line.chars().collect::<Vec<_>>()) {
            if !(c == ' ' && (plain.ends_with(' ') || plain.is_empty())) {
                plain.push(c);
                found.push((c, part.found));
            }
        }
    }
    let mut marks = found.into_iter().peekable();
    let mut lines: Vec<String> = Vec::new();
    for line in wrap(plain.trim_end(), width).into_iter().take(LINES) {
        let mut shown = String::new();
        let mut run = (String::new(), false);
        for c in line.chars() {
            // `wrap` drops the space at a line break, so skip it here.
            while marks.next_if(|(mark, _)| *mark != c).is_some() {}
            let is_found = marks.next().is_some_and(|(_, found)| found);
            if is_found != run.1 {
                shown.push_str(&toned(&run, paint));
                run = (String::new(), is_found);
            }
            run.0.push(c);
        }
        shown.push_str(&toned(&run, paint));
        lines.push(shown);
    }
    lines
}

fn toned((text, found): &(String, bool), paint: Paint) -> String {
    if *found { paint.tone(Tone::Found, text) } else { text.clone() }
}

#[cfg(test)]
mod tests {
    use watchbill_protocol::search::SnippetPart;

    use super::*;

    fn hit(parts: &[(&str, bool)]) -> Hit {
        Hit {
            session_id: "3f6a1c52-0b7e".into(),
            work_chain_id: "c".into(),
            at: Some("2026-11-20T15:30:52.694Z".into()),
            role: "tool_result".into(),
            snippet: parts.iter().map(|(text, _)| *text).collect(),
            snippet_parts: parts
                .iter()
                .map(|(text, found)| SnippetPart { text: (*text).into(), found: *found })
                .collect(),
            project: "/home/dev/api-server/".into(),
            score: 1.0,
            title: Some("Publish\nthe 2.4 release".into()),
            tool: Some("Bash".into()),
            agent_id: Some("a231fdd1297b".into()),
            offset: 0,
        }
    }

    #[test]
    fn search_results_fit_a_narrow_terminal() {
        let answer = SearchAnswer {
            query: "three".into(),
            hits: vec![hit(&[("one two three four five six seven eight nine", false)])],
            more: true,
            index: IndexState::Behind,
            cut_bytes: None,
            took_ms: 0.0,
        };
        let text = render(&answer, 40, Paint(false));
        assert!(text.contains("3f6a1c52  2026-11-20") && text.contains("see --limit"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 40), "{text}");
    }

    #[test]
    fn matches_are_highlighted_across_line_breaks() {
        let hit = hit(&[("one two ", false), ("three four", true), (" five", false)]);
        let lines = snippet(&hit, 14, Paint(true));
        assert_eq!(lines, ["one two \x1b[1;33mthree\x1b[0m", "\x1b[1;33mfour\x1b[0m five"]);
        assert_eq!(snippet(&hit, 14, Paint(false)), ["one two three", "four five"]);
    }

    #[test]
    fn snippets_have_no_control_characters() {
        let hit = hit(&[("a\x1b[31m\n", false), ("b\u{202e}\x07", true)]);
        assert_eq!(snippet(&hit, 40, Paint(false)), ["a[31m b"]);
    }

    #[test]
    fn the_head_names_speaker_project_and_time() {
        let head = head(&hit(&[]), 120, Paint(false));
        assert!(head.starts_with("3f6a1c52  2026-11-20 "), "{head}");
        assert!(
            head.ends_with("output of Bash (subagent a231fdd1) in api-server · Publish the 2.4 release"),
            "{head}"
        );
    }
}

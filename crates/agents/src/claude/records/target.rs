//! The target of a tool call: what it acts on, in one line.

use std::borrow::Cow;

use watchbill_core::history::strip_private;
use watchbill_core::transcript::json::{Raw, head};

/// Longest target, in characters.
pub(super) const TARGET_LIMIT: usize = 200;

/// Decoded bytes that are searched for the first line: enough for [`TARGET_LIMIT`] characters of four bytes after
/// some blank lines.
const LOOK_AT: usize = 1024;

/// The line that distinguishes this call from others of the same tool; empty if there is none.
pub fn of<'a>(tool: &str, input: Raw<'a>) -> Cow<'a, str> {
    let keys: &[&str] = match tool {
        "Bash" | "PowerShell" | "SlashCommand" => &["command"],
        "Read" | "Edit" | "MultiEdit" | "Write" => &["file_path"],
        "NotebookEdit" | "NotebookRead" => &["notebook_path", "file_path"],
        "LS" => &["path"],
        "Grep" | "Glob" => &["pattern"],
        "WebFetch" => &["url"],
        "WebSearch" | "ToolSearch" => &["query"],
        "Agent" | "Task" => &["description", "prompt"],
        "TaskCreate" => &["subject"],
        "Skill" => &["skill", "command"],
        "ExitPlanMode" => &["plan"],
        "AskUserQuestion" => return question(input),
        _ => &[],
    };
    for key in keys {
        if let Raw::Str(raw) = input.get(key) {
            return one_line(raw);
        }
    }
    first_string(input)
}

fn question<'a>(input: Raw<'a>) -> Cow<'a, str> {
    let mut first = Raw::Absent;
    input.get("questions").elements(|cursor| {
        first = cursor.value()?.get("question");
        None
    });
    match first {
        Raw::Str(raw) => one_line(raw),
        _ => first_string(input),
    }
}

fn first_string<'a>(input: Raw<'a>) -> Cow<'a, str> {
    let mut found = Cow::Borrowed("");
    input.entries(|cursor, _| match cursor.value()? {
        Raw::Str(raw) => {
            found = one_line(raw);
            None
        }
        _ => Some(()),
    });
    found
}

/// The first line that is not blank, trimmed and cut at [`TARGET_LIMIT`] characters, without private blocks.
fn one_line(raw: &str) -> Cow<'_, str> {
    let text = head(raw, LOOK_AT);
    match strip_private(&text) {
        Cow::Owned(public) => Cow::Owned(first_line(&public).to_owned()),
        Cow::Borrowed(_) => match text {
            Cow::Borrowed(text) => Cow::Borrowed(first_line(text)),
            Cow::Owned(text) => Cow::Owned(first_line(&text).to_owned()),
        },
    }
}

fn first_line(text: &str) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    match line.char_indices().nth(TARGET_LIMIT) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_gives_its_target() {
        for (tool, input, want) in [
            ("Bash", r#"{"description":"x","command":"\n  cargo test \\\n --all"}"#, "cargo test \\"),
            ("Edit", r#"{"old_string":"a","file_path":"/a/b.rs"}"#, "/a/b.rs"),
            ("NotebookEdit", r#"{"cell_id":"1","notebook_path":"/n.ipynb"}"#, "/n.ipynb"),
            ("Grep", r#"{"path":"/src","pattern":"foo\\d"}"#, "foo\\d"),
            ("WebFetch", r#"{"prompt":"p","url":"https://example.test/"}"#, "https://example.test/"),
            ("WebSearch", r#"{"query":"q"}"#, "q"),
            ("Agent", r#"{"prompt":"long","description":"Look at files"}"#, "Look at files"),
            ("Task", r#"{"prompt":"only a prompt"}"#, "only a prompt"),
            ("Skill", r#"{"args":"a","skill":"dataviz"}"#, "dataviz"),
            ("ExitPlanMode", r##"{"plan":"# Plan\n\n1. do it"}"##, "# Plan"),
            (
                "AskUserQuestion",
                r#"{"questions":[{"header":"H","question":"Which?","options":[{"question":"no"}]},{"question":"2"}]}"#,
                "Which?",
            ),
            ("AskUserQuestion", r#"{"question":"older form?"}"#, "older form?"),
            ("mcp__github__search", r#"{"limit":3,"nested":{"a":"no"},"query":"yes","z":"no"}"#, "yes"),
            ("TodoWrite", r#"{"todos":[{"content":"a"}]}"#, ""),
            ("Bash", r#"{"command":7,"note":"a wrong type is absent"}"#, "a wrong type is absent"),
            ("Bash", "[]", ""),
            ("Bash", r#"{"command":"deploy <private>a\nb</private> now"}"#, "deploy  now"),
            ("Bash", r#"{"command":"\u003cprivate>a"}"#, ""),
        ] {
            assert_eq!(of(tool, Raw::Nested(input)), want, "{tool} {input}");
        }
        assert_eq!(of("Bash", Raw::Absent), "");
    }

    #[test]
    fn a_target_is_cut_at_characters_not_bytes() {
        let input = format!(r#"{{"command":"{}"}}"#, "ü".repeat(300));
        assert_eq!(of("Bash", Raw::Nested(&input)).chars().count(), TARGET_LIMIT);
    }
}

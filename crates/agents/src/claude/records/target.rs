//! The target of a tool call: what it acts on, in one line.

use std::borrow::Cow;

use watchbill_core::transcript::json::Raw;

use crate::target::{first_of, question};

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
    first_of(keys, input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::TARGET_LIMIT;

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

//! Other programs whose hooks or plugins put memories into the agent. Two of them beside each other tell it things twice.

use jsonc_parser::ast::{Object, Value};

use super::{handlers_of, hooks_of, last, object, parse, parts, text_of};

/// A name for the user, and the words by which a command or a plugin is known. A word ends at any sign but letters, digits, `-`, `_`.
const KNOWN: &[(&str, &[&str])] = &[
    ("claude-mem", &["claude-mem"]),
    ("claude-recall", &["claude-recall"]),
    ("open-agent-kit", &["open-agent-kit", "oak"]),
    ("engram", &["engram"]),
    ("basic-memory", &["basic-memory"]),
    ("mem0", &["mem0"]),
    ("beads", &["bd", "beads"]),
    ("cass", &["cass"]),
    ("letta", &["letta"]),
];

/// The events whose hooks can tell the agent something.
const TELLING: &[&str] = &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart"];

/// The names of known memory programs that these settings start, each once. Settings that cannot be parsed name none.
pub(super) fn rivals(text: &str) -> Vec<String> {
    let text = parts(text).1;
    let Ok(root) = parse(text) else { return Vec::new() };
    let Ok(root) = object(text, &root, "settings must be an object") else { return Vec::new() };
    let mut lines = commands(text, root);
    lines.extend(plugins(root));
    let names = KNOWN.iter().filter(|(_, words)| lines.iter().any(|line| has_word(line, words)));
    names.map(|(name, _)| (*name).to_owned()).collect()
}

fn commands(text: &str, root: &Object<'_>) -> Vec<String> {
    let Ok(Some((_, hooks))) = hooks_of(text, root) else { return Vec::new() };
    let telling = hooks.properties.iter().filter(|event| TELLING.contains(&event.name.as_str()));
    let groups = telling.filter_map(|event| match &event.value {
        Value::Array(groups) => Some(&groups.elements),
        _ => None,
    });
    let handlers = groups.flatten().filter_map(handlers_of).flat_map(|(_, handlers)| &handlers.elements);
    handlers
        .filter_map(|handler| {
            let Value::Object(handler) = handler else { return None };
            let mut line = text_of(&last(handler, "command")?.value)?.to_owned();
            if let Some(Value::Array(args)) = last(handler, "args").map(|args| &args.value) {
                args.elements.iter().filter_map(text_of).for_each(|word| line = format!("{line} {word}"));
            }
            Some(line)
        })
        .collect()
}

/// The plugins that are turned on. Their hooks are not in the settings.
fn plugins(root: &Object<'_>) -> Vec<String> {
    let Some(Value::Object(plugins)) = last(root, "enabledPlugins").map(|plugins| &plugins.value) else {
        return Vec::new();
    };
    let on =
        plugins.properties.iter().filter(|one| !matches!(&one.value, Value::BooleanLit(on) if !on.value));
    on.map(|one| one.name.as_str().to_owned()).collect()
}

fn has_word(line: &str, words: &[&str]) -> bool {
    line.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))).any(|part| words.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_named_by_their_commands_and_plugins() {
        let text = r#"{
            "hooks": {
                "SessionStart": [{"hooks": [{"type": "command", "command": "bun /srv/tools/claude-mem/context.js"},
                    {"type": "command", "command": "bd", "args": ["prime"]}]}],
                "Stop": [{"hooks": [{"type": "command", "command": "engram save"}]}],
                "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "/usr/bin/oak hook"}]}]
            },
            "enabledPlugins": {"basic-memory@tools": true, "mem0@tools": false}
        }"#;
        assert_eq!(rivals(text), ["claude-mem", "open-agent-kit", "basic-memory", "beads"]);
    }

    #[test]
    fn other_hooks_and_other_words_are_no_memory_programs() {
        for text in [
            r#"{"hooks": {"SessionStart": [{"hooks": [{"command": "watchbill hook --context"}, {"command": "/srv/oaks/cassette.sh"}]}]}}"#,
            r#"{"hooks": [], "enabledPlugins": []}"#,
            "no settings",
            "",
        ] {
            assert_eq!(rivals(text), Vec::<String>::new(), "{text}");
        }
    }
}

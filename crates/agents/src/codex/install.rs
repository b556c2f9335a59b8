//! Hooks of Codex: where they lie, which events it has, and whether the person has trusted them. Seen with 0.169.0.
//!
//! Codex waits for every hook, and leaves out one that is marked as asynchronous. An event that it does not know only gives a
//! warning.

use crate::claude::install::{Event, Version};
use crate::traits::Trust;

/// The settings in Codex's folder and in a project's `.codex`. They are plain JSON.
pub const SETTINGS: &str = "hooks.json";

/// How long a hook waits for the user's answer, in seconds. Codex opens its dialog only when the hook has ended, so the person
/// at the terminal waits as long.
pub const ANSWER_WAIT: u64 = 20;

const fn event(name: &'static str, timeout: u32) -> Event {
    Event { name, since: Version(0, 0, 0), waits: true, matcher: None, timeout: Some(timeout) }
}

/// The event of handlers that wait for answers.
pub const ANSWER_EVENT: Event = event("PermissionRequest", 30);

/// All events that the hooks subscribe to. Codex warns at each start about more than 3 seconds for `SessionEnd` or `Interrupt`.
pub const EVENTS: &[Event] = &[
    event("SessionStart", 10),
    event("SessionEnd", 3),
    event("UserPromptSubmit", 10),
    event("PreToolUse", 10),
    event("PermissionRequest", 10),
    event("PostToolUse", 10),
    event("PreCompact", 10),
    event("PostCompact", 10),
    event("SubagentStart", 10),
    event("SubagentStop", 10),
    event("Stop", 10),
    event("Interrupt", 3),
];

/// New and changed hooks do nothing until the person accepts them. The key of a handler is then in the configuration; the hash
/// behind it is not read, and never written.
pub const TRUST: Trust = Trust {
    file: "config.toml",
    is_given,
    how: "start `codex` and choose \"trust all\" in its dialog \"Hooks need review\"",
};

/// Whether the configuration has the key of a handler: its file, event, group, and place in the group.
fn is_given(config: &str, file: &str, event: &str, group: usize, handler: usize) -> bool {
    let key = format!("{file}:{}:{group}:{handler}", snake_case(event));
    let quoted = [serde_json::Value::from(&*key).to_string(), format!("'{key}'")];
    config.lines().any(|line| {
        let line = line.trim_start();
        let line = line.strip_prefix("[hooks.state.").unwrap_or(line);
        quoted.iter().any(|key| line.starts_with(&**key))
    })
}

fn snake_case(name: &str) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !word.is_empty() {
            word.push('_');
        }
        word.push(letter.to_ascii_lowercase());
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_is_trusted_once_its_key_is_in_the_configuration() {
        let config = "model = \"m\"\n[hooks.state]\n\n\
            [hooks.state.\"/home/dev/.codex/hooks.json:user_prompt_submit:1:0\"]\ntrusted_hash = \"sha256:00\"\n\
            # [hooks.state.\"/home/dev/.codex/hooks.json:stop:0:0\"]\n\
            [hooks.state.'C:\\Users\\dev\\hooks.json:interrupt:0:0']\n";
        let given = |file, event, group| is_given(config, file, event, group, 0);
        let file = "/home/dev/.codex/hooks.json";
        assert!(given(file, "UserPromptSubmit", 1));
        assert!(given("C:\\Users\\dev\\hooks.json", "Interrupt", 0));
        assert!(!given(file, "UserPromptSubmit", 0), "another place");
        assert!(!given(file, "Stop", 0), "a comment");
        assert!(!given("/home/dev/other/hooks.json", "UserPromptSubmit", 1));
    }
}

//! Hooks of Gemini CLI: where the settings lie that name them, and which events it has. Seen with 0.61.
//!
//! Gemini waits for each hook, and rewrites its settings itself. So events that come with each request or each piece of an answer are
//! never among them: `BeforeModel`, `AfterModel`, `BeforeToolSelection` and `PreCompress`. The last one tells no end of a compaction.

use crate::claude::install::{Event, Version};

/// The settings in Gemini's folder and in a project's `.gemini`. They may have comments.
pub const SETTINGS: &str = "settings.json";
/// The settings that the machine's administrator writes.
pub const MANAGED_SETTINGS: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/GeminiCli/settings.json"
} else if cfg!(windows) {
    r"C:\ProgramData\gemini-cli\settings.json"
} else {
    "/etc/gemini-cli/settings.json"
};

const fn event(name: &'static str) -> Event {
    Event { name, since: Version(0, 0, 0), waits: true, matcher: None, timeout: Some(5) }
}

/// All events that the hooks subscribe to.
pub const EVENTS: &[Event] = &[
    event("SessionStart"),
    event("SessionEnd"),
    event("BeforeAgent"),
    event("AfterAgent"),
    event("BeforeTool"),
    event("AfterTool"),
    event("Notification"),
];

/// The events of handlers that tell the agent what was learned.
pub const CONTEXT_EVENTS: &[Event] = &[
    context_event("SessionStart", None),
    context_event("BeforeAgent", None),
    context_event("AfterTool", Some("read_file|write_file|replace")),
];

const fn context_event(name: &'static str, matcher: Option<&'static str>) -> Event {
    Event { matcher, timeout: Some(1), ..event(name) }
}

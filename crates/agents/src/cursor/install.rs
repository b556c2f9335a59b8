//! Hooks of Cursor: where the settings lie that name them, and which events it has, by its documents of 2026.
//!
//! One name that Cursor does not know voids the whole file. `beforeShellExecution` and `beforeMCPExecution` are never among the events:
//! they run for each call, before Cursor's own rules decide whether it asks. `preCompact` has no event for the end of a compaction.

use crate::claude::install::{Event, Version};

/// The settings in Cursor's folder and in a project's `.cursor`.
pub const SETTINGS: &str = "hooks.json";
/// The settings that the machine's administrator writes.
pub const MANAGED_SETTINGS: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/Cursor/hooks.json"
} else if cfg!(windows) {
    r"C:\ProgramData\Cursor\hooks.json"
} else {
    "/etc/cursor/hooks.json"
};

const fn event(name: &'static str) -> Event {
    Event { name, since: Version(0, 0, 0), waits: true, matcher: None, timeout: Some(5) }
}

/// All events that the hooks subscribe to.
pub const EVENTS: &[Event] = &[
    event("sessionStart"),
    event("sessionEnd"),
    event("beforeSubmitPrompt"),
    event("preToolUse"),
    event("postToolUse"),
    event("postToolUseFailure"),
    event("stop"),
];

/// The events of handlers that tell the agent what was learned.
pub const CONTEXT_EVENTS: &[Event] = &[
    context_event("sessionStart", None),
    context_event("beforeSubmitPrompt", None),
    context_event("postToolUse", Some("Read|Write|StrReplace")),
];

const fn context_event(name: &'static str, matcher: Option<&'static str>) -> Event {
    Event { matcher, timeout: Some(1), ..event(name) }
}

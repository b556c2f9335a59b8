//! The plugin that runs hooks in opencode: where it lies, and which events it has. Seen with 1.18.33.
//!
//! opencode runs no commands of its own. It loads each script in its folder of plugins without a question. For a
//! folder with plugins it may fetch packages at its next start.

use crate::claude::install::{Event, Version};

/// The plugin in the folder of opencode's settings, and in a project's `.opencode`.
pub const SETTINGS: &str = "plugins/watchbill.js";

/// What the person should know.
pub const NOTE: &str = "opencode loads the plugin at its next start. For a folder with plugins it may fetch packages of its own first.";

/// The program around the settings.
pub const PLUGIN: &str = concat!(include_str!("../plugin.js"), include_str!("plugin.js"));

const fn event(name: &'static str) -> Event {
    Event { name, since: Version(0, 0, 0), waits: true, matcher: None, timeout: None }
}

/// The event of handlers that wait for answers. opencode shows its dialog meanwhile, and the plugin ends the handler when the
/// person answers there.
pub const ANSWER_EVENT: Event = event("PermissionRequest");

/// All events of the plugin.
pub const EVENTS: &[Event] = &[
    event("SessionStart"),
    event("SessionEnd"),
    event("UserPromptSubmit"),
    event("PreToolUse"),
    event("PermissionRequest"),
    event("Notification"),
    event("PermissionReplied"),
    event("PostToolUse"),
    event("PostCompact"),
    event("SubagentStart"),
    event("SubagentStop"),
    event("Stop"),
    event("StopFailure"),
    event("Interrupt"),
];

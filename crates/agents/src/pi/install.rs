//! The extension that runs hooks in pi: where it lies, and which events it has. Seen with 1.5.2.
//!
//! pi loads each script in its folder of extensions without a question, at its next start.

use crate::claude::install::{Event, Version};

/// The extension in pi's folder, and in a project's `.pi`, which pi loads once the project is trusted.
pub const SETTINGS: &str = "extensions/watchbill.js";

/// What the person should know.
pub const NOTE: &str = "pi loads the extension at its next start.";

/// The program around the settings.
pub const EXTENSION: &str = concat!(include_str!("../plugin.js"), include_str!("extension.js"));

const fn event(name: &'static str) -> Event {
    Event { name, since: Version(0, 0, 0), waits: true, matcher: None, timeout: None }
}

/// All events of the extension.
pub const EVENTS: &[Event] = &[
    event("SessionStart"),
    event("SessionEnd"),
    event("UserPromptSubmit"),
    event("PreToolUse"),
    event("PermissionRequest"),
    event("Notification"),
    event("PermissionReplied"),
    event("PostToolUse"),
    event("PreCompact"),
    event("PostCompact"),
    event("Stop"),
    event("StopFailure"),
    event("Interrupt"),
];

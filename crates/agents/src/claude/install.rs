//! Hooks of Claude Code: where the settings lie that name them, the events of the client that they subscribe to, and the
//! client version that has each one.
//!
//! A client that meets an unknown event name skips the whole settings file, permissions included. That was seen with
//! many programs that install hooks, e.g. stablyai/orca#15548, vibe-notch#85. So the installer writes an event only
//! for a client that is known to have it.

use std::fmt;

/// The settings in the agent's folder, of the user or of a project.
pub const SETTINGS: &str = "settings.json";
/// This user's settings in a project.
pub const LOCAL_SETTINGS: &str = "settings.local.json";
/// The settings that the machine's administrator writes.
pub const MANAGED_SETTINGS: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode/managed-settings.json"
} else if cfg!(windows) {
    r"C:\Program Files\ClaudeCode\managed-settings.json"
} else {
    "/etc/claude-code/managed-settings.json"
};

/// A version of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl Version {
    /// Reads `2.1.329`, also with other words around it, as `claude --version` prints it.
    pub fn parse(text: &str) -> Option<Self> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
            let mut parts = word.split('.').map(|part| part.parse().ok());
            match (parts.next()??, parts.next()??, parts.next()??, parts.next()) {
                (major, minor, patch, None) => Some(Self(major, minor, patch)),
                _ => None,
            }
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// One event that the hooks subscribe to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The agent's name for the event.
    pub name: &'static str,
    /// The first version that is known to have it. If the release notes do not say, this may be a later version.
    pub since: Version,
    /// Whether the agent waits for the hook, which takes milliseconds. It does so only for events after which it may
    /// end, because an ending client kills the hooks it does not wait for. Of eight `Stop` events of print mode two
    /// were lost (2.1.329; anthropics/claude-code#83396).
    pub waits: bool,
    /// The tools that it is for; `None`: all.
    pub matcher: Option<&'static str>,
    /// How long the agent lets a handler run, in seconds; `None`: as long as the agent does by itself.
    pub timeout: Option<u32>,
}

/// Every client that is still in use has these events: since 1.0.85, of August 2025.
const ALWAYS: Version = Version(1, 0, 85);

const fn event(name: &'static str, since: Version) -> Event {
    Event { name, since, waits: false, matcher: None, timeout: None }
}

const fn awaited_event(name: &'static str, since: Version) -> Event {
    Event { name, since, waits: true, matcher: None, timeout: None }
}

/// The event of handlers that wait for answers. The agent goes on with its dialog meanwhile.
/// The handler lets it wait for an hour. After that its dialog goes on alone.
pub const ANSWER_EVENT: Event =
    Event { timeout: Some(3600), ..awaited_event("PermissionRequest", Version(2, 0, 45)) };

/// The events of handlers that tell the agent what was learned. An asynchronous hook cannot tell it anything. The handler itself
/// gives up earlier than after a second.
pub const CONTEXT_EVENTS: &[Event] = &[
    context_event("SessionStart", None),
    context_event("UserPromptSubmit", None),
    context_event("PostToolUse", Some("Read|Edit|Write|MultiEdit|NotebookEdit")),
];

const fn context_event(name: &'static str, matcher: Option<&'static str>) -> Event {
    Event { name, since: ALWAYS, waits: true, matcher, timeout: Some(1) }
}

/// All events that the hooks subscribe to. `WorktreeCreate` is never among them: a hook for it replaces git.
pub const EVENTS: &[Event] = &[
    event("SessionStart", ALWAYS),
    awaited_event("SessionEnd", ALWAYS),
    event("UserPromptSubmit", ALWAYS),
    event("PreToolUse", ALWAYS),
    event("PostToolUse", ALWAYS),
    event("Notification", ALWAYS),
    awaited_event("Stop", ALWAYS),
    event("SubagentStop", ALWAYS),
    event("PreCompact", ALWAYS),
    event("SubagentStart", Version(2, 0, 43)),
    event("PermissionRequest", Version(2, 0, 45)),
    event("PostToolUseFailure", Version(2, 1, 33)),
    event("PostCompact", Version(2, 1, 76)),
    event("Elicitation", Version(2, 1, 76)),
    event("ElicitationResult", Version(2, 1, 76)),
    awaited_event("StopFailure", Version(2, 1, 78)),
    event("PermissionDenied", Version(2, 1, 89)),
    event("PostToolBatch", Version(2, 1, 152)),
];

/// Those of `events` that a client has. For an unknown version, the events that every client has.
pub fn events_of(events: &'static [Event], client: Option<Version>) -> impl Iterator<Item = &'static Event> {
    let client = client.unwrap_or(ALWAYS);
    events.iter().filter(move |event| event.since <= client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_client_prints() {
        assert_eq!(Version::parse("2.1.329 (Claude Code)\n"), Some(Version(2, 1, 329)));
        assert_eq!(Version::parse("v2.0.45"), Some(Version(2, 0, 45)));
        for text in ["", "2.1", "Claude", "1.2.3.4", "99999999999.1.1"] {
            assert_eq!(Version::parse(text), None, "{text}");
        }
        assert!(Version(2, 1, 9) < Version(2, 1, 33));
    }

    #[test]
    fn an_old_or_unknown_client_gets_only_events_that_it_knows() {
        let names = |client| events_of(EVENTS, client).map(|event| event.name).collect::<Vec<_>>();
        assert_eq!(names(None).len(), 9);
        assert!(!names(Some(Version(2, 1, 77))).contains(&"StopFailure"));
        assert!(names(Some(Version(2, 1, 78))).contains(&"StopFailure"));
        assert_eq!(names(Some(Version(2, 1, 329))).len(), EVENTS.len());
        assert!(EVENTS.iter().all(|event| event.name != "WorktreeCreate"));
    }
}

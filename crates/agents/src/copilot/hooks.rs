//! The hooks of Copilot CLI (1.0.102). Each file in its folder of hooks counts, so Watchbill's are in one of its own.
//!
//! Hooks whose names are written as Claude Code writes them get payloads in the form of Claude Code's. They tell the beginning and the end
//! of a turn some tenths of a second before the session's events do. A stop by the user runs none, and a prompt that is stopped before its
//! first word is taken out of the events.
//!
//! Hooks of calls are never among them: they have no ids of calls, and the events tell questions and calls as soon. `permissionRequest` runs
//! before Copilot's own rules decide whether it asks.

use watchbill_core::hook::event::{HookEvent, StartSource};
use watchbill_core::hook::{HookError, HookPayload};
use watchbill_core::ids::Agent;

use crate::claude::hooks::{Form, read};
use crate::claude::install::{Event, Version};

const FORM: Form = Form { agent: Agent::Copilot, ..Form::OF_CLAUDE };

/// The file in Copilot's folder, and in a project's `.github`.
pub const SETTINGS: &str = "hooks/watchbill.json";

const fn event(name: &'static str) -> Event {
    Event { name, since: Version(0, 0, 0), waits: true, matcher: None, timeout: Some(5) }
}

/// All events that the hooks subscribe to.
pub const EVENTS: &[Event] =
    &[event("SessionStart"), event("SessionEnd"), event("UserPromptSubmit"), event("Stop")];

/// Reads one payload.
///
/// # Errors
/// As [`crate::claude::hooks::parse_payload`].
pub fn parse_payload(bytes: &[u8]) -> Result<HookPayload, HookError> {
    let mut payload = read(bytes, &FORM)?;
    // Its word for a new session is `new`.
    if let HookEvent::SessionStart { source: source @ StartSource::Unknown, .. } = &mut payload.event {
        *source = StartSource::Startup;
    }
    Ok(payload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::parse;

    #[test]
    fn the_recorded_payloads_are_events_of_copilot() {
        let seen = |payload: &str| parse(Agent::Copilot, payload.as_bytes()).unwrap().event;
        let start = r#"{"hook_event_name":"SessionStart","session_id":"cfbec795","timestamp":"2026-11-29T10:35:29.016Z","cwd":"/home/dev/work","source":"new","initial_prompt":"go"}"#;
        assert!(matches!(seen(start), HookEvent::SessionStart { source: StartSource::Startup, .. }));
        let stop = r#"{"hook_event_name":"Stop","session_id":"cfbec795","timestamp":"2026-11-29T10:35:35.729Z","cwd":"/home/dev/work","transcript_path":"/home/dev/.copilot/session-state/cfbec795/events.jsonl","stop_reason":"end_turn","stop_hook_active":false}"#;
        assert!(matches!(seen(stop), HookEvent::Stop { .. }));
        assert_eq!(parse(Agent::Claude, stop.as_bytes()).unwrap_err(), HookError::Foreign);
    }
}

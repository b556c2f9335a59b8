//! Brings a session's terminal to the front on this machine. Never in the loop, because a terminal may answer slowly.

pub use watchbill_agents::resume::quoted;
use watchbill_protocol::focus::{FocusAnswer, FocusOutcome};
use watchbill_terminal::{FocusLevel, RealWorld, SessionLocation};

/// Brings the terminal of a session to the front. Blocks until the terminal has answered, some seconds at most.
pub fn focus(session_location: &SessionLocation) -> FocusAnswer {
    let answer = watchbill_terminal::focus(session_location, &RealWorld);
    let reason = answer.outcome.why().map(str::to_owned);
    let (outcome, by) = match answer.outcome {
        FocusLevel::Focused { by } => (FocusOutcome::Focused, Some(by)),
        FocusLevel::WindowOnly { by, .. } => (FocusOutcome::WindowOnly, Some(by)),
        FocusLevel::NotPossible { .. } => (FocusOutcome::NotPossible, None),
    };
    FocusAnswer {
        session_id: session_location.session.to_string(),
        outcome,
        by,
        reason,
        attach_command: answer.attach,
        // The agent refuses to resume a session that it runs in the background.
        resume_command: session_location.attach.is_none().then_some(answer.resume),
    }
}

/// Whether the user looks at the session's terminal; `None` if unknown. Blocks as [`focus`] does.
pub fn in_front(session_location: &SessionLocation) -> Option<bool> {
    watchbill_terminal::in_front(session_location, &RealWorld)
}

//! A session's terminal, brought to the front on this machine; never in the loop, since terminals may take their time.

use watchbill_protocol::focus::{FocusAnswer, FocusOutcome};
pub use watchbill_terminal::resume::quoted;
use watchbill_terminal::{Outcome, RealWorld, Seat};

/// Brings the terminal of a session to the front. Blocks for as long as the terminal takes, some seconds at most.
pub fn focus(seat: &Seat) -> FocusAnswer {
    let answer = watchbill_terminal::focus(seat, &RealWorld);
    let reason = answer.outcome.why().map(str::to_owned);
    let (outcome, by) = match answer.outcome {
        Outcome::Focused { by } => (FocusOutcome::Focused, Some(by)),
        Outcome::WindowOnly { by, .. } => (FocusOutcome::WindowOnly, Some(by)),
        Outcome::NotPossible { .. } => (FocusOutcome::NotPossible, None),
    };
    FocusAnswer {
        session_id: seat.session.to_string(),
        outcome,
        by,
        reason,
        attach_command: answer.attach,
        resume_command: Some(answer.resume),
    }
}

/// Whether the person looks at the session's terminal; `None` when that cannot be told. Blocks as [`focus`] does.
pub fn in_front(seat: &Seat) -> Option<bool> {
    watchbill_terminal::in_front(seat, &RealWorld)
}

//! `focus`: brings the terminal of a session to the front.

use anyhow::bail;
use watchbill_engine::engine::Outlook;
use watchbill_protocol::focus::{FocusAnswer, FocusOutcome};

use super::{emit, to_json};
use crate::args::Global;
use crate::terminal_text::one_line;

/// Brings the terminal to the front and prints the result. If that fails, it prints a command that helps.
///
/// # Errors
/// When the session is not known, or its terminal cannot be shown.
pub fn focus(global: &Global, session: &str, json: bool) -> anyhow::Result<()> {
    let session_location = super::engine(global, Outlook::LIVE)?.session_location(session)?;
    let answer = watchbill_engine::handle::focus::focus(&session_location);
    if json {
        emit(&to_json(&answer)?)?;
    } else {
        emit(&words(&answer))?;
    }
    match answer.outcome {
        FocusOutcome::NotPossible => bail!("{}", answer.reason.unwrap_or_default()),
        FocusOutcome::Focused | FocusOutcome::WindowOnly => Ok(()),
    }
}

/// The result for the user. If the terminal cannot be shown, the command that helps, and nothing else.
fn words(answer: &FocusAnswer) -> String {
    let by = one_line(answer.by.as_deref().unwrap_or_default());
    match answer.outcome {
        FocusOutcome::Focused => format!("in front, by {by}\n"),
        FocusOutcome::WindowOnly => {
            format!(
                "the window is in front, by {by}. {}\n",
                one_line(answer.reason.as_deref().unwrap_or_default())
            )
        }
        FocusOutcome::NotPossible => {
            let help = answer.attach_command.as_deref().or(answer.resume_command.as_deref());
            help.map(|help| format!("{help}\n")).unwrap_or_default()
        }
    }
}

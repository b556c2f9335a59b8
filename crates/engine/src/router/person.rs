//! What only a person may do: answer a request, and send a prompt.

use watchbill_drive::socket::caller;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::prompt::{PromptCall, PromptSent};
use watchbill_protocol::request::{AnswerCall, AnswerGiven};

use super::access::Face;
use crate::handle::Handle;
use crate::handle::pressed::Pressed;

/// The surface of programs without a window.
const COMMAND: &str = "command";

/// The surfaces of a window.
const WINDOWS: [&str; 2] = ["window", "notification"];

/// Answers a request. `surface` and `pressed` are what the face says.
///
/// # Errors
/// When no person answers, or as the engine says.
pub(super) fn answer(
    engine: &Handle,
    face: &Face<'_>,
    call: &AnswerCall,
    surface: Option<&str>,
    pressed: Option<u64>,
) -> Result<AnswerGiven, ApiError> {
    let pressed = pressed.map_or_else(Pressed::now, Pressed::at);
    let of_window = |said: &str| WINDOWS.into_iter().find(|surface| *surface == said);
    let (surface, asked) = match face {
        Face::Window { refusal } => {
            let asked = engine.check_self(&call.session, refusal.clone(), pressed)?;
            (surface.and_then(of_window).unwrap_or(WINDOWS[0]), asked)
        }
        Face::Socket { stream, .. } => {
            let is_window = caller::is_window(stream);
            let surface = match surface {
                None => Some(COMMAND),
                Some(said) => of_window(said).filter(|_| is_window),
            };
            let surface = surface.ok_or_else(|| {
                let message =
                    "only the window of the same installation answers as a window; leave `surface` out";
                engine.caller_refused(&call.session, "answer", COMMAND, message);
                ApiError::new(ErrorCode::Refused, message)
            })?;
            let caller = caller::look(stream);
            (surface, engine.check_caller(&caller, is_window, &call.session, "answer", Some(pressed))?)
        }
        Face::SettingsWindow | Face::Token => return Err(no_person()),
    };
    engine.answer(call, surface, pressed, asked)
}

/// Sends a prompt.
///
/// # Errors
/// When no person sends it, or as the engine says.
pub(super) fn prompt(engine: &Handle, face: &Face<'_>, call: &PromptCall) -> Result<PromptSent, ApiError> {
    let Face::Socket { stream, .. } = face else { return Err(no_person()) };
    engine.check_caller(&caller::look(stream), false, &call.session, "prompt", None)?;
    engine.prompt(call)
}

/// The table lets no such face through.
fn no_person() -> ApiError {
    ApiError::new(ErrorCode::Refused, "no person asks here")
}

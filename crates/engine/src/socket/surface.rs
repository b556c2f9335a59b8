//! Where an answer was given, as its caller says, and whether the caller may answer there.

use watchbill_drive::folder::Folder;
use watchbill_drive::socket::caller;
use watchbill_platform::socket::Stream;
use watchbill_protocol::error::{ApiError, ErrorCode};

use crate::handle::Handle;

/// The surface of programs without a window.
const COMMAND: &str = "command";

/// The surfaces of a window that does not hold the store.
const WINDOWS: [&str; 2] = ["window", "notification"];

/// Notes whom the host of an own session has refused.
///
/// # Errors
/// When the caller is not that host.
pub(super) fn note_refused(
    handle: &Handle,
    stream: &Stream,
    session: &str,
    what: &str,
    why: &str,
) -> Result<(), ApiError> {
    let data_dir = handle.settings().data_dir.clone();
    let folder = data_dir.and_then(|data_dir| Folder::of(&data_dir, session).ok());
    if !folder.is_some_and(|folder| caller::is_host_of(stream, &folder)) {
        return Err(ApiError::new(ErrorCode::Invalid, "only the host of the session tells whom it refused"));
    }
    let what = if what == "answer" { "answer" } else { "prompt" };
    handle.caller_refused(session, what, COMMAND, why);
    Ok(())
}

/// The surface of an answer.
///
/// # Errors
/// When the caller may not answer there, or not at all.
pub(super) fn allowed(
    handle: &Handle,
    stream: &Stream,
    session: &str,
    said: Option<&str>,
) -> Result<&'static str, ApiError> {
    let is_window = caller::is_window(stream);
    let surface = match said {
        None => Some(COMMAND),
        Some(said) => WINDOWS.into_iter().find(|surface| *surface == said && is_window),
    };
    let surface = surface.ok_or_else(|| {
        let message = "only the window of the same installation answers as a window; leave `surface` out";
        handle.caller_refused(session, "answer", COMMAND, message);
        ApiError::new(ErrorCode::Refused, message)
    })?;
    handle.check_caller(&caller::look(stream), is_window, session, "answer")?;
    Ok(surface)
}

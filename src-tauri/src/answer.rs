//! Answers of notifications on their way to the engine.

use tauri::{AppHandle, Manager, async_runtime};
use watchbill_protocol::request::AnswerCall;
use watchbill_protocol::shell::ShellMessage;

use crate::app_state::AppState;
use crate::window;
use crate::window_messages::WindowMessages;

/// Sends an answer to the request that a notification showed. If it is refused, nothing was answered: the window opens on the
/// session and says why.
pub fn send(app: &AppHandle, call: AnswerCall) {
    let app = app.clone();
    async_runtime::spawn(async move {
        let session = call.session.clone();
        if let Err(error) = app.state::<AppState>().answer(call).await {
            refuse(&app, session, error.to_string());
        }
    });
}

/// Opens the window on a session, with the reason why nothing was answered.
pub fn refuse(app: &AppHandle, session: String, reason: String) {
    app.state::<WindowMessages>().tell(ShellMessage::Says { text: reason });
    window::open_on(app, session);
}

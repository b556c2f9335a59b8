//! The surfaces beside the window: the tray, the alerts, and other programs that ask for the window.

use std::sync::Arc;

use tauri::{AppHandle, Manager, async_runtime};
use watchbill_protocol::shell::ShellMessage;

use crate::app_state::{AppState, Opener};
use crate::window_messages::WindowMessages;
use crate::{alerts, starter, tray, window};

/// Tells the user that this window may not answer.
pub fn say_refusal(app: &AppHandle, app_state: &AppState) {
    let Some(text) = app_state.refusal().map(str::to_owned) else { return };
    tracing::warn!("{text}");
    // A page that is controlled has no reader.
    if !starter::is_controlled() {
        app.state::<WindowMessages>().tell(ShellMessage::Says { text });
    }
}

/// Shows the tray from now on.
pub fn keep_tray(app: &AppHandle, app_state: &AppState) {
    let (tray, subscribe) = app_state.tray();
    async_runtime::spawn(tray::keep(app.clone(), tray, subscribe));
}

/// Shows alerts from now on.
pub fn keep_alerts(app: &AppHandle, app_state: &AppState) {
    let (alerts, listen) = app_state.alerts();
    async_runtime::spawn(alerts::keep(app.clone(), alerts, listen));
}

/// Raises the window from now on when another program asks for it.
pub fn open_on_request(app: &AppHandle, app_state: &AppState) {
    let app = app.clone();
    let opener: Opener = Arc::new(move |session| match session {
        Some(session) => window::open_on(&app, session),
        None => window::open(&app),
    });
    app_state.on_open(opener);
}

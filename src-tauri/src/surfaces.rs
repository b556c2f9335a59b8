//! The surfaces beside the window: the tray, the alerts, and other programs that ask for the window.

use std::sync::Arc;

use tauri::{AppHandle, async_runtime};

use crate::desk::{Desk, Opener};
use crate::{alerts, tray, window};

/// Shows the tray from now on.
pub fn keep_tray(app: &AppHandle, desk: &Desk) {
    let (tray, subscribe) = desk.tray();
    async_runtime::spawn(tray::keep(app.clone(), tray, subscribe));
}

/// Shows alerts from now on.
pub fn keep_alerts(app: &AppHandle, desk: &Desk) {
    let (alerts, listen) = desk.alerts();
    async_runtime::spawn(alerts::keep(app.clone(), alerts, listen));
}

/// Raises the window from now on when another program asks for it.
pub fn open_on_request(app: &AppHandle, desk: &Desk) {
    let app = app.clone();
    let opener: Opener = Arc::new(move |session| match session {
        Some(session) => window::open_on(&app, session),
        None => window::open(&app),
    });
    desk.on_open(opener);
}

//! Notifications without a session bus: through Tauri's plugin, which can only show them.
//!
//! Untested on macOS and Windows so far. The plugin (2.8, its `NotificationBuilder`) cannot close or replace a
//! notification, and a click only brings the program to the front.

use std::convert::Infallible;

use tauri::AppHandle;
use tauri_plugin_notification::NotificationExt;
use watchbill_protocol::doctor::DesktopHealth;

use super::actions::{Button, NotificationEvent};
use super::board::Card;
use super::notice::Notice;

/// The system's notifications, through the plugin.
pub struct Screen {
    app: AppHandle,
}

impl Screen {
    /// The plugin is always there.
    ///
    /// # Errors
    /// Never; on Linux there may be no bus.
    pub async fn find(app: &AppHandle) -> Result<Self, tauri_plugin_notification::Error> {
        Ok(Self { app: app.clone() })
    }

    /// Shows a notification. A quiet one is skipped, because the plugin cannot replace the earlier one.
    pub async fn show(&mut self, _: Card, notice: &Notice, _: &[Button], sound: bool) {
        if notice.quiet {
            return;
        }
        let mut builder = self.app.notification().builder().title(&notice.summary);
        if !notice.body.is_empty() {
            builder = builder.body(notice.body.join("\n"));
        }
        builder = if sound { builder.sound("default") } else { builder.silent() };
        if let Err(error) = builder.show() {
            tracing::warn!(%error, "a notification was not shown");
        }
    }

    /// The plugin cannot close a notification.
    pub async fn close(&mut self, _: Card) {}

    /// Nor at the end of the program.
    pub async fn clear(&mut self) {}

    /// Never asked: these notifications have no buttons.
    pub fn is_locked(&self) -> bool {
        false
    }

    /// Always true: the plugin does not know, and no server restarts here.
    pub fn has(&self, _: Card) -> bool {
        true
    }

    /// The number is in the tray; a badge would need a window.
    pub async fn count(&self, _: u32) {}

    /// The plugin reports no clicks on a desktop.
    pub async fn next(&mut self) -> Option<Infallible> {
        std::future::pending().await
    }

    /// Never called, since no event comes.
    pub async fn hear(&mut self, news: Infallible) -> Option<NotificationEvent> {
        match news {}
    }
}

/// Assumes yes: only the system's settings know.
pub async fn health(tray: bool) -> DesktopHealth {
    DesktopHealth { tray, notifications: true, notification_server: None, notification_problem: None }
}

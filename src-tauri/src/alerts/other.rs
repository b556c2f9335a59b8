//! Notifications where there is no session bus: through Tauri's plugin, which can show them and nothing else.
//!
//! Untested: nobody has run the program on macOS or Windows yet. What stands there cannot be taken away or replaced
//! through the plugin (2.8, its `NotificationBuilder`), and a click only brings the program to the front.

use std::convert::Infallible;

use tauri::AppHandle;
use tauri_plugin_notification::NotificationExt;
use watchbill_protocol::doctor::DesktopHealth;

use super::actions::{Button, Heard};
use super::board::Card;
use super::notice::Notice;

/// The screen, as far as the plugin leads to it.
pub struct Screen {
    app: AppHandle,
}

impl Screen {
    /// The plugin is always there.
    ///
    /// # Errors
    /// Never; elsewhere there may be no bus.
    pub async fn find(app: &AppHandle) -> Result<Self, tauri_plugin_notification::Error> {
        Ok(Self { app: app.clone() })
    }

    /// Shows a notification. What only says less than before is not shown again, since nothing can be replaced.
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

    /// The plugin takes nothing away.
    pub async fn close(&mut self, _: Card) {}

    /// Neither at the end.
    pub async fn clear(&mut self) {}

    /// Whether it still stands is not known; nothing is lost while the program runs.
    pub fn has(&self, _: Card) -> bool {
        true
    }

    /// The number is in the tray; a badge would need a window.
    pub async fn count(&self, _: u32) {}

    /// The plugin hears of no clicks on a desktop.
    pub async fn next(&mut self) -> Option<Infallible> {
        std::future::pending().await
    }

    /// Nothing comes.
    pub async fn hear(&mut self, news: Infallible) -> Option<Heard> {
        match news {}
    }
}

/// Whether notifications can be shown is known to the system's settings alone.
pub async fn health(tray: bool) -> DesktopHealth {
    DesktopHealth { tray, notifications: true, notification_server: None, notification_problem: None }
}

//! The settings between the configuration and the windows, which get every change.

use std::sync::{Arc, Mutex, PoisonError};

use tauri::ipc::Channel;
use tauri::{AppHandle, Manager};
use watchbill_protocol::settings::SettingsView;
use watchbill_settings::Configuration;
use watchbill_settings::configuration::SettingsChange;
use watchbill_settings::follow::{self, FileFollower};

use crate::app_state::AppState;
use crate::shortcut::{GlobalKey, take_key};
use crate::window;

/// The channels to the windows. Tauri's managed state.
#[derive(Default)]
pub struct SettingsLine(Mutex<Vec<(String, Channel<SettingsView>)>>);

/// A page has one channel for its colours and one for the settings it shows. A reloaded page never says that its old
/// channels are dead.
const LINES_A_WINDOW: usize = 4;

impl SettingsLine {
    /// The window is gone.
    pub fn window_closed(&self, label: &str) {
        self.lock().retain(|(of, _)| of != label);
    }

    /// Sends the settings now and after every change to a window.
    pub fn add(&self, app: &AppHandle, label: &str, channel: Channel<SettingsView>) {
        // Under the lock, so that no change is missed in between.
        let mut lines = self.lock();
        if channel.send((*app.state::<Arc<Configuration>>().view()).clone()).is_ok() {
            let of_window = |(of, _): &(String, _)| of == label;
            if lines.iter().filter(|line| of_window(line)).count() >= LINES_A_WINDOW
                && let Some(oldest) = lines.iter().position(of_window)
            {
                lines.remove(oldest);
            }
            lines.push((label.to_owned(), channel));
        }
    }

    fn tell(&self, view: &SettingsView) {
        self.lock().retain(|(_, channel)| channel.send(view.clone()).is_ok());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(String, Channel<SettingsView>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows the configuration from now on: edits by hand, and changes by the windows.
pub fn follow(app: &AppHandle, configuration: &Arc<Configuration>) -> FileFollower {
    let app = app.clone();
    configuration.subscribe(Box::new(move |changed| {
        take(&app, changed);
        true
    }));
    follow::follow(configuration)
}

/// Passes the change to every part of the shell that depends on a setting.
fn take(app: &AppHandle, changed: &SettingsChange) {
    if let Some(app_state) = app.try_state::<AppState>()
        && let Err(error) = app_state.apply(&changed.settings)
    {
        tracing::error!(%error, "the new settings could not be applied; they take effect after a restart");
    }
    if changed.settings.window != changed.before.window {
        window::apply(app, &changed.settings.window);
        app.state::<AppState>().colour_tray(changed.settings.window.tray);
    }
    if app.state::<GlobalKey>().changes(&changed.before.window, &changed.settings.window) {
        take_key(app);
    }
    app.state::<SettingsLine>().tell(&changed.view);
}

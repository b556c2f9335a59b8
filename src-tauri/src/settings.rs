//! The settings between the configuration and the windows: the windows read and change them, and get every change.

use std::sync::{Arc, Mutex, PoisonError};

use tauri::ipc::Channel;
use tauri::{AppHandle, Manager, State, WebviewWindow, async_runtime};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::settings::{ArchiveOffer, ServiceState, SettingChange, SettingsView};
use watchbill_settings::Configuration;
use watchbill_settings::configuration::SettingsChange;
use watchbill_settings::follow::{self, FileFollower};

use crate::desk::Desk;
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
    if let Some(desk) = app.try_state::<Desk>()
        && let Err(error) = desk.apply(&changed.settings)
    {
        tracing::error!(%error, "the new settings could not be applied; they take effect after a restart");
    }
    if changed.settings.window != changed.before.window {
        window::apply(app, &changed.settings.window);
        app.state::<Desk>().colour_tray(changed.settings.window.tray);
    }
    if app.state::<GlobalKey>().changes(&changed.before.window, &changed.settings.window) {
        take_key(app);
    }
    app.state::<SettingsLine>().tell(&changed.view);
}

/// All settings in force.
#[tauri::command]
pub async fn settings(configuration: State<'_, Arc<Configuration>>) -> Result<SettingsView, ApiError> {
    Ok((*configuration.view()).clone())
}

/// Sends the settings now and after every change to the calling window.
#[tauri::command]
pub async fn settings_subscribe(
    window: WebviewWindow,
    line: State<'_, SettingsLine>,
    configuration: State<'_, Arc<Configuration>>,
    channel: Channel<SettingsView>,
) -> Result<(), ApiError> {
    // Under the lock, so that no change is missed in between.
    let mut lines = line.lock();
    if channel.send((*configuration.view()).clone()).is_ok() {
        let of_window = |(label, _): &(String, _)| label == window.label();
        if lines.iter().filter(|line| of_window(line)).count() >= LINES_A_WINDOW
            && let Some(oldest) = lines.iter().position(of_window)
        {
            lines.remove(oldest);
        }
        lines.push((window.label().to_owned(), channel));
    }
    Ok(())
}

/// Changes settings in the configuration file, all of them or none.
#[tauri::command]
pub async fn change_settings(
    configuration: State<'_, Arc<Configuration>>,
    changes: Vec<SettingChange>,
) -> Result<SettingsView, ApiError> {
    let configuration = Arc::clone(&configuration);
    let changed = async_runtime::spawn_blocking(move || configuration.change(&changes)).await;
    changed.unwrap_or_else(|error| {
        tracing::error!(%error, "a change of settings ended in a panic");
        Err(ApiError::new(ErrorCode::Internal, "the settings could not be changed; the log says why"))
    })
}

/// What the archive would hold and save.
#[tauri::command]
pub async fn archive_offer(desk: State<'_, Desk>) -> Result<ArchiveOffer, ApiError> {
    desk.ask(|engine| Ok(engine.archive_offer())).await
}

/// Where the service over HTTP listens, and its token.
#[tauri::command]
pub async fn service_state(desk: State<'_, Desk>) -> Result<ServiceState, ApiError> {
    Ok(desk.http().state())
}

/// Shows the settings window, in front.
#[tauri::command]
pub async fn open_settings(app: AppHandle) -> Result<(), ApiError> {
    window::open_settings(&app);
    Ok(())
}

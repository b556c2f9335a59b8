//! The commands about the shell itself: the window's form, autostart, the global shortcut.

use tauri::ipc::Channel;
use tauri::{AppHandle, State};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::shell::{ShellMessage, ShortcutState};

use crate::autostart::Switch;
use crate::shortcut::GlobalKey;
use crate::window;
use crate::window_messages::WindowMessages;

/// Sends the shell's messages through `channel` from now on.
#[tauri::command]
pub async fn shell_subscribe(
    app: AppHandle,
    notes: State<'_, WindowMessages>,
    channel: Channel<ShellMessage>,
) -> Result<(), ApiError> {
    notes.connect(channel, ShellMessage::Compact { on: window::is_compact(&app) });
    Ok(())
}

/// Makes the window a compact strip, or the full window again.
#[tauri::command]
pub async fn set_compact(app: AppHandle, on: bool) -> Result<(), ApiError> {
    window::set_compact(&app, on);
    Ok(())
}

/// Whether the desktop starts the program.
#[tauri::command]
pub async fn autostart(switch: State<'_, Switch>) -> Result<bool, ApiError> {
    switch.is_on().map_err(|error| {
        let message = format!("the setting for starting Watchbill with the desktop cannot be read: {error}");
        ApiError::new(ErrorCode::Unreadable, message)
    })
}

/// Turns autostart on or off; returns the state afterwards.
#[tauri::command]
pub async fn set_autostart(switch: State<'_, Switch>, on: bool) -> Result<bool, ApiError> {
    switch.set(on).and_then(|()| switch.is_on()).map_err(|error| {
        let message = format!("Watchbill's start with the desktop could not be changed: {error}");
        ApiError::new(ErrorCode::Unsupported, message)
    })
}

/// The global shortcut that opens the window, and whether it works.
#[tauri::command]
pub async fn shortcut(key: State<'_, GlobalKey>) -> Result<ShortcutState, ApiError> {
    Ok(key.shown())
}

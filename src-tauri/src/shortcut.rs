//! The global shortcut that opens the window, on platforms that allow one: X11, macOS, Windows.

use std::sync::{Arc, Mutex, PoisonError};

use tauri::{AppHandle, Manager, async_runtime};
use tauri_plugin_global_shortcut::{Builder, Error, GlobalShortcutExt, Shortcut, ShortcutState as Key};
use watchbill_protocol::shell::{ShellMessage, ShortcutState};
use watchbill_settings::{Configuration, WindowSettings};

use crate::window;
use crate::window_messages::WindowMessages;

const WAYLAND: &str = "Wayland lets no program register a global key. Bind the command `watchbill open` to a key in the \
    keyboard settings of your desktop.";

/// The present state of the shortcut. Tauri's managed state.
pub struct GlobalKey {
    /// The key of the command line. It takes precedence over the settings.
    given: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    shown: ShortcutState,
    held: Option<Shortcut>,
    /// The plugin is loaded. It polls the X server twenty times a second, so it is loaded only if the user wants a
    /// key.
    plugged: bool,
}

impl GlobalKey {
    /// No key yet; `given` is the key of the command line.
    pub fn new(given: Option<String>) -> Self {
        Self { given, state: Mutex::default() }
    }

    /// The wanted key, if any.
    pub fn wanted(&self, settings: &WindowSettings) -> Option<String> {
        self.given.clone().or_else(|| settings.shortcut.clone())
    }

    /// Whether a change of the settings changes the key.
    pub fn changes(&self, before: &WindowSettings, now: &WindowSettings) -> bool {
        self.wanted(before) != self.wanted(now)
    }

    /// Whether the key works, and why not.
    pub fn shown(&self) -> ShortcutState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).shown.clone()
    }

    /// Releases the old key and registers the one that the settings hold when the lock is free. So if two changes
    /// overtake each other, the later one wins. Do not call it on the main thread: the plugin needs that thread.
    pub fn take(&self, app: &AppHandle, settings: impl FnOnce() -> WindowSettings) -> ShortcutState {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = self.wanted(&settings()).unwrap_or_default();
        let wanted = wanted.trim();
        if state.shown.wanted == wanted && (state.shown.active || wanted.is_empty()) {
            return state.shown.clone();
        }
        if let Some(old) = state.held.take()
            && let Err(error) = app.global_shortcut().unregister(old)
        {
            tracing::warn!(%error, "the old key could not be released");
        }
        let taken = if wanted.is_empty() { Ok(None) } else { state.take(app, wanted).map(Some) };
        state.shown = ShortcutState {
            wanted: wanted.to_owned(),
            active: matches!(taken, Ok(Some(_))),
            message: taken.as_ref().err().cloned(),
        };
        state.held = taken.ok().flatten();
        state.shown.clone()
    }
}

impl State {
    fn take(&mut self, app: &AppHandle, wanted: &str) -> Result<Shortcut, String> {
        let key: Shortcut = wanted.parse().map_err(|error| {
            format!("“{wanted}” is no key ({error}). Keys look like Ctrl+Alt+W or Super+F9.")
        })?;
        if key.mods.is_empty() {
            // Registering it would take it away from every other program.
            return Err(format!(
                "“{wanted}” alone is a key that you type with. Add Ctrl, Alt or Super, as in Ctrl+Alt+W."
            ));
        }
        if !self.plugged {
            plug(app)?;
            self.plugged = true;
        }
        let pressed = app.global_shortcut().on_shortcut(key, |app, _, event| {
            if event.state == Key::Pressed {
                window::toggle(app);
            }
        });
        pressed.map(|()| key).map_err(|error| explanation(wanted, &error))
    }
}

/// Windows and macOS allow keys only on the main thread, and GDK reports the display only there.
fn plug(app: &AppHandle) -> Result<(), String> {
    let (sender, receiver) = std::sync::mpsc::channel();
    let app_ = app.clone();
    let here = |error: &dyn std::fmt::Display| format!("Keys cannot be taken here: {error}");
    app.run_on_main_thread(move || {
        let plugged = if is_wayland() {
            Err(WAYLAND.to_owned())
        } else {
            app_.plugin(Builder::new().build()).map_err(|error| here(&error))
        };
        // Fails only when the program is ending.
        let _ = sender.send(plugged);
    })
    .map_err(|error| here(&error))?;
    receiver.recv().map_err(|error| here(&error))?
}

/// The plugin passes on the system's message. The usual reason is that another program has the key.
fn explanation(wanted: &str, error: &Error) -> String {
    let words = error.to_string();
    if words.to_lowercase().contains("already registered") {
        format!("{wanted} belongs to another program. Choose another key.")
    } else {
        format!("{wanted} could not be taken: {words}")
    }
}

#[cfg(target_os = "linux")]
fn is_wayland() -> bool {
    use gtk::gdk::prelude::DisplayExtManual;
    gtk::gdk::Display::default().is_some_and(|display| display.backend().is_wayland())
}

#[cfg(not(target_os = "linux"))]
fn is_wayland() -> bool {
    false
}

/// Registers the key that opens the window. If that fails, the window says why.
pub fn take_key(app: &AppHandle) {
    let app = app.clone();
    // On another thread: the plugin waits for this one.
    async_runtime::spawn_blocking(move || {
        let (key, configuration) = (app.state::<GlobalKey>(), app.state::<Arc<Configuration>>());
        if let Some(text) = key.take(&app, || configuration.settings().window.clone()).message {
            app.state::<WindowMessages>().tell(ShellMessage::Says { text });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use watchbill_settings::Theme;

    fn settings(shortcut: Option<&str>, theme: Theme) -> WindowSettings {
        WindowSettings { shortcut: shortcut.map(str::to_owned), theme, ..WindowSettings::default() }
    }

    #[test]
    fn only_its_own_setting_changes_the_key() {
        let key = GlobalKey::new(None);
        let (light, dark) = (settings(Some("Ctrl+F1"), Theme::Light), settings(Some("Ctrl+F1"), Theme::Dark));
        assert_eq!(key.wanted(&light).as_deref(), Some("Ctrl+F1"));
        assert!(!key.changes(&light, &dark));
        let other = settings(Some("Ctrl+F2"), Theme::Dark);
        assert!(key.changes(&dark, &other));
        assert!(key.changes(&other, &settings(None, Theme::Dark)));
    }

    #[test]
    fn the_key_of_the_command_line_takes_precedence_over_the_settings() {
        let key = GlobalKey::new(Some("Ctrl+F9".to_owned()));
        let (none, one) = (settings(None, Theme::System), settings(Some("Ctrl+F1"), Theme::Dark));
        assert_eq!(key.wanted(&one).as_deref(), Some("Ctrl+F9"));
        assert_eq!((key.changes(&none, &one), key.changes(&one, &none)), (false, false));
    }
}

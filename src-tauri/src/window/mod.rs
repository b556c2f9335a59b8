//! The roster window and the settings window. Each exists only while it is open: a closed window costs no web process.
//!
//! The roster window is raised only when the user asks: by a second start, a link, the tray, a click on an alert, or
//! the global shortcut.

#[cfg(target_os = "linux")]
pub mod desktop_colours;
#[cfg(target_os = "linux")]
mod lost_page;
mod place;
pub mod saved_place;

use std::sync::Arc;

use tauri::webview::{Color, NewWindowResponse};
use tauri::{
    AppHandle, LogicalSize, Manager, PhysicalPosition, PhysicalSize, Theme, Url, WebviewWindow,
    WebviewWindowBuilder,
};
use watchbill_protocol::shell::ShellMessage;
use watchbill_settings::{self as settings, Configuration, WindowSettings};

use crate::app_state::AppState;
use crate::window_messages::WindowMessages;
use place::{Place, Screen};
use saved_place::{Form, SavedPlace};

/// The roster window's label in `tauri.conf.json`.
pub const LABEL: &str = "main";
/// The settings window's label there.
const SETTINGS: &str = "settings";

/// The smallest sizes, in logical pixels. The first is also in `tauri.conf.json`.
const SMALLEST: (f64, f64) = (320.0, 240.0);
const SMALLEST_COMPACT: (f64, f64) = (240.0, 96.0);
/// The size of a strip that was never resized.
const COMPACT: (f64, f64) = (340.0, 260.0);

/// Shows the window, in front.
pub fn open(app: &AppHandle) {
    on_main_thread(app, |app| {
        if let Err(error) = raise(app) {
            tracing::error!(%error, "the window could not be opened");
        }
    });
}

/// Shows the settings window, in front. There is only one.
pub fn open_settings(app: &AppHandle) {
    on_main_thread(app, |app| {
        let shown = match app.get_webview_window(SETTINGS) {
            Some(window) => Ok(window),
            None => build(app, SETTINGS).and_then(|window| {
                colour(&window)?;
                Ok(window)
            }),
        };
        if let Err(error) = shown.and_then(|window| to_front(&window)) {
            tracing::error!(%error, "the settings window could not be opened");
        }
    });
}

/// Gives all windows the colours that the user or the desktop wants.
pub fn recolour(app: &AppHandle) {
    on_main_thread(app, |app| {
        app.set_theme(theme(app));
        for window in app.webview_windows().values() {
            if let Err(error) = colour(window) {
                tracing::debug!(%error, "a window could not be coloured");
            }
        }
    });
}

/// Applies the wanted colours to all windows, and the wanted layer to the roster window.
pub fn apply(app: &AppHandle, wanted: &WindowSettings) {
    recolour(app);
    let wanted = wanted.clone();
    on_main_thread(app, move |app| {
        let window = app.get_webview_window(LABEL);
        if let Some(Err(error)) =
            window.map(|window| window.set_always_on_top(wanted.always_on_top || is_compact(app)))
        {
            tracing::warn!(%error, "the window could not be put above others");
        }
    });
}

/// Shows the window with a session selected: an id, or another text that the engine accepts for one.
pub fn open_on(app: &AppHandle, session: String) {
    if let Some(app_state) = app.try_state::<AppState>() {
        app_state.select(session);
    }
    open(app);
}

/// A click on the tray icon and the global shortcut do this: bring the window to the front, or close it if it is
/// there.
pub fn toggle(app: &AppHandle) {
    let in_front = app.get_webview_window(LABEL).filter(|window| window.is_focused().unwrap_or(false));
    let Some(window) = in_front else { return open(app) };
    if let Err(error) = window.close() {
        tracing::warn!(%error, "the window could not be closed");
    }
}

/// Ends the program unless a window is open. A link may have opened only the settings.
pub fn end_without(app: &AppHandle) {
    on_main_thread(app, |app| {
        if app.webview_windows().is_empty() {
            app.exit(0);
        }
    });
}

/// Whether the window is a strip, or will open as one.
pub fn is_compact(app: &AppHandle) -> bool {
    app.state::<SavedPlace>().form() == Form::Compact
}

/// Makes the window a strip above all others, or the full window again.
pub fn set_compact(app: &AppHandle, on: bool) {
    on_main_thread(app, move |app| {
        let form = if on { Form::Compact } else { Form::Full };
        let memory = app.state::<SavedPlace>();
        if memory.form() == form {
            return;
        }
        note_place(app);
        memory.change(form);
        if let Some(window) = app.get_webview_window(LABEL)
            && let Err(error) = reshape(&window, form, &memory)
        {
            tracing::warn!(%error, "the window could not change its form");
        }
        keep_place(app);
        app.state::<WindowMessages>().tell(ShellMessage::Compact { on });
    });
}

/// Notes where the window is now. Called before it closes, because a closed window has no place.
pub fn note_place(app: &AppHandle) {
    let Some(window) = app.get_webview_window(LABEL) else { return };
    match place_of(&window) {
        Ok(Some(place)) => app.state::<SavedPlace>().note(place),
        Ok(None) => {}
        Err(error) => tracing::debug!(%error, "the place of the window could not be read"),
    }
}

/// Saves the noted place. Not only at the end: a program in the tray usually ends with the machine.
pub fn keep_place(app: &AppHandle) {
    if let Err(error) = app.state::<SavedPlace>().keep() {
        tracing::warn!(%error, "the window's place could not be saved");
    }
}

fn on_main_thread(app: &AppHandle, work: impl FnOnce(&AppHandle) + Send + 'static) {
    let app_ = app.clone();
    // Callers are on the bus's threads, the tray's and the main thread.
    if let Err(error) = app.run_on_main_thread(move || work(&app_)) {
        tracing::debug!(%error, "the event loop has ended");
    }
}

fn raise(app: &AppHandle) -> tauri::Result<()> {
    let window = match app.get_webview_window(LABEL) {
        Some(window) => window,
        None => create(app)?,
    };
    to_front(&window)
}

fn to_front(window: &WebviewWindow) -> tauri::Result<()> {
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

/// Builds a window from the configuration, still hidden.
fn build(app: &AppHandle, label: &str) -> tauri::Result<WebviewWindow> {
    let config = app.config();
    let window = config.app.windows.iter().find(|window| window.label == label);
    let window = window.ok_or(tauri::Error::WindowNotFound)?;
    let dev = config.build.dev_url.clone().filter(|_| tauri::is_dev());
    let window = WebviewWindowBuilder::from_config(app, window)?
        // Hidden until it is in its place.
        .visible(false)
        // Transcripts hold links, and the page shows them. The page must never navigate to another one.
        .on_navigation(move |url| is_ours(url, dev.as_ref()))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    #[cfg(target_os = "linux")]
    lost_page::bring_back(&window, label == LABEL)?;
    Ok(window)
}

/// The background until the page is drawn: white would flash in a dark room.
fn colour(window: &WebviewWindow) -> tauri::Result<()> {
    let theme = theme(window.app_handle()).map_or_else(|| window.theme(), Ok)?;
    window.set_background_color(Some(background(theme)))
}

/// The theme that the user wants. For "system" it is the desktop's, as far as it is known.
fn theme(app: &AppHandle) -> Option<Theme> {
    match app.state::<Arc<Configuration>>().settings().window.theme {
        #[cfg(target_os = "linux")]
        settings::Theme::System => desktop_colours::theme(app),
        // The library follows the desktop itself.
        #[cfg(not(target_os = "linux"))]
        settings::Theme::System => None,
        settings::Theme::Light => Some(Theme::Light),
        settings::Theme::Dark => Some(Theme::Dark),
    }
}

fn create(app: &AppHandle) -> tauri::Result<WebviewWindow> {
    let window = build(app, LABEL)?;
    colour(&window)?;
    let memory = app.state::<SavedPlace>();
    reshape(&window, memory.form(), &memory)?;
    Ok(window)
}

/// Gives the window the size, place and layer of a form.
fn reshape(window: &WebviewWindow, form: Form, memory: &SavedPlace) -> tauri::Result<()> {
    let compact = form == Form::Compact;
    let smallest = if compact { SMALLEST_COMPACT } else { SMALLEST };
    if window.is_maximized()? {
        window.unmaximize()?;
    }
    window.set_min_size(Some(LogicalSize::new(smallest.0, smallest.1)))?;
    let above = window.state::<Arc<Configuration>>().settings().window.always_on_top;
    window.set_always_on_top(compact || above)?;
    let mut place = memory.place(form);
    if compact && place.is_nowhere() {
        // At the place of the full window, where the user last saw it.
        let full = memory.place(Form::Full);
        place = if full.is_nowhere() { place } else { Place { maximized: false, ..full } }.resized(COMPACT);
    }
    let Some(place) = place.fitted(&screens(window)?, smallest) else { return Ok(()) };
    window.set_size(PhysicalSize::new(place.width, place.height))?;
    window.set_position(PhysicalPosition::new(place.x, place.y))?;
    if place.maximized {
        window.maximize()?;
    }
    Ok(())
}

fn screens(window: &WebviewWindow) -> tauri::Result<Vec<Screen>> {
    let screen = |monitor: &tauri::Monitor| {
        let area = monitor.work_area();
        screen_of(area.position, area.size, monitor.scale_factor())
    };
    Ok(window.available_monitors()?.iter().map(screen).collect())
}

/// Where the window is; `None` while it is minimized or in full screen. A minimized window has no place, and one in
/// full screen keeps the place from before.
fn place_of(window: &WebviewWindow) -> tauri::Result<Option<Place>> {
    if window.is_minimized()? || !window.is_visible()? {
        return Ok(None);
    }
    let (position, size) = (window.outer_position()?, window.inner_size()?);
    let place = Place {
        x: position.x,
        y: position.y,
        width: size.width,
        height: size.height,
        scale: window.scale_factor()?,
        maximized: window.is_maximized()?,
    };
    // The library knows only the full screen that it set itself; window managers have keys of their own for it.
    let whole =
        |monitor: &tauri::Monitor| screen_of(*monitor.position(), *monitor.size(), monitor.scale_factor());
    let screens: Vec<Screen> = window.available_monitors()?.iter().map(whole).collect();
    Ok(Some(place).filter(|place| !place.fills_one_of(&screens)))
}

fn screen_of(position: PhysicalPosition<i32>, size: PhysicalSize<u32>, scale: f64) -> Screen {
    Screen { x: position.x, y: position.y, width: size.width, height: size.height, scale }
}

/// The page's own background, `--bg` in `ui/src/theme.css`.
fn background(theme: Theme) -> Color {
    match theme {
        Theme::Dark => Color(0x17, 0x18, 0x1a, 0xff),
        _ => Color(0xfa, 0xfa, 0xf9, 0xff),
    }
}

fn is_ours(url: &Url, dev: Option<&Url>) -> bool {
    match (url.scheme(), url.host_str()) {
        ("tauri", Some("localhost")) => true,
        // For web views without custom schemes.
        ("http" | "https", Some("tauri.localhost")) => true,
        _ => dev.is_some_and(|dev| dev.origin() == url.origin()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_of_the_window_equals_that_of_its_page() {
        let css = include_str!("../../../ui/src/theme.css");
        let colours =
            css.lines().find_map(|line| line.trim().strip_prefix("--bg: light-dark(")?.strip_suffix(");"));
        let colours: Vec<&str> = colours.expect("the page's own background").split(", ").collect();
        let hex = |Color(r, g, b, _): Color| format!("#{r:02x}{g:02x}{b:02x}");
        assert_eq!(colours, [hex(background(Theme::Light)), hex(background(Theme::Dark))]);
    }

    #[test]
    fn only_our_own_pages_may_be_loaded() {
        let dev: Url = "http://localhost:1420".parse().expect("a url");
        for (url, with_dev, without) in [
            ("tauri://localhost/", true, true),
            ("tauri://localhost/index.html#x", true, true),
            ("http://tauri.localhost/", true, true),
            ("http://localhost:1420/src/main.ts", true, false),
            ("http://localhost:1421/", false, false),
            ("https://example.com/", false, false),
            ("tauri://example.com/", false, false),
            ("file:///etc/passwd", false, false),
            ("javascript:alert(1)", false, false),
            ("data:text/html,x", false, false),
            ("about:blank", false, false),
        ] {
            let url: Url = url.parse().expect("a url");
            assert_eq!((is_ours(&url, Some(&dev)), is_ours(&url, None)), (with_dev, without), "{url}");
        }
    }
}

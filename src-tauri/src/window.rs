//! The roster's window and that of the settings. They exist only while they are open: a closed one costs no web process.

use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager, Url, WebviewWindow, WebviewWindowBuilder};

use crate::desk::Desk;

/// Its label in `tauri.conf.json`.
pub const LABEL: &str = "main";
/// The label of the settings' window there.
const SETTINGS: &str = "settings";

/// Shows the window, in front.
pub fn open(app: &AppHandle) {
    show(app, LABEL);
}

/// Shows the window of the settings, in front. There is one.
pub fn open_settings(app: &AppHandle) {
    show(app, SETTINGS);
}

fn show(app: &AppHandle, label: &'static str) {
    let app_ = app.clone();
    // Called from the bus, from the tray and from the main thread itself.
    let asked = app.run_on_main_thread(move || {
        if let Err(error) = raise(&app_, label) {
            tracing::error!(%error, "the window could not be opened");
        }
    });
    if let Err(error) = asked {
        tracing::debug!(%error, "the event loop has ended");
    }
}

/// Shows the window with a session selected: an id, or whatever else the engine takes for one.
pub fn open_on(app: &AppHandle, session: String) {
    if let Some(desk) = app.try_state::<Desk>() {
        desk.select(session);
    }
    open(app);
}

/// What a click on the tray icon does: brings the window to the front, or closes it when it is there.
pub fn toggle(app: &AppHandle) {
    let in_front = app.get_webview_window(LABEL).filter(|window| window.is_focused().unwrap_or(false));
    let Some(window) = in_front else { return open(app) };
    if let Err(error) = window.close() {
        tracing::warn!(%error, "the window could not be closed");
    }
}

/// Ends the program unless its window is open.
pub fn end_without(app: &AppHandle) {
    let app_ = app.clone();
    let asked = app.run_on_main_thread(move || {
        if app_.get_webview_window(LABEL).is_none() {
            app_.exit(0);
        }
    });
    if let Err(error) = asked {
        tracing::debug!(%error, "the event loop has ended");
    }
}

fn raise(app: &AppHandle, label: &str) -> tauri::Result<()> {
    let window = match app.get_webview_window(label) {
        Some(window) => window,
        None => create(app, label)?,
    };
    window.unminimize()?;
    window.show()?;
    window.set_focus()
}

fn create(app: &AppHandle, label: &str) -> tauri::Result<WebviewWindow> {
    let config = app.config();
    let window = config.app.windows.iter().find(|window| window.label == label);
    let window = window.ok_or(tauri::Error::WindowNotFound)?;
    let dev = config.build.dev_url.clone().filter(|_| tauri::is_dev());
    WebviewWindowBuilder::from_config(app, window)?
        // Transcripts hold links and the page shows them: it must never become another page.
        .on_navigation(move |url| is_ours(url, dev.as_ref()))
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()
}

fn is_ours(url: &Url, dev: Option<&Url>) -> bool {
    match (url.scheme(), url.host_str()) {
        ("tauri", Some("localhost")) => true,
        // Where a web view knows no schemes of our own.
        ("http" | "https", Some("tauri.localhost")) => true,
        _ => dev.is_some_and(|dev| dev.origin() == url.origin()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_stays_ours() {
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

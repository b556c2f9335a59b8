//! Loads a page again whose process has ended, for example one killed for its memory. Otherwise the window would stay
//! blank.
//!
//! On macOS Tauri does this itself. WebKitGTK only sends a signal, and neither Tauri nor wry handles it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use gtk::glib;
use gtk::prelude::ObjectExt;
use tauri::{Manager, WebviewWindow};
use webkit2gtk::{WebProcessTerminationReason, WebViewExt};

use crate::app_state::AppState;
use crate::window_messages::WindowMessages;

/// A page that ends within this time after the last end is loaded after a pause, and without its session. If that
/// session is the cause, the rest of the window then works.
const REPEAT_WITHIN: Duration = Duration::from_secs(30);
/// That pause.
const PAUSE: Duration = Duration::from_secs(3);

/// Follows the window's page from now on. `shows_roster` is true for the window whose session is shown again.
///
/// # Errors
/// When the window is gone.
pub fn bring_back(window: &WebviewWindow, shows_roster: bool) -> tauri::Result<()> {
    let (app, label) = (window.app_handle().clone(), window.label().to_owned());
    window.with_webview(move |view| {
        let last = Cell::new(None);
        view.inner().connect_web_process_terminated(move |view, reason| {
            if reason == WebProcessTerminationReason::TerminatedByApi {
                return;
            }
            let now = Instant::now();
            let soon = is_soon(last.replace(Some(now)), now);
            tracing::error!(?reason, window = %label, "the window's page has ended; it is loaded again");
            if shows_roster {
                app.state::<AppState>().page_lost(!soon);
                // Messages from now on wait for the new page.
                app.state::<WindowMessages>().disconnect();
            }
            let view = view.downgrade();
            glib::timeout_add_local_once(if soon { PAUSE } else { Duration::ZERO }, move || {
                if let Some(view) = view.upgrade() {
                    view.reload();
                }
            });
        });
    })
}

fn is_soon(last: Option<Instant>, now: Instant) -> bool {
    last.is_some_and(|last| now < last + REPEAT_WITHIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_soon_only_within_thirty_seconds_of_the_last_end() {
        let first = Instant::now();
        assert!(!is_soon(None, first), "no page ended before");
        assert!(is_soon(Some(first), first));
        assert!(is_soon(Some(first), first + REPEAT_WITHIN - Duration::from_millis(1)));
        assert!(!is_soon(Some(first), first + REPEAT_WITHIN));
    }
}

//! A page whose process has ended is loaded again: killed for its memory, say, it would leave a window that stays blank.
//!
//! On macOS Tauri does so by itself; WebKitGTK only tells, and nobody in between listens.

use std::cell::Cell;
use std::time::{Duration, Instant};

use gtk::glib;
use gtk::prelude::ObjectExt;
use tauri::{Manager, WebviewWindow};
use webkit2gtk::{WebProcessTerminationReason, WebViewExt};

use crate::desk::Desk;
use crate::notes::Notes;

/// A page that ends so soon after the last one is not loaded at once, and without the session that it showed: if that is
/// what ends it, the rest of the window shall live.
const SOON: Duration = Duration::from_secs(30);
/// How long it waits then.
const PAUSE: Duration = Duration::from_secs(3);

/// Follows the window's page from now on; `shows_roster` is true for the window whose session is to be shown again.
///
/// # Errors
/// When the window has gone.
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
                app.state::<Desk>().page_lost(!soon);
                // What is told from now on waits for the page that comes.
                app.state::<Notes>().disconnect();
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
    last.is_some_and(|last| now < last + SOON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_that_follows_the_last_one_closely_may_have_ended_by_what_it_showed() {
        let first = Instant::now();
        assert!(!is_soon(None, first), "there was none before");
        assert!(is_soon(Some(first), first));
        assert!(is_soon(Some(first), first + SOON - Duration::from_millis(1)));
        assert!(!is_soon(Some(first), first + SOON));
    }
}

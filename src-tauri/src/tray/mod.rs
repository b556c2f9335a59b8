//! The tray: an icon, and a menu of the sessions that need the user or work. Redrawn only on a change.

mod badge;
pub mod face;
mod icon;
#[cfg(target_os = "linux")]
mod panel;
mod roster;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tauri::AppHandle;
use watchbill_engine::model::publish::RosterSink;

use crate::window;
use face::Face;
pub use roster::Tray;

/// Shows the tray as soon as a panel can show it, and keeps it up to date while the program runs.
///
/// `subscribe` subscribes to the engine in force at that time.
pub async fn keep(app: AppHandle, tray: Arc<Tray>, subscribe: impl Fn(RosterSink) + Send) {
    if !appear(&app).await {
        tray.unreachable.store(true, Ordering::Relaxed);
        // The window may have been closed, or never opened, by now.
        return window::end_without(&app);
    }
    tray.shown.store(true, Ordering::Relaxed);
    let mut shown = Face::default();
    loop {
        if let Some(sink) = tray.new_sink() {
            subscribe(sink);
        }
        let (face, stays) = tray.face();
        if face != shown {
            let (app_, next, before) = (app.clone(), face.clone(), shown);
            if let Err(error) = app.run_on_main_thread(move || icon::redraw(&app_, &before, &next)) {
                tracing::debug!(%error, "the event loop has ended, and the tray with it");
                return;
            }
            shown = face;
        }
        match stays {
            Some(span) => {
                // After a change or the timeout, the loop makes the face anew.
                let _ = tokio::time::timeout(span, tray.changed.notified()).await;
            }
            None => tray.changed.notified().await,
        }
    }
}

/// Builds the icon. If no panel shows icons yet, waits for one. Returns `false` if there will never be one.
#[cfg(target_os = "linux")]
async fn appear(app: &AppHandle) -> bool {
    let Err(reason) = build(app).await else { return true };
    tracing::info!(%reason, "no panel shows tray icons yet; waiting for one");
    let mut panels = match panel::Panels::watch().await {
        Ok(panels) => panels,
        Err(error) => {
            tracing::warn!(%error, "there is no session bus: no tray icon, and a second start cannot raise the window");
            return false;
        }
    };
    loop {
        // A panel may have started between the first try and the watch.
        if build(app).await.is_ok() {
            return true;
        }
        if !panels.next().await {
            return false;
        }
    }
}

/// The system itself shows the icons here.
#[cfg(not(target_os = "linux"))]
async fn appear(app: &AppHandle) -> bool {
    match build(app).await {
        Ok(()) => true,
        Err(reason) => {
            tracing::warn!(%reason, "no tray icon");
            false
        }
    }
}

async fn build(app: &AppHandle) -> Result<(), String> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let app_ = app.clone();
    app.run_on_main_thread(move || {
        // Fails only when the program is ending.
        let _ = sender.send(icon::build(&app_).map_err(|error| error.to_string()));
    })
    .map_err(|error| error.to_string())?;
    receiver.await.map_err(|error| error.to_string())?
}

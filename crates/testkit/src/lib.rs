//! A private desktop for one test. It has an X server, a session bus, a window manager, a tray host, a notification server
//! and a launcher. It also has a settings portal, a screen saver, a screen reader, and a WebDriver.
//!
//! Each [`Desktop`] has its own display, bus and home, so tests run side by side and never touch the developer's own.
//! Everything ends when the values are dropped. Linux only.

#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]

mod accessible;
mod ask;
mod desktop;
mod driver;
mod launcher;
mod leaving_program;
mod notifications;
mod picture;
mod portal;
mod program;
mod screen_reader;
mod screen_saver;
mod skipped;
mod stranger;
mod tray;

pub use accessible::Accessible;
pub use desktop::Desktop;
pub use driver::Driver;
pub use fantoccini;
pub use launcher::{Count, Launcher};
pub use leaving_program::LeavingProgram;
pub use notifications::{Notification, NotificationServer};
pub use picture::{Difference, Picture};
pub use portal::{Scheme, SettingsPortal};
pub use screen_reader::ScreenReader;
pub use screen_saver::ScreenSaver;
pub use skipped::skipped;
pub use stranger::Stranger;
pub use tray::{MenuEntry, TrayHost, TrayItem};

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

/// Calls `look` again and again until it finds something, for at most `seconds`.
///
/// # Errors
/// When the time is over; the message names the awaited thing.
pub async fn until<T>(what: &str, seconds: u64, mut look: impl AsyncFnMut() -> Option<T>) -> Result<T> {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        // The other program may never answer, and one look may take longer than the event itself.
        let Ok(found) = tokio::time::timeout(Duration::from_secs(seconds.max(60)), look()).await else {
            bail!("no answer came while waiting for {what}");
        };
        if let Some(found) = found {
            return Ok(found);
        }
        if Instant::now() >= deadline {
            bail!("waited {seconds} s in vain for {what}");
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}

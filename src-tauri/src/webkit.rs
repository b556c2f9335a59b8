//! What WebKit is told before any of it runs.

use gtk::glib;

/// WebKitGTK reads it when the first window is made, and passes it on to its other processes (2.50,
/// `UIProcess/linux/MemoryPressureMonitor.cpp`).
const NO_MONITOR: &str = "WEBKIT_DISABLE_MEMORY_PRESSURE_MONITOR";

/// Keeps WebKit from reading /proc/meminfo every five seconds, and every second while memory is short, from the first window
/// on until the program ends, however long it has been hidden.
///
/// What is lost: on a machine whose memory is nearly used up, WebKit would give back what it can do without. Of the 212 MB of
/// a window at rest with 2,000 sessions that were 4 MB, and of one under 50 changes a second nothing that stays. A window
/// that is closed gives back all of its page's process.
///
/// To be called before there is a second thread: another one might read the environment meanwhile. Whoever has set the
/// variable is heard.
pub fn quieten() {
    if let Err(error) = glib::setenv(NO_MONITOR, "1", false) {
        tracing::debug!(%error, "WebKit will look at the machine's memory every few seconds");
    }
}

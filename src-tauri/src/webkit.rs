//! What WebKit is told before any of it runs.

use gtk::glib;

/// WebKitGTK reads it when the first window is made, and passes it on to its other processes (2.50,
/// `UIProcess/linux/MemoryPressureMonitor.cpp`).
const NO_MONITOR: &str = "WEBKIT_DISABLE_MEMORY_PRESSURE_MONITOR";

/// A page's process reads it when it begins.
const NO_COMPOSITING: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// Keeps WebKit from two things that this window has no use for.
///
/// The monitor reads /proc/meminfo every five seconds, and every second while memory is short, from the first window on until the
/// program ends, however long it has been hidden. What is lost: on a machine whose memory is nearly used up, WebKit would give
/// back what it can do without. Of the 212 MB of a window at rest with 2,000 sessions that were 4 MB, and of one under 50 changes a
/// second nothing that stays. A window that is closed gives back all of its page's process.
///
/// Compositing loads OpenGL into the page's process and keeps a texture for every layer: of the 200 MB of that process, with
/// 2,000 sessions and Mesa's software rendering, that were 79 MB. The page is text that changes in small places. Drawn without
/// it, the demo took a fifth of the processor's time (15 s, once, software rendering). What is lost: where a graphics card draws,
/// it no longer helps to scroll a very large window; that was not measured.
///
/// To be called before there is a second thread: another one might read the environment meanwhile. Whoever has set a variable is
/// heard (`0` turns it on).
pub fn quieten() {
    for name in [NO_MONITOR, NO_COMPOSITING] {
        if let Err(error) = glib::setenv(name, "1", false) {
            tracing::debug!(%error, name, "WebKit will do more than the window needs");
        }
    }
}

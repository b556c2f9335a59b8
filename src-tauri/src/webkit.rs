//! Environment variables for WebKit, set before it starts.

use gtk::glib;

/// WebKitGTK reads it when the first window is made, and passes it on to its other processes (2.50,
/// `UIProcess/linux/MemoryPressureMonitor.cpp`).
const NO_MONITOR: &str = "WEBKIT_DISABLE_MEMORY_PRESSURE_MONITOR";

/// A page's process reads it when it starts.
const NO_COMPOSITING: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// Turns off two parts of WebKit that this window does not need.
///
/// The memory pressure monitor reads /proc/meminfo every five seconds, and every second while memory is short. It does
/// so from the first window until the program ends, even while hidden. The price: with little memory left, WebKit
/// would free memory that it can do without. Of the 212 MB of an idle window with 2,000 sessions that was 4 MB; with
/// 50 changes a second it freed nothing for long. A closed window frees all of its page's process anyway.
///
/// Compositing loads OpenGL into the page's process and keeps a texture per layer. That was 79 MB of the 200 MB of
/// that process, with 2,000 sessions and Mesa's software rendering. The page is text that changes in small places:
/// without compositing, the demo took a fifth of the CPU time (15 s, one run, software rendering). The price: a
/// graphics card no longer helps to scroll a very large window; that was not measured.
///
/// Call it before there is a second thread, which might read the environment meanwhile. A variable that the user has
/// set stays (`0` turns the part on).
pub fn quieten() {
    for name in [NO_MONITOR, NO_COMPOSITING] {
        if let Err(error) = glib::setenv(name, "1", false) {
            tracing::debug!(%error, name, "an environment variable for WebKit could not be set; WebKit uses its default");
        }
    }
}

//! Windows of an X display, by the Extended Window Manager Hints 1.5 (freedesktop.org): their list, the one in front,
//! and a pager's request to raise one.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ClientMessageEvent, ConnectionExt, EventMask, Window as WindowId,
};
use x11rb::rust_connection::RustConnection;

use super::Window;

/// Time limit, so that a hanging display does not block the caller.
const LIMIT: Duration = Duration::from_secs(2);

/// Time for the window manager to bring a window to the front.
const TIMEOUT: Duration = Duration::from_millis(700);

/// Limit for the number of windows and the length of a title, in units of four bytes. No real screen reaches it.
const MAX_UNITS: u32 = 4096;

type Tried<T> = Result<T, Box<dyn std::error::Error>>;

/// The windows on a display in stacking order, the topmost last; `None` if the display or its window manager does not
/// answer.
pub fn windows(display: &str) -> Option<Vec<Window>> {
    within_limit(display, |x| x.windows())
}

/// The window in front.
pub fn active(display: &str) -> Option<u32> {
    within_limit(display, |x| x.active())?
}

/// Brings a window to the front. Returns whether it then was there.
pub fn activate(display: &str, window: u32) -> bool {
    within_limit(display, move |x| x.activate(window)).unwrap_or(false)
}

/// Does some work with a connection and a thread of its own. A hanging server blocks only that thread.
fn within_limit<T: Send + 'static>(
    display: &str,
    work: impl FnOnce(&X) -> Tried<T> + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = channel();
    let name = display.to_owned();
    std::thread::spawn(move || {
        let done = X::open(&name).and_then(|x| work(&x));
        if let Err(error) = &done {
            tracing::debug!(%error, "a request to the display failed");
        }
        // The caller may have given up.
        let _ = sender.send(done.ok());
    });
    receiver.recv_timeout(LIMIT).ok().flatten()
}

/// A connection to a display.
struct X {
    connection: RustConnection,
    root: WindowId,
    host: String,
}

impl X {
    fn open(display: &str) -> Tried<Self> {
        let (connection, screen) = RustConnection::connect(Some(display))?;
        let root = connection.setup().roots.get(screen).ok_or("the display has no screen")?.root;
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Self { connection, root, host })
    }

    fn atom(&self, name: &str) -> Tried<Atom> {
        Ok(self.connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
    }

    /// A list of numbers; empty if the window does not have the property.
    fn numbers(&self, window: WindowId, property: &str) -> Tried<Vec<u32>> {
        let property = self.atom(property)?;
        let reply =
            self.connection.get_property(false, window, property, AtomEnum::ANY, 0, MAX_UNITS)?.reply()?;
        Ok(reply.value32().map(Iterator::collect).unwrap_or_default())
    }

    fn text(&self, window: WindowId, property: Atom) -> Tried<String> {
        let reply =
            self.connection.get_property(false, window, property, AtomEnum::ANY, 0, MAX_UNITS)?.reply()?;
        Ok(String::from_utf8_lossy(&reply.value).into_owned())
    }

    fn windows(&self) -> Tried<Vec<Window>> {
        let mut ids = self.numbers(self.root, "_NET_CLIENT_LIST_STACKING")?;
        if ids.is_empty() {
            ids = self.numbers(self.root, "_NET_CLIENT_LIST")?;
        }
        if ids.is_empty() && self.numbers(self.root, "_NET_SUPPORTING_WM_CHECK")?.is_empty() {
            return Err("there is no window manager".into());
        }
        let name = self.atom("_NET_WM_NAME")?;
        // A window that closes meanwhile is left out.
        Ok(ids.into_iter().filter_map(|id| self.window(id, name).ok()).collect())
    }

    fn window(&self, id: WindowId, name: Atom) -> Tried<Window> {
        let mut title = self.text(id, name)?;
        if title.is_empty() {
            title = self.text(id, AtomEnum::WM_NAME.into())?;
        }
        // A window of another machine, shown here over a connection, names a process of that machine.
        let machine = self.text(id, AtomEnum::WM_CLIENT_MACHINE.into())?;
        let machine = machine.trim_end_matches('\0');
        let here = machine.is_empty() || machine == self.host || machine == "localhost";
        let pid = self.numbers(id, "_NET_WM_PID")?.first().copied().filter(|_| here);
        Ok(Window { id, pid, title })
    }

    fn active(&self) -> Tried<Option<u32>> {
        let window = self.numbers(self.root, "_NET_ACTIVE_WINDOW")?.first().copied();
        Ok(window.filter(|window| *window != 0))
    }

    fn activate(&self, window: WindowId) -> Tried<bool> {
        // The window manager may not switch the desktop by itself, so this switches it first.
        let desktop = self.numbers(window, "_NET_WM_DESKTOP")?.first().copied();
        let current = self.numbers(self.root, "_NET_CURRENT_DESKTOP")?.first().copied();
        // 0xFFFFFFFF stands for all desktops.
        if let Some(desktop) = desktop.filter(|desktop| *desktop != u32::MAX && Some(*desktop) != current) {
            self.tell(self.root, "_NET_CURRENT_DESKTOP", [desktop, 0, 0, 0, 0])?;
        }
        // Source 2: a pager that acts for the user. Window managers obey it where they would refuse other programs.
        self.tell(window, "_NET_ACTIVE_WINDOW", [2, 0, 0, 0, 0])?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if self.active()? == Some(window) {
                return Ok(true);
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn tell(&self, window: WindowId, message: &str, data: [u32; 5]) -> Tried<()> {
        let event = ClientMessageEvent::new(32, window, self.atom(message)?, data);
        let mask = EventMask::SUBSTRUCTURE_REDIRECT | EventMask::SUBSTRUCTURE_NOTIFY;
        self.connection.send_event(false, self.root, mask, event)?;
        self.connection.flush()?;
        Ok(())
    }
}

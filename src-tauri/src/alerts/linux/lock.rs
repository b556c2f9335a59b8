//! Whether the screen is locked, as the desktop's screen saver reports it on the session bus.
//!
//! GNOME, KDE, Cinnamon, MATE and Xfce have one, each with the same two members. Lockers that are no service of the
//! session bus, such as i3lock or swaylock, are not seen.

use std::time::Duration;

use zbus::message::Type;
use zbus::proxy::{CacheProperties, MethodFlags};
use zbus::{Connection, MatchRule, Message};

/// The name of each screen saver, which is also the name of its interface, and its path.
const SAVERS: [(&str, &str); 5] = [
    ("org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"),
    ("org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"),
    ("org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"),
    ("org.mate.ScreenSaver", "/org/mate/ScreenSaver"),
    ("org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"),
];

/// A screen saver that has not answered by now hangs.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The member of the signal.
pub const CHANGED: &str = "ActiveChanged";

/// The match rule for the signal of any screen saver.
///
/// # Errors
/// Never: the name is valid.
pub fn changes() -> zbus::Result<MatchRule<'static>> {
    Ok(MatchRule::builder().msg_type(Type::Signal).member(CHANGED)?.build())
}

/// What a signal says; `None`: it is of no screen saver.
pub fn said(signal: &Message) -> Option<bool> {
    let header = signal.header();
    let interface = header.interface()?;
    SAVERS.iter().any(|(name, _)| *name == interface.as_str()).then_some(())?;
    signal.body().deserialize().ok()
}

/// Whether a screen saver says so now. One that does not run is not started, and says nothing.
pub async fn is_locked(connection: &Connection) -> bool {
    let asked = async {
        for (name, path) in SAVERS {
            if is_active(connection, name, path).await == Ok(Some(true)) {
                return true;
            }
        }
        false
    };
    tokio::time::timeout(TIMEOUT, asked).await.unwrap_or(false)
}

async fn is_active(connection: &Connection, name: &str, path: &str) -> zbus::Result<Option<bool>> {
    let saver = zbus::proxy::Builder::<zbus::Proxy<'_>>::new(connection)
        .destination(name)?
        .path(path)?
        .interface(name)?
        .cache_properties(CacheProperties::No)
        .build()
        .await?;
    saver.call_with_flags("GetActive", MethodFlags::NoAutoStart.into(), &()).await
}

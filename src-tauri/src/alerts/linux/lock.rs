//! Whether the screen is locked, as the desktop's screen saver reports it on the session bus.
//!
//! GNOME, KDE, Cinnamon, MATE and Xfce have one, each with the same two members. Lockers that are no service of the
//! session bus, such as i3lock or swaylock, are not seen.

use std::collections::BTreeSet;
use std::time::Duration;

use zbus::fdo::DBusProxy;
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

/// The screen savers that say that the screen is locked. One that does not run says nothing.
#[derive(Debug, Default)]
pub struct Lock(BTreeSet<&'static str>);

impl Lock {
    /// Asks each screen saver. None is started for it.
    pub async fn look(connection: &Connection) -> Self {
        let mut lock = Self::default();
        let asked = async {
            for (name, path) in SAVERS {
                lock.note(name, is_active(connection, name, path).await == Ok(Some(true)));
            }
        };
        if tokio::time::timeout(TIMEOUT, asked).await.is_err() {
            tracing::debug!("a screen saver does not answer");
        }
        lock
    }

    /// Whether one of them says so.
    pub fn is_locked(&self) -> bool {
        !self.0.is_empty()
    }

    /// Takes a signal in, if its sender is the screen saver: any program can send one.
    pub async fn hear(&mut self, connection: &Connection, signal: &Message) {
        let header = signal.header();
        let of = |interface: &str| SAVERS.into_iter().find(|(name, _)| *name == interface);
        let Some((name, _)) = header.interface().and_then(|interface| of(interface.as_str())) else { return };
        let Ok(active) = signal.body().deserialize::<bool>() else { return };
        if header.sender().map(|sender| sender.as_str()) == owner(connection, name).await.as_deref() {
            self.note(name, active);
        }
    }

    fn note(&mut self, name: &'static str, active: bool) {
        if active {
            self.0.insert(name);
        } else {
            self.0.remove(name);
        }
    }
}

/// The unique name of the program that has this name.
async fn owner(connection: &Connection, name: &'static str) -> Option<String> {
    let bus = DBusProxy::new(connection).await.ok()?;
    bus.get_name_owner(name.try_into().ok()?).await.ok().map(|owner| owner.to_string())
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

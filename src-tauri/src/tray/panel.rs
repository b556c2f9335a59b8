//! Reports when a panel begins to show tray icons, from signals of the session bus.

use futures_util::StreamExt;
use zbus::message::Type;
use zbus::{MatchRule, MessageStream};

use crate::bus::{OWNER_CHANGED, has_owner, owner_changes};

const WATCHER: &str = "org.kde.StatusNotifierWatcher";

/// At login a panel may start after this program; after a crash it starts again. On a machine without one, polling
/// would wake the machine for ever.
pub struct Panels {
    signals: MessageStream,
}

impl Panels {
    /// Begins to listen.
    pub async fn watch() -> zbus::Result<Self> {
        let connection = zbus::Connection::session().await?;
        let signals = MessageStream::from(&connection);
        let bus = zbus::fdo::DBusProxy::new(&connection).await?;
        // Some watchers are on the bus before their panel is.
        let host_registered = MatchRule::builder()
            .msg_type(Type::Signal)
            .interface(WATCHER)?
            .member("StatusNotifierHostRegistered")?
            .build();
        bus.add_match_rule(owner_changes(WATCHER)?).await?;
        bus.add_match_rule(host_registered).await?;
        Ok(Self { signals })
    }

    /// Waits until a panel may be there; `false` when the bus is gone.
    pub async fn next(&mut self) -> bool {
        loop {
            let Some(Ok(message)) = self.signals.next().await else { return false };
            match message.header().member().map(|member| member.as_str()) {
                Some("StatusNotifierHostRegistered") => return true,
                Some(OWNER_CHANGED) if has_owner(&message, WATCHER) => return true,
                _ => {}
            }
        }
    }
}

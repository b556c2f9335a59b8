//! The list of notifications on the screen, in a file: a program that was killed leaves them behind, and the next start
//! closes them.
//!
//! An id is valid only for the server that gave it. The server's unique name on the bus, and the bus's own id, tell that
//! server from another one.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use zbus::Connection;
use zbus::fdo::DBusProxy;

use super::message::NAME;

/// The notifications of one bus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Shown {
    bus: String,
    /// The server's unique name and the id, for each notification.
    notifications: Vec<(String, u32)>,
}

/// The file, and its present content.
pub struct LeftBehind {
    file: Option<PathBuf>,
    shown: Shown,
}

impl LeftBehind {
    /// The file below this data folder. Returns also the ids that an earlier start left on the screen.
    pub async fn find(data_dir: Option<&Path>, connection: &Connection) -> (Self, Vec<u32>) {
        let file = data_dir.map(|folder| folder.join("run/notifications.json"));
        let bus = connection.server_guid().to_string();
        let text = file.as_deref().and_then(|file| std::fs::read(file).ok());
        let before: Shown = text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default();
        let server = server(connection).await;
        let of_server = |by: &String| before.bus == bus && server.as_ref() == Some(by);
        let ids = before.notifications.iter().filter(|(by, _)| of_server(by)).map(|(_, id)| *id).collect();
        (Self { file, shown: Shown { bus, notifications: Vec::new() } }, ids)
    }

    /// Writes the notifications that are on the screen now, if they have changed.
    pub fn note(&mut self, notifications: Vec<(String, u32)>) {
        let Some(file) = self.file.as_deref().filter(|_| self.shown.notifications != notifications) else {
            return;
        };
        self.shown.notifications = notifications;
        let written = serde_json::to_vec(&self.shown).map_err(std::io::Error::from).and_then(|text| {
            if let Some(folder) = file.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(file, text)
        });
        if let Err(error) = written {
            tracing::debug!(%error, "the list of notifications is not written; after a kill they stay on the screen");
        }
    }
}

/// The unique name of the running server. Does not start one.
async fn server(connection: &Connection) -> Option<String> {
    let bus = DBusProxy::new(connection).await.ok()?;
    bus.get_name_owner(NAME.try_into().ok()?).await.ok().map(|owner| owner.to_string())
}

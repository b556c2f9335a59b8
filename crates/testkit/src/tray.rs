//! A simulated panel with a tray: it reads the icons and clicks their menus.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, Result};
use zbus::message::Header;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::{ObjectPath, OwnedValue, Value};
use zbus::{Connection, connection, interface};

use crate::ask::ask;
use crate::{Desktop, until};

const ITEM: &str = "org.kde.StatusNotifierItem";
const MENU: &str = "com.canonical.dbusmenu";

/// Bus name and object path of each registered icon, in order.
type Registered = Arc<Mutex<Vec<(String, String)>>>;

/// The service to which programs announce their icons.
struct Watcher {
    registered: Registered,
}

#[interface(name = "org.kde.StatusNotifierWatcher")]
impl Watcher {
    async fn register_status_notifier_item(
        &self,
        service: String,
        #[zbus(header)] header: Header<'_>,
        #[zbus(signal_emitter)] emitter: SignalEmitter<'_>,
    ) -> zbus::fdo::Result<()> {
        // Some libraries give the item's path and mean the sender; others give a name and mean the usual path.
        let item = if service.starts_with('/') {
            (header.sender().map(ToString::to_string).unwrap_or_default(), service)
        } else {
            (service, "/StatusNotifierItem".to_owned())
        };
        let address = format!("{}{}", item.0, item.1);
        lock(&self.registered).push(item);
        emitter.status_notifier_item_registered(&address).await?;
        Ok(())
    }

    async fn register_status_notifier_host(&self, _service: String) {}

    #[zbus(property)]
    async fn registered_status_notifier_items(&self) -> Vec<String> {
        lock(&self.registered).iter().map(|(name, path)| format!("{name}{path}")).collect()
    }

    #[zbus(property)]
    async fn is_status_notifier_host_registered(&self) -> bool {
        true
    }

    #[zbus(property)]
    async fn protocol_version(&self) -> i32 {
        0
    }

    #[zbus(signal)]
    async fn status_notifier_item_registered(emitter: &SignalEmitter<'_>, item: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn status_notifier_item_unregistered(emitter: &SignalEmitter<'_>, item: &str) -> zbus::Result<()>;

    #[zbus(signal)]
    async fn status_notifier_host_registered(emitter: &SignalEmitter<'_>) -> zbus::Result<()>;
}

/// A panel. It leaves the bus when it is dropped.
pub struct TrayHost {
    connection: Connection,
    registered: Registered,
}

impl TrayHost {
    /// Puts a panel on the desktop's bus.
    ///
    /// # Errors
    /// When the desktop has no bus, or has a panel already.
    pub async fn start(desktop: &Desktop) -> Result<Self> {
        let registered = Registered::default();
        let watcher = Watcher { registered: Arc::clone(&registered) };
        let connection = connection::Builder::address(desktop.bus()?)?
            .serve_at("/StatusNotifierWatcher", watcher)?
            .name("org.kde.StatusNotifierWatcher")?
            .build()
            .await?;
        Ok(Self { connection, registered })
    }

    /// The first icon, as soon as there is one.
    ///
    /// When none appears.
    /// When none comes.
    pub async fn item(&self) -> Result<TrayItem> {
        let (service, path) =
            until("a tray icon", 30, async || lock(&self.registered).first().cloned()).await?;
        Ok(TrayItem { connection: self.connection.clone(), service, path })
    }
}

/// A program's tray icon.
pub struct TrayItem {
    connection: Connection,
    service: String,
    path: String,
}

impl TrayItem {
    /// A left click.
    ///
    /// # Errors
    /// When the program takes no clicks.
    pub async fn activate(&self) -> Result<()> {
        ask(&self.connection, self.at(&self.path), ITEM, "Activate", &(10_i32, 10_i32)).await
    }

    /// The tooltip's text.
    ///
    /// # Errors
    /// When the program does not answer.
    pub async fn tooltip(&self) -> Result<String> {
        // Icon name, pictures, title, text.
        type ToolTip = (String, Vec<(i32, i32, Vec<u8>)>, String, String);
        let (_, _, _, text) = ToolTip::try_from(self.property("ToolTip").await?)?;
        Ok(text)
    }

    /// Width, height and pixels (ARGB) of the icon.
    ///
    /// # Errors
    /// When the program does not answer.
    pub async fn pixels(&self) -> Result<(i32, i32, Vec<u8>)> {
        let value = self.property("IconPixmap").await?;
        let pixmaps: Vec<(i32, i32, Vec<u8>)> = value.try_into()?;
        pixmaps.into_iter().next().context("the icon has no picture")
    }

    /// The current menu.
    ///
    /// # Errors
    /// When the program does not answer.
    pub async fn menu(&self) -> Result<MenuEntry> {
        let path = self.menu_path().await?;
        let all: (i32, i32, Vec<&str>) = (0, -1, Vec::new());
        let (_revision, layout): (u32, Layout) =
            ask(&self.connection, self.at(&path), MENU, "GetLayout", &all).await?;
        Ok(MenuEntry::from(layout))
    }

    /// Chooses a menu entry without waiting for an answer: the entry may end the program.
    ///
    /// # Errors
    /// When the program does not run.
    pub async fn choose(&self, entry: &MenuEntry) -> Result<()> {
        let path = self.menu_path().await?;
        let event = (entry.id, "clicked", Value::from(0_i32), 0_u32);
        let menu = zbus::Proxy::new(&self.connection, self.service.as_str(), path, MENU).await?;
        Ok(menu.call_noreply("Event", &event).await?)
    }

    async fn menu_path(&self) -> Result<String> {
        let value = self.property("Menu").await?;
        Ok(ObjectPath::try_from(&*value)?.to_string())
    }

    fn at<'p>(&'p self, path: &'p str) -> (&'p str, &'p str) {
        (&self.service, path)
    }

    async fn property(&self, name: &str) -> Result<OwnedValue> {
        ask(&self.connection, self.at(&self.path), "org.freedesktop.DBus.Properties", "Get", &(ITEM, name))
            .await
    }
}

/// A menu entry with its submenu.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MenuEntry {
    id: i32,
    /// The text, without the mnemonic marks.
    pub label: String,
    /// Whether it can be chosen.
    pub enabled: bool,
    /// The entries below.
    pub children: Vec<MenuEntry>,
}

impl MenuEntry {
    /// The entry whose label contains `text`, here or below.
    pub fn find(&self, text: &str) -> Option<&Self> {
        if self.label.contains(text) {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(text))
    }

    /// The labels directly below, in order; separators are empty.
    pub fn labels(&self) -> Vec<&str> {
        self.children.iter().map(|child| child.label.as_str()).collect()
    }
}

/// An entry as the bus delivers it: id, properties, children.
type Layout = (i32, HashMap<String, OwnedValue>, Vec<OwnedValue>);

impl From<Layout> for MenuEntry {
    fn from((id, properties, children): Layout) -> Self {
        let label =
            properties.get("label").and_then(|value| <&str>::try_from(value).ok()).unwrap_or_default();
        let enabled = properties.get("enabled").and_then(|value| bool::try_from(value).ok());
        Self {
            id,
            label: without_marks(label),
            enabled: enabled.unwrap_or(true),
            children: children
                .into_iter()
                .filter_map(|child| Layout::try_from(child).ok())
                .map(Self::from)
                .collect(),
        }
    }
}

/// One underscore marks a key; two stand for one underscore.
fn without_marks(label: &str) -> String {
    label.replace("__", "\u{0}").replace('_', "").replace('\u{0}', "_")
}

fn lock(registered: &Registered) -> MutexGuard<'_, Vec<(String, String)>> {
    registered.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mnemonic_marks_are_removed() {
        assert_eq!(without_marks("_Quit"), "Quit");
        assert_eq!(without_marks("a__b_c"), "a_bc");
    }
}

//! A simulated screen reader: it reads the windows of the desktop over the accessibility bus, and records
//! announcements of live regions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, anyhow};
use futures_util::StreamExt;
use zbus::message::Type as MessageType;
use zbus::zvariant::{OwnedObjectPath, OwnedValue};
use zbus::{Connection, MatchRule, Message, MessageStream, connection};

use crate::accessible::{Accessible, role_of, states_of};
use crate::ask::ask;
use crate::{Desktop, until};

const ACCESSIBLE: &str = "org.a11y.atspi.Accessible";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const REGISTRY: &str = "org.a11y.atspi.Registry";
/// Events that programs send only to registered listeners.
const EVENTS: &[&str] = &["object:children-changed", "object:text-changed", "object:announcement"];
/// A window has some hundred objects; an endless tree would hang the test.
const DEEPEST: usize = 60;

/// The address of an object: the bus name of its process, and its path there.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, zbus::zvariant::Type)]
struct Place(String, OwnedObjectPath);

impl Place {
    fn at(&self) -> (&str, &str) {
        (&self.0, self.1.as_str())
    }
}

/// A screen reader on a desktop's accessibility bus; it leaves when it is dropped.
pub struct ScreenReader {
    connection: Connection,
    announcements: Arc<Mutex<Vec<String>>>,
}

impl ScreenReader {
    /// Connects to the desktop's bus and listens from then on.
    ///
    /// Programs report changes only while a screen reader listens, so start it before the expected announcement.
    ///
    /// # Errors
    /// When the desktop was started without accessibility.
    pub async fn start(desktop: &Desktop) -> Result<Self> {
        let connection = connection::Builder::address(desktop.accessibility_bus()?)?.build().await?;
        let rule = MatchRule::builder()
            .msg_type(MessageType::Signal)
            .interface("org.a11y.atspi.Event.Object")?
            .build();
        let signals = MessageStream::for_match_rule(rule, &connection, Some(4096)).await?;
        for event in EVENTS {
            let wish = (event, Vec::<&str>::new(), "");
            connection
                .call_method(
                    Some(REGISTRY),
                    "/org/a11y/atspi/registry",
                    Some(REGISTRY),
                    "RegisterEvent",
                    &wish,
                )
                .await?;
        }
        let reader = Self { connection, announcements: Arc::default() };
        tokio::spawn(listen(signals, reader.connection.clone(), Arc::clone(&reader.announcements)));
        Ok(reader)
    }

    /// The announcements of live regions, in order.
    pub fn announcements(&self) -> Vec<String> {
        self.announcements.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until a live region has announced exactly these words.
    ///
    /// # Errors
    /// When it does not; the message lists the announcements.
    pub async fn wait_for_announcement(&self, words: &str) -> Result<()> {
        until(&format!("{words:?} to be said"), 20, async || {
            self.announcements().iter().any(|announcement| announcement == words).then_some(())
        })
        .await
        .with_context(|| format!("heard were {:?}", self.announcements()))
    }

    /// The window with this title, with all its current content.
    ///
    /// # Errors
    /// When there is no such window, or its program does not answer.
    pub async fn window(&self, title: &str) -> Result<Accessible> {
        let mut why = anyhow!("no program has reported such a window");
        let found = until(&format!("the window {title:?} on the accessibility bus"), 30, async || {
            match self.read(title).await {
                Ok(window) => window,
                // An object may disappear while the tree is read; the tree is read again.
                Err(error) => {
                    why = error;
                    None
                }
            }
        })
        .await;
        found.map_err(|waited| why.context(waited))
    }

    async fn read(&self, title: &str) -> Result<Option<Accessible>> {
        let Some(place) = self.find(title).await? else { return Ok(None) };
        read(&self.connection, &place, 0).await.map(Some)
    }

    async fn find(&self, title: &str) -> Result<Option<Place>> {
        let root = Place(REGISTRY.to_owned(), OwnedObjectPath::try_from("/org/a11y/atspi/accessible/root")?);
        for program in children(&self.connection, &root).await? {
            // A program that has just ended is still in the list.
            for window in children(&self.connection, &program).await.unwrap_or_default() {
                if property(&self.connection, &window, "Name").await? == title {
                    return Ok(Some(window));
                }
            }
        }
        Ok(None)
    }
}

/// Reads an object and all its descendants.
async fn read(connection: &Connection, place: &Place, depth: usize) -> Result<Accessible> {
    let role: u32 = ask(connection, place.at(), ACCESSIBLE, "GetRole", &()).await?;
    let bits: Vec<u32> = ask(connection, place.at(), ACCESSIBLE, "GetState", &()).await?;
    let attributes: BTreeMap<String, String> =
        ask(connection, place.at(), ACCESSIBLE, "GetAttributes", &()).await.unwrap_or_default();
    let mut inside = Vec::new();
    if depth < DEEPEST {
        for child in children(connection, place).await? {
            inside.push(Box::pin(read(connection, &child, depth + 1)).await?);
        }
    }
    Ok(Accessible {
        role: role_of(role),
        name: property(connection, place, "Name").await?,
        description: property(connection, place, "Description").await?,
        text: text(connection, place).await,
        states: states_of(&bits),
        attributes,
        children: inside,
    })
}

async fn children(connection: &Connection, place: &Place) -> Result<Vec<Place>> {
    let mut all: Vec<Place> = ask(connection, place.at(), ACCESSIBLE, "GetChildren", &()).await?;
    if all.is_empty() {
        // GTK reports objects of another process (WebKit's page) only to calls for single children.
        let value: OwnedValue =
            ask(connection, place.at(), PROPERTIES, "Get", &(ACCESSIBLE, "ChildCount")).await?;
        for index in 0..i32::try_from(value)? {
            all.push(ask(connection, place.at(), ACCESSIBLE, "GetChildAtIndex", &index).await?);
        }
    }
    // An object that is about to disappear has a null path.
    Ok(all.into_iter().filter(|child| !child.1.as_str().ends_with("/null")).collect())
}

/// The text of an object; empty if it has none.
async fn text(connection: &Connection, place: &Place) -> String {
    ask(connection, place.at(), "org.a11y.atspi.Text", "GetText", &(0_i32, -1_i32)).await.unwrap_or_default()
}

async fn property(connection: &Connection, place: &Place, name: &str) -> Result<String> {
    let value: OwnedValue = ask(connection, place.at(), PROPERTIES, "Get", &(ACCESSIBLE, name)).await?;
    Ok(String::try_from(value)?)
}

/// Records the announcements of live regions. WebKit reports them like any other new text, so the listener checks the
/// place of the text, as Orca does.
async fn listen(mut signals: MessageStream, connection: Connection, announcements: Arc<Mutex<Vec<String>>>) {
    while let Some(Ok(signal)) = signals.next().await {
        if let Some(words) = announcement(&connection, &signal).await {
            announcements.lock().unwrap_or_else(PoisonError::into_inner).push(words);
        }
    }
}

async fn announcement(connection: &Connection, signal: &Message) -> Option<String> {
    let header = signal.header();
    let place = Place(header.sender()?.to_string(), OwnedObjectPath::from(header.path()?.to_owned()));
    let body = signal.body();
    // The kind, two numbers, the child or the text, and a last field that differs between programs.
    let (kind, _, _, what) = body
        .deserialize::<(String, i32, i32, OwnedValue, std::collections::HashMap<String, OwnedValue>)>()
        .map(|(kind, one, two, what, _)| (kind, one, two, what))
        .or_else(|_| {
            body.deserialize::<(String, i32, i32, OwnedValue, Place)>()
                .map(|(kind, one, two, what, _)| (kind, one, two, what))
        })
        .ok()?;
    let words = match (header.member()?.as_str(), kind.as_str()) {
        ("Announcement", _) => return String::try_from(what).ok(),
        ("TextChanged", "insert") => String::try_from(what).ok()?,
        ("ChildrenChanged", "add") => {
            let (name, path): (String, OwnedObjectPath) = what.try_into().ok()?;
            let child = Place(name, path);
            let text = text(connection, &child).await;
            if text.is_empty() { property(connection, &child, "Name").await.ok()? } else { text }
        }
        _ => return None,
    };
    let attributes: BTreeMap<String, String> =
        ask(connection, place.at(), ACCESSIBLE, "GetAttributes", &()).await.ok()?;
    let live = attributes.get("container-live").or_else(|| attributes.get("live"))?;
    (live != "off" && !words.trim().is_empty()).then_some(words)
}

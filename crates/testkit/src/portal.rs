//! A simulated settings portal of the desktop: it reports whether the desktop is light or dark.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use anyhow::Result;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::{OwnedValue, Value};
use zbus::{Connection, connection, fdo, interface};

use crate::Desktop;

const NAME: &str = "org.freedesktop.portal.Desktop";
const PATH: &str = "/org/freedesktop/portal/desktop";
const NAMESPACE: &str = "org.freedesktop.appearance";
const KEY: &str = "color-scheme";

#[derive(Default)]
struct PortalState {
    scheme: AtomicU32,
    /// Whether it takes calls and answers none.
    hangs: AtomicBool,
    reads: AtomicU32,
}

struct Server(Arc<PortalState>);

#[interface(name = "org.freedesktop.portal.Settings")]
impl Server {
    async fn read(&self, namespace: String, key: String) -> fdo::Result<OwnedValue> {
        self.0.reads.fetch_add(1, Ordering::SeqCst);
        if self.0.hangs.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        if (namespace.as_str(), key.as_str()) != (NAMESPACE, KEY) {
            return Err(fdo::Error::Failed("no such setting".into()));
        }
        // Wrapped twice, as in the portal's `Read`.
        let scheme = Value::Value(Box::new(Value::U32(self.0.scheme.load(Ordering::SeqCst))));
        OwnedValue::try_from(scheme).map_err(|error| fdo::Error::Failed(error.to_string()))
    }

    #[zbus(signal)]
    async fn setting_changed(
        emitter: &SignalEmitter<'_>,
        namespace: &str,
        key: &str,
        value: Value<'_>,
    ) -> zbus::Result<()>;
}

/// The desktop's preferred colours, by the portal's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// No preference.
    NoPreference,
    /// Dark windows.
    Dark,
    /// Light windows.
    Light,
}

/// A settings portal. It leaves the bus some time after it is dropped.
pub struct SettingsPortal {
    connection: Connection,
    state: Arc<PortalState>,
}

impl SettingsPortal {
    /// Puts a portal on the desktop's bus.
    ///
    /// # Errors
    /// When the desktop has no bus, or has a portal already.
    pub async fn start(desktop: &Desktop, scheme: Scheme) -> Result<Self> {
        Self::begin(desktop, scheme, false).await
    }

    /// Puts a portal on the desktop's bus that answers no calls. It still signals changes.
    ///
    /// # Errors
    /// As [`SettingsPortal::start`].
    pub async fn start_hanging(desktop: &Desktop) -> Result<Self> {
        Self::begin(desktop, Scheme::NoPreference, true).await
    }

    async fn begin(desktop: &Desktop, scheme: Scheme, hangs: bool) -> Result<Self> {
        let state = Arc::new(PortalState {
            scheme: number(scheme).into(),
            hangs: hangs.into(),
            ..PortalState::default()
        });
        let connection = connection::Builder::address(desktop.bus()?)?
            .serve_at(PATH, Server(Arc::clone(&state)))?
            .name(NAME)?
            .build()
            .await?;
        Ok(Self { connection, state })
    }

    /// Changes the desktop's preferred colours.
    ///
    /// # Errors
    /// When the bus has ended.
    pub async fn prefer(&self, scheme: Scheme) -> Result<()> {
        self.state.scheme.store(number(scheme), Ordering::SeqCst);
        let emitter = SignalEmitter::new(&self.connection, PATH)?;
        Ok(Server::setting_changed(&emitter, NAMESPACE, KEY, Value::U32(number(scheme))).await?)
    }

    /// Leaves the bus, so that another portal can start.
    ///
    /// # Errors
    /// When the bus has ended.
    pub async fn leave(self) -> Result<()> {
        // A drop alone would leave at an unknown time.
        self.connection.release_name(NAME).await?;
        Ok(())
    }

    /// The number of `Read` calls so far.
    pub fn reads(&self) -> u32 {
        self.state.reads.load(Ordering::SeqCst)
    }
}

fn number(scheme: Scheme) -> u32 {
    match scheme {
        Scheme::NoPreference => 0,
        Scheme::Dark => 1,
        Scheme::Light => 2,
    }
}

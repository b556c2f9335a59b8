//! A simulated screen saver: it says whether the screen is locked.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use zbus::object_server::SignalEmitter;
use zbus::{Connection, connection, interface};

use crate::Desktop;

const PATH: &str = "/org/freedesktop/ScreenSaver";

struct Saver {
    locked: Arc<AtomicBool>,
}

#[interface(name = "org.freedesktop.ScreenSaver")]
impl Saver {
    async fn get_active(&self) -> bool {
        self.locked.load(Ordering::Acquire)
    }

    #[zbus(signal)]
    async fn active_changed(emitter: &SignalEmitter<'_>, active: bool) -> zbus::Result<()>;
}

/// A screen saver. It leaves the bus when it is dropped.
pub struct ScreenSaver {
    connection: Connection,
    locked: Arc<AtomicBool>,
}

impl ScreenSaver {
    /// Puts a screen saver on the desktop's bus.
    ///
    /// # Errors
    /// When the desktop has no bus.
    pub async fn start(desktop: &Desktop, locked: bool) -> Result<Self> {
        let locked = Arc::new(AtomicBool::new(locked));
        let connection = connection::Builder::address(desktop.bus()?)?
            .serve_at(PATH, Saver { locked: Arc::clone(&locked) })?
            .name("org.freedesktop.ScreenSaver")?
            .build()
            .await?;
        Ok(Self { connection, locked })
    }

    /// Locks or unlocks the screen.
    ///
    /// # Errors
    /// When the bus has ended.
    pub async fn lock(&self, on: bool) -> Result<()> {
        self.locked.store(on, Ordering::Release);
        let emitter = SignalEmitter::new(&self.connection, PATH)?;
        Ok(Saver::active_changed(&emitter, on).await?)
    }
}

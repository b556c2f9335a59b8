//! A program on the bus that is not what it says: it sends signals of other programs.

use anyhow::Result;
use serde::Serialize;
use zbus::zvariant::DynamicType;
use zbus::{Connection, connection};

use crate::Desktop;

/// A program that sends signals to another one alone. No match rule stops such a signal.
pub struct Stranger {
    connection: Connection,
    to: String,
}

impl Stranger {
    /// Puts it on the desktop's bus. `to`: the unique name of the other program.
    ///
    /// # Errors
    /// When the desktop has no bus.
    pub async fn to(desktop: &Desktop, to: &str) -> Result<Self> {
        let connection = connection::Builder::address(desktop.bus()?)?.build().await?;
        Ok(Self { connection, to: to.to_owned() })
    }

    /// Takes a name that no other program has.
    ///
    /// # Errors
    /// When another program has it.
    pub async fn owns(&self, name: &str) -> Result<()> {
        Ok(self.connection.request_name(name.to_owned()).await?)
    }

    /// Sends a signal. On return the bus has passed it on.
    ///
    /// # Errors
    /// When the bus has ended.
    pub async fn signal<B>(&self, path: &str, interface: &str, member: &str, body: &B) -> Result<()>
    where
        B: Serialize + DynamicType + Sync,
    {
        self.connection.emit_signal(Some(&*self.to), path, interface, member, body).await?;
        zbus::fdo::DBusProxy::new(&self.connection).await?.get_id().await?;
        Ok(())
    }
}

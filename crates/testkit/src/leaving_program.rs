//! A simulated program that is about to end: it owns a bus name, and gives it up at the first call.

use anyhow::Result;
use zbus::{Connection, connection, fdo};

use crate::Desktop;

/// The first instance of a program, while it ends.
pub struct LeavingProgram(Connection);

struct Leaving(String);

#[zbus::interface(name = "org.SingleInstance.DBus")]
impl Leaving {
    async fn execute_callback(
        &self,
        #[zbus(connection)] connection: &Connection,
        _argv: Vec<String>,
        _cwd: String,
    ) -> fdo::Result<()> {
        connection.release_name(self.0.as_str()).await?;
        Err(fdo::Error::Failed("it ends".to_owned()))
    }
}

impl LeavingProgram {
    /// Owns the bus name of programs with this id.
    ///
    /// # Errors
    /// When the desktop has no bus, or the name is taken.
    pub async fn start(desktop: &Desktop, id: &str) -> Result<Self> {
        let name = format!("{id}.SingleInstance");
        let path = format!("/{}", name.replace('.', "/"));
        let builder = connection::Builder::address(desktop.bus()?)?.name(name.clone())?;
        Ok(Self(builder.serve_at(path, Leaving(name))?.build().await?))
    }

    /// Whether it has given the name up.
    pub async fn has_left(&self, id: &str) -> bool {
        let name = format!("{id}.SingleInstance");
        let owner = self.0.call_method(
            Some("org.freedesktop.DBus"),
            "/org/freedesktop/DBus",
            Some("org.freedesktop.DBus"),
            "GetNameOwner",
            &name,
        );
        let own = self.0.unique_name().map(ToString::to_string);
        let owner = owner.await.ok().and_then(|answer| answer.body().deserialize::<String>().ok());
        owner != own
    }
}

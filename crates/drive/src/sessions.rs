//! An own session and its host, also one that has ended.

use watchbill_protocol::own::host::HostHello;
use watchbill_protocol::own::spec::OwnSpec;

use crate::client::{HostClient, HostError};
use crate::folder::{Folder, FolderError};

/// An own session.
#[derive(Debug)]
pub struct OwnSession {
    /// Its folder.
    pub folder: Folder,
    /// Its specification.
    pub spec: OwnSpec,
    /// Its host.
    pub host: FoundHost,
}

/// The host of a session, as it is now.
#[derive(Debug)]
pub enum FoundHost {
    /// It runs, and says this.
    Running(Box<HostHello>),
    /// It has ended, was killed, or was never started.
    Ended,
    /// It runs, but this program cannot talk to it.
    Unreachable(HostError),
}

/// The session of a folder.
///
/// # Errors
/// When what it runs cannot be read.
pub fn session(folder: Folder) -> Result<OwnSession, FolderError> {
    let spec = folder.spec()?;
    let host = match HostClient::connect(&folder) {
        Ok(client) => FoundHost::Running(Box::new(client.hello().clone())),
        Err(HostError::NotRunning) => FoundHost::Ended,
        Err(error) => FoundHost::Unreachable(error),
    };
    Ok(OwnSession { folder, spec, host })
}

//! All own sessions of a data folder, also those whose hosts have ended.

use std::path::Path;

use watchbill_protocol::own::event::{OwnEvent, OwnWhat};
use watchbill_protocol::own::host::HostHello;
use watchbill_protocol::own::spec::OwnSpec;

use crate::client::{HostClient, HostError};
use crate::folder::{Folder, FolderError};
use crate::log::{Direction, LogReader};
use crate::replay::numbered;

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
    /// It has ended. The last event says how; without one it was killed, or the machine stopped.
    Ended(Option<Box<OwnEvent>>),
    /// It runs, but this program cannot talk to it.
    Unreachable(HostError),
}

/// All own sessions of a data folder, in no order. Folders that cannot be read come with the reason.
pub fn sessions(data_dir: &Path) -> Vec<Result<OwnSession, FolderError>> {
    Folder::all(data_dir).into_iter().map(session).collect()
}

/// One of them.
///
/// # Errors
/// When what it runs cannot be read.
pub fn session(folder: Folder) -> Result<OwnSession, FolderError> {
    let spec = folder.spec()?;
    let host = match HostClient::connect(&folder) {
        Ok(client) => FoundHost::Running(Box::new(client.hello().clone())),
        Err(HostError::NotRunning) => FoundHost::Ended(last_event(&folder).map(Box::new)),
        Err(error) => FoundHost::Unreachable(error),
    };
    Ok(OwnSession { folder, spec, host })
}

/// The end that the log tells last.
fn last_event(folder: &Folder) -> Option<OwnEvent> {
    let mut log = LogReader::open(&folder.log()).ok()?;
    let mut end = None;
    while let Ok(Some(record)) = log.next(|direction| direction == Direction::Event) {
        match serde_json::from_slice(&record.bytes) {
            Ok(what @ OwnWhat::SessionEnded { .. }) if record.direction == Direction::Event => {
                end = numbered(record.n, record.at, vec![what]).pop();
            }
            // It went on.
            Ok(OwnWhat::Started { .. }) if record.direction == Direction::Event => end = None,
            _ => {}
        }
    }
    end
}

//! The engine's socket of a data folder, as hosts need it: which process listens there, and how it learns of refused programs.

use std::io;
use std::path::Path;
use std::time::Duration;

use watchbill_platform::socket::{Address, Stream, halves, peer};
use watchbill_protocol::socket::{Request, SocketCall};

use super::caller;

/// The longest wait for the engine. It only notes the refusal.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The longest line that it says to a host: its greeting has the settings.
const LONGEST: u64 = 1 << 20;

/// The engine's socket of a data folder. It need not exist.
pub fn address_of(data_dir: &Path) -> Address {
    Address::at(&data_dir.join("run").join("engine.sock"))
}

/// Whether the caller is the engine of this data folder: the program that listens at its socket.
pub fn is_engine(stream: &Stream, data_dir: &Path) -> bool {
    let engine = address_of(data_dir).connect().ok().and_then(|engine| peer(&engine));
    engine.is_some() && peer(stream) == engine
}

/// Whether the caller is the engine of this data folder, or the window of its installation.
pub fn is_engine_or_window(stream: &Stream, data_dir: &Path) -> bool {
    let Some(engine) = address_of(data_dir).connect().ok().and_then(|engine| peer(&engine)) else {
        return false;
    };
    peer(stream).is_some_and(|pid| pid == engine || caller::is_window_of(pid, engine))
}

/// Tells the engine that a host has refused a program. `session`: the own session.
///
/// # Errors
/// When no engine listens, or it does not answer.
pub fn tell_refused(data_dir: &Path, session: &str, what: &str, why: &str) -> io::Result<()> {
    let (mut reader, writer) = halves(address_of(data_dir).connect()?);
    reader.wait_at_most(Some(TIMEOUT))?;
    reader.line(LONGEST)?;
    let (session, what, why) = (session.to_owned(), what.to_owned(), why.to_owned());
    writer
        .send(&SocketCall { id: "refused".to_owned(), request: Request::Refused { session, what, why } })?;
    reader.line(LONGEST).map(drop)
}

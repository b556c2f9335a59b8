//! The engine's socket of a data folder, as hosts need it: which process listens there, and how it learns of refused programs.

use std::io;
use std::path::Path;
use std::time::Duration;

use watchbill_platform::process;
use watchbill_platform::socket::{Address, Stream, halves, peer};
use watchbill_protocol::api::ApiRequest;
use watchbill_protocol::socket::SocketCall;

use super::caller;

/// The longest wait for the engine. It only notes the refusal.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The longest line that it says to a host: its greeting has the settings.
const LONGEST: u64 = 1 << 20;

/// The file in the data folder that the writer of the store keeps locked.
const LOCK: &str = "writer.lock";

/// The engine's socket of a data folder. It need not exist.
pub fn address_of(data_dir: &Path) -> Address {
    Address::at(&data_dir.join("run").join("engine.sock"))
}

/// The process at the other end of a connection to that socket, if it holds the lock of the data folder. Every program of the
/// user can take the place of the socket, but none gets the lock while its holder runs.
pub fn holder(stream: &Stream, data_dir: &Path) -> Option<u32> {
    peer(stream).filter(|pid| process::holds_lock(*pid, &data_dir.join(LOCK)))
}

fn process_of(data_dir: &Path) -> Option<u32> {
    holder(&address_of(data_dir).connect().ok()?, data_dir)
}

/// Whether an engine of this data folder listens.
pub fn has_engine(data_dir: &Path) -> bool {
    process_of(data_dir).is_some()
}

/// Whether the caller is the engine of this data folder: the holder of its lock, which listens at its socket.
pub fn is_engine(stream: &Stream, data_dir: &Path) -> bool {
    let engine = process_of(data_dir);
    engine.is_some() && peer(stream) == engine
}

/// Whether the caller is the engine of this data folder, or the window of its installation.
pub fn is_engine_or_window(stream: &Stream, data_dir: &Path) -> bool {
    let (Some(engine), Some(pid)) = (process_of(data_dir), peer(stream)) else { return false };
    pid == engine || caller::is_window_of(pid, engine)
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
    writer.send(&SocketCall {
        id: "refused".to_owned(),
        request: ApiRequest::Refused { session, what, why },
    })?;
    reader.line(LONGEST).map(drop)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::File;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn only_the_process_that_holds_the_lock_is_the_engine() {
        let data = tempfile::tempdir().unwrap();
        let _listener = address_of(data.path()).listen().unwrap();
        let found = || process_of(data.path());
        assert_eq!(found(), None, "there is no lock");
        let path = data.path().join(LOCK);
        let lock = File::create(&path).unwrap();
        assert_eq!(found(), None, "it is open, and not locked");
        lock.try_lock_shared().unwrap();
        assert_eq!(found(), None, "another process may share it");
        drop(lock);
        let other = "exec 9>\"$1\"; flock 9; echo locked; read -r _";
        let mut other = Command::new("sh")
            .args(["-c", other, "sh"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        io::Read::read_exact(other.stdout.as_mut().unwrap(), &mut [0; 6]).unwrap();
        let here = File::options().write(true).open(&path).unwrap();
        assert!(here.try_lock().is_err());
        assert_eq!(found(), None, "another process holds it");
        drop(other.stdin.take());
        other.wait().unwrap();
        here.try_lock().unwrap();
        assert_eq!(found(), Some(std::process::id()));
        std::fs::remove_file(&path).unwrap();
        let _new = File::create(&path).unwrap();
        assert_eq!(found(), None, "the lock is of a file that is gone");
    }
}

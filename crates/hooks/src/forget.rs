//! Forgetting: removes the events of sessions from the journal and the spool, also while receivers run.
//!
//! An event's bytes in the journal are overwritten in place with blanks. The journal's writer only appends, and
//! readers skip bytes that are no event. So neither has to stop, and no other event moves.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use watchbill_agents::excluded::is_named_in;

use watchbill_agents::hooks::parse_payload;
use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;

use crate::envelope::{Decoded, decode, next_begin};
use crate::places::HookPaths;
use watchbill_platform::files::{is_private, open_ordinary, read_ordinary};

/// An id of at least this length does not occur by chance, so an event that only names it goes too.
const UNIQUE_ID_LENGTH: usize = 16;

/// Removes every event of these sessions, and every event that names one of them. Returns their number. A receiver
/// that knows of the forgotten sessions keeps no later ones, see [`crate::ReceiverSetup::forgotten`].
///
/// # Errors
/// When a file exists and cannot be read or written. The events removed before that stay removed.
pub fn forget(places: &HookPaths, sessions: &[SessionId]) -> io::Result<u64> {
    remove(places, &|bytes| names(bytes, sessions))
}

/// Removes every event that names an excluded path, or that [`forget`] would remove. Returns their number.
///
/// # Errors
/// As for [`forget`].
pub fn remove_excluded(places: &HookPaths, exclude: &Exclude, sessions: &[SessionId]) -> io::Result<u64> {
    remove(places, &|bytes| names(bytes, sessions) || is_named_in(exclude, &String::from_utf8_lossy(bytes)))
}

/// Whether to remove an event, by its payload or the part that is left.
type RemovalTest<'m> = &'m dyn Fn(&[u8]) -> bool;

fn remove(places: &HookPaths, is_meant: RemovalTest<'_>) -> io::Result<u64> {
    let mut gone = 0;
    // A receiver may move an event from the spool to the journal during the first pass.
    for _ in 0..2 {
        for folder in places.spools() {
            gone += from_spool(&folder, is_meant)?;
        }
        for journal in [places.old_journal(), places.journal()] {
            gone += from_journal(&journal, is_meant)?;
        }
    }
    Ok(gone)
}

fn from_spool(folder: &Path, is_meant: RemovalTest<'_>) -> io::Result<u64> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut gone = 0;
    if !is_private(folder) {
        return Ok(gone);
    }
    for entry in entries {
        let path = entry?.path();
        let bytes = match read_ordinary(&path) {
            Ok(bytes) => bytes,
            // A receiver has taken it meanwhile, or it is no ordinary file and never held an event.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {
                continue;
            }
            Err(error) => return Err(error),
        };
        let goes = match decode(&bytes) {
            Decoded::Whole { payload, .. } => is_meant(&bytes[payload]),
            // A damaged or incomplete event may still hold the user's text.
            _ => is_meant(&bytes),
        };
        if goes {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => gone += 1,
            }
        }
    }
    Ok(gone)
}

fn from_journal(path: &Path, is_meant: RemovalTest<'_>) -> io::Result<u64> {
    let mut file = match open_ordinary(OpenOptions::new().read(true).write(true), path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidInput) => {
            return Ok(0);
        }
        Err(error) => return Err(error),
    };
    let written = file.metadata()?.modified()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let (mut at, mut gone) = (0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        at += match decode(rest) {
            Decoded::Whole { payload, used, .. } => {
                if is_meant(&rest[payload]) {
                    blank(&mut file, at, used)?;
                    gone += 1;
                }
                used
            }
            // A writer is appending an event now, or was killed.
            Decoded::Incomplete => break,
            Decoded::Malformed => {
                let damaged = next_begin(rest).unwrap_or(rest.len());
                if is_meant(&rest[..damaged]) {
                    blank(&mut file, at, damaged)?;
                    gone += 1;
                }
                damaged
            }
        };
    }
    if gone > 0 {
        // The file's age decides when it is removed, so its time must not change.
        file.set_modified(written)?;
        file.sync_data()?;
    }
    Ok(gone)
}

/// Overwrites with blanks and a line end. The next event is found after the line end.
fn blank(file: &mut File, at: usize, length: usize) -> io::Result<()> {
    let mut blanks = vec![b' '; length];
    if let Some(last) = blanks.last_mut() {
        *last = b'\n';
    }
    file.seek(SeekFrom::Start(at as u64))?;
    file.write_all(&blanks)
}

fn names(bytes: &[u8], sessions: &[SessionId]) -> bool {
    let of = parse_payload(bytes).ok().map(|payload| payload.session);
    sessions.iter().any(|session| {
        let id = session.as_str().as_bytes();
        of.as_ref() == Some(session)
            || (id.len() >= UNIQUE_ID_LENGTH && bytes.windows(id.len()).any(|piece| piece == id))
    })
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::envelope::Envelope;
    use crate::journal::{Journal, JournalReader};
    use crate::spool;
    use watchbill_platform::clock;
    use watchbill_platform::files::private_dir;

    fn event(id: u128, session: &str) -> (Envelope, Vec<u8>) {
        let envelope = Envelope::new(id, clock::wall(), 1);
        let payload = format!(
            r#"{{"session_id":"{session}","hook_event_name":"UserPromptSubmit","prompt":"words of {session}"}}"#
        );
        let frame = envelope.encode(payload.as_bytes());
        (envelope, frame)
    }

    fn ids_in(reader: &mut JournalReader, places: &HookPaths) -> Vec<u128> {
        let mut ids = Vec::new();
        reader.read(places, &mut |envelope, _| ids.push(envelope.id)).expect("it can be read");
        ids
    }

    #[test]
    fn events_of_a_forgotten_session_leave_the_journal_and_the_spool_under_a_running_writer() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        private_dir(places.root()).expect("a folder");
        std::fs::write(places.old_journal(), event(1, "gone").1).expect("written");
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        for (id, session) in [(2, "stays"), (3, "gone"), (4, "stays"), (5, "gone")] {
            journal.append(&event(id, session).1).expect("written");
        }
        for (id, session) in [(6, "gone"), (7, "stays")] {
            let (envelope, frame) = event(id, session);
            spool::write(&places.spool(), &envelope, &frame).expect("written");
        }
        let old = OpenOptions::new().append(true).open(places.old_journal()).expect("it opens");
        let written = SystemTime::now() - Duration::from_secs(20 * 3600);
        old.set_modified(written).expect("its time can be set");
        let mut early = JournalReader::default();
        assert_eq!(ids_in(&mut early, &places), [1, 2, 3, 4, 5]);

        assert_eq!(forget(&places, &[SessionId::new("gone")]).expect("forgotten"), 4);
        assert_eq!(ids_in(&mut JournalReader::default(), &places), [2, 4]);
        let spooled = spool::list(&places.spool()).expect("it can be read");
        assert_eq!(spooled.iter().map(|file| file.id).collect::<Vec<_>>(), [7]);
        for path in [places.journal(), places.old_journal()] {
            let bytes = std::fs::read(path).expect("it can be read");
            assert!(!bytes.windows(4).any(|piece| piece == b"gone"));
        }

        let times = old.metadata().and_then(|found| found.modified()).expect("it has a time");
        assert_eq!(times, written, "by it what is too old is found");

        journal.append(&event(8, "stays").1).expect("written");
        assert_eq!(ids_in(&mut early, &places), [8], "who reads on misses nothing");
        drop(journal);
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        journal.append(&event(9, "stays").1).expect("written");
        assert_eq!(ids_in(&mut JournalReader::default(), &places), [2, 4, 8, 9]);
        assert_eq!(forget(&places, &[SessionId::new("gone")]).expect("forgotten"), 0);
    }

    #[test]
    fn events_that_name_an_excluded_path_leave_the_journal_and_the_spool() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        private_dir(places.root()).expect("a folder");
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        let in_folder = |id: u128, cwd: &str| {
            let envelope = Envelope::new(id, clock::wall(), 1);
            let payload = format!(r#"{{"session_id":"s{id}","hook_event_name":"Stop","cwd":"{cwd}"}}"#);
            let frame = envelope.encode(payload.as_bytes());
            (envelope, frame)
        };
        journal.append(&in_folder(1, "/home/dev/secret").1).expect("written");
        journal.append(&in_folder(2, "/home/dev/open").1).expect("written");
        journal.append(&in_folder(3, "/home/dev/open").1).expect("written");
        let (envelope, frame) = in_folder(4, "/home/dev/secret/app");
        spool::write(&places.spool(), &envelope, &frame).expect("written");
        let exclude = Exclude::new(["/home/dev/secret".to_owned()]);
        // Every event of a session that has worked there.
        assert_eq!(remove_excluded(&places, &exclude, &[SessionId::new("s3")]).expect("removed"), 3);
        assert_eq!(ids_in(&mut JournalReader::default(), &places), [2]);
        assert_eq!(spool::list(&places.spool()).expect("it can be read"), []);
    }

    #[test]
    fn a_journal_that_ends_with_a_forgotten_event_can_be_appended_to() {
        let dir = tempfile::tempdir().expect("a folder");
        let places = HookPaths::without_spares(dir.path());
        private_dir(places.root()).expect("a folder");
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        journal.append(&event(1, "stays").1).expect("written");
        journal.append(&event(2, "0a0a0a0a-0000-4000-8000-000000000001").1).expect("written");
        drop(journal);
        let gone = SessionId::new("0a0a0a0a-0000-4000-8000-000000000001");
        assert_eq!(forget(&places, &[gone]).expect("forgotten"), 1);
        let mut journal = Journal::claim(&places).expect("it opens").expect("it is ours");
        journal.append(&event(3, "stays").1).expect("written");
        assert_eq!(ids_in(&mut JournalReader::default(), &places), [1, 3]);
    }
}

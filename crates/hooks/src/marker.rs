//! The compaction marker of the source document. The sender writes it into a project's folder only if the hook's
//! command line has `--markers`.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use watchbill_core::time::Timestamp;

use watchbill_platform::files::check_size_limit;

/// The longest session id that becomes part of a file name.
const ID_LIMIT: usize = 128;

/// The fields of a payload that are used here.
#[derive(Deserialize)]
struct Payload {
    hook_event_name: String,
    source: Option<String>,
    session_id: String,
    cwd: PathBuf,
}

/// Writes `<cwd>/.claude/compacted.<session>.marker` if the payload reports the session start after a compaction.
/// Returns the path, or `None` for any other payload.
///
/// The fields are the source document's: `newSessionId`, `cwd`, `compactedAt`. The file appears complete, because
/// other programs read it.
///
/// # Errors
/// When the file cannot be written.
pub fn write(payload: &[u8], at: Timestamp) -> io::Result<Option<PathBuf>> {
    let Ok(payload) = serde_json::from_slice::<Payload>(payload) else { return Ok(None) };
    let compaction =
        payload.hook_event_name == "SessionStart" && payload.source.as_deref() == Some("compact");
    if !compaction || !is_name(&payload.session_id) || !payload.cwd.is_absolute() || !payload.cwd.is_dir() {
        return Ok(None);
    }
    let folder = payload.cwd.join(".claude");
    fs::create_dir_all(&folder)?;
    let text = serde_json::json!({
        "newSessionId": payload.session_id,
        "cwd": payload.cwd,
        "compactedAt": at.to_string(),
    });
    let name = format!("compacted.{}.marker", payload.session_id);
    let path = folder.join(&name);
    put(&folder.join(format!(".{name}.{}", std::process::id())), &path, format!("{text}\n").as_bytes())?;
    Ok(Some(path))
}

fn put(unfinished: &Path, path: &Path, text: &[u8]) -> io::Result<()> {
    check_size_limit(text.len() as u64)?;
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(unfinished)
        .and_then(|mut file| file.write_all(text))
        .and_then(|()| fs::rename(unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(unfinished);
    }
    written
}

/// Whether a file name with this id stays in its folder.
fn is_name(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !id.is_empty() && id.len() <= ID_LIMIT && id.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(event: &str, source: &str, id: &str, cwd: &Path) -> Vec<u8> {
        serde_json::json!({"hook_event_name": event, "source": source, "session_id": id, "cwd": cwd})
            .to_string()
            .into_bytes()
    }

    #[test]
    fn a_compaction_leaves_the_documents_marker() {
        let project = tempfile::tempdir().expect("a folder");
        let at = Timestamp::from_millis(1_768_154_400_000);
        let payload = payload("SessionStart", "compact", "abc-123", project.path());
        let path = write(&payload, at).expect("it can be written").expect("it is one");
        assert_eq!(path, project.path().join(".claude/compacted.abc-123.marker"));
        let text = fs::read(&path).expect("it is there");
        let marker =
            watchbill_core::chain::parse_marker(&text, "compacted.abc-123.marker").expect("it is valid");
        assert_eq!(marker.compacted_at, at);
        assert_eq!(fs::read_dir(project.path().join(".claude")).expect("a folder").count(), 1);
    }

    #[test]
    fn other_events_leave_no_marker_and_no_id_leads_out_of_the_folder() {
        let project = tempfile::tempdir().expect("a folder");
        for payload in [
            payload("SessionStart", "startup", "abc", project.path()),
            payload("PreCompact", "compact", "abc", project.path()),
            payload("SessionStart", "compact", "../../etc/passwd", project.path()),
            payload("SessionStart", "compact", "", project.path()),
            payload("SessionStart", "compact", "abc", Path::new("somewhere")),
            payload("SessionStart", "compact", "abc", &project.path().join("gone")),
            b"{".to_vec(),
        ] {
            assert_eq!(write(&payload, Timestamp::from_millis(0)).expect("nothing to write"), None);
        }
        assert_eq!(fs::read_dir(project.path()).expect("a folder").count(), 0);
    }
}

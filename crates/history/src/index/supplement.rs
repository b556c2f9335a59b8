//! Own sessions whose agents were ended before they wrote what they had said. A file beside the transcript has those records. If the
//! transcript brings one later, it leaves that file.

use std::fs;
use std::path::Path;

use serde_json::Value;
use watchbill_agents::supplement::{COMPARED, still_missing};
use watchbill_core::ids::SessionId;
use watchbill_store::{StoreError, WriteTransaction};
use watchbill_watch::fs::Fs;
use watchbill_watch::tail::read_end;

use super::over_http::{self, replace};

/// Takes the records that the transcript has by now out of the file beside it. `path`: one of the two, which is about to be read.
pub fn trim(
    fs: &dyn Fs,
    step: &mut WriteTransaction<'_>,
    session: &SessionId,
    path: &Path,
) -> Result<(), StoreError> {
    for (key, other, size) in step.other_transcripts(session, &path.to_string_lossy())? {
        let other = Path::new(&other);
        // What a program reported is in the agent's transcript.
        if over_http::is_one(step, other) {
            step.remove_file(key)?;
            let _ = fs::remove_file(other);
        } else if over_http::is_one(step, path) {
            let _ = fs::remove_file(path);
        } else if is_supplement(path) {
            drop_known(fs, path, other);
        } else if is_supplement(other) {
            drop_known(fs, other, path);
            // A reader of the timeline may have done it before.
            if fs.stat(other).is_ok_and(|stat| stat.len < size) {
                step.reset_file(key)?;
            }
        }
    }
    Ok(())
}

/// `own/projects/ID/SESSION.jsonl`, beside `own/ID/spec.json`.
fn is_supplement(path: &Path) -> bool {
    let (folder, all) = (path.parent().and_then(Path::file_name), path.ancestors().nth(3));
    folder.zip(all).is_some_and(|(folder, all)| all.join(folder).join("spec.json").is_file())
}

/// Takes the records out of the file that the transcript has.
pub fn drop_known(fs: &dyn Fs, supplement: &Path, transcript: &Path) {
    let Ok(text) = fs::read_to_string(supplement) else { return };
    let Ok((_, end)) = read_end(fs, transcript, COMPARED) else { return };
    let records: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let before = records.len();
    let left = still_missing(records, &end);
    if left.len() == before {
        return;
    }
    let left: String = left.iter().map(|record| format!("{record}\n")).collect();
    if let Err(error) = replace(supplement, text.len() as u64, left.as_bytes()) {
        tracing::warn!(%error, file = %supplement.display(), "what the transcript has by now is shown twice");
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a file that cannot be written is a failure")]

    use super::*;

    #[test]
    fn a_file_that_grew_meanwhile_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        for (length, left) in [(3, "all"), (4, "less"), (5, "all")] {
            fs::write(&path, "all\n").unwrap();
            replace(&path, length, b"less\n").unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), format!("{left}\n"));
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}

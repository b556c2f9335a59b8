//! Copies recordings of the real clients into `tests/fixtures`, in the shape the tests read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::tree::Tree;

/// Refreshes `recordings/<scenario>.ndjson` from `<from>/<scenario>/recording.ndjson` and `record-types/` from
/// `<from>/transcript-record-types/`. Fixtures that have no source there stay as they are.
pub fn refresh(tree: &Tree, from: &Path) -> Result<()> {
    let fixtures = tree.path("tests/fixtures");
    let mut copied = 0;
    let listing = fs::read_dir(from).with_context(|| format!("could not read {}", from.display()))?;
    for entry in listing {
        let entry = entry?;
        let recording = entry.path().join("recording.ndjson");
        if recording.is_file() {
            let name = format!("{}.ndjson", entry.file_name().to_string_lossy());
            copied += copy(&recording, &fixtures.join("recordings").join(name))?;
        }
    }
    let types = from.join("transcript-record-types");
    if types.is_dir() {
        for entry in fs::read_dir(&types)? {
            let entry = entry?;
            if entry.path().extension().is_some_and(|extension| extension == "json") {
                copied += copy(&entry.path(), &fixtures.join("record-types").join(entry.file_name()))?;
            }
        }
    }
    if copied == 0 {
        bail!("{} holds no recordings: expected <scenario>/recording.ndjson in it", from.display());
    }
    println!("{copied} fixtures refreshed under {}", fixtures.display());
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<u32> {
    let bytes = fs::read(from).with_context(|| format!("could not read {}", from.display()))?;
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    // Written anew rather than copied, so that the source's permissions (often read-only) do not come along.
    fs::write(to, bytes).with_context(|| format!("could not write {}", to.display()))?;
    Ok(1)
}

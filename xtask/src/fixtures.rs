//! Copies recordings of the real clients into `tests/fixtures`, in the layout that the tests read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::tree::Tree;

/// Refreshes `recordings/<scenario>.ndjson` from `<from>/<scenario>/recording.ndjson`, `record-types/` from
/// `<from>/transcript-record-types/`, and `hook-payloads/` from `<from>/hook-payloads/`. Fixtures without a source
/// there stay unchanged.
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
    for (folder, to) in [("transcript-record-types", "record-types"), ("hook-payloads", "hook-payloads")] {
        let folder = from.join(folder);
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.path().extension().is_some_and(|extension| extension == "json") {
                copied += copy(&entry.path(), &fixtures.join(to).join(entry.file_name()))?;
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
    // Written anew rather than copied, so that the source's permissions (often read-only) are not copied.
    fs::write(to, without_machine_ids(bytes)).with_context(|| format!("could not write {}", to.display()))?;
    Ok(1)
}

/// Masks the `pidDomain` of a registry file: it names the machine of the recording, and no test needs it.
fn without_machine_ids(mut bytes: Vec<u8>) -> Vec<u8> {
    const BEFORE: &[u8] = b"linux:";
    const AFTER: &[u8] = b":pid:";
    const MASK: &[u8; 32] = b"0123456789abcdef0123456789abcdef";
    for at in 0..bytes.len().saturating_sub(BEFORE.len() + MASK.len() + AFTER.len()) {
        let id = at + BEFORE.len()..at + BEFORE.len() + MASK.len();
        if bytes[at..].starts_with(BEFORE)
            && bytes[id.end..].starts_with(AFTER)
            && bytes[id.clone()].iter().all(u8::is_ascii_hexdigit)
        {
            bytes[id].copy_from_slice(MASK);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::without_machine_ids;

    #[test]
    fn fixtures_do_not_contain_the_id_of_their_machine() {
        let text = br#"{"pidDomain":"linux:fedcba98765432100123456789abcdef:pid:[4026531836]","x":"linux:short:pid:"}"#;
        let masked = String::from_utf8(without_machine_ids(text.to_vec())).unwrap();
        assert!(masked.contains("linux:0123456789abcdef0123456789abcdef:pid:[4026531836]"), "{masked}");
        assert!(masked.ends_with(r#""x":"linux:short:pid:"}"#));
    }
}

//! Copies recordings of the real clients into `tests/fixtures`, in the layout that the tests read.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::tree::Tree;

/// Recordings of which only the talk over the pipes is a fixture: `own/<name>.ndjson`.
const TALKS: [&str; 7] = [
    "own-stream-life",
    "own-stream-queue-interrupt",
    "own-stream-permissions",
    "own-stream-parallel-elicit",
    "own-errors",
    "own-codex-app-server",
    "own-gemini-acp",
];

/// Refreshes `recordings/<scenario>.ndjson` from `<from>/<scenario>/recording.ndjson`, `record-types/` from
/// `<from>/transcript-record-types/`, and `hook-payloads/` from `<from>/hook-payloads/`. Of the recordings `own-…` it keeps the
/// lines over the pipes, as `own/<name>.ndjson`. Below `codex/` are recordings and rollouts of Codex, and in folders of other agents
/// those of them. Fixtures without a source there stay unchanged.
pub fn refresh(tree: &Tree, from: &Path) -> Result<()> {
    let fixtures = tree.path("tests/fixtures");
    let mut copied = 0;
    let listing = fs::read_dir(from).with_context(|| format!("could not read {}", from.display()))?;
    for entry in listing {
        let entry = entry?;
        let recording = entry.path().join("recording.ndjson");
        let name = entry.file_name().to_string_lossy().into_owned();
        match name.strip_prefix("own-") {
            _ if !recording.is_file() => {}
            None => copied += copy(&recording, &fixtures.join(format!("recordings/{name}.ndjson")))?,
            Some(talk) if TALKS.contains(&&*name) => {
                copied += copy_talk(&recording, &fixtures.join(format!("own/{talk}.ndjson")))?;
            }
            Some(_) => {}
        }
    }
    copied += refresh_rollouts(&from.join("codex"), &fixtures.join("codex"))?;
    copied += refresh_rollouts(&from.join("pi"), &fixtures.join("pi"))?;
    copied += refresh_part(&from.join("opencode"), &fixtures.join("opencode/recordings"), is_row)?;
    for agent in ["kimi", "grok", "droid", "qwen"] {
        copied += refresh_part(&from.join(agent), &fixtures.join(agent).join("recordings"), is_session)?;
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

/// Refreshes `recordings/` and `rollouts/` of one agent.
fn refresh_rollouts(from: &Path, to: &Path) -> Result<u32> {
    let mut copied = 0;
    if !from.is_dir() {
        return Ok(0);
    }
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let recording = path.join("recording.ndjson");
        if recording.is_file() {
            // The agent's word for its first subagent looks like a path of this machine.
            let text = String::from_utf8_lossy(&read(&recording)?).replace(concat!("/ro", "ot/"), "/main/");
            copied += write(text.into_bytes(), &to.join(format!("recordings/{name}.ndjson")))?;
        } else if name.starts_with("rollout-") {
            copied += copy(&path, &to.join("rollouts").join(name))?;
        }
    }
    Ok(copied)
}

/// Of an agent that writes a database, its rows and its events are kept.
fn is_row(operation: &Value) -> bool {
    match operation["op"].as_str() {
        Some("row") => matches!(operation["table"].as_str(), Some("session" | "message" | "part")),
        Some("hook") => {
            let event = operation["payload"]["type"].as_str().unwrap_or_default();
            let kept = ["permission.", "question.", "session."].iter().any(|begin| event.starts_with(begin));
            kept || operation["arg"] != "event"
        }
        _ => false,
    }
}

/// Of an agent of files, the files of sessions are kept, and the hooks of Claude Code that it runs.
fn is_session(operation: &Value) -> bool {
    if operation["arg"].as_str().is_some_and(|arg| arg.starts_with("CLAUDE")) {
        return true;
    }
    let path = Path::new(operation["path"].as_str().unwrap_or_default());
    let is_history = || path.to_string_lossy().ends_with("_history.jsonl");
    let mut folders = path.iter();
    folders.any(|name| name == "sessions" || name == "projects")
        && path.extension().is_some_and(|extension| extension == "jsonl")
        && !is_history()
}

/// Refreshes a part of recordings, and the marks.
fn refresh_part(from: &Path, to: &Path, is_part: fn(&Value) -> bool) -> Result<u32> {
    let is_kept = |line: &&str| {
        let operation = serde_json::from_str::<Value>(line);
        operation.is_ok_and(|operation| operation["op"] == "mark" || is_part(&operation))
    };
    let mut copied = 0;
    if !from.is_dir() {
        return Ok(0);
    }
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&read(&path.join("recording.ndjson"))?).into_owned();
        let kept: String = text.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect();
        copied += write(kept.into_bytes(), &to.join(format!("{name}.ndjson")))?;
    }
    Ok(copied)
}

fn copy(from: &Path, to: &Path) -> Result<u32> {
    write(read(from)?, to)
}

fn copy_talk(from: &Path, to: &Path) -> Result<u32> {
    write(talk(&String::from_utf8_lossy(&read(from)?)).into_bytes(), to)
}

/// The lines over the pipes, and the marks that say when a process began.
fn talk(recording: &str) -> String {
    let is_kept = |line: &&str| {
        let Ok(operation) = serde_json::from_str::<serde_json::Value>(line) else { return false };
        match operation["op"].as_str() {
            Some("in" | "out") => true,
            Some("mark") => operation["text"].as_str().is_some_and(|text| text.starts_with("spawn ")),
            _ => false,
        }
    };
    recording.lines().filter(is_kept).flat_map(|line| [line, "\n"]).collect()
}

fn read(from: &Path) -> Result<Vec<u8>> {
    fs::read(from).with_context(|| format!("could not read {}", from.display()))
}

fn write(bytes: Vec<u8>, to: &Path) -> Result<u32> {
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
    use super::{talk, without_machine_ids};

    #[test]
    fn a_talk_is_the_lines_over_the_pipes_and_the_starts() {
        let recording = r#"{"t":0,"op":"mark","text":"spawn claude -p"}
{"t":1,"op":"in","line":"{}"}
{"t":2,"op":"append","path":"x","text":"y"}
{"t":3,"op":"mark","text":"result"}
torn"#;
        let kept = talk(recording);
        assert_eq!(kept.lines().map(|line| &line[1..6]).collect::<Vec<_>>(), ["\"t\":0", "\"t\":1"]);
    }

    #[test]
    fn fixtures_do_not_contain_the_id_of_their_machine() {
        let text = br#"{"pidDomain":"linux:fedcba98765432100123456789abcdef:pid:[4026531836]","x":"linux:short:pid:"}"#;
        let masked = String::from_utf8(without_machine_ids(text.to_vec())).unwrap();
        assert!(masked.contains("linux:0123456789abcdef0123456789abcdef:pid:[4026531836]"), "{masked}");
        assert!(masked.ends_with(r#""x":"linux:short:pid:"}"#));
    }
}

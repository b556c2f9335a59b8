//! Transcripts of real agents, from the fixtures of the repository.

#![allow(clippy::disallowed_methods, reason = "the core reads no files, its tests do")]
#![allow(clippy::unwrap_used, reason = "a broken fixture should fail loudly")]

use std::path::{Path, PathBuf};

use serde_json::Value;

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// A transcript as a recording left it.
pub struct Transcript {
    /// The recording and the file's path below the agent's folder.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// All transcripts of all recordings.
pub fn transcripts() -> Vec<Transcript> {
    let mut all: Vec<Transcript> = Vec::new();
    for file in files("recordings") {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let op: Value = serde_json::from_str(line).unwrap();
            let path = op["path"].as_str().unwrap_or("");
            if op["op"] != "append" || !path.starts_with("projects/") || !path.ends_with(".jsonl") {
                continue;
            }
            let name = format!("{}/{path}", stem(&file));
            let text = op["text"].as_str().unwrap();
            match all.iter_mut().find(|t| t.name == name) {
                Some(transcript) => transcript.text.push_str(text),
                None => all.push(Transcript { name, text: text.to_owned() }),
            }
        }
    }
    all
}

/// One genuine line per record type, by name.
pub fn record_types() -> Vec<(String, String)> {
    files("record-types")
        .into_iter()
        .map(|file| {
            let value: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            (stem(&file), value["record"].to_string())
        })
        .collect()
}

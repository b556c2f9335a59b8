//! Small client folders for tests: recordings of the real client, or handwritten records.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use watchbill_engine::Timestamp;
use watchbill_engine::demo::replay::{Operation, Recording};

/// The current time.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap())
}

/// A recording from the fixtures.
pub fn recording(name: &str) -> Recording {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings").join(name);
    Recording::parse(&std::fs::read_to_string(path.with_extension("ndjson")).unwrap()).unwrap()
}

/// Appends to a file below `root`, and makes its folders.
pub fn append(root: &Path, path: &Path, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Carries an operation out on real files. It skips registry files, because their processes do not run here.
pub fn act(root: &Path, operation: &Operation) {
    let registry = |path: &Path| path.starts_with("sessions");
    match operation {
        Operation::Append { path, text } => append(root, path, text),
        Operation::Write { path, text } if !registry(path) => {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Operation::Remove { path } if !registry(path) => {
            // For files that came and went between two scans, the recorder saw only the removal.
            std::fs::remove_file(root.join(path)).unwrap_or_default();
        }
        _ => {}
    }
}

/// A client folder with one transcript of these lines.
pub fn transcript(root: &Path, session: &str, lines: &[serde_json::Value]) -> PathBuf {
    let path = Path::new("projects/-home-dev-x").join(format!("{session}.jsonl"));
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    append(root, &path, &text);
    root.join(path)
}

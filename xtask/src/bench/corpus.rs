//! The generated histories of the benchmarks, each written once.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};

use super::Bench;
use super::measure::{self, Used};
use crate::call::Call;

/// A history: the same parameters give the same bytes on every machine.
pub struct Corpus {
    name: &'static str,
    sessions: u32,
    bytes: f64,
    seed: u32,
}

/// Many sessions of all sizes.
const MANY: Corpus = Corpus { name: "many", sessions: 2000, bytes: 1e9, seed: 1 };
/// One session of 495 MB with 636 subagents.
const HUGE: Corpus = Corpus { name: "huge", sessions: 1, bytes: 6e8, seed: 7 };
/// Ten times as many sessions, most of them short.
const VERY_MANY: Corpus = Corpus { name: "very-many", sessions: 20_000, bytes: 2e9, seed: 3 };
/// Small stand-ins that take seconds, to try the drivers.
const MANY_SMALL: Corpus = Corpus { name: "many-small", sessions: 60, bytes: 2e7, seed: 1 };
const HUGE_SMALL: Corpus = Corpus { name: "huge-small", sessions: 1, bytes: 1e7, seed: 7 };

/// Very many short sessions: their number, the number of recent ones, and the number of folders.
const CROWD: [u32; 3] = [100_000, 300, 500];
const CROWD_SMALL: [u32; 3] = [600, 20, 10];
/// Recent sessions of a written history count as recent for that long.
const LATELY: Duration = Duration::from_secs(2 * 3600);

/// A history on disk.
pub struct Generated {
    /// The folder to hand to `--claude-dir`.
    pub claude_dir: PathBuf,
    /// Bytes of all transcripts in it.
    pub bytes: u64,
}

impl Generated {
    /// The size in the unit of the targets.
    pub fn gigabytes(&self) -> f64 {
        self.bytes as f64 / 1e9
    }

    /// Reads every byte into the page cache, as far as they fit. Its cost is the least that any index can have.
    pub fn read_through(&self) -> Result<Used> {
        let find = Call::new(Path::new("."), "find").args([&self.claude_dir]);
        measure::run("read every file", &find.args(["-type", "f", "-exec", "cat", "{}", "+"]), &[0])
    }
}

/// Two thousand sessions.
pub fn many(bench: &Bench) -> Result<Generated> {
    generate(bench, if bench.small { &MANY_SMALL } else { &MANY })
}

/// Twenty thousand sessions.
pub fn very_many(bench: &Bench) -> Result<Generated> {
    generate(bench, if bench.small { &MANY_SMALL } else { &VERY_MANY })
}

/// One enormous session.
pub fn huge(bench: &Bench) -> Result<Generated> {
    generate(bench, if bench.small { &HUGE_SMALL } else { &HUGE })
}

/// A hundred thousand sessions that ended long ago, and a few hundred of the last day; written anew when those are
/// too old.
pub fn crowd(bench: &Bench) -> Result<Generated> {
    let (name, [sessions, recent, projects]) =
        if bench.small { ("crowd-small", CROWD_SMALL) } else { ("crowd", CROWD) };
    let folder = bench.tree.target("bench-corpus").join(name);
    let written = std::fs::metadata(folder.join("complete")).and_then(|complete| complete.modified());
    if !written.is_ok_and(|at| at.elapsed().is_ok_and(|age| age < LATELY)) {
        println!("  writing {sessions} sessions to {}, for two hours", folder.display());
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs();
        Call::new(bench.tree.root(), "python3")
            .args(["benches/gen_crowd.py", "--out"])
            .args([&folder])
            .args(["--sessions", &sessions.to_string(), "--recent", &recent.to_string()])
            .args(["--projects", &projects.to_string(), "--end", &now.to_string()])
            .run()?;
        std::fs::write(folder.join("complete"), "")?;
    }
    let claude_dir = folder.join(".claude");
    let bytes = transcript_bytes(&claude_dir.join("projects"))?;
    Ok(Generated { claude_dir, bytes })
}

fn generate(bench: &Bench, corpus: &Corpus) -> Result<Generated> {
    let folder = bench.tree.target("bench-corpus").join(corpus.name);
    let complete = folder.join("complete");
    if !complete.is_file() {
        println!("  writing {:.0} MB to {}, once", corpus.bytes / 1e6, folder.display());
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        Call::new(bench.tree.root(), "python3")
            .args(["benches/gen_corpus.py", "--out"])
            .args([&folder])
            .args(["--sessions", &corpus.sessions.to_string(), "--bytes", &corpus.bytes.to_string()])
            .args(["--seed", &corpus.seed.to_string()])
            .run()?;
        std::fs::write(&complete, "")?;
    }
    let claude_dir = folder.join(".claude");
    let bytes = transcript_bytes(&claude_dir.join("projects"))?;
    Ok(Generated { claude_dir, bytes })
}

/// The largest transcript directly below the projects of a folder.
pub fn largest(projects: &Path) -> Result<PathBuf> {
    let mut longest = None;
    for project in std::fs::read_dir(projects)? {
        let project = project?.path();
        let listing = if project.is_dir() { Some(std::fs::read_dir(project)?) } else { None };
        for entry in listing.into_iter().flatten() {
            let entry = entry?;
            let len = entry.metadata()?.len();
            if entry.path().extension().is_some_and(|extension| extension == "jsonl") {
                longest = longest.max(Some((len, entry.path())));
            }
        }
    }
    longest.map(|(_, path)| path).context("no transcript was generated")
}

/// Adds up all transcripts below a folder.
fn transcript_bytes(folder: &Path) -> Result<u64> {
    let mut sum = 0;
    let listing =
        std::fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    for entry in listing {
        let entry = entry?;
        let metadata = entry.metadata()?;
        if metadata.is_dir() {
            sum += transcript_bytes(&entry.path())?;
        } else if entry.path().extension().is_some_and(|extension| extension == "jsonl") {
            sum += metadata.len();
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_transcripts_count_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/subagents");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(folder.path().join("one.jsonl"), "12345").unwrap();
        std::fs::write(deep.join("agent-1.jsonl"), "123").unwrap();
        std::fs::write(deep.join("agent-1.meta.json"), "not counted").unwrap();
        assert_eq!(transcript_bytes(folder.path()).unwrap(), 8);
    }
}

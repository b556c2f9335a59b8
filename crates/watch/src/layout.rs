//! What a path below the agent's folder is, from its name alone.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path};
use std::sync::Arc;

use watchbill_core::ids::SessionId;

/// What we know a path to be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// `projects/<project>/<session>.jsonl`.
    Transcript {
        /// The project folder's name, which does not lead back to a path.
        project: OsString,
        /// The file's stem.
        session: SessionId,
    },
    /// `projects/<project>/<session>/subagents/agent-<agent>.jsonl`, or deeper under `workflows/`.
    Subagent {
        /// The project folder's name.
        project: OsString,
        /// The parent session.
        session: SessionId,
        /// The subagent's id.
        agent: Arc<str>,
    },
    /// `…/subagents/agent-<agent>.meta.json`, beside the subagent's transcript.
    SubagentMeta {
        /// The project folder's name.
        project: OsString,
        /// The parent session.
        session: SessionId,
        /// The subagent's id.
        agent: Arc<str>,
    },
    /// `projects/<project>/agent-<hex>.jsonl` of clients before 2.1.2: its records name the parent session.
    FlatSubagent {
        /// The project folder's name.
        project: OsString,
        /// The subagent's id.
        agent: Arc<str>,
    },
    /// `sessions/<pid>.json`.
    Registry {
        /// The process id in the name.
        pid: u32,
    },
    /// `.claude/compacted.<session>.marker` of a working folder.
    Marker {
        /// The session that goes on after the compaction.
        session: SessionId,
    },
    /// `.claude/status.<session>.md` of a working folder, as the source document has it.
    StatusFile {
        /// The session that it speaks of.
        session: SessionId,
    },
}

impl Place {
    /// Whether this is a file of appended records.
    pub fn is_transcript(&self) -> bool {
        matches!(self, Self::Transcript { .. } | Self::Subagent { .. } | Self::FlatSubagent { .. })
    }
}

/// The folder of transcripts below the agent's folder.
pub const PROJECTS: &str = "projects";
/// The folder of registry files below the agent's folder.
pub const SESSIONS: &str = "sessions";

/// What a path relative to the agent's folder, or to a working folder, is. `None` for everything that is not
/// ours to read, above all the key files beside the registry.
pub fn classify(relative: &Path) -> Option<Place> {
    let mut names = Vec::with_capacity(6);
    for component in relative.components() {
        match component {
            Component::Normal(name) => names.push(name),
            _ => return None,
        }
    }
    match names.as_slice() {
        [first, project, rest @ ..] if *first == PROJECTS => classify_in_project(project, rest),
        [first, name] if *first == SESSIONS => registry_pid(name).map(|pid| Place::Registry { pid }),
        [name] => in_working_folder(name),
        [folder, name] if *folder == ".claude" => in_working_folder(name),
        _ => None,
    }
}

/// The session that a marker's file name tells of: `compacted.<session>.marker`.
pub fn marker_session(name: &OsStr) -> Option<SessionId> {
    let id = name.as_encoded_bytes().strip_prefix(b"compacted.")?.strip_suffix(b".marker")?;
    (!id.is_empty()).then(|| SessionId::new(&String::from_utf8_lossy(id)))
}

/// The session that a status file speaks of: `status.<session>.md`.
pub fn status_session(name: &OsStr) -> Option<SessionId> {
    let id = name.as_encoded_bytes().strip_prefix(b"status.")?.strip_suffix(b".md")?;
    (!id.is_empty()).then(|| SessionId::new(&String::from_utf8_lossy(id)))
}

fn in_working_folder(name: &OsStr) -> Option<Place> {
    let marker = marker_session(name).map(|session| Place::Marker { session });
    marker.or_else(|| status_session(name).map(|session| Place::StatusFile { session }))
}

fn classify_in_project(project: &OsStr, rest: &[&OsStr]) -> Option<Place> {
    match rest {
        [name] => {
            let stem = stem(name, b".jsonl")?;
            Some(match agent_of(stem) {
                Some(agent) => Place::FlatSubagent { project: project.to_owned(), agent },
                None => Place::Transcript {
                    project: project.to_owned(),
                    session: SessionId::new(&String::from_utf8_lossy(stem)),
                },
            })
        }
        [session, folder, middle @ .., name] if *folder == "subagents" => {
            if middle.first().is_some_and(|first| *first != "workflows") {
                return None;
            }
            let project = project.to_owned();
            let session = SessionId::new(&session.to_string_lossy());
            if let Some(stem) = stem(name, b".jsonl") {
                agent_of(stem).map(|agent| Place::Subagent { project, session, agent })
            } else {
                let agent = agent_of(stem(name, b".meta.json")?)?;
                Some(Place::SubagentMeta { project, session, agent })
            }
        }
        _ => None,
    }
}

/// The name without its ending; `None` for hidden files and those that the client has set aside.
fn stem<'a>(name: &'a OsStr, ending: &[u8]) -> Option<&'a [u8]> {
    let stem = name.as_encoded_bytes().strip_suffix(ending)?;
    let set_aside = stem.windows(b".orphaned-".len()).any(|part| part == b".orphaned-");
    (!stem.is_empty() && !stem.starts_with(b".") && !set_aside).then_some(stem)
}

fn agent_of(stem: &[u8]) -> Option<Arc<str>> {
    let id = stem.strip_prefix(b"agent-")?;
    (!id.is_empty()).then(|| String::from_utf8_lossy(id).into())
}

/// Digits alone, as the client writes them: neither `pid-7.json` of old clients nor `007.json`.
fn registry_pid(name: &OsStr) -> Option<u32> {
    let digits = name.to_str()?.strip_suffix(".json")?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transcript(project: &str, session: &str) -> Option<Place> {
        Some(Place::Transcript { project: project.into(), session: SessionId::new(session) })
    }

    fn subagent(agent: &str) -> Option<Place> {
        Some(Place::Subagent { project: "p".into(), session: SessionId::new("s"), agent: agent.into() })
    }

    #[test]
    fn each_place_is_known_by_its_path() {
        let table: &[(&str, Option<Place>)] = &[
            ("projects/-home-dev/645a2f0b.jsonl", transcript("-home-dev", "645a2f0b")),
            ("projects/p/a b.c.jsonl", transcript("p", "a b.c")),
            ("projects/p/s/subagents/agent-ab12.jsonl", subagent("ab12")),
            ("projects/p/s/subagents/agent-acompact-9.jsonl", subagent("acompact-9")),
            ("projects/p/s/subagents/workflows/wf_1/agent-7.jsonl", subagent("7")),
            ("projects/p/s/subagents/workflows/wf_1/deep/agent-7.jsonl", subagent("7")),
            (
                "projects/p/s/subagents/agent-7.meta.json",
                Some(Place::SubagentMeta {
                    project: "p".into(),
                    session: SessionId::new("s"),
                    agent: "7".into(),
                }),
            ),
            (
                "projects/p/agent-0a1b2c3.jsonl",
                Some(Place::FlatSubagent { project: "p".into(), agent: "0a1b2c3".into() }),
            ),
            ("sessions/8669.json", Some(Place::Registry { pid: 8669 })),
            ("compacted.abc.marker", Some(Place::Marker { session: SessionId::new("abc") })),
            (".claude/compacted.abc.marker", Some(Place::Marker { session: SessionId::new("abc") })),
            ("status.abc.md", Some(Place::StatusFile { session: SessionId::new("abc") })),
            (".claude/status.a.b.md", Some(Place::StatusFile { session: SessionId::new("a.b") })),
        ];
        for (path, expected) in table {
            assert_eq!(classify(Path::new(path)), *expected, "{path}");
        }
    }

    #[test]
    fn everything_else_is_left_alone() {
        for path in [
            "",
            "projects",
            "projects/p",
            "projects/x.jsonl",
            "projects/p/.hidden.jsonl",
            "projects/p/.jsonl",
            "projects/p/s.jsonl.orphaned-1",
            "projects/p/s.orphaned-1.jsonl",
            "projects/p/S.JSONL",
            "projects/p/s.json",
            "projects/p/sessions-index.json",
            "projects/p/memory/notes.jsonl",
            "projects/p/s/tool-results/agent-1.jsonl",
            "projects/p/s/subagents/journal.jsonl",
            "projects/p/s/subagents/other/agent-1.jsonl",
            "projects/p/s/subagents/workflows/wf_1/journal.jsonl",
            "projects/p/s/subagents/agent-.jsonl",
            "Projects/p/s.jsonl",
            "sessions/8669.key",
            "sessions/pid-8669.json",
            "sessions/0.json",
            "sessions/007.json",
            "sessions/99999999999.json",
            "sessions/+5.json",
            "sessions/deep/5.json",
            "history.jsonl",
            "compacted..marker",
            "status..md",
            "status.md",
            "status.abc.md.tmp",
            "other/compacted.abc.marker",
            "../projects/p/s.jsonl",
            "/projects/p/s.jsonl",
        ] {
            assert_eq!(classify(Path::new(path)), None, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_name_that_is_not_utf8_is_still_a_transcript() {
        use std::os::unix::ffi::OsStrExt;
        let project = OsStr::from_bytes(b"caf\xe9");
        let path = Path::new(PROJECTS).join(project).join("s.jsonl");
        assert_eq!(
            classify(&path),
            Some(Place::Transcript { project: project.to_owned(), session: SessionId::new("s") })
        );
    }
}

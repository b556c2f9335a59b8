//! Parses recordings of the real client, and moves them to another start time. Tests and the demo play them back into
//! files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::Instance;
use watchbill_core::time::{Millis, Timestamp};

/// The agent's writes and the driver's actions, in order of time.
#[derive(Debug, Clone)]
pub struct Recording {
    /// The start of the recording, by the agent's clock.
    pub begin: Timestamp,
    /// Operations in order.
    pub operations: Vec<(Millis, Operation)>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Whole lines were appended to a file under the claude folder.
    Append {
        /// Relative to the claude folder.
        path: PathBuf,
        /// The lines.
        text: String,
    },
    /// A small file was written in place.
    Write {
        /// Relative to the claude folder.
        path: PathBuf,
        /// The whole content.
        text: String,
    },
    /// A file is gone.
    Remove {
        /// Relative to the claude folder.
        path: PathBuf,
    },
    /// A hook fired.
    Hook(ReplayedHook),
    /// An action or observation of the driver: the ground truth.
    Mark(String),
    /// A process ended. A recording shows this by a mark (`kill -9`) or by the removal of its registry file.
    Exit {
        /// The process id.
        pid: u32,
    },
}

/// A recorded hook, with the data that its sender had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayedHook {
    /// `hook_event_name`.
    pub event: String,
    /// `session_id`.
    pub session: String,
    /// The payload as JSON text.
    pub payload: Arc<str>,
    /// The process that sent the hook, found through the registry file of its session.
    pub agent: Option<Instance>,
    /// Its number among the recording's hooks.
    pub number: u64,
}

impl ReplayedHook {
    /// The event as its sender delivers it at `at`.
    pub fn message(&self, at: Timestamp) -> HookMessage {
        let origin = HookOrigin {
            id: Arc::from(format!("recorded-{}", self.number)),
            at,
            order: self.number,
            agent: self.agent.clone(),
            ancestors: self.agent.iter().map(|agent| agent.pid).collect(),
            terminal: None,
        };
        HookMessage::new(origin, self.payload.as_bytes())
    }
}

#[derive(Deserialize)]
struct Line {
    t: i64,
    op: String,
    #[serde(default)]
    path: String,
    #[serde(default)]
    text: String,
    payload: Option<serde_json::Value>,
}

/// A recording could not be read.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of the recording: {detail}")]
pub struct RecordingError {
    line: usize,
    detail: String,
}

impl Recording {
    /// Parses a recording, one operation per line.
    ///
    /// # Errors
    /// When a line is not an operation.
    pub fn parse(text: &str) -> Result<Self, RecordingError> {
        let mut operations = Vec::new();
        let mut begin = None;
        let mut hooks = 0;
        // A `kill -9` mark names the process by its id or by its tmux session.
        let mut tmux_of: BTreeMap<u32, String> = BTreeMap::new();
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |detail: String| RecordingError { line: n + 1, detail };
            let line: Line = serde_json::from_str(line).map_err(|e| wrong(e.to_string()))?;
            let at = Millis(line.t);
            let path = PathBuf::from(&line.path);
            match line.op.as_str() {
                "append" => operations.push((at, Operation::Append { path, text: line.text })),
                "write" => {
                    // The stamp in a registry file gives the start of the recording by the agent's clock. The agent
                    // makes the stamp before the recorder sees the write. So no guess is too late, and the latest guess
                    // is the best one.
                    if let Some(stamp) = number_after(&line.text, "\"updatedAt\":") {
                        let guess = Timestamp::from_millis(stamp) - at;
                        begin = begin.max(Some(guess));
                    }
                    if let Some(pid) = registry_pid(&path) {
                        let tmux = text_after(&line.text, "\"tmux\":\"").unwrap_or_default();
                        tmux_of.insert(pid, tmux.to_owned());
                    }
                    operations.push((at, Operation::Write { path, text: line.text }));
                }
                "remove" => {
                    let pid = registry_pid(&path);
                    operations.push((at, Operation::Remove { path }));
                    operations.extend(pid.map(|pid| (at, Operation::Exit { pid })));
                }
                "hook" => {
                    let payload = line.payload.unwrap_or_default();
                    let word = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
                    hooks += 1;
                    operations.push((
                        at,
                        Operation::Hook(ReplayedHook {
                            event: word("hook_event_name"),
                            session: word("session_id"),
                            payload: payload.to_string().into(),
                            agent: None,
                            number: hooks,
                        }),
                    ));
                }
                "mark" => {
                    let killed = line.text.strip_prefix("kill -9 ").and_then(|victim| {
                        let by_tmux =
                            tmux_of.iter().find(|(_, tmux)| tmux.starts_with(&format!("{victim}:")));
                        victim.parse().ok().or(by_tmux.map(|(pid, _)| *pid))
                    });
                    operations.push((at, Operation::Mark(line.text)));
                    operations.extend(killed.map(|pid| (at, Operation::Exit { pid })));
                }
                other => return Err(wrong(format!("unknown operation {other:?}"))),
            }
        }
        keep_last_exits(&mut operations);
        find_senders(&mut operations);
        let begin = begin.or_else(|| first_timestamp(&operations)).unwrap_or_default();
        Ok(Self { begin, operations })
    }

    /// The length of the recording.
    pub fn length(&self) -> Millis {
        self.operations.last().map_or(Millis(0), |(at, _)| *at)
    }

    /// The same recording with another start: moves all times in records and registry files.
    #[must_use]
    pub fn moved_to(&self, begin: Timestamp) -> Self {
        self.retold(begin, 1, |text| text.to_owned())
    }

    /// The same work with another start, so many times slower, each path and text as `retell` gives it.
    #[must_use]
    pub fn retold(&self, begin: Timestamp, slower: i64, retell: impl Fn(&str) -> String) -> Self {
        let moved = |stamp: i64| {
            begin
                .as_millis()
                .saturating_add(stamp.saturating_sub(self.begin.as_millis()).saturating_mul(slower))
        };
        let retold = |path: &Path, text: &str| {
            (PathBuf::from(retell(&path.to_string_lossy())), retell(&move_times(text, &moved)))
        };
        let operations = self.operations.iter().map(|(at, operation)| {
            let operation = match operation {
                Operation::Append { path, text } => {
                    let (path, text) = retold(path, text);
                    Operation::Append { path, text }
                }
                Operation::Write { path, text } => {
                    let (path, text) = retold(path, text);
                    Operation::Write { path, text }
                }
                Operation::Remove { path } => Operation::Remove { path: retold(path, "").0 },
                other => other.clone(),
            };
            (Millis(at.0 * slower), operation)
        });
        Self { begin, operations: operations.collect() }
    }

    /// All processes in the recording, with their start times from the registry.
    pub fn processes(&self) -> BTreeSet<(u32, Arc<str>)> {
        self.operations
            .iter()
            .filter_map(|(_, operation)| match operation {
                Operation::Write { path, text } => {
                    let start = text_after(text, "\"procStart\":\"")?;
                    Some((registry_pid(path)?, Arc::from(start)))
                }
                _ => None,
            })
            .collect()
    }
}

/// Drops an exit if the process writes its registry file later. A client may remove this file, write it once more, and
/// then remove it again.
fn keep_last_exits(operations: &mut Vec<(Millis, Operation)>) {
    let mut writes_on = BTreeSet::new();
    let mut kept: Vec<_> = std::mem::take(operations)
        .into_iter()
        .rev()
        .filter(|(_, operation)| match operation {
            Operation::Write { path, .. } => {
                writes_on.extend(registry_pid(path));
                true
            }
            Operation::Exit { pid } => !writes_on.contains(pid),
            _ => true,
        })
        .collect();
    kept.reverse();
    *operations = kept;
}

/// Finds the process that sent each hook. The agent writes its registry file shortly before or after its hooks. So
/// the last write before the hook that names the session decides. Without such a write, the first one after it decides.
fn find_senders(operations: &mut [(Millis, Operation)]) {
    let claims: Vec<(usize, String, Instance)> = operations
        .iter()
        .enumerate()
        .filter_map(|(n, (_, operation))| {
            let Operation::Write { path, text } = operation else { return None };
            let proc_start = text_after(text, "\"procStart\":\"").map(Arc::from);
            let session = text_after(text, "\"sessionId\":\"")?.to_owned();
            Some((n, session, Instance { pid: registry_pid(path)?, proc_start }))
        })
        .collect();
    for (n, (_, operation)) in operations.iter_mut().enumerate() {
        let Operation::Hook(hook) = operation else { continue };
        let mut of_session = claims.iter().filter(|(_, session, _)| *session == hook.session);
        let before = of_session.clone().rfind(|(at, ..)| *at < n);
        hook.agent = before.or_else(|| of_session.next()).map(|(.., instance)| instance.clone());
    }
}

fn registry_pid(path: &Path) -> Option<u32> {
    let name = path.strip_prefix("sessions").ok()?.to_str()?;
    name.strip_suffix(".json")?.parse().ok()
}

fn number_after(text: &str, key: &str) -> Option<i64> {
    let rest = &text[text.find(key)? + key.len()..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}

fn text_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let rest = &text[text.find(key)? + key.len()..];
    rest.split('"').next()
}

fn first_timestamp(operations: &[(Millis, Operation)]) -> Option<Timestamp> {
    operations.iter().find_map(|(at, operation)| match operation {
        Operation::Append { text, .. } => {
            Timestamp::parse(text_after(text, "\"timestamp\":\"")?).map(|stamp| stamp - *at)
        }
        _ => None,
    })
}

/// Moves the times in JSON text, each as `moved` says. The times are the RFC 3339 values of `timestamp` and the
/// millisecond stamps of the registry. All other bytes stay unchanged.
fn move_times(text: &str, moved: &dyn Fn(i64) -> i64) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((key, at)) = next_time_key(rest) {
        let value = at + key.len();
        out.push_str(&rest[..value]);
        rest = &rest[value..];
        if key.ends_with('"') {
            let end = rest.find('"').unwrap_or(rest.len());
            match Timestamp::parse(&rest[..end]) {
                Some(stamp) => {
                    out.push_str(&Timestamp::from_millis(moved(stamp.as_millis())).to_string());
                }
                None => out.push_str(&rest[..end]),
            }
            rest = &rest[end..];
        } else {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            match rest[..end].parse::<i64>() {
                Ok(stamp) if stamp > 1_000_000_000_000 => out.push_str(&moved(stamp).to_string()),
                _ => out.push_str(&rest[..end]),
            }
            rest = &rest[end..];
        }
    }
    out.push_str(rest);
    out
}

fn next_time_key(text: &str) -> Option<(&'static str, usize)> {
    const KEYS: [&str; 6] = [
        "\"timestamp\":\"",
        "\"timestamp\":",
        "\"startedAt\":",
        "\"updatedAt\":",
        "\"statusUpdatedAt\":",
        "\"nameSince\":",
    ];
    KEYS.iter()
        .filter_map(|key| Some((*key, text.find(key)?)))
        .min_by_key(|(key, at)| (*at, usize::MAX - key.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_move_and_nothing_else_does() {
        let text = r#"{"timestamp":"2026-11-20T15:30:52.694Z","n":12,"startedAt":1795188650754,"x":"\"timestamp\""}"#;
        let moved = move_times(text, &|stamp| stamp + 1000);
        assert_eq!(
            moved,
            r#"{"timestamp":"2026-11-20T15:30:53.694Z","n":12,"startedAt":1795188651754,"x":"\"timestamp\""}"#
        );
        assert_eq!(move_times(&moved, &|stamp| stamp - 1000), text);
    }

    #[test]
    fn a_recording_gives_its_start_and_the_ended_processes() {
        let text = concat!(
            r#"{"t":10,"op":"write","path":"sessions/7.json","text":"{\"pid\":7,\"procStart\":\"99\",\"updatedAt\":1795188650764}"}"#,
            "\n",
            r#"{"t":20,"op":"mark","text":"kill -9 7"}"#
        );
        let recording = Recording::parse(text).unwrap();
        assert_eq!(recording.begin, Timestamp::from_millis(1_795_188_650_754));
        assert_eq!(recording.processes().into_iter().collect::<Vec<_>>(), [(7, Arc::from("99"))]);
        assert_eq!(recording.operations.last().map(|(_, op)| op.clone()), Some(Operation::Exit { pid: 7 }));
        assert!(Recording::parse("{\"t\":1,\"op\":\"fly\"}").is_err());
    }

    #[test]
    fn a_process_that_still_writes_has_not_ended() {
        let write = r#"{"t":1,"op":"write","path":"sessions/7.json","text":"{}"}"#;
        let remove = r#"{"t":2,"op":"remove","path":"sessions/7.json"}"#;
        let recording = Recording::parse(&[write, remove, write, remove].join("\n")).unwrap();
        let exits = recording.operations.iter().filter(|(_, op)| *op == Operation::Exit { pid: 7 }).count();
        assert_eq!((exits, recording.operations.len()), (1, 5));
        assert_eq!(recording.operations.last().map(|(_, op)| op.clone()), Some(Operation::Exit { pid: 7 }));
    }
}

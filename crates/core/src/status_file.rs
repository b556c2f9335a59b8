//! Status files that the user's own hooks write: `.claude/status.<sessionId>.md`.
//!
//! The source document defines the format: YAML front matter with `status`, `updated` and `task`, then Markdown with
//! a `## Summary`. The front matter is flat, so it is read line by line: `key: value`, quoted or not, comments, and
//! the block texts `|` and `>`. Lists, maps and anchors can only belong to other keys, which the parser ignores.

use std::sync::Arc;

use crate::session::facts::{first_line, one_line};
use crate::session::state::{State, StateKind};
use crate::time::{Millis, Timestamp};

/// `STATUS_FILE_TTL_MS`: how long after `updated` a status file counts.
pub const STATUS_FILE_TTL: Millis = Millis::from_secs(5 * 60);
/// Longest status file in bytes. Callers read no more than this.
pub const STATUS_FILE_LIMIT: usize = 256 * 1024;

/// The content of a status file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusFile {
    /// `status`.
    pub status: Status,
    /// `updated`. `None` when it is absent or not an RFC 3339 time with an offset; then the file's own time counts.
    pub updated: Option<Timestamp>,
    /// `task`, one line.
    pub task: Option<Arc<str>>,
    /// First line under `## Summary`.
    pub summary: Option<Arc<str>>,
}

/// `status`: the document's seven words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// `working`.
    Working,
    /// `waiting_for_approval`.
    WaitingForApproval,
    /// `waiting_for_input`.
    WaitingForInput,
    /// `completed`: the task is finished.
    Completed,
    /// `error`.
    Error,
    /// `blocked`: something else has to happen first.
    Blocked,
    /// `idle`.
    Idle,
    /// A word that this program does not know: no evidence.
    Unknown(Arc<str>),
}

/// A status file of one session, as evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusWitness {
    /// The content of the file.
    pub file: StatusFile,
    /// When the file was last written, by the file system, or when this content was first read, if that was earlier.
    pub modified: Timestamp,
}

/// Why the bytes gave no status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatusFileError {
    /// The file was read in the middle of a write: it is empty, or its front matter has no end yet. A later read
    /// helps; a file that stays so is wrong.
    #[error(
        "the status file was read in the middle of a write, or its front matter is never closed by `---`"
    )]
    Torn,
    /// It does not begin with `---`.
    #[error("the status file has no front matter: it must begin with a line `---`")]
    NoFrontMatter,
    /// A line of the front matter is no `key: value`.
    #[error("line {line} of the status file is no `key: value`")]
    NotYaml {
        /// Counted from 1.
        line: usize,
    },
    /// There is no `status`.
    #[error("the status file has no `status`")]
    NoStatus,
}

/// Reads one status file. Invalid UTF-8 is replaced.
pub fn parse_status_file(bytes: &[u8]) -> Result<StatusFile, StatusFileError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() || matches!(text, "-" | "--" | "---") {
        return Err(StatusFileError::Torn);
    }
    let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line.trim_end()));
    if lines.next().is_none_or(|(_, first)| first != "---") {
        return Err(StatusFileError::NoFrontMatter);
    }
    let mut front = FrontMatter::default();
    let mut closed = false;
    for (number, line) in lines.by_ref() {
        if matches!(line, "---" | "...") {
            closed = true;
            break;
        }
        front.line(number, line);
    }
    if !closed {
        return Err(StatusFileError::Torn);
    }
    if let Some(line) = front.wrong {
        return Err(StatusFileError::NotYaml { line });
    }
    let status = front.value("status").filter(|word| !word.is_empty()).ok_or(StatusFileError::NoStatus)?;
    let task = front.value("task").map(|task| one_line(&task)).filter(|task| !task.is_empty());
    Ok(StatusFile {
        status: Status::of(&status),
        updated: front.value("updated").and_then(|at| Timestamp::parse(at.trim())),
        task: task.map(Arc::from),
        summary: summary(lines.map(|(_, line)| line)),
    })
}

/// The first line under a heading `Summary`.
fn summary<'a>(body: impl Iterator<Item = &'a str>) -> Option<Arc<str>> {
    let heading = |line: &str| {
        let text = line.trim_start_matches('#');
        (text.len() < line.len()).then(|| text.trim().eq_ignore_ascii_case("summary"))
    };
    let mut under = body.skip_while(|line| heading(line) != Some(true)).skip(1);
    under
        .by_ref()
        .take_while(|line| heading(line).is_none())
        .map(first_line)
        .find(|line| !line.is_empty())
        .map(Arc::from)
}

/// The keys of the front matter, each with the text behind its colon and the indented lines below it.
#[derive(Debug, Default)]
struct FrontMatter<'a> {
    keys: Vec<(&'a str, &'a str, Vec<&'a str>)>,
    wrong: Option<usize>,
}

impl<'a> FrontMatter<'a> {
    fn line(&mut self, number: usize, line: &'a str) {
        let below = line.starts_with([' ', '\t', '-']) || line.is_empty() && !self.keys.is_empty();
        if below && let Some((_, _, lines)) = self.keys.last_mut() {
            lines.push(line.trim());
            return;
        }
        let text = line.trim_start();
        if text.is_empty() || text.starts_with('#') {
            return;
        }
        // A colon ends a key only at the end of the line or before a space.
        let split = text.char_indices().find(|(at, c)| {
            let after = text[at + c.len_utf8()..].chars().next();
            *c == ':' && after.is_none_or(char::is_whitespace)
        });
        match split {
            Some((at, _)) => {
                let key = text[..at].trim().trim_matches(['"', '\'']);
                self.keys.push((key, text[at + 1..].trim(), Vec::new()));
            }
            None => self.wrong = self.wrong.or(Some(number)),
        }
    }

    /// The value of a key as text. If a key is repeated, the last value counts.
    fn value(&self, wanted: &str) -> Option<String> {
        let (_, value, below) = self.keys.iter().rev().find(|(key, ..)| *key == wanted)?;
        if value.starts_with(['|', '>']) {
            return Some(below.join("\n"));
        }
        for quote in ['"', '\''] {
            if let Some(inner) = value.strip_prefix(quote) {
                // Only a comment can follow the closing quote.
                let end = inner.rfind(quote).unwrap_or(inner.len());
                let inner = &inner[..end];
                return Some(match quote {
                    '"' => inner.replace("\\\"", "\"").replace("\\\\", "\\"),
                    _ => inner.replace("''", "'"),
                });
            }
        }
        let plain = value.split(" #").next().unwrap_or(value).trim();
        Some(if plain.starts_with('#') { String::new() } else { plain.to_owned() })
    }
}

impl Status {
    fn of(word: &str) -> Self {
        match word.trim() {
            "working" => Self::Working,
            "waiting_for_approval" => Self::WaitingForApproval,
            "waiting_for_input" => Self::WaitingForInput,
            "completed" => Self::Completed,
            "error" => Self::Error,
            "blocked" => Self::Blocked,
            "idle" => Self::Idle,
            other => Self::Unknown(Arc::from(one_line(other))),
        }
    }

    /// The word as the file spells it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Working => "working",
            Self::WaitingForApproval => "waiting_for_approval",
            Self::WaitingForInput => "waiting_for_input",
            Self::Completed => "completed",
            Self::Error => "error",
            Self::Blocked => "blocked",
            Self::Idle => "idle",
            Self::Unknown(word) => word,
        }
    }

    /// The session state that the word stands for; `None` for an unknown word.
    pub const fn state(&self) -> Option<(State, Option<StateKind>)> {
        Some(match self {
            Self::Working => (State::Working, None),
            Self::WaitingForApproval => (State::WaitingForApproval, Some(StateKind::Permission)),
            Self::WaitingForInput => (State::WaitingForInput, Some(StateKind::TurnEnded)),
            Self::Completed => (State::WaitingForInput, Some(StateKind::Completed)),
            Self::Error => (State::WaitingForInput, Some(StateKind::Error)),
            Self::Blocked => (State::WaitingForInput, Some(StateKind::Blocked)),
            Self::Idle => (State::Idle, None),
            Self::Unknown(_) => return None,
        })
    }
}

impl StatusWitness {
    /// Time of the statement. It is never later than the time of writing, so that a wrong clock cannot keep it alive.
    pub fn at(&self, now: Timestamp) -> Timestamp {
        self.file.updated.unwrap_or(self.modified).min(self.modified).min(now)
    }

    /// When the file stops counting.
    pub fn until(&self, now: Timestamp) -> Timestamp {
        self.at(now) + STATUS_FILE_TTL
    }
}

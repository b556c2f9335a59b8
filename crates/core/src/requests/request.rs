//! One request of a client, as the payload of its `PermissionRequest` hook says it. `watchbill_agents` reads it.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::ids::SessionId;
use crate::time::Timestamp;

/// Names one request. The waiting hook process makes it, so it is never used again.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Takes the id as its maker wrote it.
    pub fn new(id: &str) -> Self {
        Self(Arc::from(id))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A SHA-256 hash of everything that a request shows, or of a file. An answer repeats it, so a changed card cannot be answered. An
/// agent that writes both texts must not find two with one hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

/// What a request wants from the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestKind {
    /// Permission to use a tool.
    Permission,
    /// Answers to questions, at least one.
    Questions(Vec<Question>),
    /// A verdict on a plan. `None`: the agent sent no text.
    Plan(Option<Arc<str>>),
    /// The payload has a shape that this version does not know. Only the terminal can answer it.
    Unknown,
}

/// One question with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The whole question. The agent names the answer by it.
    pub text: Arc<str>,
    /// A short heading.
    pub header: Option<Arc<str>>,
    /// The options, in the agent's order.
    pub options: Vec<Choice>,
    /// Several options may be chosen.
    pub several: bool,
}

/// One option of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// What the agent gets as the answer.
    pub label: Arc<str>,
    /// What it means.
    pub description: Option<Arc<str>>,
}

/// What "allow always" would change, as the agent suggests it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuggestedRule {
    /// The rule in the agent's notation: `Bash(npm run *)`.
    pub rule: Arc<str>,
    /// Where the agent writes it, in words.
    pub place: Arc<str>,
}

/// Who takes the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// A hook process that waits. It cannot tell that the user answered in the terminal.
    Hook,
    /// The host of an own session. It tells when the request is closed.
    Host,
}

/// A file that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFile {
    /// Its path.
    pub path: Arc<str>,
    /// How it was when it was looked at; `None`: it was not there.
    pub state: Option<FileState>,
}

/// The facts that show whether a file was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// Its length in bytes.
    pub length: u64,
    /// Its last change. For a long file, as the system notes it: no program can set that time.
    pub modified: Timestamp,
    /// The hash of its content; `None` for a long file.
    pub hash: Option<Digest>,
}

/// The files that a request names, as a look found them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedFiles {
    /// Those that are compared again before the request is allowed.
    pub compared: Vec<NamedFile>,
    /// Files and words that may name files, which are not compared. With invisible characters drawn.
    pub not_compared: Vec<Arc<str>>,
}

impl NamedFiles {
    /// The compared files that differ from an earlier look, and those that are new.
    pub fn changed_since<'n>(&'n self, before: &'n [NamedFile]) -> impl Iterator<Item = &'n NamedFile> {
        self.compared.iter().filter(|now| !before.contains(now))
    }
}

/// One open request.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Its name.
    pub id: RequestId,
    /// Who takes the answer.
    pub via: Via,
    /// The session whose turn waits.
    pub session: SessionId,
    /// The type of the subagent that asks; `None` for the session's own turn.
    pub subagent: Option<Arc<str>>,
    /// `agent_id` of that subagent.
    pub subagent_id: Option<Arc<str>>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// The tool's input, JSON.
    pub input: Arc<str>,
    /// The input as the user reads it, whole, with invisible characters drawn.
    pub shown: Arc<str>,
    /// The request in one line, with invisible characters drawn.
    pub summary: Arc<str>,
    /// The kind of request.
    pub kind: RequestKind,
    /// The rules of "allow always"; empty where the agent suggests none.
    pub always: Vec<SuggestedRule>,
    /// `permission_suggestions`, JSON. "Allow always" echoes it.
    pub suggestions: Arc<str>,
    /// The permission mode of the session.
    pub mode: Option<Arc<str>>,
    /// The agent's folder at that moment. It follows `cd`.
    pub cwd: Option<Arc<str>>,
    /// The folder of the agent's project, which stays. The agent keeps the project's settings there.
    pub project: Option<Arc<str>>,
    /// When the hook process started.
    pub opened_at: Timestamp,
    /// The hash of the payload, and of the files after a change.
    pub digest: Digest,
    /// The files that it names, as they were when it was shown; `None` before the first look.
    pub files: Option<Vec<NamedFile>>,
    /// Those of them that were changed while it was open.
    pub changed: Vec<Arc<str>>,
    /// See [`NamedFiles::not_compared`].
    pub not_compared: Vec<Arc<str>>,
}

impl Request {
    /// Its files were looked at. The first look notes them. After a change its digest is another one, so an
    /// answer to what was shown before is refused.
    pub(super) fn note_files(&mut self, now: NamedFiles) {
        if let Some(before) = &self.files {
            for file in now.changed_since(before) {
                if !self.changed.contains(&file.path) {
                    self.changed.push(Arc::clone(&file.path));
                }
            }
            self.digest = Digest::of(format!("{:?} {:?}", self.digest, now.compared).as_bytes());
        }
        self.files = Some(now.compared);
        self.not_compared = now.not_compared;
    }
}

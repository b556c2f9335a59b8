//! What is kept of one file over a restart: where we are in it, what was folded from it, what is wrong with it.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use watchbill_core::ids::SessionId;
use watchbill_core::problem::{Problem, ProblemKind};
use watchbill_core::session::snapshot::{SnapshotError, from_first_bytes, to_bytes};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::Usage;
use watchbill_watch::fs::FileId;
use watchbill_watch::tail::{Cursor, Fingerprint};

use crate::model::session::Shared;
use crate::problems::Problems;

/// A transcript as it is kept. Its bytes are sealed: others than these are refused, and the file is read from its
/// beginning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptFile<'a> {
    cursor: KeptCursor,
    /// Where the unfinished line begins: of the line itself nothing is kept.
    pub line_start: u64,
    /// That line is too long already, and that has been said.
    pub endless: bool,
    /// How the companion of a subagent's transcript stood when it was read.
    pub meta: Option<MetaStamp>,
    /// Tokens, as they were shared out between this file and others.
    pub counted: Counted,
    problems: Vec<(ProblemKind, u64, Arc<str>)>,
    /// The head of the fold, which has a seal of its own.
    #[serde(skip)]
    pub fold: Cow<'a, [u8]>,
}

/// Tokens that depend on other files than the one they are kept with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Counted {
    /// Of a session: what it copied from another, and what that was worked out from.
    Session {
        /// Counted with the other session.
        inherited: Usage,
        /// Numbers of requests: while they stand, so does `inherited`.
        shared: Option<Shared>,
    },
    /// Of a subagent: the session that it is counted with, and what it adds there.
    Agent {
        /// The session.
        with: Option<SessionId>,
        /// What it adds.
        tokens: Usage,
    },
}

/// How a companion file stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetaStamp {
    /// When it was written.
    pub mtime: Timestamp,
    /// Its length.
    pub len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct KeptCursor {
    dev: u64,
    ino: u64,
    head: u64,
    window: u64,
    offset: u64,
    mtime: Timestamp,
}

impl<'a> KeptFile<'a> {
    /// From the parts.
    pub fn new(cursor: &Cursor, problems: &Problems, path: &Path, fold: Vec<u8>, counted: Counted) -> Self {
        let (head, window) = cursor.fingerprint.hashes();
        let FileId { dev, ino } = cursor.id;
        let cursor = KeptCursor { dev, ino, head, window, offset: cursor.offset, mtime: cursor.mtime };
        let problems = problems.of_content(&path.to_string_lossy());
        Self {
            cursor,
            line_start: cursor.offset,
            endless: false,
            meta: None,
            counted,
            problems,
            fold: Cow::Owned(fold),
        }
    }

    /// As bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = to_bytes(self);
        bytes.extend_from_slice(&self.fold);
        bytes
    }

    /// From bytes.
    ///
    /// # Errors
    /// When they are of another version or damaged.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, SnapshotError> {
        let (mut kept, fold) = from_first_bytes::<Self>(bytes)?;
        kept.fold = Cow::Borrowed(fold);
        Ok(kept)
    }

    /// Where reading stopped.
    pub fn cursor(&self) -> Cursor {
        let KeptCursor { dev, ino, head, window, offset, mtime } = self.cursor;
        Cursor {
            id: FileId { dev, ino },
            fingerprint: Fingerprint::from_hashes((head, window)),
            offset,
            mtime,
        }
    }

    /// What is wrong with the file at `path`.
    pub fn problems(&self, path: &Path) -> impl Iterator<Item = Problem> {
        self.problems.iter().map(move |(kind, count, detail)| Problem {
            path: path.to_string_lossy().into(),
            kind: *kind,
            count: *count,
            detail: Arc::clone(detail),
        })
    }
}

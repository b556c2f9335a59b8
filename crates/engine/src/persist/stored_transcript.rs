//! The stored state of one file: the read position, the fold, and the problems.

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

use crate::model::session::RequestCounts;
use crate::world::problems::Problems;

/// The stored state of a transcript. The bytes have a checksum. If it does not match, the file is read from its
/// beginning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredTranscript<'a> {
    cursor: StoredCursor,
    /// The offset of the unfinished line. Nothing of the line itself is stored.
    pub line_start: u64,
    /// The unfinished line is too long already, and its problem was counted.
    pub endless: bool,
    /// Time and length of the companion file when it was read last.
    pub meta: Option<MetaStamp>,
    /// How the tokens were shared between this file and others.
    pub counted: TokenSharing,
    problems: Vec<(ProblemKind, u64, Arc<str>)>,
    /// The encoded fold, with a checksum of its own.
    #[serde(skip)]
    pub fold: Cow<'a, [u8]>,
}

/// Tokens that depend on other files too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenSharing {
    /// A session: the tokens that it copied from another session, and the numbers behind them.
    Session {
        /// Counted in the other session.
        inherited: Usage,
        /// Request counts. While they are unchanged, so is `inherited`.
        shared: Option<RequestCounts>,
    },
    /// A subagent: the session that it counts in, and the tokens that it adds.
    Agent {
        /// The session.
        with: Option<SessionId>,
        /// The tokens that it adds.
        tokens: Usage,
    },
}

/// Time and length of a companion file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetaStamp {
    /// When it was written.
    pub mtime: Timestamp,
    /// Its length.
    pub len: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct StoredCursor {
    dev: u64,
    ino: u64,
    head: u64,
    window: u64,
    offset: u64,
    mtime: Timestamp,
}

impl<'a> StoredTranscript<'a> {
    /// Builds the state from its parts.
    pub fn new(
        cursor: &Cursor,
        problems: &Problems,
        path: &Path,
        fold: Vec<u8>,
        counted: TokenSharing,
    ) -> Self {
        let (head, window) = cursor.fingerprint.hashes();
        let FileId { dev, ino } = cursor.id;
        let cursor = StoredCursor { dev, ino, head, window, offset: cursor.offset, mtime: cursor.mtime };
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

    /// Reads the state from bytes.
    ///
    /// # Errors
    /// When the bytes are of another version or damaged.
    pub fn from_bytes(bytes: &'a [u8]) -> Result<Self, SnapshotError> {
        let (mut kept, fold) = from_first_bytes::<Self>(bytes)?;
        kept.fold = Cow::Borrowed(fold);
        Ok(kept)
    }

    /// Where reading stopped.
    pub fn cursor(&self) -> Cursor {
        let StoredCursor { dev, ino, head, window, offset, mtime } = self.cursor;
        Cursor {
            id: FileId { dev, ino },
            fingerprint: Fingerprint::from_hashes((head, window)),
            offset,
            mtime,
        }
    }

    /// The problems of the file at `path`.
    pub fn problems(&self, path: &Path) -> impl Iterator<Item = Problem> {
        self.problems.iter().map(move |(kind, count, detail)| Problem {
            path: path.to_string_lossy().into(),
            kind: *kind,
            count: *count,
            detail: Arc::clone(detail),
        })
    }
}

//! Problems met while reading, counted and shown. Reading itself goes on.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// How often one kind of problem occurred at one path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The file or folder.
    pub path: Arc<str>,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// How often.
    pub count: u64,
    /// For the user: what happened and what to do.
    pub detail: Arc<str>,
}

as_str!(ProblemKind);

/// Kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ProblemKind {
    /// A complete line is not JSON, or not an object.
    MalformedLine,
    /// A line is longer than we hold in memory; it was skipped.
    HugeLine,
    /// A line holds bytes that are not UTF-8; they were replaced.
    InvalidUtf8,
    /// A record type that we do not know.
    UnknownRecord,
    /// A copy of a transcript, which a sync tool or a person has made beside it.
    #[strum(serialize = "copy_of_a_transcript")]
    TranscriptCopy,
    /// No permission.
    PermissionDenied,
    /// A folder or root is missing.
    Missing,
    /// A path that should be a regular file is something else.
    NotAFile,
    /// A symlink loop.
    SymlinkLoop,
    /// A registry file that stays unreadable.
    MalformedRegistry,
    /// A marker file that is complete and wrong.
    MalformedMarker,
    /// A status file that is complete and wrong.
    MalformedStatusFile,
    /// A hook event that cannot be read.
    MalformedHook,
    /// Hook events that could not be kept, or came too late to be put into order.
    LostHooks,
    /// The system refuses more watches.
    WatchLimit,
    /// The file system reports no events; files are polled instead.
    NoEvents,
    /// File events were lost, so everything was scanned again.
    Overflow,
    /// The clock went back.
    ClockWentBack,
    /// Two processes write to one session.
    TwoProcesses,
    /// Any other error of the operating system.
    Io,
    /// Our own store cannot be opened or written.
    Store,
    /// The configuration file holds a value that is not applied.
    Configuration,
    /// A token count is greater than any request can have; it was cut.
    AbsurdTokens,
}

impl ProblemKind {
    /// Whether something is missing because of it. A folder that does not exist holds nothing, and a copy is left out on
    /// purpose.
    pub const fn loses_something(self) -> bool {
        !matches!(self, Self::Missing | Self::TranscriptCopy)
    }
}

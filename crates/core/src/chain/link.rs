//! A link between two sessions, with its reason and how far it can be trusted.

use crate::ids::SessionId;
use crate::time::Timestamp;

/// `to` comes from `from`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// The earlier session.
    pub from: SessionId,
    /// The later session.
    pub to: SessionId,
    /// How it is known.
    pub reason: LinkReason,
    /// How far it can be trusted.
    pub confidence: LinkConfidence,
    /// When the later one began, as far as known.
    pub at: Option<Timestamp>,
}

as_str!(LinkReason, LinkConfidence);

/// How a link is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(strum_macros::EnumString, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case", crate = "crate::words")]
pub enum LinkReason {
    /// A boundary inside one file: both ends are the same session.
    CompactBoundary,
    /// A marker file announced a compaction into a new id, from the same terminal.
    Marker,
    /// `/clear`: new file, same process.
    Clear,
    /// `forkedFrom` in the copied records, or copied history whose origin is known.
    ForkedFrom,
    /// The records' own process id field (`session_id` differing from `sessionId`).
    Process,
    /// A record of one of them names the other: `continued-in`, or the prompt that carries out the other's plan.
    ContinuedIn,
    /// Another agent goes on with the work.
    Switched,
    /// Both files hold the same record uuids.
    SharedRecords,
    /// A pair of hooks of one process.
    Hook,
    /// The registry file of one process changed its session.
    Registry,
    /// The same terminal.
    Terminal,
    /// The same folder, most recently active: a guess.
    CwdRecency,
    /// The user joined the sessions.
    Manual,
}

impl LinkReason {
    /// Reasons that the transcripts of both sessions show, at any time. If they no longer show such a link, it is
    /// gone. Each other reason was observed once, at its own time.
    pub const FROM_TRANSCRIPTS: [Self; 5] =
        [Self::ForkedFrom, Self::Process, Self::ContinuedIn, Self::SharedRecords, Self::CwdRecency];
}

/// How far a link can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum LinkConfidence {
    /// The evidence leaves no other origin.
    Proven,
    /// It is likely; the user can undo it.
    Suggested,
}

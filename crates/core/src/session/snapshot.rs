//! Writes folds to bytes and reads them back, so that a restart need not read transcripts again.
//!
//! A fold is stored in two parts. The *head* holds the facts for rows, chains and deadlines. It is small, and each
//! change writes it anew. The data of *each* record (ids to detect doubles, tokens per request) only grows, so it
//! is stored in *pieces* as it comes. A fold restored from its head alone works without the pieces until the file
//! grows. Then [`SessionFold::take_up`] gives them back.
//!
//! The form is postcard over the folds' own fields, behind a version and a checksum. It is no exchange format:
//! bytes of another version are refused. Then the file is read from its beginning, which is correct and only
//! slower.

mod pieces;
mod seal;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::chain::lineage::Lineage;
use crate::ids::SessionId;
use crate::session::fold::SessionFold;
use crate::session::state::Timeouts;
use crate::session::subagent::SubagentFold;
use crate::time::Timestamp;

pub use seal::{SnapshotError, VERSION};

impl SessionFold {
    /// The head, without the pieces.
    pub fn snapshot(&self) -> Vec<u8> {
        let sealed = postcard::to_extend(&Front::of(self), seal::begin());
        let whole = sealed.and_then(|bytes| postcard::to_extend(self, bytes));
        // Writing a fold cannot fail. If it did, the reader would refuse the empty bytes.
        whole.map(|bytes| seal::finish(bytes, 0)).unwrap_or_default()
    }

    /// The fold of the session `id` from the bytes of its head. Its pieces are aside.
    ///
    /// # Errors
    /// If the bytes are of another version, damaged, or of another session.
    pub fn restore(bytes: &[u8], id: &SessionId, timeouts: Timeouts) -> Result<Self, SnapshotError> {
        let (front, rest) = Front::read(bytes, id)?;
        front.unfold(rest, timeouts)
    }
}

/// The front of a session's head: the facts that a start needs of every session. It stands before the rest of the
/// head and can be read alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Front<'a> {
    pub lineage: Cow<'a, Lineage>,
    pub revision: u64,
    pub requests: usize,
    pub created_at: Option<Timestamp>,
    pub last_activity_at: Option<Timestamp>,
}

impl<'a> Front<'a> {
    fn of(fold: &'a SessionFold) -> Self {
        Self {
            lineage: Cow::Borrowed(fold.lineage()),
            revision: fold.lineage_revision(),
            requests: fold.ledger().len(),
            created_at: fold.facts().created_at,
            last_activity_at: fold.facts().last_activity_at,
        }
    }
}

impl Front<'static> {
    /// Reads the front from the head of the session `id`. Also returns the body, which follows the front.
    pub fn read<'b>(bytes: &'b [u8], id: &SessionId) -> Result<(Self, &'b [u8]), SnapshotError> {
        let (content, rest) = seal::open(bytes)?;
        let (mut front, body) =
            postcard::take_from_bytes::<Self>(content).map_err(|_| SnapshotError::Damaged)?;
        let ours = front.lineage.session == *id && !front.lineage.segments.is_empty();
        if !ours || !rest.is_empty() {
            return Err(SnapshotError::Damaged);
        }
        // All holders of the id share one text.
        front.lineage.to_mut().session = id.clone();
        Ok((front, body))
    }

    /// Decodes the whole fold.
    pub fn unfold(self, body: &[u8], timeouts: Timeouts) -> Result<SessionFold, SnapshotError> {
        let mut fold: SessionFold = postcard::from_bytes(body).map_err(|_| SnapshotError::Damaged)?;
        fold.restore_lineage(self.lineage.into_owned(), self.revision);
        fold.set_timeouts(timeouts);
        Ok(fold)
    }
}

impl SubagentFold {
    /// The head, without the pieces.
    pub fn snapshot(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// The fold of the subagent `agent` from the bytes of its head. Its pieces are aside.
    ///
    /// # Errors
    /// If the bytes are of another version, damaged, or of another subagent.
    pub fn restore(bytes: &[u8], agent: &str) -> Result<Self, SnapshotError> {
        let fold: Self = from_bytes(bytes)?;
        if **fold.agent() == *agent { Ok(fold) } else { Err(SnapshotError::Damaged) }
    }
}

/// The functions for the pieces of both kinds of folds.
macro_rules! remembers {
    ($fold:ty) => {
        impl $fold {
            /// From now on, the data of each record is also noted for [`Self::take_new`].
            pub fn note_new(&mut self) {
                let memory = self.memory();
                memory.seen.note_new();
                memory.ledger.note_new();
            }

            /// The same, beginning with all records: the pieces that were given out before become void. Not for a
            /// fold whose pieces are aside.
            pub fn note_all(&mut self) {
                let memory = self.memory();
                memory.seen.note_all();
                memory.ledger.note_all();
            }

            /// The data of the records since the last call, as a piece to store behind the earlier ones; `None` if
            /// there is none.
            pub fn take_new(&mut self) -> Option<Vec<u8>> {
                pieces::take_new(self.memory())
            }

            /// Frees the memory of the pieces. Only for a fold whose pieces are stored: no record may be applied
            /// before [`Self::take_up`].
            pub fn put_aside(&mut self) {
                let memory = self.memory();
                memory.seen.release();
                memory.ledger.put_aside();
            }

            /// Whether the pieces are aside. Then [`Self::take_up`] comes before the next record.
            pub fn is_aside(&self) -> bool {
                let (seen, ledger) = self.remembered();
                seen.is_released() || ledger.is_aside()
            }

            /// Takes back all pieces, in the order in which they were given out.
            ///
            /// # Errors
            /// If they are not the pieces that were given out. The fold must then begin anew.
            pub fn take_up(&mut self, all: &[u8]) -> Result<(), SnapshotError> {
                pieces::take_up(self.memory(), all)
            }
        }
    };
}

remembers!(SessionFold);
remembers!(SubagentFold);

/// A value as sealed bytes, for data that is stored beside a fold.
pub fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    // Writing a fold cannot fail. If it did, the reader would refuse the empty bytes.
    postcard::to_extend(value, seal::begin()).map(|bytes| seal::finish(bytes, 0)).unwrap_or_default()
}

/// A value from sealed bytes.
///
/// # Errors
/// If the bytes are of another version or damaged.
pub fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, SnapshotError> {
    match from_first_bytes(bytes)? {
        (value, []) => Ok(value),
        _ => Err(SnapshotError::Damaged),
    }
}

/// A value from the first sealed piece, and the bytes after this piece.
///
/// # Errors
/// If the bytes are of another version or damaged.
pub fn from_first_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, &'a [u8]), SnapshotError> {
    let (content, rest) = seal::open(bytes)?;
    Ok((postcard::from_bytes(content).map_err(|_| SnapshotError::Damaged)?, rest))
}

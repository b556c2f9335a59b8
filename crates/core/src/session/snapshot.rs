//! Folds to bytes and back, so that a restart need not read what was read before.
//!
//! A fold is kept in two parts. The *head* is what rows, chains and deadlines are made of: it is small, and is written
//! anew with every change. What is remembered of *each* record (ids against doubles, tokens per request) only grows:
//! it is given out in pieces as it comes, and a fold restored from its head alone does without until the file grows.
//! Then [`SessionFold::take_up`] gives it back.
//!
//! The form is postcard over the folds' own fields, behind a version and a checksum. It is no format for others:
//! bytes of another version are refused, and the file is read from its beginning, which is correct and only slower.

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
    /// The head, without what is remembered of each record.
    pub fn snapshot(&self) -> Vec<u8> {
        let sealed = postcard::to_extend(&Front::of(self), seal::begin());
        let whole = sealed.and_then(|bytes| postcard::to_extend(self, bytes));
        // Nothing in a fold can fail to be written: should it, the empty bytes are refused when they are read.
        whole.map(|bytes| seal::finish(bytes, 0)).unwrap_or_default()
    }

    /// The fold of the session `id` from the bytes of its head. What is remembered of each record is aside.
    ///
    /// # Errors
    /// When the bytes are of another version, damaged, or of another session.
    pub fn restore(bytes: &[u8], id: &SessionId, timeouts: Timeouts) -> Result<Self, SnapshotError> {
        let (front, rest) = Front::read(bytes, id)?;
        front.unfold(rest, timeouts)
    }
}

/// The front of a session's head: what a start asks of every session. It is kept before the rest of the head and can
/// be read alone.
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
    /// From the head of the session `id`; what follows the front is given too.
    pub fn read<'b>(bytes: &'b [u8], id: &SessionId) -> Result<(Self, &'b [u8]), SnapshotError> {
        let (content, rest) = seal::open(bytes)?;
        let (mut front, body) =
            postcard::take_from_bytes::<Self>(content).map_err(|_| SnapshotError::Damaged)?;
        let ours = front.lineage.session == *id && !front.lineage.segments.is_empty();
        if !ours || !rest.is_empty() {
            return Err(SnapshotError::Damaged);
        }
        // One text for all who name the session.
        front.lineage.to_mut().session = id.clone();
        Ok((front, body))
    }

    /// The whole fold.
    pub fn unfold(self, body: &[u8], timeouts: Timeouts) -> Result<SessionFold, SnapshotError> {
        let mut fold: SessionFold = postcard::from_bytes(body).map_err(|_| SnapshotError::Damaged)?;
        fold.restore_lineage(self.lineage.into_owned(), self.revision);
        fold.set_timeouts(timeouts);
        Ok(fold)
    }
}

impl SubagentFold {
    /// The head, without what is remembered of each record.
    pub fn snapshot(&self) -> Vec<u8> {
        to_bytes(self)
    }

    /// The fold of the subagent `agent` from the bytes of its head. What is remembered of each record is aside.
    ///
    /// # Errors
    /// When the bytes are of another version, damaged, or of another subagent.
    pub fn restore(bytes: &[u8], agent: &str) -> Result<Self, SnapshotError> {
        let fold: Self = from_bytes(bytes)?;
        if **fold.agent() == *agent { Ok(fold) } else { Err(SnapshotError::Damaged) }
    }
}

/// The same for both kinds of folds.
macro_rules! remembers {
    ($fold:ty) => {
        impl $fold {
            /// From now on what is remembered of each record is also noted for [`Self::take_new`].
            pub fn note_new(&mut self) {
                let memory = self.memory();
                memory.seen.note_new();
                memory.ledger.note_new();
            }

            /// The same, beginning with all records: the pieces that were given out before are void. Not for a fold
            /// whose pieces are aside.
            pub fn note_all(&mut self) {
                let memory = self.memory();
                memory.seen.note_all();
                memory.ledger.note_all();
            }

            /// What is remembered of the records since the last call, to be kept behind the earlier pieces;
            /// `None` when that is nothing.
            pub fn take_new(&mut self) -> Option<Vec<u8>> {
                pieces::take_new(self.memory())
            }

            /// Gives the memory for what is remembered of each record back. Only for a fold whose pieces are kept:
            /// without them no record must be applied any more.
            pub fn put_aside(&mut self) {
                let memory = self.memory();
                memory.seen.put_aside();
                memory.ledger.put_aside();
            }

            /// Whether what is remembered of each record is aside: then [`Self::take_up`] comes before the next record.
            pub fn is_aside(&self) -> bool {
                let (seen, ledger) = self.remembered();
                seen.is_aside() || ledger.is_aside()
            }

            /// Takes back what is remembered of each record, all pieces in the order in which they were given out.
            ///
            /// # Errors
            /// When they are not what was given out; the fold must then be begun anew.
            pub fn take_up(&mut self, all: &[u8]) -> Result<(), SnapshotError> {
                pieces::take_up(self.memory(), all)
            }
        }
    };
}

remembers!(SessionFold);
remembers!(SubagentFold);

/// A value as sealed bytes: for what is kept beside a fold.
pub fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    // Nothing in a fold can fail to be written: should it, the empty bytes are refused when they are read.
    postcard::to_extend(value, seal::begin()).map(|bytes| seal::finish(bytes, 0)).unwrap_or_default()
}

/// A value from sealed bytes.
///
/// # Errors
/// When the bytes are of another version or damaged.
pub fn from_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, SnapshotError> {
    match from_first_bytes(bytes)? {
        (value, []) => Ok(value),
        _ => Err(SnapshotError::Damaged),
    }
}

/// A value from the sealed bytes that are the first of these, and the others.
///
/// # Errors
/// When the bytes are of another version or damaged.
pub fn from_first_bytes<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, &'a [u8]), SnapshotError> {
    let (content, rest) = seal::open(bytes)?;
    Ok((postcard::from_bytes(content).map_err(|_| SnapshotError::Damaged)?, rest))
}

//! What a fold remembers of each record, for snapshots.

use crate::session::id_set::IdSet;
use crate::session::usage::RequestLedger;

/// What a fold remembers of each record.
pub(crate) struct Memory<'a> {
    /// Ids against doubles.
    pub seen: &'a mut IdSet,
    /// Tokens by request.
    pub ledger: &'a mut RequestLedger,
}

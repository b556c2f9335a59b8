//! The data that a fold keeps of each record, for snapshots.

use crate::session::id_set::IdSet;
use crate::session::usage::RequestLedger;

/// The data that a fold keeps of each record.
pub(crate) struct RecordData<'a> {
    /// Ids, to detect doubles.
    pub seen: &'a mut IdSet,
    /// Tokens by request.
    pub ledger: &'a mut RequestLedger,
}

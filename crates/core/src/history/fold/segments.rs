//! Segments of a transcript: from one compaction to the next.

use serde::{Deserialize, Serialize};

use crate::history::rows::{Item, RowSink, Segment};
use crate::time::Timestamp;
use crate::transcript::record::{Body, Record, System};

/// The newest segment of a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Segments {
    open: Option<Segment>,
    /// Time of the newest record.
    last_at: Option<Timestamp>,
}

impl Segments {
    /// Applies a record of the session itself. Gives the sink each segment that begins, and the end of the one
    /// before.
    pub fn apply(&mut self, offset: u64, record: &Record<'_>, sink: RowSink<'_>) {
        let at = record.envelope.at;
        let open = match (&record.body, self.open) {
            (Body::System(System::CompactBoundary(boundary)), before) => {
                let ended = Segment { ended_at: self.last_at, ..before.unwrap_or_default() };
                sink(Item::Segment(ended));
                let number = ended.number + 1;
                Segment { number, offset, started_at: at, ended_at: None, boundary: Some(*boundary) }
            }
            (_, None) => Segment { started_at: at, ..Segment::default() },
            (_, Some(open)) => Segment { started_at: open.started_at.or(at), ..open },
        };
        if self.open != Some(open) {
            sink(Item::Segment(open));
            self.open = Some(open);
        }
        self.last_at = self.last_at.max(at);
    }
}

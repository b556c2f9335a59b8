//! A second receiver of the same reading, so that a transcript is read and parsed only once for both.

use watchbill_core::transcript::record::Record;
use watchbill_core::transcript::report::LineReport;

use crate::reader::Reader;

/// Receives everything that the history reads of one file. Generic and not a trait object: a first index calls it for
/// every record.
pub trait RecordObserver {
    /// Everything received before is void.
    fn restarted(&mut self);

    /// The next record, without the parts that must not be stored.
    fn record(&mut self, record: &Record<'_>);

    /// The end of a line.
    fn line(&mut self, report: &LineReport);

    /// The end of a line that is too long to be held.
    fn huge_line(&mut self);

    /// This many bytes of an unfinished line are held.
    fn carried(&mut self, bytes: u64);

    /// The position of the reading.
    fn stands(&mut self, at: &Reader);
}

/// No second receiver.
pub enum NoObserver {}

impl RecordObserver for NoObserver {
    fn restarted(&mut self) {
        match *self {}
    }

    fn record(&mut self, _: &Record<'_>) {
        match *self {}
    }

    fn line(&mut self, _: &LineReport) {
        match *self {}
    }

    fn huge_line(&mut self) {
        match *self {}
    }

    fn carried(&mut self, _: u64) {
        match *self {}
    }

    fn stands(&mut self, _: &Reader) {
        match *self {}
    }
}

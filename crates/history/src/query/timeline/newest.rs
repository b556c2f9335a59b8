//! The end of a long timeline, read from the ends of its transcripts. A window shows it when the user opens a
//! session, until the whole timeline is read and counted.
//!
//! In rare cases it has a little less than the whole. A call whose result was written long before it has no result
//! here, and records that a client wrote twice are not recognised. Items have the same keys as in the whole, so that
//! the window recognises them.

use watchbill_protocol::timeline::Timeline;
use watchbill_watch::fs::Fs;
use watchbill_watch::tail::TailError;

use super::part::Part;
use super::plan::TimelinePlan;
use super::reader::{ItemRange, TimelineReader};

/// If all transcripts of a chain are shorter than this together, reading the whole takes no noticeable time.
const LONG: u64 = 4 << 20;
/// Bytes read from the end. The next size is tried if one holds too few items: one tool's output may have a megabyte.
const END_SIZES: [u64; 3] = [1 << 19, 1 << 22, 1 << 24];
/// This many items fill every window.
const ENOUGH_ITEMS: u64 = 60;

/// The last `limit` items at most, counted from 0. `None` if the transcripts are short or cannot be read; the reading
/// of the whole reports the error.
pub fn read_newest(fs: &dyn Fs, plan: &TimelinePlan, limit: u64) -> Option<Timeline> {
    let whole: u64 = plan.parts.iter().filter_map(|(_, path, _)| Some(fs.stat(path).ok()?.len)).sum();
    if whole < LONG {
        return None;
    }
    let mut found = None;
    for room in END_SIZES {
        found = Some(end(fs, plan, limit, room)?);
        if found.as_ref().is_some_and(|timeline| timeline.total >= ENOUGH_ITEMS.min(limit)) || room >= whole {
            break;
        }
    }
    found.filter(|timeline| timeline.total > 0)
}

/// The items in the last `room` bytes.
fn end(fs: &dyn Fs, plan: &TimelinePlan, limit: u64, mut room: u64) -> Option<Timeline> {
    let mut parts = Vec::new();
    for (session, path, reason) in plan.parts.iter().rev() {
        let mut part = Part::new(session, path.clone(), &plan.exclude);
        part.reason = *reason;
        let read = match part.read_end(fs, room) {
            // The file was removed, and the whole timeline does without it too.
            Err(TailError::Gone) => 0..0,
            read => read.ok()?,
        };
        room = room.saturating_sub(read.end - read.start);
        parts.push(part);
        if room == 0 {
            break;
        }
    }
    parts.reverse();
    let mut reader = TimelineReader::of_an_end();
    let mut timeline = reader.stretch(fs, plan, &parts, ItemRange::new(None, limit)).ok()?;
    for (item, index) in timeline.items.iter_mut().zip(0..) {
        item.index = index;
    }
    (timeline.from, timeline.total) = (0, timeline.items.len() as u64);
    Some(timeline)
}

#[cfg(test)]
mod tests;

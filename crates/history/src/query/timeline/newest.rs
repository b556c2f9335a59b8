//! The end of a long timeline, read from the ends of its transcripts: what a window shows when a session is opened.
//!
//! It is what stands there until the whole has been read and counted, and in rare cases a little less: a call whose result
//! was written long before it has none yet, and records that a client wrote a second time are not recognised. Items have
//! the keys that they have in the whole, by which whoever shows them knows them again.

use watchbill_protocol::timeline::Timeline;
use watchbill_watch::fs::Fs;
use watchbill_watch::tail::TailError;

use super::part::Part;
use super::plan::TimelinePlan;
use super::reader::{Stretch, TimelineReader};

/// Transcripts that are shorter, all of a chain together, are read whole in less time than a person would notice.
const LONG: u64 = 4 << 20;
/// So much of the end is read, and more where that holds too few items: tools may have said a megabyte in one.
const ENDS: [u64; 3] = [1 << 19, 1 << 22, 1 << 24];
/// So many items fill every window.
const ENOUGH: u64 = 60;

/// The last `limit` items at most, counted from 0; nothing where the transcripts are short, or cannot be read: why, whoever
/// reads the whole will say.
pub fn newest(fs: &dyn Fs, plan: &TimelinePlan, limit: u64) -> Option<Timeline> {
    let whole: u64 = plan.parts.iter().filter_map(|(_, path, _)| Some(fs.stat(path).ok()?.len)).sum();
    if whole < LONG {
        return None;
    }
    let mut found = None;
    for room in ENDS {
        found = Some(end(fs, plan, limit, room)?);
        if found.as_ref().is_some_and(|timeline| timeline.total >= ENOUGH.min(limit)) || room >= whole {
            break;
        }
    }
    found.filter(|timeline| timeline.total > 0)
}

/// The last items, as far as so many bytes hold them.
fn end(fs: &dyn Fs, plan: &TimelinePlan, limit: u64, mut room: u64) -> Option<Timeline> {
    let mut parts = Vec::new();
    for (session, path, reason) in plan.parts.iter().rev() {
        let mut part = Part::new(session, path.clone());
        part.reason = *reason;
        let read = match part.read_end(fs, room) {
            // Somebody has removed it, and the whole will do without it as well.
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
    let mut timeline = reader.stretch(fs, plan, &parts, Stretch::new(None, limit)).ok()?;
    for (item, index) in timeline.items.iter_mut().zip(0..) {
        item.index = index;
    }
    (timeline.from, timeline.total) = (0, timeline.items.len() as u64);
    Some(timeline)
}

#[cfg(test)]
mod tests;

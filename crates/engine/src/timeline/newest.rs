//! The end of a long timeline, read from the end of its last transcript: what a window shows when a session is opened.
//!
//! It is what stands there until the whole has been read and counted, and in rare cases a little less: a call whose result
//! was written long before it has none yet, and records that a client wrote a second time are not recognised.

use watchbill_protocol::timeline::Timeline;
use watchbill_watch::fs::Fs;

use super::part::Part;
use super::{Stretch, TimelineReader};
use crate::ask::TimelinePlan;

/// A shorter transcript is read whole in less time than a person would notice. When the whole is there it takes the place of
/// what was shown ahead, and what was opened in that closes: nothing that should happen without need.
const LONG: u64 = 64 << 20;
/// So much of its end is read: a window shows two dozen items, and tools may have said some kilobytes in each.
const END: u64 = 1 << 20;

/// The last `limit` items at most, counted from 0; nothing where the transcript is short, or cannot be read: why, whoever reads
/// the whole will say.
pub fn newest(fs: &dyn Fs, plan: &TimelinePlan, limit: u64) -> Option<Timeline> {
    newest_of_long(fs, plan, limit, LONG)
}

/// The same, where a transcript is long from so many bytes on.
fn newest_of_long(fs: &dyn Fs, plan: &TimelinePlan, limit: u64, long: u64) -> Option<Timeline> {
    let (session, path, _) = plan.parts.last()?;
    if fs.stat(path).ok()?.len < long {
        return None;
    }
    let mut part = Part::new(session, path.clone());
    part.read_end(fs, END).ok()?;
    let mut timeline =
        TimelineReader::default().stretch(fs, plan, &[part], Stretch::new(None, limit)).ok()?;
    for (item, index) in timeline.items.iter_mut().zip(0..) {
        item.index = index;
    }
    (timeline.from, timeline.total) = (0, timeline.items.len() as u64);
    (timeline.total > 0).then_some(timeline)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use watchbill_core::ids::SessionId;
    use watchbill_protocol::timeline::TimelineItem;
    use watchbill_watch::mem::MemFs;

    use super::*;

    /// What is long here, so that tests need not read more.
    const LONG_HERE: u64 = 8 << 20;
    const PATH: &str = "/c/projects/p/s.jsonl";

    /// A transcript of so many turns, each a prompt, a call and its result, of two kilobytes.
    fn plan_of(fs: &MemFs, turns: usize) -> TimelinePlan {
        let words = "word ".repeat(400);
        let mut text = String::new();
        for n in 0..turns {
            text += &format!(
                "{{\"type\":\"user\",\"uuid\":\"{n:08x}-0000-4000-8000-000000000001\",\"message\":{{\"content\":\"{n} {words}\"}}}}\n\
                 {{\"type\":\"assistant\",\"uuid\":\"{n:08x}-0000-4000-8000-000000000002\",\"message\":{{\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{n}\",\"name\":\"Read\",\"input\":{{}}}}]}}}}\n\
                 {{\"type\":\"user\",\"uuid\":\"{n:08x}-0000-4000-8000-000000000003\",\"message\":{{\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{n}\",\"content\":\"done\"}}]}}}}\n"
            );
        }
        fs.append(PATH, text.as_bytes());
        let session = SessionId::new("s");
        TimelinePlan {
            session: session.clone(),
            chain: "c".into(),
            name: None,
            parts: vec![(session, PathBuf::from(PATH), None)],
            agents: Vec::new(),
        }
    }

    #[test]
    fn the_newest_items_are_the_last_ones_of_the_whole() {
        let fs = MemFs::new();
        let plan = plan_of(&fs, 5000);
        fs.append(PATH, b"{\"type\":\"user\",\"message\":{\"content\":\"torn");
        let whole = TimelineReader::default().read(&fs, &plan, Stretch::new(None, 200)).unwrap();
        let newest = newest_of_long(&fs, &plan, 200, LONG_HERE).unwrap();
        assert_eq!(super::newest(&fs, &plan, 200), None, "it is not that long");
        assert_eq!((newest.from, newest.total, whole.total), (0, 200, 10_000));
        let places: Vec<u64> = newest.items.iter().map(|item| item.index).collect();
        assert_eq!(places, (0..200).collect::<Vec<_>>());
        let uncounted = |items: &[TimelineItem]| -> Vec<TimelineItem> {
            items.iter().map(|item| TimelineItem { index: 0, ..item.clone() }).collect()
        };
        assert_eq!(uncounted(&newest.items), uncounted(&whole.items));
    }

    #[test]
    fn of_a_short_or_missing_transcript_or_one_endless_line_there_is_nothing_ahead() {
        let fs = MemFs::new();
        let plan = plan_of(&fs, 100);
        assert_eq!(newest_of_long(&fs, &plan, 200, LONG_HERE), None);
        fs.append(PATH, &vec![b'x'; LONG_HERE as usize]);
        assert_eq!(newest_of_long(&fs, &plan, 200, LONG_HERE), None);
        assert_eq!(newest_of_long(&MemFs::new(), &plan, 200, LONG_HERE), None);
    }
}

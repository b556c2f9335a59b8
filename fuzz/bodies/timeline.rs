//! Any lines: the timeline never panics, and reading a file twice does not change the items that have an id.
//!
//! The fuzzer runs it, and so does a test over the inputs in `fuzz/seeds`.

use watchbill_agents::claude::records::parse_line;
use watchbill_core::transcript::timeline::TimelineBuilder;

/// Panics if a rule is broken.
pub fn check(data: &[u8]) {
    let mut builder = TimelineBuilder::default();
    let mut push_all = || {
        for (offset, line) in (0..).zip(data.split(|b| *b == b'\n')) {
            parse_line(line, &mut |record, full| builder.push(offset, &record, full));
        }
        builder.entries().iter().filter(|entry| entry.uuid.is_some()).count()
    };
    let once = push_all();
    assert_eq!(push_all(), once);
}

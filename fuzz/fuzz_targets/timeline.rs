//! Any lines: the timeline never panics, and reading a file twice changes nothing that has an id.

#![no_main]

use libfuzzer_sys::fuzz_target;
use watchbill_core::transcript::timeline::TimelineBuilder;

fuzz_target!(|data: &[u8]| {
    let mut builder = TimelineBuilder::new();
    let mut push_all = || {
        for (offset, line) in (0..).zip(data.split(|b| *b == b'\n')) {
            builder.push_line(offset, line);
        }
        builder.entries().iter().filter(|entry| entry.uuid.is_some()).count()
    };
    let once = push_all();
    assert_eq!(push_all(), once);
});

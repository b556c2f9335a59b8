//! Any lines of a rollout: parser, fold and timeline never panic, and the report counts the records.
//!
//! The fuzzer runs it, and so does a test over the inputs in `fuzz/seeds`.

use watchbill_agents::codex::records::parse_line;
use watchbill_core::ids::SessionId;
use watchbill_core::session::SessionFold;
use watchbill_core::session::state::Timeouts;
use watchbill_core::transcript::timeline::TimelineBuilder;

/// Panics if a rule is broken.
pub fn check(data: &[u8]) {
    let mut builder = TimelineBuilder::default();
    let mut fold = SessionFold::new(SessionId::new("s"), Timeouts::default());
    for (offset, line) in (0..).zip(data.split(|b| *b == b'\n')) {
        let mut records = 0;
        let report = parse_line(line, &mut |record, full| {
            records += 1;
            fold.apply(&record, &mut Vec::new());
            builder.push(offset, &record, full);
        });
        assert_eq!(report.records, records);
    }
}

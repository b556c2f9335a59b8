//! Any lines as the transcript of any agent, as a document, and as what it tells a hook: nothing panics, and the report counts the
//! records.
//!
//! The fuzzer runs it, and so does a test over the inputs in `fuzz/seeds`.

use watchbill_agents::document::lines;
use watchbill_agents::{Agent, traits};
use watchbill_core::ids::SessionId;
use watchbill_core::session::SessionFold;
use watchbill_core::session::state::Timeouts;
use watchbill_core::transcript::timeline::TimelineBuilder;

/// Panics if a rule is broken.
pub fn check(data: &[u8]) {
    if let Some(lines) = lines(data.to_vec()) {
        assert_eq!(lines.len(), data.len() + 1);
        read(&lines);
    }
    read(data);
}

fn read(data: &[u8]) {
    for agent in Agent::ALL {
        let mut builder = TimelineBuilder::default();
        let mut fold = SessionFold::new(SessionId::new("s"), Timeouts::default());
        for (offset, line) in (0..).zip(data.split(|b| *b == b'\n')) {
            let mut records = 0;
            let report = (traits(agent).layout.parse_line)(line, &mut |record, full| {
                records += 1;
                fold.apply(&record, &mut Vec::new());
                builder.push(offset, &record, full);
            });
            assert!(records <= report.records, "{agent:?}");
        }
        if let Some(hooks) = traits(agent).hooks {
            let _ = (hooks.parse)(data);
        }
    }
}

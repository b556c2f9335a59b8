//! Any lines as a transcript, a document, or rows of a database of any agent: nothing panics, and the report counts the records. The same
//! bytes as a hook's payload, a message of a server and a list of names.
//!
//! The fuzzer runs it, and so does a test over the inputs in `fuzz/seeds`.

use watchbill_agents::document::lines;
use watchbill_agents::traits::{Layout, Row};
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
        read_beside(traits(agent).layout, data);
        if let Some(hooks) = traits(agent).hooks {
            let _ = (hooks.parse)(data);
            if let Some(told) = hooks.other_form.and_then(|form| (form.translate)(data)) {
                let event = (hooks.parse)(&told);
                assert!(event.is_ok(), "{agent:?} {event:?}");
            }
        }
    }
}

/// What an agent has beside transcripts.
fn read_beside(layout: &Layout, data: &[u8]) {
    if let Some(server) = layout.server {
        let _ = (server.read)(data);
    }
    if let Some(names) = layout.names {
        let _ = (names.read)(data);
    }
    let (Some(database), Ok(text)) = (layout.database, std::str::from_utf8(data)) else { return };
    // A row is a line: its kind, its id, its time, its data.
    let row = |line: &str| {
        let mut fields = line.splitn(4, ' ');
        let mut next = || fields.next().unwrap_or_default().to_owned();
        let (kind, id, created) = (next(), next(), next().parse().unwrap_or_default());
        Row { kind, id, created, data: next() }
    };
    let rows: Vec<Row> = text.lines().map(row).collect();
    let _ = (database.session_of)(&(database.path_of)(text, None));
    for line in rows.chunk_by(|_, next| next.kind == "part").flat_map(database.lines) {
        assert!(line.text.ends_with('\n') && line.text.trim_end().lines().count() == 1, "{}", line.text);
    }
}

//! Any bytes in chunks of any length: they give the same lines as in one piece, and no line makes the parser panic.
//!
//! The first byte of the input sets the length of the chunks, the second the length limit of a line.
//!
//! The fuzzer runs it, and so does a test over the inputs in `fuzz/seeds`.

use watchbill_agents::claude::records::parse_line;
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};

/// Lines with their offset and bytes. A huge line has its length instead of its bytes.
fn lines(bytes: &[u8], chunk: usize, cap: usize) -> Vec<(u64, Result<Vec<u8>, u64>)> {
    let mut splitter = LineSplitter::with_cap(0, cap);
    let mut lines = Vec::new();
    for chunk in bytes.chunks(chunk) {
        splitter.push(chunk, &mut |split| {
            lines.push(match split {
                Split::Line(line) => (line.offset, Ok(line.bytes.to_vec())),
                Split::Huge { offset, len } => (offset, Err(len)),
            });
        });
    }
    lines
}

/// Panics if a rule is broken.
pub fn check(data: &[u8]) {
    let [chunk, cap, bytes @ ..] = data else { return };
    let cap = usize::from(*cap) + 1;
    let whole = lines(bytes, bytes.len().max(1), cap);
    assert_eq!(lines(bytes, usize::from(*chunk) + 1, cap), whole);

    for line in bytes.split(|b| *b == b'\n') {
        let mut records = 0;
        let report = parse_line(line, &mut |_, _| records += 1);
        assert_eq!(report.records, records);
    }
}

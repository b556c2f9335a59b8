//! Splits a line of a transcript into its objects.

use watchbill_core::transcript::json::Cursor;
use watchbill_core::transcript::report::LineReport;

/// Longest name of an unknown record type that a report keeps, in bytes.
pub(crate) const TYPE_NAME_LIMIT: usize = 64;

/// Lets `read` read each object of a line. It returns `None` if the object is malformed.
pub(crate) fn each_object(
    line: &[u8],
    read: &mut dyn FnMut(&mut Cursor<'_>, &mut LineReport) -> Option<()>,
) -> LineReport {
    let mut report = LineReport::default();
    match simdutf8::basic::from_utf8(line) {
        Ok(text) => read_text(text, &mut report, read),
        Err(_) => {
            report.invalid_utf8 = true;
            read_text(&String::from_utf8_lossy(line), &mut report, read);
        }
    }
    report
}

fn read_text(
    text: &str,
    report: &mut LineReport,
    read: &mut dyn FnMut(&mut Cursor<'_>, &mut LineReport) -> Option<()>,
) {
    let mut cursor = Cursor::new(text.strip_prefix('\u{feff}').unwrap_or(text));
    while cursor.peek().is_some() {
        let rest = cursor.clone();
        if read(&mut cursor, report).is_none() {
            report.malformed = true;
            // A file system leaves zeros where data was lost in a crash. JSON has none, so what follows is a record
            // of its own.
            match rest.after_zeros() {
                Some(next) => cursor = next,
                None => return,
            }
        }
    }
}

//! A report on one line: how many records it gave, and its problems.

use crate::problem::ProblemKind;

/// A report on one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineReport {
    /// Records handed to the sink, unknown ones included.
    pub records: u32,
    /// The line, or the part after its last record, is not a JSON object.
    pub malformed: bool,
    /// Bytes that are not UTF-8 were replaced.
    pub invalid_utf8: bool,
    /// The first type that this program does not know, cut short; empty when a record has no type.
    pub unknown_type: Option<Box<str>>,
    /// A count of tokens was greater than that of any request, and was cut.
    pub absurd_tokens: bool,
}

impl LineReport {
    /// The kinds of problems, for counting.
    pub fn problems(&self) -> impl Iterator<Item = ProblemKind> {
        [
            (self.malformed, ProblemKind::MalformedLine),
            (self.invalid_utf8, ProblemKind::InvalidUtf8),
            (self.unknown_type.is_some(), ProblemKind::UnknownRecord),
            (self.absurd_tokens, ProblemKind::AbsurdTokens),
        ]
        .into_iter()
        .filter_map(|(there, kind)| there.then_some(kind))
    }
}

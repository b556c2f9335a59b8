//! One line of a call's input that tells it from others of the same tool.

use std::borrow::Cow;

use watchbill_core::history::strip_private;
use watchbill_core::transcript::json::{Raw, head};

/// Longest target, in characters.
pub(crate) const TARGET_LIMIT: usize = 200;

/// Decoded bytes that are searched for the first line: enough for [`TARGET_LIMIT`] characters of four bytes after
/// some blank lines.
const LOOK_AT: usize = 1024;

/// The first of these fields that is a string, else the first string of the input.
pub(crate) fn first_of<'a>(keys: &[&str], input: Raw<'a>) -> Cow<'a, str> {
    for key in keys {
        if let Raw::Str(raw) = input.get(key) {
            return one_line(raw);
        }
    }
    first_string(input)
}

/// The first question of a call that asks the user.
pub(crate) fn question<'a>(input: Raw<'a>) -> Cow<'a, str> {
    let mut first = Raw::Absent;
    input.get("questions").elements(|cursor| {
        first = cursor.value()?.get("question");
        None
    });
    match first {
        Raw::Str(raw) => one_line(raw),
        _ => first_string(input),
    }
}

/// The first string of an input.
pub(crate) fn first_string<'a>(input: Raw<'a>) -> Cow<'a, str> {
    let mut found = Cow::Borrowed("");
    input.entries(|cursor, _| match cursor.value()? {
        Raw::Str(raw) => {
            found = one_line(raw);
            None
        }
        _ => Some(()),
    });
    found
}

/// The first line that is not blank, trimmed and cut at [`TARGET_LIMIT`] characters, without private blocks.
pub(crate) fn one_line(raw: &str) -> Cow<'_, str> {
    let text = head(raw, LOOK_AT);
    match strip_private(&text) {
        Cow::Owned(public) => Cow::Owned(first_line(&public).to_owned()),
        Cow::Borrowed(_) => match text {
            Cow::Borrowed(text) => Cow::Borrowed(first_line(text)),
            Cow::Owned(text) => Cow::Owned(first_line(&text).to_owned()),
        },
    }
}

fn first_line(text: &str) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
    match line.char_indices().nth(TARGET_LIMIT) {
        Some((end, _)) => &line[..end],
        None => line,
    }
}

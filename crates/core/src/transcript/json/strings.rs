//! All strings of a piece of JSON of any form.

use std::borrow::Cow;

use memchr::memchr;

use super::{Raw, closing_quote, unescape};
use crate::history::private::rest_closes_block;

/// Visits the strings in an object or array at any depth, undecoded and without keys.
pub fn each_string<'a>(nested: &'a str, visit: &mut dyn FnMut(&'a str)) {
    let bytes = nested.as_bytes();
    let mut at = 0;
    while let Some(quote) = memchr(b'"', &bytes[at..]) {
        let start = at + quote + 1;
        let Some(end) = closing_quote(bytes, start) else { return };
        at = end + 1;
        let next = bytes[at..].iter().find(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r'));
        if next != Some(&b':') {
            visit(&nested[start..end]);
        }
    }
}

/// Visits the strings in JSON text at any depth, undecoded, each with the key before it. A key itself comes as a
/// value with an empty key. The text may be cut anywhere; then its last string may be cut too. The visit ends when
/// `visit` returns `true`.
pub fn each_keyed_string<'a>(text: &'a str, visit: &mut dyn FnMut(&'a str, &'a str) -> bool) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut key) = (0, "");
    while let Some(quote) = memchr(b'"', &bytes[at..]) {
        let start = at + quote + 1;
        let end = closing_quote(bytes, start).unwrap_or(bytes.len());
        let string = &text[start..end];
        at = bytes.len().min(end + 1);
        let next = bytes[at..].iter().find(|b| !matches!(b, b' ' | b'\t' | b'\n' | b'\r'));
        let is_key = next == Some(&b':');
        if visit(if is_key { "" } else { key }, string) {
            return true;
        }
        if is_key {
            key = string;
        }
    }
    false
}

impl<'a> Raw<'a> {
    /// The string, cut at `limit` bytes, but empty if the part that is cut off shows that the beginning is private;
    /// `None` for anything else.
    pub fn head(self, limit: usize) -> Option<Cow<'a, str>> {
        match self {
            Self::Str(raw) => Some(head(raw, limit)),
            _ => None,
        }
    }
}

/// Decodes the beginning of the text between quotes. The result is empty if the part that is cut off shows that the
/// beginning is private.
pub fn head(raw: &str, limit: usize) -> Cow<'_, str> {
    let (kept, rest) = raw.split_at(raw.floor_char_boundary(limit));
    if rest_closes_block(kept, rest) { Cow::Borrowed("") } else { unescape(raw, limit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_come_with_their_keys_also_from_a_cut_text() {
        let mut found = Vec::new();
        let json = r#"{"a" : "b", "list":["c","d\"e"],"deep":{"f":1,"g":[{"h":"i"}]},"cut":"j k"#;
        each_keyed_string(json, &mut |key, value| {
            found.push(format!("{key}={value}"));
            false
        });
        assert_eq!(
            found,
            [
                "=a",
                "a=b",
                "=list",
                "list=c",
                r#"list=d\"e"#,
                "=deep",
                "=f",
                "=g",
                "=h",
                "h=i",
                "=cut",
                "cut=j k"
            ]
        );
        assert!(each_keyed_string(json, &mut |key, value| key == "a" && value == "b"));
    }
}

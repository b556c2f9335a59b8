//! Marker files `compacted.<newSessionId>.marker`: a hook announces a compaction.

use sonic_rs::{JsonValueTrait, Value};

use super::lineage::Marker;
use crate::ids::SessionId;
use crate::nesting::{Nesting, nesting};
use crate::time::Timestamp;

/// A marker is three short fields; anything much longer is something else.
const SIZE_LIMIT: usize = 64 * 1024;

/// Why a marker could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// The text stops in the middle: it is being written. Read it again in a moment.
    #[error("the marker file is incomplete; it will be read again")]
    Torn,
    /// The text is complete and wrong; reading it again will not help.
    #[error(
        "the marker file is not usable: {0}; the hook that wrote it needs correcting, the file can be deleted"
    )]
    Malformed(String),
}

/// Reads one marker file. `file_name` is its name without the folder.
///
/// If the name has the usual form, it must name the same session as the text. A copied or hand-made file that
/// contradicts itself proves nothing.
pub fn parse_marker(bytes: &[u8], file_name: &str) -> Result<Marker, MarkerError> {
    if bytes.len() > SIZE_LIMIT {
        return Err(malformed(format!("it has {} bytes, a marker has a few hundred", bytes.len())));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match shape(text) {
        Shape::Torn => return Err(MarkerError::Torn),
        Shape::NoObject => return Err(malformed("it is not a JSON object")),
        Shape::TooDeep => return Err(malformed("it is nested too deeply")),
        Shape::Complete => {}
    }
    let value: Value = sonic_rs::from_slice(text).map_err(|_| malformed("it is not valid JSON"))?;
    let session = session_of(&value, file_name)?;
    let cwd = string(&value, "cwd")?;
    let at = string(&value, "compactedAt")?;
    let compacted_at = Timestamp::parse(at)
        .ok_or_else(|| malformed("compactedAt is not a time of the form 2026-01-11T18:00:00.000Z"))?;
    Ok(Marker { session, cwd: cwd.into(), compacted_at })
}

fn session_of(value: &Value, file_name: &str) -> Result<SessionId, MarkerError> {
    let id = string(value, "newSessionId")?;
    if id.chars().any(|c| c.is_control() || c == '/' || c == '\\') {
        return Err(malformed("newSessionId is not a session id"));
    }
    let in_name = file_name.strip_prefix("compacted.").and_then(|rest| rest.strip_suffix(".marker"));
    match in_name {
        Some(named) if named != id => Err(malformed("newSessionId is not the id in the file's name")),
        _ => Ok(SessionId::new(id)),
    }
}

fn string<'v>(value: &'v Value, field: &str) -> Result<&'v str, MarkerError> {
    match value.get(field) {
        None => Err(malformed(format!("{field} is missing"))),
        Some(found) => found
            .as_str()
            .filter(|text| !text.trim().is_empty())
            .ok_or_else(|| malformed(format!("{field} is not a text, or is empty"))),
    }
}

fn malformed(reason: impl Into<String>) -> MarkerError {
    MarkerError::Malformed(reason.into())
}

/// The shape of the text, found before it is parsed: a parser's error does not say whether more text would have
/// helped.
enum Shape {
    Complete,
    Torn,
    NoObject,
    TooDeep,
}

fn shape(text: &[u8]) -> Shape {
    // A file that was allocated but not written yet reads as zeros.
    let Some(first) = text.iter().position(|b| !b.is_ascii_whitespace() && *b != 0) else {
        return Shape::Torn;
    };
    if text[first] != b'{' {
        return Shape::NoObject;
    }
    match nesting(text) {
        Nesting::Closed => Shape::Complete,
        Nesting::Open => Shape::Torn,
        Nesting::TooDeep => Shape::TooDeep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{ "newSessionId": "abc123def456", "cwd": "/path/to/project", "compactedAt": "2026-01-11T18:00:00.000Z" }"#;
    const NAME: &str = "compacted.abc123def456.marker";

    fn reason(text: &str, name: &str) -> String {
        match parse_marker(text.as_bytes(), name) {
            Err(MarkerError::Malformed(reason)) => reason,
            other => panic!("{text} gave {other:?}"),
        }
    }

    #[test]
    fn the_documents_example_is_read() {
        let marker = parse_marker(WHOLE.as_bytes(), NAME).expect("it is whole");
        assert_eq!(marker.session, SessionId::new("abc123def456"));
        assert_eq!(&*marker.cwd, "/path/to/project");
        assert_eq!(marker.compacted_at.to_string(), "2026-01-11T18:00:00.000Z");
    }

    #[test]
    fn more_fields_an_end_of_line_and_another_time_zone_do_no_harm() {
        let text = "\u{feff}{\"cwd\":\"C:\\\\repo {x}\",\"extra\":{\"a\":[1]},\"newSessionId\":\"abc123def456\",\
                    \"compactedAt\":\"2026-01-11T19:00:00+01:00\"}\r\n";
        let marker = parse_marker(text.as_bytes(), NAME).expect("it is whole");
        assert_eq!(&*marker.cwd, "C:\\repo {x}");
        let plain = parse_marker(WHOLE.as_bytes(), NAME).expect("it is whole");
        assert_eq!((marker.session, marker.compacted_at), (plain.session, plain.compacted_at));
    }

    #[test]
    fn every_beginning_of_a_marker_is_torn() {
        for end in 0..WHOLE.len() {
            assert_eq!(parse_marker(&WHOLE.as_bytes()[..end], NAME), Err(MarkerError::Torn), "{end} bytes");
        }
        // Cut inside a character, after a backslash, and allocated but not written.
        for text in [&b"{\"cwd\":\"/\xc3"[..], b"{\"cwd\":\"C:\\", b" \n", b"\0\0\0\0"] {
            assert_eq!(parse_marker(text, NAME), Err(MarkerError::Torn));
        }
    }

    #[test]
    fn complete_nonsense_is_malformed() {
        for text in ["hello", "[]", "42", "null", "\"{\"", "{}}", "{]", "{,}", "{\"cwd\" 1}", "}{"] {
            reason(text, NAME);
        }
        assert_eq!(reason("{}", NAME), "newSessionId is missing");
        assert!(reason(&"[".repeat(5000), NAME).contains("not a JSON object"));
        assert!(reason(&"{\"a\":".repeat(5000), NAME).contains("nested"));
        assert!(reason(&format!("{{\"a\":\"{}\"}}", "x".repeat(70_000)), NAME).contains("bytes"));
        assert!(matches!(parse_marker(b"{\"cwd\":\"\xff\"}", NAME), Err(MarkerError::Malformed(_))));
        assert!(reason(&format!("{WHOLE} {{}}"), NAME).contains("not valid JSON"));
    }

    #[test]
    fn a_wrong_or_missing_field_is_named() {
        let with = |field: &str, value: &str| {
            let mut fields = vec![
                ("newSessionId", "\"abc123def456\""),
                ("cwd", "\"/repo\""),
                ("compactedAt", "\"2026-01-11T18:00:00Z\""),
            ];
            fields.retain(|(name, _)| *name != field);
            let mut text: Vec<_> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
            if !value.is_empty() {
                text.push(format!("\"{field}\":{value}"));
            }
            format!("{{{}}}", text.join(","))
        };
        for field in ["newSessionId", "cwd", "compactedAt"] {
            for value in ["", "7", "null", "\"\"", "\"  \"", "[]", "{}"] {
                let reason = reason(&with(field, value), NAME);
                assert!(reason.starts_with(field), "{field} = {value}: {reason}");
            }
        }
        assert!(reason(&with("compactedAt", "\"yesterday\""), NAME).starts_with("compactedAt"));
        assert!(reason(&with("newSessionId", "\"../../etc\""), "x").starts_with("newSessionId"));
    }

    #[test]
    fn the_name_must_not_contradict_the_text() {
        assert!(reason(WHOLE, "compacted.another.marker").contains("file's name"));
        for name in ["copy of a marker", "compacted.marker", ""] {
            assert!(parse_marker(WHOLE.as_bytes(), name).is_ok(), "{name} names no session");
        }
    }

    #[test]
    fn the_error_tells_the_person_what_to_do() {
        let error = parse_marker(b"{}", NAME).expect_err("it is empty").to_string();
        assert!(error.contains("newSessionId is missing") && error.contains("can be deleted"), "{error}");
    }
}

//! Marker files `compacted.<newSessionId>.marker`: a hook announces a compaction.

use sonic_rs::{JsonValueTrait, Value};

use super::lineage::Marker;
use crate::ids::SessionId;
use crate::time::Timestamp;

/// A marker is three short fields; anything much longer is something else.
const SIZE_LIMIT: usize = 64 * 1024;
/// Nesting that no marker has, and that a recursive parser should not be asked to follow.
const DEPTH_LIMIT: usize = 32;

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

/// What makes two marker files the same announcement, wherever they lie and however often they are read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MarkerKey {
    /// `newSessionId`.
    pub session: SessionId,
    /// `compactedAt`.
    pub compacted_at: Timestamp,
}

impl Marker {
    /// The key under which this announcement counts once.
    pub fn key(&self) -> MarkerKey {
        MarkerKey { session: self.session.clone(), compacted_at: self.compacted_at }
    }
}

/// Reads one marker file. `file_name` is its name without the folder.
///
/// Where the name has the usual form it must name the same session as the text: a copied or hand-made file
/// that contradicts itself proves nothing.
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

/// Whether the text can be parsed at all, told apart before a parser is asked: a parser's error does not say
/// whether more text would have helped.
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
    let (mut depth, mut in_string, mut escaped) = (0usize, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_LIMIT {
            return Shape::TooDeep;
        }
    }
    if depth > 0 || in_string { Shape::Torn } else { Shape::Complete }
}

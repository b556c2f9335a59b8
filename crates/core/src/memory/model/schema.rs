//! The schema of a reply: flat, with enums for all that can be named.

use std::fmt::Write as _;

use super::reply::{FIELDS, TITLE};
use super::{Job, MOST_FINDINGS};
use crate::memory::kind::{Importance, MemoryKind};
use crate::memory::plain::MAX_CHARS;
use crate::memory::summary::FIELD;

/// The schema as JSON text. `file` is one of the question's files or empty, and `evidence` names its activities. A question about a
/// session has a title and the five fields of its summary.
pub fn schema(job: &Job) -> String {
    if job.is_summary() {
        let names = list(FIELDS.into_iter());
        let field = |name: &&str| {
            let most = if *name == "title" { TITLE } else { FIELD };
            format!(r#""{name}":{{"type":"string","maxLength":{most}}}"#)
        };
        let fields = FIELDS.iter().map(field).collect::<Vec<_>>().join(",");
        return format!(
            r#"{{"type":"object","properties":{{{fields}}},"required":{names},"additionalProperties":false}}"#
        );
    }
    let types = list(MemoryKind::OF_MODEL.iter().map(|kind| kind.as_str()));
    let importance = list([Importance::Medium, Importance::High].iter().map(|one| one.as_str()));
    let files = list(job.files.iter().map(String::as_str).chain([""]));
    let evidence = list(job.labels.iter().map(|label| &*label.name));
    let most = job.labels.len().min(3);
    let mut out = String::new();
    let _ = write!(
        out,
        r#"{{"type":"object","properties":{{"memories":{{"type":"array","maxItems":{MOST_FINDINGS},"items":{{"type":"object","properties":{{"type":{{"type":"string","enum":{types}}},"text":{{"type":"string","maxLength":{MAX_CHARS}}},"importance":{{"type":"string","enum":{importance}}},"file":{{"type":"string","enum":{files}}},"evidence":{{"type":"array","minItems":1,"maxItems":{most},"items":{{"type":"string","enum":{evidence}}}}}}},"required":["type","text","importance","file","evidence"],"additionalProperties":false}}}}}},"required":["memories"],"additionalProperties":false}}"#
    );
    out
}

/// A JSON list of strings.
fn list<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let texts: Vec<String> = texts.map(quoted).collect();
    format!("[{}]", texts.join(","))
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

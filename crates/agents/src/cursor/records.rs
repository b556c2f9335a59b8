//! Tells a line of a transcript in the form of the transcripts that hosts write. Evidence: files of 2026, read by their shapes.
//!
//! Only prompts have times, to the minute. A call has neither an id nor a result: Cursor writes it after the tool has run, and the
//! end of its turn closes it.

use serde_json::{Value, json};
use watchbill_core::ids::stable_hash;
use watchbill_core::transcript::report::LineReport;

use crate::claude::records::user::tagged;
use crate::fold::json::text;
use crate::traits::RecordSink;
use crate::translated::{self, Word, ended, failed, in_our_words, interrupted, joined, message, prompt};

/// Reads one line, without its newline.
pub fn parse_line(line: &[u8], sink: RecordSink<'_>) -> LineReport {
    translated::parse_line(line, translate, sink)
}

/// Cursor's own tools and their fields.
pub(super) const WORDS: &[Word] = &[
    ("Shell", "Bash", &[]),
    ("Read", "Read", &[("path", "file_path")]),
    ("Write", "Write", &[("path", "file_path"), ("contents", "content")]),
    ("StrReplace", "Edit", &[("path", "file_path")]),
    ("Glob", "Glob", &[("glob_pattern", "pattern")]),
];

fn translate(line: &Value) -> Option<Vec<Value>> {
    let content = &line["message"]["content"];
    Some(match (text(line, "role"), text(line, "type")) {
        (Some("user"), _) => vec![typed(&joined(content))],
        (Some("assistant"), _) => vec![answer(content)],
        (None, Some("turn_ended")) => match (text(line, "status"), text(line, "error")) {
            (Some("aborted"), _) => vec![interrupted(&Value::Null)],
            // A stop by the user may have the status of an error.
            (Some("error"), Some(error)) if is_stop(error) => vec![interrupted(&Value::Null)],
            (Some("error"), error) => {
                vec![failed(&Value::Null, "error", error.unwrap_or("The turn failed."))]
            }
            _ => vec![ended(&Value::Null)],
        },
        _ => return None,
    })
}

fn is_stop(error: &str) -> bool {
    ["User aborted", "User interrupted"].iter().any(|words| error.starts_with(words))
}

/// What the user typed, without what Cursor wrote around it.
fn typed(words: &str) -> Value {
    let at = tagged(words, "timestamp").and_then(time).map_or(Value::Null, Value::from);
    let query = tagged(words, "user_query").unwrap_or(words).trim();
    prompt(&Value::Null, &at, query)
}

/// One step of a turn.
fn answer(content: &Value) -> Value {
    // Two lines of the same words and calls would have the same ids. They count as one.
    let hash = stable_hash(content.to_string().as_bytes());
    let blocks = content.as_array().into_iter().flatten().enumerate().filter_map(|(n, block)| {
        Some(match text(block, "type")? {
            "tool_use" => {
                let (tool, input) =
                    in_our_words(text(block, "name").unwrap_or_default(), &block["input"], WORDS);
                json!({ "type": "tool_use", "id": format!("{hash:016x}-{n}"), "name": tool, "input": input })
            }
            "text" => json!({ "type": "text", "text": block["text"] }),
            _ => return None,
        })
    });
    message("assistant", &Value::Null, blocks.collect())
}

/// `Monday, Jan 5, 2026, 9:00 AM (UTC+1)` in the usual form.
fn time(words: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let [_, day, year, clock] = words.split(", ").collect::<Vec<_>>()[..] else { return None };
    let (month, day) = day.split_once(' ')?;
    let month = MONTHS.iter().position(|name| month.starts_with(name))? + 1;
    let [clock, half, zone] = clock.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    let (hour, minute) = clock.split_once(':')?;
    let hour = hour.parse::<u8>().ok()? % 12 + if half == "PM" { 12 } else { 0 };
    let offset = zone.strip_prefix("(UTC")?.strip_suffix(')')?;
    let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "00"));
    let hours: i8 = if hours.is_empty() { 0 } else { hours.parse().ok()? };
    let sign = if offset.starts_with('-') { '-' } else { '+' };
    let (day, minute): (u8, u8) = (day.parse().ok()?, minute.parse().ok()?);
    Some(format!(
        "{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00{sign}{:02}:{minutes}",
        hours.unsigned_abs()
    ))
}

#[cfg(test)]
mod tests {
    use super::time;
    use watchbill_core::time::Timestamp;

    #[test]
    fn a_prompt_has_its_time() {
        for (words, iso) in [
            ("Monday, Jan 5, 2026, 9:00 AM (UTC+1)", "2026-01-05T08:00:00.000Z"),
            ("Monday, Jan 5, 2026, 12:07 AM (UTC)", "2026-01-05T00:07:00.000Z"),
            ("Tuesday, June 30, 2026, 12:30 PM (UTC-7)", "2026-06-30T19:30:00.000Z"),
            ("Tuesday, Jun 30, 2026, 1:30 PM (UTC+5:30)", "2026-06-30T08:00:00.000Z"),
            ("Tuesday, Jun 30, 2026, 1:30 PM (UTC-3:30)", "2026-06-30T17:00:00.000Z"),
        ] {
            let parsed = time(words).and_then(|text| Timestamp::parse(&text)).map(|at| at.to_string());
            assert_eq!(parsed.as_deref(), Some(iso), "{words}");
        }
        for words in
            ["", "yesterday", "Monday, Jan 5, 2026", "a, b c, d, e f g", "Mo, Jan 5, 2026, 9:00 AM (UTC+x)"]
        {
            assert_eq!(time(words), None, "{words}");
        }
    }
}

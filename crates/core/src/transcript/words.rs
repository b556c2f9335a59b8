//! Payloads and numbers as bounded text for a person.

use std::borrow::Cow;

use super::json::Raw;

/// The text of a result: its text blocks, and a word for each block that is none.
pub(super) fn result_text(content: Raw<'_>, limit: usize) -> String {
    if let Raw::Str(_) = content {
        return cut(content, limit);
    }
    let mut text = String::new();
    content.elements(|cursor| {
        let block = cursor.value()?;
        if !text.is_empty() {
            text.push('\n');
        }
        let room = limit.saturating_sub(text.len());
        match (block.get("text"), block.get("type").word()) {
            (Raw::Str(_), _) => text.push_str(&cut(block.get("text"), room)),
            (_, Some(kind)) => text.push_str(&format!("[{kind}]")),
            _ => {}
        }
        (text.len() <= limit).then_some(())
    });
    ellipsis(Cow::Owned(text), limit)
}

/// A value as it stands in the line.
pub(super) fn json_text(input: Raw<'_>, limit: usize) -> String {
    match input {
        Raw::Absent => String::new(),
        Raw::Str(raw) => ellipsis(Cow::Owned(format!("\"{raw}\"")), limit),
        Raw::Nested(raw) | Raw::Plain(raw) => ellipsis(Cow::Borrowed(raw), limit),
    }
}

/// A string, cut at `limit` bytes with an ellipsis where something is missing.
pub(super) fn cut(raw: Raw<'_>, limit: usize) -> String {
    // One character more than wanted tells whether something is missing.
    ellipsis(raw.text(limit + 4).unwrap_or_default(), limit)
}

/// A text, cut at `limit` bytes with an ellipsis where something is missing.
pub(super) fn ellipsis(text: Cow<'_, str>, limit: usize) -> String {
    if text.len() <= limit {
        return text.into_owned();
    }
    let room = limit.saturating_sub('…'.len_utf8());
    let mut text = text[..text.floor_char_boundary(room)].to_owned();
    text.push('…');
    text
}

/// Without the colours that the client writes for its own terminal.
pub(super) fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        rest = rest[at + 1..].trim_start_matches('[');
        // A control sequence ends with its first letter.
        let end = rest.find(|c: char| c.is_ascii_alphabetic()).map_or(rest.len(), |end| end + 1);
        rest = &rest[end..];
    }
    out + rest
}

/// A span in words: `0.6 s`, `42 s`, `3 min 5 s`, `2 h 10 min`.
pub(super) fn span(ms: u64) -> String {
    let seconds = ms / 1000;
    match seconds {
        0..10 => format!("{}.{} s", seconds, ms % 1000 / 100),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_words() {
        for (ms, want) in
            [(600, "0.6 s"), (59_999, "59 s"), (185_000, "3 min 5 s"), (7_800_000, "2 h 10 min")]
        {
            assert_eq!(span(ms), want);
        }
    }

    #[test]
    fn colours_are_dropped() {
        assert_eq!(without_escapes("\u{1b}[2mCompacted\u{1b}[22m (ctrl+o)\u{1b}"), "Compacted (ctrl+o)");
    }
}

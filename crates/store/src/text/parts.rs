//! The parts of a text that its plain words don't show: pieces of camelCase names, and the signs of scripts that
//! write no spaces, one by one, so that a word in the middle of a run is found as a phrase of its signs.

/// What is added to the index for a text; `None` for most: plain words need no addition.
pub fn of(text: &str) -> Option<String> {
    let mut parts = String::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() {
            let start = at;
            let mut seams = false;
            let mut before = byte;
            at += 1;
            while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
                seams |= bytes[at].is_ascii_uppercase() && before.is_ascii_lowercase();
                before = bytes[at];
                at += 1;
            }
            if seams || has_late_capitals(&bytes[start..at]) {
                camel(&text[start..at], &mut parts);
            }
        } else if byte < 0x80 {
            at += 1;
        } else {
            let Some(c) = text[at..].chars().next() else { break };
            at += c.len_utf8();
            if is_unspaced(c) {
                parts.push(' ');
                parts.push(c);
                parts_break(&text[at..], &mut parts);
            }
        }
    }
    (!parts.is_empty()).then_some(parts)
}

/// Between two runs stands a sign that no query asks for, so that no phrase reaches from one into the next.
fn parts_break(rest: &str, parts: &mut String) {
    if !rest.chars().next().is_some_and(is_unspaced) {
        parts.push_str(" 0x");
    }
}

/// Whether capitals are followed by a lower-case word, as in `HTTPServer`.
fn has_late_capitals(word: &[u8]) -> bool {
    word.windows(3)
        .any(|w| w[0].is_ascii_uppercase() && w[1].is_ascii_uppercase() && w[2].is_ascii_lowercase())
}

/// The pieces of a camelCase name.
fn camel(word: &str, parts: &mut String) {
    for piece in pieces(word) {
        parts.push(' ');
        parts.push_str(piece);
    }
    parts.push_str(" 0x");
}

/// `parseHTTPLine2` as `parse`, `HTTP`, `Line2`. ASCII only; anything else is one piece.
pub fn pieces(word: &str) -> Vec<&str> {
    let bytes = word.as_bytes();
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in 1..bytes.len() {
        let capital = bytes[at].is_ascii_uppercase();
        let after_lower = bytes[at - 1].is_ascii_lowercase() || bytes[at - 1].is_ascii_digit();
        let before_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        if capital && (after_lower || (bytes[at - 1].is_ascii_uppercase() && before_lower)) {
            pieces.push(&word[start..at]);
            start = at;
        }
    }
    pieces.push(&word[start..]);
    pieces
}

/// Whether the character belongs to a script that writes no spaces between words.
pub fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF      // Thai, Lao
        | 0x1000..=0x109F    // Burmese
        | 0x1780..=0x17FF    // Khmer
        | 0x3005..=0x3007    // iteration marks
        | 0x3040..=0x30FF    // kana
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF    // ideographs
        | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7AF    // hangul: particles stick to the words
        | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F    // half-width kana
        | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_texts_need_no_addition() {
        assert_eq!(of("fn parse_line(bytes: &[u8]) in src/lib.rs, PATH and Readme"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn names_and_unspaced_scripts_are_taken_apart() {
        assert_eq!(of("call parseLine now").as_deref(), Some(" parse Line 0x"));
        assert_eq!(pieces("parseHTTPLine2Go"), ["parse", "HTTP", "Line2", "Go"]);
        assert_eq!(of("HTTPServer").as_deref(), Some(" HTTP Server 0x"));
        assert_eq!(of("日本語 ok").as_deref(), Some(" 日 本 語 0x"));
    }
}

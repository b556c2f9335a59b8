//! Payloads and numbers as bounded text for the user.

use std::borrow::Cow;

use super::json::Raw;
use crate::history::private::removable_prefix;

/// A text that may have been cut.
#[derive(Debug, Default)]
pub(super) struct Bounded {
    pub text: String,
    /// Its end is missing, and an ellipsis stands for it.
    pub cut: bool,
}

/// The text of a result: its text blocks, and the kind of each other block, such as `[image]`.
pub(super) fn result_text(content: Raw<'_>, limit: usize) -> Bounded {
    if let Raw::Str(_) = content {
        let Bounded { text, cut } = bounded(decoded(content, limit), limit);
        return Bounded { text: without_escapes(&text).into_owned(), cut };
    }
    let (mut text, mut cut) = (String::new(), false);
    content.elements(|cursor| {
        let block = cursor.value()?;
        if !text.is_empty() {
            text.push('\n');
        }
        let room = limit.saturating_sub(text.len());
        match (block.get("text"), block.get("type").word()) {
            (Raw::Str(_), _) => {
                let part = bounded(decoded(block.get("text"), room), room);
                text.push_str(&part.text);
                cut |= part.cut;
            }
            (_, Some(kind)) => text.push_str(&format!("[{kind}]")),
            _ => {}
        }
        (text.len() <= limit).then_some(())
    });
    let whole = bounded(Cow::Owned(text), limit);
    Bounded { text: without_escapes(&whole.text).into_owned(), cut: cut || whole.cut }
}

/// A value as it stands in the line.
pub(super) fn json_text(input: Raw<'_>, limit: usize) -> Bounded {
    let text = match input {
        Raw::Absent => Cow::Borrowed(""),
        Raw::Str(raw) => Cow::Owned(format!("\"{raw}\"")),
        Raw::Nested(raw) | Raw::Plain(raw) => Cow::Borrowed(raw),
    };
    bounded(text, limit)
}

/// A string, cut at `limit` bytes, with an ellipsis if it was longer.
pub(super) fn cut(raw: Raw<'_>, limit: usize) -> String {
    ellipsis(decoded(raw, limit), limit)
}

/// One character more of a string than `limit` allows, which shows whether the string is longer.
fn decoded<'a>(raw: Raw<'a>, limit: usize) -> Cow<'a, str> {
    raw.text(limit + 4).unwrap_or_default()
}

fn bounded(text: Cow<'_, str>, limit: usize) -> Bounded {
    Bounded { cut: text.len() > limit, text: ellipsis(text, limit) }
}

/// A text, cut at `limit` bytes, with an ellipsis if it was longer.
pub(super) fn ellipsis(text: Cow<'_, str>, limit: usize) -> String {
    if text.len() <= limit {
        return text.into_owned();
    }
    let room = limit.saturating_sub('…'.len_utf8());
    let mut text = text[..text.floor_char_boundary(room)].to_owned();
    text.push('…');
    text
}

/// The text without the escape sequences that colour a terminal, move its cursor or set its title (ECMA-48).
/// Otherwise they would stick to the words after them. A sequence that is cut off is removed as far as it goes. If
/// a private block begins in a sequence and does not end there, it stays, to be stripped with the text that
/// follows.
pub fn without_escapes(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(ESCAPE, text.as_bytes()) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut rest = &text[first..];
    while !rest.is_empty() {
        rest = &rest[removable_prefix(rest, sequence(rest.as_bytes()))..];
        let end = memchr::memchr(ESCAPE, rest.as_bytes()).unwrap_or(rest.len());
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    Cow::Owned(out)
}

const ESCAPE: u8 = 0x1b;

/// Length of the sequence at the beginning. All its bytes are ASCII, except inside a string for the terminal.
fn sequence(text: &[u8]) -> usize {
    let many = |from: usize, set: std::ops::RangeInclusive<u8>| {
        from + text[from..].iter().take_while(|byte| set.contains(byte)).count()
    };
    match text.get(1) {
        // Parameters, intermediate bytes, and a final byte.
        Some(b'[') => {
            let end = many(many(2, 0x30..=0x3f), 0x20..=0x2f);
            many(end, 0x40..=0x7e).min(end + 1)
        }
        // A string, up to a bell or to the sequence that ends strings. Without an end in its line it is no string.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = text[2..].iter().position(|byte| matches!(*byte, 7 | ESCAPE | b'\n'));
            match end.map(|end| (end + 2, text[end + 2])) {
                Some((end, 7)) => end + 1,
                Some((end, ESCAPE)) if text.get(end + 1) == Some(&b'\\') => end + 2,
                _ => 2,
            }
        }
        Some(0x20..=0x2f) => {
            let end = many(1, 0x20..=0x2f);
            many(end, 0x30..=0x7e).min(end + 1)
        }
        Some(0x30..=0x7e) => 2,
        _ => 1,
    }
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
    use crate::history::strip_private;

    #[test]
    fn spans_are_written_with_units() {
        for (ms, want) in
            [(600, "0.6 s"), (59_999, "59 s"), (185_000, "3 min 5 s"), (7_800_000, "2 h 10 min")]
        {
            assert_eq!(span(ms), want);
        }
    }

    #[test]
    fn escape_sequences_are_dropped() {
        for (text, want) in [
            ("\u{1b}[2mCompacted\u{1b}[22m (ctrl+o)\u{1b}", "Compacted (ctrl+o)"),
            ("\u{1b}[1m\u{1b}[33mwarning\u{1b}[0m: unused", "warning: unused"),
            ("\u{1b}[38;5;9mred\u{1b}[K\u{1b}[?25l é", "red é"),
            ("\u{1b}(B\u{1b}=a\u{1b}7b", "ab"),
            ("\u{1b}]8;;https://example.org\u{1b}\\a link\u{1b}]8;;\u{7}.", "a link."),
            ("\u{1b}]0;title\nnext", "0;title\nnext"),
            ("cut \u{1b}[38;5", "cut "),
            ("\u{1b}é \u{1b}[é \u{1b}\u{1b}[0m", "é é "),
            ("nothing", "nothing"),
        ] {
            assert_eq!(without_escapes(text), want, "{text:?}");
        }
    }

    #[test]
    fn a_private_block_that_begins_in_an_escape_sequence_stays_private() {
        for (text, want) in [
            ("a\u{1b}]0;<private>\u{7} secret </private>b", "ab"),
            ("a\u{1b}]0;x <Private why>y\u{1b}\\ secret", "a"),
            ("a\u{1b}[<private>secret</private>b", "ab"),
            ("a\u{1b}<private>secret</private>b", "ab"),
            ("a\u{1b}(<memory-context>secret</memory-context>b", "ab"),
            ("<private>\u{1b}]0;</private>\u{7}secret</private>b", "b"),
            ("<private>\u{1b}]0;<private>x</private></private>\u{7}secret</private>b", "b"),
            ("a\u{1b}]0;<private>x<private>\u{7}y</private>secret</private>b", "ab"),
            ("a<pri\u{1b}[0mvate>secret</private>b", "ab"),
            ("a\u{1b}]0;<private>secret</private>\u{7}b", "ab"),
            ("a\u{1b}]0;<private/>\u{7}b\u{1b}[<1ucd", "abcd"),
        ] {
            assert_eq!(strip_private(&without_escapes(text)), want, "{text:?}");
        }
    }

    #[test]
    fn text_before_a_tag_that_an_escape_divides_is_public() {
        assert_eq!(strip_private(&without_escapes("S<pri\u{1b}\\vate>secret</private>")), "S");
    }

    proptest::proptest! {
        #[test]
        fn a_private_block_with_escapes_is_stripped(parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "<private>", "</private>", "<private ", "<pri", "vate>", "\u{1b}]0;", "\u{1b}\\", "\u{7}", "\u{1b}[", "\u{1b}",
                "<", "0", "m", " ", "\n", "S", "é",
            ]), 0..16)) {
            // Each `S` becomes a letter of its own.
            let letters = ('α'..='ω').map(String::from);
            let text = parts.concat().split('S').zip(letters).map(|(part, letter)| format!("{part}{letter}")).collect::<String>();
            let public = strip_private(&without_escapes(&text)).into_owned();
            // No letter of a block is public, also where the block begins or ends in an escape.
            for (at, letter) in text.char_indices().filter(|(_, letter)| ('α'..='ω').contains(letter)) {
                let mut open = 0_u32;
                for (tag, _) in text[..at].match_indices('<') {
                    let tag = &text[tag..at];
                    open += u32::from(tag.starts_with("<private>"));
                    open = open.saturating_sub(u32::from(tag.starts_with("</private>")));
                }
                proptest::prop_assert!(open == 0 || !public.contains(letter), "{letter} in {text:?}");
            }
        }

        #[test]
        fn no_escape_is_left_and_a_plain_text_is_unchanged(text in "[\u{1b}\u{7}\\[\\];m0-9a-z é\n(\\\\]{0,24}") {
            let without = without_escapes(&text);
            proptest::prop_assert!(!without.as_bytes().contains(&ESCAPE));
            if !text.contains('\u{1b}') {
                proptest::prop_assert_eq!(&without, &text);
            }
        }
    }
}

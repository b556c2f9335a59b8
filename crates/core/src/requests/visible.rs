//! Draws characters that hide: a text shows everything that it holds.

use std::fmt::Write as _;

/// The text with each control, format and private character, and each unusual space, drawn as `⟨U+202E⟩`. Line feeds and
/// tabs stay.
///
/// A request is untrusted text. Direction marks, zero-width characters and odd spaces can make a card seem to say
/// something else than the agent will do.
pub fn visible(text: &str) -> String {
    let mut drawn = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => drawn.push(character),
            _ if hides(character) => {
                // Writing into a string does not fail.
                let _ = write!(drawn, "⟨U+{:04X}⟩", u32::from(character));
            }
            _ => drawn.push(character),
        }
    }
    drawn
}

/// The same in one line of at most `limit` characters. Line feeds become `⏎`; a cut text ends in `…`.
pub fn visible_line(text: &str, limit: usize) -> String {
    let line = visible(text).replace('\n', "⏎").replace('\t', " ");
    match line.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Whether a character changes or hides text without being seen. Ranges: Unicode 17, categories Cc, Cf, Co, Zl, Zp, all of
/// Zs but the space, and `Default_Ignorable_Code_Point`.
pub(crate) fn hides(character: char) -> bool {
    let code = u32::from(character);
    character.is_control()
        || matches!(code,
            0xa0 | 0xad | 0x34f | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x890..=0x891 | 0x8e2
            | 0x115f..=0x1160 | 0x1680 | 0x17b4..=0x17b5 | 0x180b..=0x180f
            | 0x2000..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f | 0x2800
            | 0x3000 | 0x3164 | 0xe000..=0xf8ff | 0xfe00..=0xfe0f | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
            | 0x110bd | 0x110cd | 0x13430..=0x1343f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a
            | 0xe0000..=0x10_ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_character_that_hides_is_drawn() {
        let hidden = [
            '\u{202a}',
            '\u{202b}',
            '\u{202c}',
            '\u{202d}',
            '\u{202e}',
            '\u{2066}',
            '\u{2067}',
            '\u{2068}',
            '\u{2069}',
            '\u{200e}',
            '\u{200f}',
            '\u{61c}',
            '\u{200b}',
            '\u{feff}',
            '\u{e0100}',
            '\u{e0041}',
            '\u{a0}',
            '\u{3164}',
            '\u{2800}',
            '\u{1b}',
            '\r',
            '\u{f8ff}',
            '\u{2028}',
            '\u{85}',
            '\u{3000}',
        ];
        for character in hidden {
            let drawn = visible(&format!("a{character}b"));
            assert_eq!(drawn, format!("a⟨U+{:04X}⟩b", u32::from(character)));
        }
    }

    #[test]
    fn ordinary_text_stays_as_it_is() {
        for text in ["cargo test -p a", "naïve 日本語 Ελλάδα العربية 🙂", "two\nlines\tand a tab", ""]
        {
            assert_eq!(visible(text), text);
        }
    }

    #[test]
    fn a_line_shows_its_breaks_and_its_cut() {
        assert_eq!(visible_line("a\nb\tc", 10), "a⏎b c");
        assert_eq!(visible_line("abcdef", 3), "abc…");
    }
}

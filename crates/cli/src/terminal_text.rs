//! Text for a terminal: colours and widths, without control characters from transcripts.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
pub use watchbill_engine::is_steering;

/// Whether to use colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint(pub bool);

/// The meaning of a colour, as in the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A session needs the user.
    Need,
    /// A session works.
    Work,
    /// It is the user's turn.
    Turn,
    /// Unimportant text.
    Dim,
    /// An error.
    Error,
    /// Emphasis.
    Bold,
    /// A text that was searched for.
    Found,
}

impl Paint {
    /// `text` in the colour of `tone`.
    pub fn tone(self, tone: Tone, text: &str) -> String {
        if !self.0 || text.is_empty() {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Need => "33",
            Tone::Work => "34",
            Tone::Turn => "32",
            Tone::Dim => "2",
            Tone::Error => "31",
            Tone::Bold => "1",
            Tone::Found => "1;33",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// One line that is safe to print. It drops control characters and marks of writing direction, and joins runs of
/// space. Transcripts hold the output of any tool.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
        } else if !is_steering(c) {
            out.push(c);
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Several lines, each safe to print.
pub fn lines(text: &str) -> impl Iterator<Item = String> + '_ {
    text.lines().map(|line| {
        line.chars().map(|c| if c == '\t' { ' ' } else { c }).filter(|c| !is_steering(*c)).collect::<String>()
    })
}

/// JSON with escapes for characters that control a terminal. A JSON reader gets the same text.
pub fn json(text: String) -> String {
    let is_plain = |byte: u8| byte.is_ascii() && byte != 0x7f;
    if text.bytes().all(is_plain) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // Such characters occur only in strings, and none needs two UTF-16 units.
        if is_steering(c) && c != '\n' {
            out.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            out.push(c);
        }
    }
    out
}

/// `text` cut to `width` columns, with an ellipsis if it was cut, and filled with spaces.
pub fn fit(text: &str, width: usize) -> String {
    let mut out = cut(text, width);
    let missing = width.saturating_sub(out.width());
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// `text` cut to at most `width` columns.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if used + w + 1 > width {
            break;
        }
        out.push(c);
        used += w;
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// The end of `text` in `width` columns, with an ellipsis before it if it was cut, and filled with spaces. The last
/// part of a path says most.
pub fn fit_end(text: &str, width: usize) -> String {
    if !is_wider(text, width) {
        return fit(text, width);
    }
    let (mut room, mut from) = (width.saturating_sub(1), text.len());
    for (at, c) in text.char_indices().rev() {
        let Some(left) = room.checked_sub(c.width().unwrap_or(0)) else { break };
        (room, from) = (left, at);
    }
    fit(&format!("…{}", &text[from..]), width)
}

/// `line` broken into lines of at most `width` columns, at spaces where possible. The line's indentation stays before
/// the first part only.
pub fn wrap(line: &str, width: usize) -> Vec<String> {
    let width = width.max(2);
    let mut out = Vec::new();
    let mut rest = line;
    while is_wider(rest, width) {
        let mut used = 0;
        let mut end = 0;
        let mut space = None;
        for (at, c) in rest.char_indices() {
            used += c.width().unwrap_or(0);
            if c == ' ' && !rest[..at].trim().is_empty() {
                space = Some(at);
            }
            if used > width {
                break;
            }
            end = at + c.len_utf8();
        }
        let cut = space.filter(|space| *space > 0).unwrap_or(end);
        out.push(rest[..cut].trim_end().to_owned());
        rest = rest[cut..].trim_start();
    }
    out.push(rest.to_owned());
    out
}

/// Text in lines of at most `width` columns, each in the colour of `tone`.
pub fn wrap_all(words: &str, width: usize, tone: Option<Tone>, paint: Paint) -> String {
    let lines = words.lines().flat_map(|line| wrap(line, width));
    lines.map(|line| tone.map_or_else(|| line.clone(), |tone| paint.tone(tone, &line)) + "\n").collect()
}

/// Measures only as much text as could fit. Otherwise a long answer would be measured once for each of its lines.
fn is_wider(text: &str, width: usize) -> bool {
    // Several characters may share a column, an emoji and its joiners for instance, but not this many.
    text.char_indices().nth(width * 8).is_some() || text.width() > width
}

/// A span in short words: `12 s`, `4 min`, `3 h`, `2 d`.
pub fn age(millis: i64) -> String {
    let secs = millis.max(0) / 1000;
    match secs {
        0..60 => format!("{secs} s"),
        60..3600 => format!("{} min", secs / 60),
        3600..86_400 => format!("{} h", secs / 3600),
        _ => format!("{} d", secs / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_can_be_cut_to_its_end() {
        assert_eq!(fit_end("/home/dev/api", 13), "/home/dev/api");
        assert_eq!(fit_end("/home/dev/api", 15), "/home/dev/api  ");
        assert_eq!(fit_end("/home/dev/api", 8), "…dev/api");
        assert_eq!(fit_end("/home/日本語", 6), "…本語 ", "no sign is cut in two");
        assert_eq!(fit_end("/home", 0), "");
        let long = "/home".repeat(1 << 20);
        assert_eq!(fit_end(&long, 6), "…/home", "and the rest is not measured over and over");
    }

    #[test]
    fn control_characters_are_dropped() {
        assert_eq!(one_line("a\x1b[31mred\x07\n\n b\u{202e}cd\u{feff}"), "a[31mred bcd");
        assert_eq!(lines("x\x1b]0;t\x07\ny").collect::<Vec<_>>(), ["x]0;t", "y"]);
    }

    #[test]
    fn json_escapes_control_characters_and_keeps_its_values() {
        let value = serde_json::json!({ "a\u{9b}": "b\u{202e}\u{7f}ü\u{2028}\n\u{1b}\u{feff}🏳" });
        let written = json(value.to_string());
        assert!(!written.contains(is_steering), "{written}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
    }

    #[test]
    fn text_is_cut_by_columns_not_by_bytes() {
        assert_eq!(fit("日本語テキスト", 7), "日本語…");
        assert_eq!(fit("ab", 4), "ab  ");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcdef", 0), "");
    }

    #[test]
    fn long_lines_are_broken_at_spaces_and_nothing_is_lost() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one two", 7), ["one two"]);
        assert_eq!(wrap("", 7), [""]);
        assert_eq!(
            wrap("    indented text", 10),
            ["    indent", "ed text"],
            "an indentation is no place to break"
        );
        assert_eq!(wrap("日本語テキスト", 6), ["日本語", "テキス", "ト"]);
        assert_eq!(wrap("abcdefgh ij", 4), ["abcd", "efgh", "ij"]);
        let text = "👩‍👩‍👧 emoji and שלום עולם and a_very_long_identifier_without_any_space";
        for width in 2..40 {
            let lines = wrap(text, width);
            assert!(lines.iter().all(|line| line.width() <= width), "{width}: {lines:?}");
            assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        }
    }

    #[test]
    fn text_of_combining_marks_is_wrapped_in_linear_time() {
        let flood = format!("a{} b", "\u{301}".repeat(1000));
        assert_eq!(wrap(&flood, 10).concat().replace(' ', ""), flood.replace(' ', ""));
        // No clock is checked, but quadratic time would take minutes for this.
        let long = "word ".repeat(200_000);
        assert!(wrap(&long, 40).iter().all(|line| line.width() <= 40));
    }

    #[test]
    fn ages_are_words() {
        assert_eq!(age(59_999), "59 s");
        assert_eq!(age(60_000), "1 min");
        assert_eq!(age(7_200_000), "2 h");
        assert_eq!(age(-5), "0 s");
    }
}

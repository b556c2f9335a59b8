//! The part of a text that a hit shows: one line around the place with the most matches.

use std::ops::Range;

use super::find::{Mark, densest};

/// Length of a snippet in bytes, roughly.
const LENGTH: usize = 200;
/// How much of it comes before the first mark.
const LEAD: usize = 50;

/// A line around the densest place, and the positions of the marks in it.
pub(crate) fn around(text: &str, marks: &[Mark]) -> (String, Vec<Range<usize>>) {
    let first = marks.get(densest(marks, LENGTH - LEAD).0).map_or(0, |mark| mark.range.start);
    let start = word_start(text, first.saturating_sub(LEAD), first);
    let end = word_end(text, (start + LENGTH).max(first + 1).min(text.len()));
    let mut line = String::with_capacity(LENGTH + 8);
    if start > 0 {
        line.push('…');
    }
    let mut marked = Vec::new();
    let mut at = start;
    for mark in marks.iter().filter(|mark| mark.range.start >= start && mark.range.end <= end) {
        add_line(&text[at..mark.range.start], &mut line);
        let from = line.len();
        add_line(&text[mark.range.clone()], &mut line);
        marked.push(from..line.len());
        at = mark.range.end;
    }
    add_line(&text[at..end], &mut line);
    line.truncate(line.trim_end().len());
    if end < text.len() {
        line.push('…');
    }
    (line, marked)
}

/// Appends text on one line: runs of white space as one space, no control characters.
fn add_line(text: &str, line: &mut String) {
    for c in text.chars() {
        if c.is_whitespace() {
            if !line.is_empty() && !line.ends_with([' ', '…']) {
                line.push(' ');
            }
        } else if !c.is_control() {
            line.push(c);
        }
    }
}

/// The first beginning of a word at or after `from` and before `limit`; without one, the next character.
fn word_start(text: &str, from: usize, limit: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let from = text.ceil_char_boundary(from);
    let rest = &text[from..limit.max(from)];
    let space = rest.char_indices().find(|(_, c)| c.is_whitespace());
    space.map_or(from, |(at, space)| from + at + space.len_utf8())
}

/// The last end of a word at or before `to`, if it is near.
fn word_end(text: &str, to: usize) -> usize {
    if to >= text.len() {
        return text.len();
    }
    let to = text.ceil_char_boundary(to);
    let from = text.floor_char_boundary(to.saturating_sub(30));
    text[from..to].rfind(char::is_whitespace).map_or(to, |space| from + space)
}

#[cfg(test)]
mod tests {
    use super::super::find::Finder;
    use super::super::query::Terms;
    use super::*;

    fn snippet(typed: &str, text: &str) -> String {
        let (line, marks) = around(text, &Finder::new(&Terms::parse(typed, false)).find(text));
        let mut shown = String::new();
        let mut at = 0;
        for mark in marks {
            shown += &format!("{}[{}]", &line[at..mark.start], &line[mark.clone()]);
            at = mark.end;
        }
        shown + &line[at..]
    }

    #[test]
    fn a_snippet_is_one_line_around_the_densest_place() {
        assert_eq!(snippet("fox", "the\n\tred  fox\u{7} ran"), "the red [fox] ran");
        let text = format!("fox {} a red fox {}", "word ".repeat(80), "more ".repeat(80));
        let shown = snippet("fox red", &text);
        assert!(shown.starts_with('…') && shown.ends_with('…'), "{shown}");
        assert!(shown.contains(" a [red] [fox] more"), "{shown}");
        assert!(shown.len() < 230);
    }

    #[test]
    fn long_words_and_other_scripts_are_cut_between_characters() {
        for text in [
            "あ".repeat(300),
            "\u{3000}あ".repeat(200),
            "é".repeat(300),
            format!("{}fox{}", "x".repeat(500), "y".repeat(500)),
        ] {
            let shown = snippet("fox", &text);
            assert!(shown.ends_with('…') && shown.len() < 260, "{shown}");
        }
    }
}

//! Finds a query's terms in one text: where they are, and how relevant the text is.

use std::ops::Range;

use super::query::{Term, Terms};
use super::word_positions::{self, WordPositions, WordStarts};

/// A term prepared for comparison: its words, and its parts if it has some.
struct PreparedTerm {
    whole: Vec<String>,
    parts: Vec<String>,
    prefix: bool,
}

impl PreparedTerm {
    fn of(term: &Term) -> Self {
        let mut places = WordPositions::default();
        places.read(&term.text);
        let folded = |ranges: &[Range<u32>]| -> Vec<String> {
            ranges
                .iter()
                .map(|r| word_positions::fold(&term.text[r.start as usize..r.end as usize]))
                .collect()
        };
        Self { whole: folded(&places.whole), parts: folded(&places.parts), prefix: term.prefix }
    }
}

/// A match of a term in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    /// Its bytes.
    pub range: Range<usize>,
    /// Index of the term.
    pub term: usize,
}

/// Finds the terms of one query in text after text.
pub(crate) struct Finder {
    wanted: Vec<PreparedTerm>,
    near: WordStarts,
    words: WordPositions,
}

/// This many matches per term are enough in one text; the rest is not searched for.
const ENOUGH: usize = 200;

impl Finder {
    /// A finder for this query.
    pub fn new(terms: &Terms) -> Self {
        let wanted: Vec<PreparedTerm> = terms.0.iter().map(PreparedTerm::of).collect();
        let near = WordStarts::of(wanted.iter().flat_map(|wanted| [&wanted.whole[..], &wanted.parts[..]]));
        Self { wanted, near, words: WordPositions::default() }
    }

    /// The matches in a text, in order and without overlaps.
    pub fn find(&mut self, text: &str) -> Vec<Mark> {
        self.words.read_near(text, &self.near);
        self.marks(text)
    }

    /// The matches among the words that were read.
    fn marks(&self, text: &str) -> Vec<Mark> {
        let mut marks = Vec::new();
        for (term, wanted) in self.wanted.iter().enumerate() {
            let mut add = |range: Range<usize>| {
                marks.push(Mark { range, term });
                marks.len() < ENOUGH * (term + 1)
            };
            find_sequence(text, &self.words.whole, &wanted.whole, wanted.prefix, false, &mut add);
            // Words may be parts of a name, and parts may be the words between underscores.
            find_sequence(text, &self.words.parts, &wanted.whole, wanted.prefix, true, &mut add);
            if !wanted.parts.is_empty() {
                find_sequence(text, &self.words.parts, &wanted.parts, wanted.prefix, true, &mut add);
                find_sequence(text, &self.words.whole, &wanted.parts, wanted.prefix, false, &mut add);
            }
        }
        marks.sort_by_key(|mark| (mark.range.start, std::cmp::Reverse(mark.range.end)));
        let mut end = 0;
        marks.retain(|mark| {
            let keep = mark.range.start >= end;
            if keep {
                end = mark.range.end;
            }
            keep
        });
        marks
    }

    /// The relevance of a text. It is greater the more often and the closer together the terms are in it, and the
    /// shorter it is.
    pub fn weigh(&self, text: &str, marks: &[Mark]) -> f64 {
        let slack = 0.5 + text.len() as f64 / 1_000.0;
        let mut weight = 0.0;
        for term in 0..self.wanted.len() {
            let times = marks.iter().filter(|mark| mark.term == term).count() as f64;
            weight += times / (times + slack);
        }
        let together = densest(marks, NEAR).1;
        weight * (1.0 + 0.5 * together as f64 / self.wanted.len().max(1) as f64)
    }
}

/// Matches within so many bytes count as close together.
pub(crate) const NEAR: usize = 160;

/// The stretch of at most `near` bytes with the most different terms: the index of its first mark, and how many
/// terms.
pub(crate) fn densest(marks: &[Mark], near: usize) -> (usize, usize) {
    let mut best = (0, 0);
    for (first, mark) in marks.iter().enumerate() {
        let end = mark.range.start + near;
        let mut terms = 0u64;
        for other in marks[first..].iter().take_while(|other| other.range.end <= end) {
            terms |= 1 << (other.term % 64);
        }
        let count = terms.count_ones() as usize;
        if count > best.1 {
            best = (first, count);
        }
    }
    best
}

/// Searches for a sequence of words. `adjacent` words must follow each other without a gap.
fn find_sequence(
    text: &str,
    places: &[Range<u32>],
    wanted: &[String],
    prefix: bool,
    adjacent: bool,
    found: &mut dyn FnMut(Range<usize>) -> bool,
) {
    let Some((last, others)) = wanted.split_last() else { return };
    let word = |place: &Range<u32>| &text[place.start as usize..place.end as usize];
    for window in places.windows(wanted.len()) {
        let fits = window
            .iter()
            .zip(others)
            .all(|(place, wanted)| word_positions::matches_word(word(place), wanted, false))
            && window.last().is_some_and(|place| word_positions::matches_word(word(place), last, prefix))
            && (!adjacent || window.windows(2).all(|pair| pair[0].end == pair[1].start));
        if let (true, Some(first), Some(end)) = (fits, window.first(), window.last())
            && !found(first.start as usize..end.end as usize)
        {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(typed: &str, text: &str) -> Vec<String> {
        let mut finder = Finder::new(&Terms::parse(typed, false));
        finder.find(text).into_iter().map(|mark| text[mark.range].to_owned()).collect()
    }

    #[test]
    fn matches_of_the_index_are_marked() {
        for (typed, text, found) in [
            (
                "parse_line",
                "a parse_line, parse line, parseLine",
                vec!["parse_line", "parse line", "parseLine"],
            ),
            ("parseLine", "parseLine parse_line PARSELINE", vec!["parseLine", "parse_line", "PARSELINE"]),
            ("line", "parseLine", vec!["Line"]),
            ("\"b c\" a", "a b c b", vec!["a", "b c"]),
            ("conf*", "config, conform", vec!["config", "conform"]),
            ("本語", "日本語です", vec!["本語"]),
            ("版v2", "新版v2x 新版v2", vec!["版v2"]),
            ("naive", "Naïve", vec!["Naïve"]),
            ("src/lib.rs", "in src/lib.rs:3", vec!["src/lib.rs"]),
        ] {
            assert_eq!(marked(typed, text), found, "{typed} in {text}");
        }
    }

    /// Words, parts of names, characters and gaps, in any order.
    fn scraps(most: usize) -> impl Strategy<Value = String> {
        let scraps = [
            "a", "b", "A", "parse", "Parse", "PARSE", "Line", "line", "x9", "9", "é", "E", "e\u{301}", "Ä",
            "ä", "ß", "\u{212a}", "k", "İ", "i", "日", "本", "語", "ф", "_", " ", " ", ".", "→", "…",
            "\u{301}", "\n", "\"", "*",
        ];
        proptest::collection::vec(proptest::sample::select(scraps.to_vec()), 0..most)
            .prop_map(|all| all.concat())
    }

    proptest! {
        #[test]
        fn reading_only_near_the_terms_gives_the_same_marks(
            typed in scraps(6), typing: bool, texts in proptest::collection::vec(scraps(40), 1..4)
        ) {
            let mut finder = Finder::new(&Terms::parse(&typed, typing));
            for text in texts {
                let near = finder.find(&text);
                finder.words.read(&text);
                prop_assert_eq!(near, finder.marks(&text), "{:?} in {:?}", typed, text);
            }
        }
    }

    #[test]
    fn close_together_weighs_more_than_far_apart() {
        let mut finder = Finder::new(&Terms::parse("red fox", false));
        let mut weigh = |text: &str| {
            let marks = finder.find(text);
            finder.weigh(text, &marks)
        };
        let far = format!("red {} fox", "x ".repeat(200));
        let near = format!("{} red fox", "x ".repeat(200));
        assert!(weigh(&near) > weigh(&far));
        assert!(weigh("red fox") > weigh(&near), "a short text is about little else");
    }
}

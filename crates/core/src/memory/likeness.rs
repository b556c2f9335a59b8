//! Compares texts: their words, their normal form, and how alike two texts are.

use std::collections::BTreeSet;

/// The most words of one text.
const MAX_WORDS: usize = 48;

/// Words that say nothing about a subject.
const STOP: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "any", "are", "because", "been", "before", "but", "can",
    "could", "did", "does", "doing", "done", "don", "for", "from", "get", "had", "has", "have", "here",
    "how", "into", "its", "just", "let", "like", "make", "more", "need", "not", "now", "off", "one", "only",
    "our", "out", "over", "please", "should", "some", "such", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "too", "use", "used", "using", "very", "want", "was", "way", "were",
    "what", "when", "where", "which", "while", "who", "why", "will", "with", "would", "you", "your",
    "change", "code", "file", "add", "new", "work", "thing", "sure", "instead", "never", "always", "must",
];

/// The words of a text in their normal form, each once: lower case, names split into their parts and whole, endings of English
/// removed, without words that say nothing.
pub fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    for name in text.split(|c: char| !is_part(c)).filter(|name| !name.is_empty()) {
        let parts = parts(name);
        if parts.len() > 1 {
            note(&mut found, name);
        }
        parts.iter().for_each(|part| note(&mut found, part));
        if found.len() >= MAX_WORDS {
            break;
        }
    }
    found
}

fn note(found: &mut BTreeSet<String>, word: &str) {
    let word = word.to_lowercase();
    let len = word.chars().count();
    if (3..=40).contains(&len) && !STOP.contains(&&*word) && !word.chars().all(|c| c.is_ascii_digit()) {
        let stem = stem(&word);
        if !STOP.contains(&stem) {
            found.insert(stem.to_owned());
        }
    }
}

/// The parts of `snake_case` and `camelCase`.
fn parts(name: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in name.split('_').filter(|piece| !piece.is_empty()) {
        let (mut begin, mut was_lower) = (0, false);
        for (at, c) in piece.char_indices() {
            if c.is_uppercase() && was_lower {
                parts.push(&piece[begin..at]);
                begin = at;
            }
            was_lower = c.is_lowercase() || c.is_ascii_digit();
        }
        parts.push(&piece[begin..]);
    }
    parts
}

/// Removes the usual endings of English. Two words may get one stem by chance; that costs nothing but a weaker match.
fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    for ending in ["ations", "ation", "ings", "ing", "edly", "ies", "es", "ed", "s"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.len() >= 4
            && !(ending == "s" && stem.ends_with('s'))
        {
            return stem.strip_suffix('e').filter(|shorter| shorter.len() >= 4).unwrap_or(stem);
        }
    }
    word.strip_suffix('e').filter(|shorter| shorter.len() >= 4).unwrap_or(word)
}

/// The normal form by which texts are the same: lower case, one space between words, digits as `#`.
pub fn normal_form(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        let mut in_digits = false;
        for c in word.chars().flat_map(char::to_lowercase) {
            match (c.is_ascii_digit(), in_digits) {
                (true, true) => {}
                (true, false) => out.push('#'),
                (false, _) => out.push(c),
            }
            in_digits = c.is_ascii_digit();
        }
    }
    out.trim_end_matches(['.', '!', ',', ';']).to_owned()
}

/// An error line without what differs from run to run: addresses and numbers, and the folders of paths.
pub fn normal_error(line: &str) -> String {
    let without_folders = line.split_whitespace().map(|word| match word.rfind('/') {
        Some(at) if word.matches('/').count() > 1 => &word[at + 1..],
        _ => word,
    });
    let joined: Vec<&str> = without_folders.collect();
    let mut out = String::new();
    for word in normal_form(&joined.join(" ")).split(' ') {
        let hex = word.trim_start_matches("#x");
        let is_address = word.starts_with("#x") && hex.chars().all(|c| c.is_ascii_hexdigit() || c == '#');
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(if is_address { "#" } else { word });
    }
    out
}

/// How alike two texts are, from 0 to 1: shared runs of three characters over all (Jaccard).
pub fn likeness(a: &str, b: &str) -> f64 {
    Trigrams::of(a).likeness(&Trigrams::of(b))
}

/// The runs of three characters of a text, in order and each once. Three characters of 21 bits are one number.
#[derive(Debug)]
pub(super) struct Trigrams(Vec<u64>);

impl Trigrams {
    pub(super) fn of(text: &str) -> Self {
        let chars: Vec<u64> = normal_form(text).chars().map(u64::from).collect();
        let mut runs: Vec<u64> =
            chars.windows(3).map(|three| three[0] << 42 | three[1] << 21 | three[2]).collect();
        runs.sort_unstable();
        runs.dedup();
        Self(runs)
    }

    /// The share of shared runs, from 0 to 1.
    pub(super) fn likeness(&self, other: &Self) -> f64 {
        let (mut a, mut b, mut shared) = (self.0.as_slice(), other.0.as_slice(), 0);
        while let ([x, rest_a @ ..], [y, rest_b @ ..]) = (a, b) {
            shared += usize::from(x == y);
            (a, b) = (if x <= y { rest_a } else { a }, if y <= x { rest_b } else { b });
        }
        let all = self.0.len() + other.0.len() - shared;
        if all == 0 { 1.0 } else { shared as f64 / all as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        words(text).into_iter().collect()
    }

    #[test]
    fn names_are_kept_whole_and_in_parts_and_endings_fall() {
        assert_eq!(of("parseHeader"), ["header", "pars", "parseheader"]);
        assert_eq!(words("caching"), words("cached"));
        assert_eq!(words("migrations"), words("migration"));
        assert!(words("the and 42 ab").is_empty());
    }

    #[test]
    fn texts_that_differ_in_case_space_and_digits_have_one_form() {
        assert_eq!(normal_form("Port  8080 is taken."), normal_form("port 99 is TAKEN"));
        assert_ne!(normal_form("port"), normal_form("ports"));
    }

    #[test]
    fn errors_lose_addresses_numbers_and_folders() {
        assert_eq!(
            normal_error("error at 0x7ffe12 in /home/dev/a/src/log.rs:42"),
            normal_error("error at 0x1b in /srv/b/src/log.rs:7")
        );
        assert_ne!(normal_error("error in log.rs"), normal_error("error in cli.rs"));
    }

    #[test]
    fn likeness_is_one_for_the_same_and_zero_for_strangers() {
        assert!((likeness("use the fixture", "Use  the fixture") - 1.0).abs() < f64::EPSILON);
        assert!(likeness("aaaa", "zzzz") < f64::EPSILON);
        assert!(likeness("run the tests with nextest", "run the tests with cargo test") > 0.4);
    }
}

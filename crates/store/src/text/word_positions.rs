//! Splits a text into words as the index does, and keeps the position of each word. Words are runs of letters and
//! digits, the pieces of camelCase names, and the characters of scripts without spaces. Words are compared without case
//! and accents.

use std::ops::Range;

use unicode_normalization::char::decompose_canonical;

use super::{letters, parts};

/// The positions of the words of one text. The lists are reused for the next text, to keep their memory.
#[derive(Debug, Default)]
pub(crate) struct WordPositions {
    /// Whole words.
    pub whole: Vec<Range<u32>>,
    /// Pieces of camelCase names, and single characters. Most words have none.
    pub parts: Vec<Range<u32>>,
}

impl WordPositions {
    /// Reads the words of another text.
    pub fn read(&mut self, text: &str) {
        self.clear();
        let mut at = 0;
        while let Some(run) = next_run(text, at) {
            at = run.end;
            self.add(text, run);
        }
    }

    /// Reads only the words of another text that a search needs. At each place where a word of `near` may begin, these
    /// are that word and the words after it, up to the length of the longest sequence. A search for such a sequence
    /// finds the same matches among these words as among all words.
    pub fn read_near(&mut self, text: &str, near: &WordStarts) {
        self.clear();
        let mut at = 0;
        while let Some(place) = near.next(text, at) {
            let bytes = text.as_bytes();
            // Go back to the start of the run. Only ASCII letters can be before `place`, because `next` stops at every
            // other letter.
            at =
                place - bytes[at..place].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            let mut left = near.words;
            while left > 0 {
                let Some(run) = next_run(text, at) else { return };
                if near.next(&text[..run.end], run.start).is_some() {
                    left = near.words;
                }
                (at, left) = (run.end, left - 1);
                self.add(text, run);
            }
        }
    }

    fn clear(&mut self) {
        self.whole.clear();
        self.parts.clear();
    }

    fn add(&mut self, text: &str, range: Range<usize>) {
        let word = &text[range.clone()];
        let place = |from: usize, to: usize| to_u32(range.start + from)..to_u32(range.start + to);
        self.whole.push(place(0, word.len()));
        if word.is_ascii() {
            self.add_pieces(word, range.start);
        } else if word.contains(parts::is_unspaced) {
            // The index has each unspaced character alone. It also has the ASCII letters between these characters, or
            // their pieces.
            let mut at = 0;
            while let Some(c) = word[at..].chars().next() {
                let letters = word[at..].bytes().take_while(u8::is_ascii_alphanumeric).count();
                let end = at + letters.max(c.len_utf8());
                let whole = letters > 0 && !self.add_pieces(&word[at..end], range.start + at);
                if whole || parts::is_unspaced(c) {
                    self.parts.push(place(at, end));
                }
                at = end;
            }
        }
    }

    /// Adds the pieces of an ASCII word that begins at `from`; returns whether it has any.
    fn add_pieces(&mut self, word: &str, from: usize) -> bool {
        let mut start = 0;
        for seam in parts::seams(word) {
            self.parts.push(to_u32(from + start)..to_u32(from + seam));
            start = seam;
        }
        if start > 0 {
            self.parts.push(to_u32(from + start)..to_u32(from + word.len()));
        }
        start > 0
    }
}

/// The next run of letters and digits.
fn next_run(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = from;
    while start < bytes.len() {
        let mut at = start;
        loop {
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            match text[at..].chars().next() {
                Some(c) if !c.is_ascii() && c.is_alphanumeric() => at += c.len_utf8(),
                Some(c) if at == start => {
                    start += c.len_utf8();
                    break;
                }
                _ => return Some(start..at),
            }
        }
    }
    None
}

/// The places where the words of a search may begin. Most texts contain a searched word at few places. A search that
/// reads all words of a text spends most of its time on that.
#[derive(Debug)]
pub(crate) struct WordStarts {
    /// The first word of each sequence, folded by [`fold`].
    first: Vec<String>,
    /// For each byte: whether a word of `first` may begin with it.
    begins: [bool; 256],
    /// The number of words to read from each such place: the length of the longest sequence.
    words: usize,
}

impl WordStarts {
    /// Prepares a search for sequences of folded words.
    pub fn of<'w>(sequences: impl Iterator<Item = &'w [String]>) -> Self {
        let mut near = Self { first: Vec::new(), begins: [false; 256], words: 1 };
        // [`fold`] may turn a letter beyond ASCII into any other letter.
        near.begins[0x80..].fill(true);
        for sequence in sequences {
            let Some(first) = sequence.first() else { continue };
            if let Some(byte) = first.bytes().next() {
                near.begins[usize::from(byte)] = true;
                near.begins[usize::from(byte.to_ascii_uppercase())] = true;
            }
            near.first.push(first.clone());
            near.words = near.words.max(sequence.len());
        }
        near
    }

    /// The position of the next byte, at `from` or later, where a word of `first` may begin. A letter beyond ASCII
    /// always counts, because it may fold to any other letter.
    fn next(&self, text: &str, from: usize) -> Option<usize> {
        let bytes = text.as_bytes();
        let mut at = from;
        loop {
            at += bytes[at..].iter().position(|byte| self.begins[usize::from(*byte)])?;
            if bytes[at] < 0x80 {
                if self.first.iter().any(|word| may_begin(&bytes[at..], word.as_bytes())) {
                    return Some(at);
                }
                at += 1;
                continue;
            }
            let c = text[at..].chars().next()?;
            if c.is_alphanumeric() {
                return Some(at);
            }
            at += c.len_utf8();
        }
    }
}

/// Whether the bytes may begin with the word. The comparison stops with `true` at a letter beyond ASCII, because it may
/// fold to any other letter.
fn may_begin(bytes: &[u8], word: &[u8]) -> bool {
    for (n, letter) in word.iter().enumerate() {
        match bytes.get(n) {
            Some(byte) if *byte >= 0x80 => return true,
            Some(byte) if byte.to_ascii_lowercase() == *letter => {}
            _ => return false,
        }
    }
    true
}

/// Converts a position. Stored texts are far smaller than four gigabytes.
fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// A word in its form for comparison: small letters without accents.
pub(crate) fn fold(word: &str) -> String {
    word.chars().flat_map(folded).collect()
}

/// Whether a word of a text equals the folded word, or begins with it if `prefix` is set.
pub(crate) fn matches_word(word: &str, folded_word: &str, prefix: bool) -> bool {
    let (a, b) = (word.as_bytes(), folded_word.as_bytes());
    // Most words differ in their first letter.
    if let (Some(a), Some(b)) = (a.first(), b.first())
        && a.is_ascii()
        && a.to_ascii_lowercase() != *b
    {
        return false;
    }
    if word.is_ascii() {
        return (a.len() == b.len() || (prefix && a.len() > b.len())) && a[..b.len()].eq_ignore_ascii_case(b);
    }
    let mut theirs = word.chars().flat_map(folded);
    for c in folded_word.chars() {
        if theirs.next() != Some(c) {
            return false;
        }
    }
    prefix || theirs.next().is_none()
}

fn folded(c: char) -> impl Iterator<Item = char> {
    let folded = c.to_lowercase().flat_map(|c| {
        let spelled = letters::spelled(c);
        let other = spelled.is_none().then(|| without_accents(c));
        spelled.unwrap_or_default().chars().chain(other)
    });
    folded.filter(|c| !matches!(u32::from(*c), 0x300..=0x36F))
}

/// A Latin letter without its accents, as in the index. Any other letter stays unchanged.
fn without_accents(c: char) -> char {
    let mut letter = None;
    decompose_canonical(c, |part| {
        letter.get_or_insert(part);
    });
    letter.filter(char::is_ascii_alphabetic).unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> (Vec<&str>, Vec<&str>) {
        let mut words = WordPositions::default();
        words.read(text);
        let of = |ranges: &[Range<u32>]| -> Vec<&str> {
            ranges.iter().map(|r| &text[r.start as usize..r.end as usize]).collect()
        };
        (of(&words.whole), of(&words.parts))
    }

    #[test]
    fn words_have_places() {
        assert_eq!(
            words("a parse_line(getUrl) → naïve 日本x…"),
            (vec!["a", "parse", "line", "getUrl", "naïve", "日本x"], vec!["get", "Url", "日", "本", "x"])
        );
        assert_eq!(words("→"), (vec![], vec![]));
    }

    #[test]
    fn words_are_compared_without_case_and_accents() {
        assert_eq!(fold("Naïve"), "naive");
        assert!(matches_word("NAÏVE", "naive", false));
        assert!(
            matches_word("Parser", "pars", true)
                && !matches_word("Parser", "pars", false)
                && !matches_word("par", "pars", true)
        );
        assert!(matches_word("Ärger", "arg", true));
    }

    #[test]
    fn latin_letters_are_folded_as_the_index_folds_them() {
        let index = rusqlite::Connection::open_in_memory().expect("open");
        index
            .execute_batch(
                "CREATE VIRTUAL TABLE letters USING fts5(word, tokenize = 'unicode61 remove_diacritics 2');
                 CREATE VIRTUAL TABLE folded USING fts5vocab(letters, 'instance');",
            )
            .expect("made");
        let latin = ('\u{c0}'..='\u{24f}').chain('\u{1e00}'..='\u{1eff}').filter(|c| c.is_alphabetic());
        for c in latin.clone() {
            index
                .execute(
                    "INSERT INTO letters (rowid, word) VALUES (?, ?)",
                    (u32::from(c), letters::spelled_out(&format!("a{c}b"))),
                )
                .expect("inserted");
        }
        let mut others = String::new();
        for c in latin {
            let word: String = index
                .query_row("SELECT term FROM folded WHERE doc = ?", [u32::from(c)], |row| row.get(0))
                .expect("one word");
            if fold(&format!("a{c}b")) != word {
                others.push(c);
            }
        }
        assert_eq!(others, "ſǠǡẛ", "rare letters, which no accent was ever taken from here");
    }
}

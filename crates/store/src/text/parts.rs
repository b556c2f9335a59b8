//! The parts of a text that its plain words do not show: pieces of camelCase names, and the characters of scripts
//! without spaces, one by one. So a word in the middle of a run is found as a phrase of its characters.

use std::ops::Range;

use watchbill_core::byte_block::Block;

/// Longer names are taken for keys and encoded bytes, whose pieces no search needs.
const MAX_NAME: usize = 64;

/// The addition to the index for a text; `None` for most, because plain words need no addition.
pub fn of(text: &str) -> Option<String> {
    let mut parts = String::new();
    add(text, &mut parts);
    (!parts.is_empty()).then_some(parts)
}

/// Appends the parts of a text, each after a space. Every byte of every stored text goes through here once. So it
/// checks many bytes at once for the two things that matter: seams, and characters that may be unspaced.
pub fn add(text: &str, parts: &mut String) {
    let bytes = text.as_bytes();
    let (mut at, mut before) = (0, Kinds::default());
    // The parts before `done` are added.
    let mut done = 0;
    while at < bytes.len() {
        let block = Block::<4>::at(bytes, at).unwrap_or_else(|| Block::rest(bytes, at, b' '));
        let kinds = Kinds::of(&block);
        let seams = kinds.seams(before, bytes.get(at + Block::<4>::LEN).is_some_and(u8::is_ascii_lowercase));
        let open = |done: usize| match done.saturating_sub(at) {
            all if all >= Block::<4>::LEN => 0,
            some => u64::MAX << some,
        };
        let mut telling = (seams | kinds.long) & open(done);
        while telling != 0 {
            let bit = telling.trailing_zeros();
            let found = at + bit as usize;
            done = if kinds.long >> bit & 1 > 0 {
                add_signs(text, found, done, parts)
            } else if let Some((before, behind)) = kinds.run_within(bit) {
                let start = (found - before).max(done);
                // After the run comes another name.
                let inner = seams >> bit & ((1 << behind) - 1);
                add_name(text, start..found + behind, found, inner, parts)
            } else {
                add_long_name(text, found, done, parts)
            };
            telling &= open(done);
        }
        (at, before) = (at + Block::<4>::LEN, kinds);
    }
}

/// The kinds of bytes in a block, one bit for each byte.
#[derive(Debug, Clone, Copy, Default)]
struct Kinds {
    small: u64,
    capital: u64,
    digit: u64,
    /// Where a character of three or four bytes begins; no other character is unspaced.
    long: u64,
}

impl Kinds {
    #[inline]
    fn of(block: &Block<4>) -> Self {
        Self {
            small: block.within(b'a', b'z'),
            capital: block.within(b'A', b'Z'),
            digit: block.within(b'0', b'9'),
            long: block.within(0xe0, 0xff),
        }
    }

    /// How many letters and digits are before a byte, and how many from it on; `None` if they may go on beyond the
    /// block.
    #[inline]
    fn run_within(self, bit: u32) -> Option<(usize, usize)> {
        let other = !(self.small | self.capital | self.digit);
        let (before, behind) = (other & ((1 << bit) - 1), other >> bit);
        let nearest = before.checked_ilog2()?;
        (behind != 0).then(|| ((bit - 1 - nearest) as usize, behind.trailing_zeros() as usize))
    }

    /// The seams of names, as [`is_seam`] defines them for one byte. `before` are the kinds of the block before,
    /// and `small_behind` is whether a small letter follows.
    #[inline]
    fn seams(self, before: Self, small_behind: bool) -> u64 {
        let behind = |kind: u64, before: u64| kind << 1 | before >> 63;
        let in_a_run = behind(self.capital, before.capital) | behind(self.digit, before.digit);
        let before_small = self.small >> 1 | u64::from(small_behind) << 63;
        self.capital & (behind(self.small, before.small) | in_a_run & before_small)
    }
}

/// Adds the pieces of the name at `run`. Its seams are known: bits from the byte at `first` on. Returns the end of
/// the name.
fn add_name(text: &str, run: Range<usize>, first: usize, mut seams: u64, parts: &mut String) -> usize {
    let mut start = run.start;
    while seams != 0 {
        let seam = first + seams.trailing_zeros() as usize;
        add_one(&text[start..seam], parts);
        (start, seams) = (seam, seams & (seams - 1));
    }
    add_one(&text[start..run.end], parts);
    run.end
}

/// The same for a name that crosses the border of a block.
fn add_long_name(text: &str, seam: usize, floor: usize, parts: &mut String) -> usize {
    let bytes = text.as_bytes();
    let (start, end) = (run_start(bytes, seam, floor), run_end(bytes, seam));
    if end - start <= MAX_NAME {
        let seams =
            (seam..end).filter(|at| is_seam(bytes, *at)).fold(0, |seams, at| seams | 1 << (at - seam));
        add_name(text, start..end, seam, seams, parts);
    }
    end
}

/// Adds an unspaced character and the letters that touch it, if one begins at `at`. Returns where they end.
fn add_signs(text: &str, at: usize, floor: usize, parts: &mut String) -> usize {
    let bytes = text.as_bytes();
    let Some(c) = text[at..].chars().next() else { return bytes.len() };
    let end = at + c.len_utf8();
    if !is_unspaced(c) {
        return end;
    }
    // Letters that touch the character are part of the same word.
    let start = run_start(bytes, at, floor);
    if start < at {
        add_one(&text[start..at], parts);
    }
    add_one(&text[at..end], parts);
    let run = run_end(bytes, end);
    if end < run && !(run - end <= MAX_NAME && add_pieces(&text[end..run], parts)) {
        add_one(&text[end..run], parts);
    }
    run
}

/// Where the run of letters and digits before `at` begins, not before `floor`.
fn run_start(bytes: &[u8], at: usize, floor: usize) -> usize {
    let run = bytes[floor.min(at)..at].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    at - run
}

/// Where the run of letters and digits from `at` on ends.
fn run_end(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

fn add_one(part: &str, parts: &mut String) {
    parts.push(' ');
    parts.push_str(part);
}

/// Whether a name splits here: before a capital that follows a small letter (`parseLine`), or that begins a word
/// after capitals or digits (`HTTPServer`, `utf8Text`).
#[inline]
fn is_seam(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| bytes.get(before)) else { return false };
    let before_small = || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    bytes[at].is_ascii_uppercase()
        && (before.is_ascii_lowercase()
            || ((before.is_ascii_uppercase() || before.is_ascii_digit()) && before_small()))
}

/// Adds the pieces of a word; returns whether it has any.
fn add_pieces(word: &str, parts: &mut String) -> bool {
    let mut start = 0;
    for at in 1..word.len() {
        if is_seam(word.as_bytes(), at) {
            add_one(&word[start..at], parts);
            start = at;
        }
    }
    if start > 0 {
        add_one(&word[start..], parts);
    }
    start > 0
}

/// The byte offsets at which a word of letters and digits splits into pieces.
pub(crate) fn seams(word: &str) -> impl Iterator<Item = usize> {
    let is_name = word.len() <= MAX_NAME && word.is_ascii();
    (1..word.len()).filter(move |at| is_name && is_seam(word.as_bytes(), *at))
}

/// Whether the character belongs to a script that writes no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_texts_need_no_addition() {
        for text in
            ["fn parse_line(b: &[u8]) in src/lib.rs, PATH and Readme", "", "at 20T15:30:58Z, a3F9", "Ünï"]
        {
            assert_eq!(of(text), None, "{text}");
        }
        assert_eq!(of(&"aB".repeat(40)), None, "a key, not a name");
    }

    #[test]
    fn names_are_split_at_any_position_in_a_block() {
        for before in 0..140 {
            let pad = " ".repeat(before);
            assert_eq!(
                of(&format!("{pad}parseHTTPLine2Go a")).as_deref(),
                Some(" parse HTTP Line2 Go"),
                "{before}"
            );
            assert_eq!(of(&format!("{pad}日本parseLine→")).as_deref(), Some(" 日 本 parse Line"), "{before}");
            assert_eq!(of(&format!("{pad}aB{}", "c".repeat(63))), None, "a key, not a name: {before}");
        }
    }

    /// The parts of a text, found character by character.
    fn slowly(text: &str) -> String {
        let (bytes, mut parts) = (text.as_bytes(), String::new());
        let mut done = 0;
        for (at, c) in text.char_indices() {
            if at >= done && is_unspaced(c) {
                done = add_signs(text, at, done, &mut parts);
            } else if at >= done && is_seam(bytes, at) {
                done = add_long_name(text, at, done, &mut parts);
            }
        }
        parts
    }

    proptest! {
        #[test]
        fn reading_by_blocks_gives_the_same_parts_as_by_characters(text in "([a-c]|[A-C]|[0-2]| |_|é|→|本|ア|😀|[a-zA-Z]{3,70}){0,90}") {
            let mut parts = String::new();
            add(&text, &mut parts);
            prop_assert_eq!(parts, slowly(&text));
        }
    }

    #[test]
    fn names_and_unspaced_scripts_are_split() {
        for (text, parts) in [
            ("call parseLine now", " parse Line"),
            ("parseHTTPLine2Go", " parse HTTP Line2 Go"),
            ("HTTPServer", " HTTP Server"),
            ("utf8Text", " utf8 Text"),
            ("日本語 ok", " 日 本 語"),
            ("useState日本", " use State 日 本"),
            ("ok 私x と、ok2 v3版本", " 私 x と v3 版 本"),
        ] {
            assert_eq!(of(text).as_deref(), Some(parts));
        }
    }
}

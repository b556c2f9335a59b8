//! The parts of a text that its plain words don't show: pieces of camelCase names, and the signs of scripts that
//! write no spaces, one by one, so that a word in the middle of a run is found as a phrase of its signs.

/// Longer names are taken for keys and encoded bytes, which nobody looks for by their pieces.
const LONGEST_NAME: usize = 64;

/// What is added to the index for a text; `None` for most: plain words need no addition.
pub fn of(text: &str) -> Option<String> {
    let mut parts = String::new();
    add(text, &mut parts);
    (!parts.is_empty()).then_some(parts)
}

/// Appends the parts of a text, each after a space. Every byte of every stored text goes through here once, so that
/// it looks for the two things that matter, a capital and a byte beyond ASCII, and skips the rest many bytes at once.
pub fn add(text: &str, parts: &mut String) {
    let bytes = text.as_bytes();
    // What is before `done` has its parts.
    let (mut at, mut done) = (0, 0);
    while let Some(found) = next_telling(bytes, at) {
        at = found;
        if bytes[at] < 0x80 {
            if is_seam(bytes, at) {
                let (start, end) = (run_start(bytes, at, done), run_end(bytes, at));
                if end - start <= LONGEST_NAME {
                    add_pieces(&text[start..end], parts);
                }
                (at, done) = (end, end);
            } else {
                at += 1;
            }
            continue;
        }
        let Some(c) = text[at..].chars().next() else { return };
        let end = at + c.len_utf8();
        if is_unspaced(c) {
            // Letters that touch the sign are part of the same word.
            let start = run_start(bytes, at, done);
            if start < at {
                add_one(&text[start..at], parts);
            }
            add_one(&text[at..end], parts);
            done = run_end(bytes, end);
            if end < done && !(done - end <= LONGEST_NAME && add_pieces(&text[end..done], parts)) {
                add_one(&text[end..done], parts);
            }
            at = done;
        } else {
            at = end;
        }
    }
}

/// The next capital or byte beyond ASCII.
fn next_telling(bytes: &[u8], from: usize) -> Option<usize> {
    let (words, rest) = bytes.get(from..)?.as_chunks::<8>();
    for (n, word) in words.iter().enumerate() {
        let telling = telling(u64::from_le_bytes(*word));
        if telling != 0 {
            return Some(from + n * 8 + telling.trailing_zeros() as usize / 8);
        }
    }
    let tells = |byte: &u8| byte.is_ascii_uppercase() | (*byte >= 0x80);
    rest.iter().position(tells).map(|found| from + words.len() * 8 + found)
}

/// Looks at eight bytes at once: the highest bit of each one that tells is set, and no other bit.
fn telling(word: u64) -> u64 {
    let all = |byte: u8| u64::from_ne_bytes([byte; 8]);
    let low = word & all(0x7f);
    // No sum goes beyond its byte, and its highest bit says that the sign is not before A, or is behind Z.
    let from_a = low + all(0x80 - b'A');
    let behind_z = low + all(0x80 - b'Z' - 1);
    (word | (from_a & !behind_z)) & all(0x80)
}

/// Where the run of letters and digits begins that reaches up to `at`, not before `floor`.
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

/// Where a name falls apart: before a capital that follows a small letter (`parseLine`), or that begins a word
/// after capitals or digits (`HTTPServer`, `utf8Text`).
fn is_seam(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| bytes.get(before)) else { return false };
    let before_small = || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
    bytes[at].is_ascii_uppercase()
        && (before.is_ascii_lowercase()
            || ((before.is_ascii_uppercase() || before.is_ascii_digit()) && before_small()))
}

/// Adds the pieces of a word; says whether it has any.
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

/// Where a word of letters and digits falls apart into pieces, as byte offsets.
pub(crate) fn seams(word: &str) -> impl Iterator<Item = usize> {
    let is_name = word.len() <= LONGEST_NAME && word.is_ascii();
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
    fn eight_bytes_at_once_tell_what_each_of_them_tells() {
        let all: Vec<u8> = (0..=255).chain((0..=255).rev()).collect();
        for from in 0..all.len() {
            let one_by_one = (from..all.len()).find(|at| all[*at].is_ascii_uppercase() || all[*at] >= 0x80);
            assert_eq!(next_telling(&all, from), one_by_one, "from {from}");
            // Whatever stands beside it, and at each place of eight.
            let mut word = [all[from]; 8];
            word[from % 8] = b'a';
            let tells = |byte: u8| byte.is_ascii_uppercase() || byte >= 0x80;
            let expected: [u8; 8] = word.map(|byte| if tells(byte) { 0x80 } else { 0 });
            assert_eq!(telling(u64::from_le_bytes(word)).to_le_bytes(), expected);
        }
    }

    #[test]
    fn names_and_unspaced_scripts_are_taken_apart() {
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

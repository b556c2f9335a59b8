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

/// Appends the parts of a text, each after a space. Every byte of every stored text goes through here once.
pub fn add(text: &str, parts: &mut String) {
    let bytes = text.as_bytes();
    let mut at = 0;
    // Where the last sign ended, and where a run of letters that is no part yet begins and ends.
    let (mut sign, mut plain) = (usize::MAX, 0..usize::MAX);
    while let Some(&byte) = bytes.get(at) {
        match CLASS[byte as usize] {
            OTHER => at += 1,
            HIGH => {
                let Some(c) = text[at..].chars().next() else { return };
                if is_unspaced(c) {
                    if plain.end == at {
                        add_one(&text[plain.clone()], parts);
                    }
                    add_one(&text[at..at + c.len_utf8()], parts);
                    sign = at + c.len_utf8();
                }
                at += c.len_utf8();
            }
            class => {
                let (end, seam) = run(bytes, at, class);
                let word = &text[at..end];
                let is_name = seam && word.len() <= LONGEST_NAME && add_pieces(word, parts);
                if !is_name && sign == at {
                    add_one(word, parts);
                } else if !is_name {
                    plain = at..end;
                }
                at = end;
            }
        }
    }
}

/// Where a run of letters and digits ends, and whether it may have a seam: hardly more do than have one.
fn run(bytes: &[u8], start: usize, mut class: u8) -> (usize, bool) {
    let mut seam = false;
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        let next = CLASS[byte as usize];
        if next < LOWER {
            break;
        }
        seam |= next == UPPER && class != UPPER;
        seam |= next == LOWER && class == UPPER && at > start + 1;
        class = next;
        at += 1;
    }
    (at, seam)
}

fn add_one(part: &str, parts: &mut String) {
    parts.push(' ');
    parts.push_str(part);
}

const OTHER: u8 = 0;
const HIGH: u8 = 1;
const LOWER: u8 = 2;
const UPPER: u8 = 3;
const DIGIT: u8 = 4;

/// What a byte is.
const CLASS: [u8; 256] = {
    let mut table = [OTHER; 256];
    let mut at = 0;
    while at < 256 {
        table[at] = match at as u8 {
            b'a'..=b'z' => LOWER,
            b'A'..=b'Z' => UPPER,
            b'0'..=b'9' => DIGIT,
            0x80.. => HIGH,
            _ => OTHER,
        };
        at += 1;
    }
    table
};

/// Where a name falls apart: before a capital that follows a small letter (`parseLine`), or that begins a word
/// after capitals or digits (`HTTPServer`, `utf8Text`).
fn is_seam(bytes: &[u8], at: usize) -> bool {
    let class = |at: usize| bytes.get(at).map_or(OTHER, |byte| CLASS[*byte as usize]);
    class(at) == UPPER
        && match class(at - 1) {
            LOWER => true,
            UPPER | DIGIT => class(at + 1) == LOWER,
            _ => false,
        }
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

//! Splits the output of a terminal into text and whole control sequences, so that nothing is cut inside one.
//!
//! Source: ECMA-48 and the parser of `vte`, which reads the same bytes behind it.

/// The longest control sequence that is waited for, in bytes. A longer one is cut.
const MAX_SEQUENCE_BYTES: usize = 64 << 10;

const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// A part of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Text, and control characters that stand alone.
    Text(&'a [u8]),
    /// A control sequence, from ESC to its end.
    Sequence(&'a [u8]),
    /// The beginning of a control sequence that is too long. [`rest_of_cut`] finds its end.
    Cut(&'a [u8]),
}

impl<'a> Piece<'a> {
    /// Its bytes.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Piece::Text(bytes) | Piece::Sequence(bytes) | Piece::Cut(bytes) => bytes,
        }
    }
}

/// The next whole piece of `bytes`. `None`: more bytes have to come first.
pub fn next(bytes: &[u8]) -> Option<Piece<'_>> {
    if *bytes.first()? != ESC {
        let end = bytes.iter().position(|byte| *byte == ESC).unwrap_or(bytes.len());
        // An unfinished character at the end waits. If it never ends, what follows finishes it.
        let end = if end == bytes.len() { end - unfinished(bytes) } else { end };
        return (end > 0).then(|| Piece::Text(&bytes[..end]));
    }
    match sequence(bytes) {
        Some(end) => Some(Piece::Sequence(&bytes[..end])),
        None if bytes.len() >= MAX_SEQUENCE_BYTES => Some(Piece::Cut(bytes)),
        None => None,
    }
}

/// How many bytes at the beginning still belong to a sequence that was cut.
pub fn rest_of_cut(bytes: &[u8]) -> Option<usize> {
    let end = bytes.iter().position(|byte| matches!(*byte, ESC | CAN | SUB | BEL))?;
    Some(if bytes[end] == ESC { end } else { end + 1 })
}

/// Output in which C1 controls have their form of 7 bits, ESC and a letter. Terminals take both forms. Bytes of C1 that are not UTF-8
/// are left out, because a terminal of another character set takes them for controls. Also gives an unfinished character at the end.
pub fn seven_bit(bytes: &[u8]) -> (Vec<u8>, &[u8]) {
    let (whole, rest) = bytes.split_at(bytes.len() - unfinished(bytes));
    let mut clean = Vec::with_capacity(whole.len());
    for chunk in whole.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match u32::from(letter) {
                code @ 0x80..=0x9f => clean.extend([ESC, (code - 0x40) as u8]),
                _ => clean.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        clean.extend(chunk.invalid().iter().filter(|byte| !matches!(byte, 0x80..=0x9f)));
    }
    (clean, rest)
}

/// The length of the sequence at the beginning; `None` if its end has not come.
fn sequence(bytes: &[u8]) -> Option<usize> {
    let rest = bytes.get(1..)?;
    match rest.first()? {
        b'[' => ends(rest, 1, |byte| (0x40..=0x7e).contains(&byte)),
        b']' => string(rest, true),
        b'P' | b'X' | b'^' | b'_' => string(rest, false),
        _ => ends(rest, 0, |byte| !(0x20..=0x2f).contains(&byte)),
    }
}

/// The length up to the first byte that ends the sequence. Another ESC begins a new sequence instead.
fn ends(rest: &[u8], from: usize, is_end: impl Fn(u8) -> bool) -> Option<usize> {
    for (at, byte) in rest.iter().enumerate().skip(from) {
        match *byte {
            ESC => return Some(at + 1),
            CAN | SUB => return Some(at + 2),
            byte if is_end(byte) => return Some(at + 2),
            _ => {}
        }
    }
    None
}

/// The length of a string up to its terminator, included.
fn string(rest: &[u8], bel_ends: bool) -> Option<usize> {
    for (at, byte) in rest.iter().enumerate().skip(1) {
        match *byte {
            CAN | SUB => return Some(at + 2),
            BEL if bel_ends => return Some(at + 2),
            ESC if rest.get(at + 1)? == &b'\\' => return Some(at + 3),
            ESC => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// How many bytes at the end begin a character that is not finished.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let byte = bytes[bytes.len() - back];
        let wanted = match byte {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => continue,
            _ => return 0,
        };
        return if wanted > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(mut bytes: &[u8]) -> (Vec<Piece<'_>>, &[u8]) {
        let mut pieces = Vec::new();
        while let Some(piece) = next(bytes) {
            bytes = &bytes[piece.bytes().len()..];
            pieces.push(piece);
        }
        (pieces, bytes)
    }

    #[test]
    fn sequences_are_whole() {
        let whole: &[&[u8]] = &[
            b"\x1b[31m",
            b"\x1b[?1049h",
            b"\x1b[c",
            b"\x1b]0;title\x07",
            b"\x1b]11;?\x1b\\",
            b"\x1bP$qm\x1b\\",
            b"\x1b_any\x07thing\x1b\\",
            b"\x1b(B",
            b"\x1b7",
            b"\x1bc",
            b"\x1b[31\x18",
        ];
        for one in whole {
            let text = [b"a".as_slice(), one, b"b"].concat();
            let (pieces, rest) = all(&text);
            assert_eq!(pieces, [Piece::Text(b"a"), Piece::Sequence(one), Piece::Text(b"b")], "{one:?}");
            assert!(rest.is_empty());
            for cut in 1..one.len() {
                let (pieces, rest) = all(&one[..cut]);
                assert!(pieces.is_empty() && rest.len() == cut, "{one:?} cut at {cut}");
            }
        }
        assert_eq!(all(b"\x1b[3\x1b[1m").0, [Piece::Sequence(b"\x1b[3"), Piece::Sequence(b"\x1b[1m")]);
    }

    #[test]
    fn characters_are_whole() {
        let (pieces, rest) = all("aä€".as_bytes());
        assert_eq!((pieces, rest), (vec![Piece::Text("aä€".as_bytes())], b"".as_slice()));
        let (pieces, rest) = all(&"a€".as_bytes()[..3]);
        assert_eq!((pieces, rest), (vec![Piece::Text(b"a")], [0xe2, 0x82].as_slice()));
        assert!(all(b"a\xff\xfe").1.is_empty(), "what is no text does not wait");
    }

    #[test]
    fn an_endless_sequence_is_cut() {
        for begin in [b"\x1b]0;".as_slice(), b"\x1bP", b"\x1b_", b"\x1b[", b"\x1b("] {
            let long = [begin, &vec![b'0'; MAX_SEQUENCE_BYTES]].concat();
            let (pieces, rest) = all(&long);
            assert!(
                rest.is_empty() && matches!(pieces[0], Piece::Cut(_) | Piece::Sequence(b"\x1b(0")),
                "{begin:?}"
            );
        }
        assert_eq!(rest_of_cut(b"xx"), None);
        assert_eq!((rest_of_cut(b"xx\x07y"), rest_of_cut(b"x\x1b\\y")), (Some(3), Some(1)));
    }

    #[test]
    fn controls_have_one_form() {
        let form = |bytes: &[u8]| seven_bit(bytes).0;
        assert_eq!(
            form("a\u{9d}52;c;eA==\u{9c}\u{9b}c\u{85}ä€".as_bytes()),
            "a\x1b]52;c;eA==\x1b\\\x1b[c\x1bEä€".as_bytes()
        );
        assert_eq!(form(b"a\x9d52;c;eA==\x9cb\xff"), b"a52;c;eA==b\xff");
        assert_eq!(seven_bit(b"a\xc2"), (b"a".to_vec(), b"\xc2".as_slice()));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(parts in proptest::collection::vec(
            prop_oneof![
                "\\PC{0,6}".prop_map(String::into_bytes),
                proptest::collection::vec(any::<u8>(), 0..8),
                Just(b"\x1b[".to_vec()), Just(b"\x1b]".to_vec()), Just(b"\x1b\\".to_vec()), Just(b"\x1b".to_vec()),
                Just(b"\x1bP".to_vec()),
            ], 0..12), cut in 0_usize..64) {
            let bytes = parts.concat();
            // In two parts it gives the same bytes in the same order, whether or not a part waits in between.
            let cut = cut.min(bytes.len());
            let (first, held) = all(&bytes[..cut]);
            let mut given: Vec<u8> = first.iter().flat_map(|piece| piece.bytes().to_vec()).collect();
            let second = [held, &bytes[cut..]].concat();
            let (pieces, held) = all(&second);
            given.extend(pieces.iter().flat_map(|piece| piece.bytes().to_vec()));
            given.extend(held);
            prop_assert_eq!(given, bytes);
        }
    }
}

//! A cursor over JSON text that reads wanted values and steps over the rest.
//!
//! Three quarters of a transcript are payloads that no caller reads. Stepping over one costs a search for the
//! closing quote; its brackets must balance, but it need not be valid. A value is borrowed from the line unless it
//! holds an escape. The cursor is our own, because the general lazy parsers validate the values that they skip.
//! Over the corpus of the benchmark sonic-rs needed 0.48 s per gigabyte for the top-level keys alone; this cursor
//! reads whole records in 0.37 s.

mod strings;

use std::borrow::Cow;

use memchr::memchr;

use crate::byte_block::Block;

pub use strings::each_keyed_string;
pub use strings::{each_string, head};

/// One value, not yet decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Raw<'a> {
    /// The key is not there.
    #[default]
    Absent,
    /// A string: the text between its quotes, with its escapes.
    Str(&'a str),
    /// An object or array, with its brackets.
    Nested(&'a str),
    /// A number, `true`, `false` or `null`.
    Plain(&'a str),
}

impl<'a> Raw<'a> {
    /// The string, cut at `limit` bytes; `None` for anything else.
    pub fn text(self, limit: usize) -> Option<Cow<'a, str>> {
        match self {
            Self::Str(raw) => Some(unescape(raw, limit)),
            _ => None,
        }
    }

    /// The whole string.
    pub fn whole(self) -> Option<Cow<'a, str>> {
        self.text(usize::MAX)
    }

    /// The string as it stands in the line, to compare it with words that hold no escapes.
    pub fn word(self) -> Option<&'a str> {
        match self {
            Self::Str(raw) => Some(raw),
            _ => None,
        }
    }

    /// `true`.
    pub fn is_true(self) -> bool {
        self == Self::Plain("true")
    }

    /// A number that is not negative; fractions are dropped.
    pub fn number(self) -> Option<u64> {
        let Self::Plain(raw) = self else { return None };
        raw.parse().ok().or_else(|| {
            let float = raw.parse::<f64>().ok()?;
            // The cast saturates, so a nonsense number does no harm.
            (float >= 0.0).then_some(float as u64)
        })
    }

    /// A number with its fraction.
    pub fn decimal(self) -> Option<f64> {
        let Self::Plain(raw) = self else { return None };
        raw.parse().ok()
    }

    /// Neither absent nor `null`.
    pub fn is_there(self) -> bool {
        !matches!(self, Self::Absent | Self::Plain("null"))
    }

    /// Visits the entries of an object; anything else has none.
    pub fn entries(self, visit: impl FnMut(&mut Cursor<'a>, &'a str) -> Option<()>) {
        if let Self::Nested(raw) = self {
            // A malformed payload ends the visit early; the entries visited so far count.
            let _ = Cursor::new(raw).object(visit);
        }
    }

    /// Visits the elements of an array; anything else has none.
    pub fn elements(self, visit: impl FnMut(&mut Cursor<'a>) -> Option<()>) {
        if let Self::Nested(raw) = self {
            let _ = Cursor::new(raw).array(visit);
        }
    }

    /// The value of one key of an object.
    pub fn get(self, wanted: &str) -> Raw<'a> {
        let mut found = Raw::Absent;
        self.entries(|cursor, key| {
            let value = cursor.value()?;
            if key != wanted {
                return Some(());
            }
            found = value;
            None
        });
        found
    }
}

/// A position in JSON text. Every method returns `None` if the text is malformed.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next byte that is no white space, without moving past it; `None` at the end.
    #[inline]
    pub fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.text.as_bytes().get(self.at)?;
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.at += 1;
        }
    }

    /// The text from here to the position of `later`.
    pub fn until(&self, later: &Self) -> &'a str {
        self.text.get(self.at..later.at).unwrap_or_default()
    }

    /// The same text behind its next run of zero bytes, if there is one.
    pub fn after_zeros(mut self) -> Option<Self> {
        let rest = &self.text.as_bytes()[self.at..];
        let zero = memchr(0, rest)?;
        self.at += zero + rest[zero..].iter().take_while(|byte| **byte == 0).count();
        Some(self)
    }

    #[inline]
    fn eat(&mut self, wanted: u8) -> Option<()> {
        if self.peek()? != wanted {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Reads an object: `visit` gets each key (undecoded) and must consume the value.
    pub fn object(&mut self, mut visit: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.eat(b'{')?;
        if self.peek()? == b'}' {
            self.at += 1;
            return Some(());
        }
        loop {
            self.eat(b'"')?;
            let key = self.string()?;
            self.eat(b':')?;
            visit(self, key)?;
            match self.peek()? {
                b',' => self.at += 1,
                b'}' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Reads an array: `visit` must consume one element.
    pub fn array(&mut self, mut visit: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.eat(b'[')?;
        if self.peek()? == b']' {
            self.at += 1;
            return Some(());
        }
        loop {
            visit(self)?;
            match self.peek()? {
                b',' => self.at += 1,
                b']' => {
                    self.at += 1;
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// Steps over one value and returns it undecoded.
    #[inline]
    pub fn value(&mut self) -> Option<Raw<'a>> {
        match self.peek()? {
            b'"' => {
                self.at += 1;
                self.string().map(Raw::Str)
            }
            b'{' | b'[' => self.nested().map(Raw::Nested),
            _ => self.plain().map(Raw::Plain),
        }
    }

    /// Reads to the closing quote; the opening one was already read.
    #[inline]
    fn string(&mut self) -> Option<&'a str> {
        let start = self.at;
        let end = closing_quote(self.text.as_bytes(), start)?;
        self.at = end + 1;
        self.text.get(start..end)
    }

    fn plain(&mut self) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let len = rest
            .bytes()
            .position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'))
            .unwrap_or(rest.len());
        let word = &rest[..len];
        let known = matches!(word, "true" | "false" | "null")
            || (word.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                && word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')));
        if !known {
            return None;
        }
        self.at += len;
        Some(word)
    }

    /// Steps over an object or array of any depth, without recursion.
    fn nested(&mut self) -> Option<&'a str> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let closing = if bytes[start] == b'{' { b'}' } else { b']' };
        let mut depth = 0usize;
        let mut at = start;
        loop {
            match *bytes.get(at)? {
                b'"' => at = closing_quote(bytes, at + 1)?,
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        if bytes[at] != closing {
            return None;
        }
        self.at = at + 1;
        self.text.get(start..=at)
    }
}

/// Index of the quote that ends a string whose first byte is at `start`.
#[inline]
fn closing_quote(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    // Most strings are keys, ids and words. Longer ones are searched in larger blocks.
    while at < start + NEAR
        && let Some(block) = Block::<1>::at(bytes, at)
    {
        if let found @ Some(_) = closing(bytes, start, at, block.equal(b'"')) {
            return found;
        }
        at += Block::<1>::LEN;
    }
    while let Some(block) = Block::<4>::at(bytes, at) {
        if let found @ Some(_) = closing(bytes, start, at, block.equal(b'"')) {
            return found;
        }
        at += Block::<4>::LEN;
    }
    while at < bytes.len() {
        let found = closing(bytes, start, at, Block::<4>::rest(bytes, at, b' ').equal(b'"'));
        if found.is_some() {
            return found;
        }
        at += Block::<4>::LEN;
    }
    None
}

/// The first of the quotes that ends a string. `quotes` has a bit for each byte from `at` on. An odd number of
/// backslashes before a quote escapes it. Each run of backslashes ends at one quote, so looking back stays linear.
#[inline]
fn closing(bytes: &[u8], start: usize, at: usize, mut quotes: u64) -> Option<usize> {
    while quotes != 0 {
        let quote = at + quotes.trailing_zeros() as usize;
        let run = bytes[start..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if run % 2 == 0 {
            return Some(quote);
        }
        quotes &= quotes - 1;
    }
    None
}

/// How many bytes of a string are searched in small blocks.
const NEAR: usize = 48;

/// Decodes the text between quotes, cut at `limit` bytes and at a character boundary.
///
/// Lone surrogates and nonsense escapes become U+FFFD. Agents write lone surrogates when they cut a text in the
/// middle of an emoji.
pub fn unescape(raw: &str, limit: usize) -> Cow<'_, str> {
    let beginning = &raw[..raw.floor_char_boundary(limit)];
    if memchr(b'\\', beginning.as_bytes()).is_none() {
        return Cow::Borrowed(beginning);
    }
    let mut out = String::with_capacity(raw.len().min(limit));
    unescape_onto(&mut out, raw, limit);
    Cow::Owned(out)
}

/// Decodes onto the end of `out`, at most `room` bytes; returns how many bytes of `raw` were left out.
pub fn unescape_onto(out: &mut String, raw: &str, room: usize) -> usize {
    let limit = out.len().saturating_add(room);
    let bytes = raw.as_bytes();
    // The bytes before `done` are decoded.
    let (mut at, mut done) = (0, 0);
    'blocks: while at < bytes.len() && at.saturating_sub(done) <= limit - out.len() {
        let block = Block::<4>::at(bytes, at).unwrap_or_else(|| Block::rest(bytes, at, b' '));
        let mut backslashes = block.equal(b'\\');
        while backslashes != 0 {
            let backslash = at + backslashes.trailing_zeros() as usize;
            backslashes &= backslashes - 1;
            if backslash < done {
                continue;
            }
            if backslash - done > limit - out.len() {
                break 'blocks;
            }
            out.push_str(&raw[done..backslash]);
            let (decoded, used) = escape(&raw[backslash + 1..]);
            if decoded.len_utf8() > limit - out.len() {
                return raw.len() - backslash;
            }
            out.push(decoded);
            done = backslash + 1 + used;
        }
        at += Block::<4>::LEN;
    }
    let rest = &raw[done..];
    let fits = rest.floor_char_boundary(limit - out.len());
    out.push_str(&rest[..fits]);
    rest.len() - fits
}

/// One escape, from after its backslash: the character, and how many bytes were used.
fn escape(rest: &str) -> (char, usize) {
    let Some(first) = rest.chars().next() else { return (char::REPLACEMENT_CHARACTER, 0) };
    let plain = match first {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '"' | '\\' | '/' => first,
        'u' => return unicode_escape(&rest[1..]),
        _ => char::REPLACEMENT_CHARACTER,
    };
    (plain, first.len_utf8())
}

/// The same from after `\u`; the `u` counts as used.
fn unicode_escape(rest: &str) -> (char, usize) {
    let hex = |at: usize| {
        let digits = rest.get(at..at + 4)?;
        digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
    };
    let Some(unit) = hex(0) else { return (char::REPLACEMENT_CHARACTER, 1) };
    if (0xd800..0xdc00).contains(&unit)
        && rest.get(4..6) == Some("\\u")
        && let Some(low @ 0xdc00..0xe000) = hex(6)
    {
        let code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        return (char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), 11);
    }
    (char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), 5)
}

#[cfg(test)]
mod tests;

//! Splits bytes, which come in any chunks, into complete lines, each with its offset in the file.

use memchr::memchr;

/// Longest line that is held in memory, in bytes; longer ones are skipped to their newline.
pub const LINE_CAP: usize = 64 * 1024 * 1024;

/// A carry buffer that grew beyond this is freed once its line is delivered.
const KEEP_CARRY: usize = 256 * 1024;

/// One complete line, without its line ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Where the line begins in the file.
    pub offset: u64,
    /// The line without `\n` or `\r\n`.
    pub bytes: &'a [u8],
}

/// What the splitter found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Split<'a> {
    /// A complete line.
    Line(Line<'a>),
    /// A line beyond the cap, skipped without being held.
    Huge {
        /// Where it begins in the file.
        offset: u64,
        /// Its length in bytes, without the newline.
        len: u64,
    },
}

/// Splits a growing file into lines. The torn tail is kept until its newline arrives.
///
/// A line that lies wholly inside one chunk is handed out as a slice of that chunk; only the part
/// that crosses a chunk's end is copied.
#[derive(Debug)]
pub struct LineSplitter {
    /// The beginning of the line whose newline has not come yet; empty while skipping a huge one.
    carry: Vec<u8>,
    /// Where the unfinished line begins.
    line_start: u64,
    /// Length of the unfinished line when it is beyond the cap and no longer held.
    skipped: Option<u64>,
    cap: usize,
}

impl Default for LineSplitter {
    fn default() -> Self {
        Self::new(0)
    }
}

impl LineSplitter {
    /// Begins at `offset` of the file, which is the beginning of a line.
    pub fn new(offset: u64) -> Self {
        Self::with_cap(offset, LINE_CAP)
    }

    /// Begins at `offset`, with a cap of its own.
    pub fn with_cap(offset: u64, cap: usize) -> Self {
        Self { carry: Vec::new(), line_start: offset, skipped: None, cap }
    }

    /// Takes the next bytes of the file and hands out every line that they complete.
    pub fn push<'a>(&mut self, chunk: &'a [u8], f: &mut dyn FnMut(Split<'_>)) {
        let mut rest: &'a [u8] = chunk;
        if self.carried() > 0 {
            let Some(end) = memchr(b'\n', rest) else { return self.hold(rest) };
            let (head, tail) = rest.split_at(end);
            self.hold(head);
            self.finish_carried(f);
            rest = &tail[1..];
        }
        while let Some(end) = memchr(b'\n', rest) {
            let offset = self.line_start;
            self.line_start += end as u64 + 1;
            if end > self.cap {
                f(Split::Huge { offset, len: end as u64 });
            } else {
                f(Split::Line(Line { offset, bytes: without_cr(&rest[..end]) }));
            }
            rest = &rest[end + 1..];
        }
        self.hold(rest);
    }

    /// Bytes of the unfinished line so far.
    pub fn carried(&self) -> u64 {
        self.skipped.unwrap_or(self.carry.len() as u64)
    }

    /// Where the unfinished line begins: the offset from which a new reader must go on.
    pub fn line_start(&self) -> u64 {
        self.line_start
    }

    /// Frees memory that the unfinished line does not need. Call it when the file has no more bytes for now.
    /// Otherwise each of thousands of followed files would keep room for its longest torn line.
    pub fn trim(&mut self) {
        self.carry.shrink_to_fit();
    }

    /// Forgets the unfinished line and goes on at `offset`, which is the beginning of a line.
    pub fn reset(&mut self, offset: u64) {
        self.carry = Vec::new();
        self.skipped = None;
        self.line_start = offset;
    }

    fn hold(&mut self, part: &[u8]) {
        if let Some(len) = &mut self.skipped {
            *len += part.len() as u64;
        } else if self.carry.len() + part.len() > self.cap {
            self.skipped = Some((self.carry.len() + part.len()) as u64);
            self.carry = Vec::new();
        } else {
            self.carry.extend_from_slice(part);
        }
    }

    fn finish_carried(&mut self, f: &mut dyn FnMut(Split<'_>)) {
        let offset = self.line_start;
        let len = self.carried();
        self.line_start += len + 1;
        if self.skipped.take().is_some() {
            f(Split::Huge { offset, len });
        } else {
            f(Split::Line(Line { offset, bytes: without_cr(&self.carry) }));
        }
        if self.carry.capacity() > KEEP_CARRY {
            self.carry = Vec::new();
        } else {
            self.carry.clear();
        }
    }
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything the splitter hands out over `chunks`, owned.
    fn split(cap: usize, chunks: &[&[u8]]) -> Vec<(u64, Result<Vec<u8>, u64>)> {
        let mut splitter = LineSplitter::with_cap(0, cap);
        let mut out = Vec::new();
        for chunk in chunks {
            splitter.push(chunk, &mut |s| match s {
                Split::Line(l) => out.push((l.offset, Ok(l.bytes.to_vec()))),
                Split::Huge { offset, len } => out.push((offset, Err(len))),
            });
        }
        out
    }

    #[test]
    fn lines_carry_their_offsets_and_lose_their_endings() {
        assert_eq!(
            split(100, &[b"ab\r\n\ncd", b"", b"e\nf"]),
            [(0, Ok(b"ab".to_vec())), (4, Ok(Vec::new())), (5, Ok(b"cde".to_vec()))]
        );
    }

    #[test]
    fn a_carriage_return_at_a_chunk_border_is_stripped_too() {
        assert_eq!(split(100, &[b"ab\r", b"\ncd\n"]), [(0, Ok(b"ab".to_vec())), (4, Ok(b"cd".to_vec()))]);
    }

    #[test]
    fn a_line_inside_one_chunk_is_not_copied() {
        let chunk = b"first\nsecond\nto".to_vec();
        let range = chunk.as_ptr_range();
        let mut splitter = LineSplitter::new(0);
        let mut inside = 0;
        splitter.push(&chunk, &mut |s| {
            if let Split::Line(line) = s {
                inside += usize::from(range.contains(&line.bytes.as_ptr()));
            }
        });
        assert_eq!(inside, 2);
        assert_eq!((splitter.carried(), splitter.line_start()), (2, 13));
    }

    #[test]
    fn a_huge_line_is_reported_once_and_never_held() {
        let mut splitter = LineSplitter::with_cap(7, 10);
        let mut out = Vec::new();
        for _ in 0..5 {
            splitter.push(b"0123456", &mut |s| out.push(format!("{s:?}")));
            assert!(splitter.carry.len() <= 10, "held beyond the cap");
        }
        assert_eq!(splitter.carried(), 35);
        splitter.push(b"x\nok\n0123456789abc\n", &mut |s| out.push(format!("{s:?}")));
        let ok = format!("{:?}", Split::Line(Line { offset: 44, bytes: b"ok" }));
        assert_eq!(out, ["Huge { offset: 7, len: 36 }", &ok, "Huge { offset: 47, len: 13 }"]);
    }

    #[test]
    fn an_overgrown_buffer_is_freed() {
        let mut splitter = LineSplitter::new(0);
        splitter.push(&vec![b'x'; KEEP_CARRY * 3], &mut |_| {});
        assert!(splitter.carry.capacity() > KEEP_CARRY);
        splitter.push(b"\n", &mut |_| {});
        assert_eq!(splitter.carry.capacity(), 0);
    }

    #[test]
    fn only_a_torn_tail_is_held() {
        let mut splitter = LineSplitter::new(0);
        splitter.push(&vec![b'x'; KEEP_CARRY / 2], &mut |_| {});
        splitter.push(b"\nto", &mut |_| {});
        splitter.trim();
        assert_eq!(splitter.carry.capacity(), 2, "only the torn tail is kept");
        splitter.push(b"rn\n", &mut |_| {});
        splitter.trim();
        assert_eq!(splitter.carry.capacity(), 0);
    }
}

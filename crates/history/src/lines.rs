//! Lines of a file that is read once: all of it, or its beginning.

use std::io::{self, Read};

use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_watch::fs::ReadAt;

/// Bytes of one read.
const READ: usize = 256 << 10;

/// An open file that is read from its beginning.
pub(crate) struct FromStart {
    pub file: Box<dyn ReadAt>,
    pub at: u64,
}

impl Read for FromStart {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buf, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Whether `is` holds for any line of a file.
pub(crate) fn any_line(file: &mut dyn Read, is: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<bool> {
    let mut splitter = LineSplitter::default();
    let (mut buffer, mut found) = (vec![0; READ], false);
    while !found {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        splitter.push(&buffer[..count], &mut |split| {
            if let Split::Line(line) = split {
                found = found || is(line.bytes);
            }
        });
    }
    Ok(found)
}

/// Delivers the complete lines among the first `room` bytes of an open file. Returns how many bytes there were.
pub(crate) fn first_lines(file: &dyn ReadAt, room: usize, line: &mut dyn FnMut(&[u8])) -> io::Result<usize> {
    let mut head = vec![0; room];
    let count = file.read_at(&mut head, 0)?;
    LineSplitter::default().push(&head[..count], &mut |split| {
        if let Split::Line(whole) = split {
            line(whole.bytes);
        }
    });
    Ok(count)
}

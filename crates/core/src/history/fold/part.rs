//! Numbers for the texts of one line.

/// Numbers the texts of one line.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    /// Offset of the line plus one; 0 before the first line.
    line: u64,
    next: u16,
}

impl Part {
    pub fn take(&mut self, offset: u64) -> u16 {
        if self.line != offset + 1 {
            *self = Self { line: offset + 1, next: 0 };
        }
        let part = self.next;
        self.next = part.saturating_add(1);
        part
    }

    /// Lines that begin before this offset gave all their texts.
    pub fn end(self) -> u64 {
        self.line
    }
}

//! The screen of a terminal, kept by the host: it answers the program, and it is drawn for each reader anew.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::num::NonZeroU16;

use vt100::capture::{BasicFormattedCaptureState, RowContents};
use vt100::{Callbacks, MouseProtocolEncoding, MouseProtocolMode, Parser, Screen};
use watchbill_protocol::own::spec::OwnSize;

use crate::control_sequences;
use crate::terminal_queries::{TerminalQuery, terminal_query};

/// The lines that are kept of what scrolled off the screen.
const SCROLLBACK: usize = 10_000;

/// The lines of them that the grid keeps as cells, for a screen that becomes taller. A cell takes 32 bytes.
const AS_CELLS: usize = 100;

/// The bytes that the lines of the scrollback take at most. The oldest lines go first.
const MAX_SCROLLBACK_BYTES: usize = 1 << 20;

/// Stands above the oldest line that was kept, where older ones were not.
const CUT: &str = "[older lines cut]";

/// The screen of a terminal.
pub struct Grid {
    parser: Parser<Scrolled>,
    /// The beginning of a control sequence whose end has not come.
    held: Vec<u8>,
    /// The beginning of a character whose end has not come.
    half: Vec<u8>,
    /// What comes belongs to a control sequence that was cut.
    in_cut: bool,
}

/// The effects of output.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fed {
    /// For views: the output without what asks.
    pub shown: Vec<u8>,
    /// For the program.
    pub answers: Vec<u8>,
    /// The program left the other screen: views that began there have never drawn the screen below.
    pub left_other_screen: bool,
    /// A control sequence was too long, and was left out.
    pub has_cut: bool,
}

/// Lines that scrolled off, drawn.
#[derive(Default)]
struct Scrolled {
    lines: VecDeque<String>,
    bytes: usize,
    /// Older lines were left out.
    is_cut: bool,
}

impl Callbacks for Scrolled {
    fn on_scroll(&mut self, contents: RowContents<'_>, alternate_screen: bool) {
        if alternate_screen {
            return;
        }
        let mut line = String::new();
        // Writing to a string cannot fail.
        let _ = contents.write_formatted_basic(&mut line, &mut BasicFormattedCaptureState::new());
        line.truncate(line.trim_end_matches(' ').len());
        line.shrink_to_fit();
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.lines.len() > SCROLLBACK - AS_CELLS || self.bytes > MAX_SCROLLBACK_BYTES {
            self.bytes -= self.lines.pop_front().map_or(0, |line| line.len());
            self.is_cut = true;
        }
    }
}

impl Grid {
    /// An empty screen.
    pub fn new(size: OwnSize) -> Self {
        let (rows, cols) = cells(size);
        Self {
            parser: Parser::new_with_callbacks(rows, cols, AS_CELLS, Scrolled::default()),
            held: Vec::new(),
            half: Vec::new(),
            in_cut: false,
        }
    }

    /// Takes output.
    pub fn feed(&mut self, bytes: &[u8]) -> Fed {
        self.half.extend_from_slice(bytes);
        let (clean, half) = control_sequences::seven_bit(&self.half);
        self.half = half.to_vec();
        let mut whole = std::mem::take(&mut self.held);
        whole.extend_from_slice(&clean);
        let (mut fed, mut at) = (Fed::default(), 0);
        loop {
            if self.in_cut {
                let Some(rest) = control_sequences::rest_of_cut(&whole[at..]) else {
                    at = whole.len();
                    break;
                };
                at += rest;
                self.in_cut = false;
            }
            let Some(piece) = control_sequences::next(&whole[at..]) else { break };
            let bytes = piece.bytes();
            at += bytes.len();
            if let control_sequences::Piece::Cut(_) = piece {
                (self.in_cut, fed.has_cut) = (true, true);
                continue;
            }
            if let control_sequences::Piece::Sequence(sequence) = piece {
                if let Some(question) = terminal_query(sequence) {
                    fed.answers.extend(self.answer(question));
                    continue;
                }
                if matches!(sequence, b"\x1b[3J" | b"\x1bc") {
                    self.parser.process(bytes);
                    *self.parser.callbacks_mut() = Scrolled::default();
                    fed.shown.extend_from_slice(bytes);
                    continue;
                }
            }
            let was_other = self.parser.screen().alternate_screen();
            self.parser.process(bytes);
            fed.left_other_screen |= was_other && !self.parser.screen().alternate_screen();
            fed.shown.extend_from_slice(bytes);
        }
        self.held = whole.split_off(at);
        fed
    }

    fn answer(&self, question: TerminalQuery) -> Vec<u8> {
        let screen = self.parser.screen();
        match question {
            // A VT220 with colours.
            TerminalQuery::Attributes => b"\x1b[?62;22c".to_vec(),
            TerminalQuery::MoreAttributes => b"\x1b[>1;10;0c".to_vec(),
            TerminalQuery::Status => b"\x1b[0n".to_vec(),
            TerminalQuery::Cursor => {
                let (row, col) = screen.cursor_position();
                format!("\x1b[{};{}R", row + 1, col + 1).into_bytes()
            }
            TerminalQuery::Mode(mode) => {
                let value = mode_of(screen, mode).map_or(0, |is_set| if is_set { 1 } else { 2 });
                format!("\x1b[?{mode};{value}$y").into_bytes()
            }
            TerminalQuery::Size => {
                let (rows, cols) = screen.size();
                format!("\x1b[8;{rows};{cols}t").into_bytes()
            }
            TerminalQuery::Setting => b"\x1bP0$r\x1b\\".to_vec(),
            TerminalQuery::Capability => b"\x1bP0+r\x1b\\".to_vec(),
            TerminalQuery::Unanswered => Vec::new(),
        }
    }

    /// Changes the size.
    pub fn resize(&mut self, size: OwnSize) {
        let (rows, cols) = cells(size);
        self.parser.set_size(rows, cols);
    }

    /// Its size.
    pub fn size(&self) -> OwnSize {
        let (rows, cols) = self.parser.screen().size();
        OwnSize { rows: rows.get(), cols: cols.get() }
    }

    /// Whether the program wants pasted text in brackets.
    pub fn brackets_paste(&self) -> bool {
        self.parser.screen().bracketed_paste()
    }

    /// Bytes that draw the screen and what scrolled off it on a terminal of the same size. They ask nothing.
    pub fn draw(&mut self) -> Vec<u8> {
        let mut drawn = String::from("\x1bc");
        if self.parser.callbacks().is_cut {
            drawn.push_str(CUT);
            drawn.push_str("\r\n");
        }
        for line in &self.parser.callbacks().lines {
            drawn.push_str(line);
            drawn.push_str("\x1b[m\r\n");
        }
        let (rows, cols) = self.parser.screen().size();
        let is_other = self.parser.screen().alternate_screen();
        if is_other {
            // The screen below stays as it is, and can be looked at. No sequence is open, so the grid takes this at once.
            self.parser.process(b"\x1b[?47l");
        }
        self.draw_scrollback(&mut drawn, cols.get());
        // Everything above scrolls off, then the screen is drawn.
        for _ in 1..rows.get() {
            drawn.push_str("\r\n");
        }
        drawn.push_str(&self.parser.screen().contents_formatted());
        if is_other {
            self.parser.process(b"\x1b[?47h");
            drawn.push_str("\x1b[?1049h");
            drawn.push_str(&self.parser.screen().contents_formatted());
        }
        drawn.push_str(&self.parser.screen().input_mode_formatted());
        drawn.into_bytes()
    }

    /// The lines that scrolled off and are kept as cells.
    fn draw_scrollback(&mut self, drawn: &mut String, cols: u16) {
        let screen = self.parser.screen_mut();
        for back in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(back);
            if let Some(line) = screen.rows_formatted(0, cols).next() {
                let _ = write!(drawn, "{line}\x1b[m\r\n");
            }
        }
        screen.set_scrollback(0);
    }
}

/// Whether a private mode is set; `None` for modes that the grid does not keep.
fn mode_of(screen: &Screen, mode: u16) -> Option<bool> {
    Some(match mode {
        1 => screen.application_cursor(),
        25 => !screen.hide_cursor(),
        47 | 1047 | 1049 => screen.alternate_screen(),
        1000 => screen.mouse_protocol_mode() == MouseProtocolMode::PressRelease,
        1002 => screen.mouse_protocol_mode() == MouseProtocolMode::ButtonMotion,
        1003 => screen.mouse_protocol_mode() == MouseProtocolMode::AnyMotion,
        1006 => screen.mouse_protocol_encoding() == MouseProtocolEncoding::Sgr,
        2004 => screen.bracketed_paste(),
        _ => return None,
    })
}

fn cells(size: OwnSize) -> (NonZeroU16, NonZeroU16) {
    let fits = |count: u16| NonZeroU16::new(count.clamp(2, 1000)).unwrap_or(NonZeroU16::MIN);
    (fits(size.rows), fits(size.cols))
}

#[cfg(test)]
mod tests;

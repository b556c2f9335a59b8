//! The terminal of a session: output to the grid and to views, and what users type and paste.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::OwnSize;

use crate::agent::Agent;
use crate::grid::Grid;
use crate::mailbox::Mailbox;
use crate::readers::{Readers, message};

/// Between pasted text and Enter: agents take an Enter that comes with the text for a part of it (Claude Code 2.1.329).
const BEFORE_ENTER: Duration = Duration::from_millis(50);

/// The most cells of a terminal. Each takes 32 bytes, on two screens.
const MAX_CELLS: u32 = 100_000;

/// The terminal of a session, as its host keeps it.
pub struct Screen(Grid);

impl Screen {
    /// An empty one.
    pub fn new(size: OwnSize) -> Self {
        Self(Grid::new(size))
    }

    /// Its size.
    pub fn size(&self) -> OwnSize {
        self.0.size()
    }

    /// Takes output of the program: answers what it asks, and shows the rest. Says what was left out.
    pub fn take(&mut self, output: &[u8], agent: Option<&Agent>, readers: &Readers) -> Option<&'static str> {
        let fed = self.0.feed(output);
        let mut cut = fed.has_cut.then_some("a control sequence of more than 64 KiB was left out");
        if !fed.answers.is_empty()
            && let Some(agent) = agent
        {
            if agent.is_full() {
                cut = Some("the program reads no answers to what it asks its terminal: they were left out");
            } else {
                agent.write(fed.answers);
            }
        }
        if fed.left_other_screen {
            // Views that came while the other screen was up have never drawn the screen below.
            readers.drop_output();
        } else {
            readers.show(&fed.shown);
        }
        cut
    }

    /// Sends itself to a reader.
    pub fn send_to(&mut self, mailbox: &Mailbox) {
        let screen = HostMessage::Screen { bytes: STANDARD.encode(self.draw()), size: self.size() };
        if let Some(message) = message(&screen) {
            mailbox.send_screen(&message);
        }
    }

    /// Bytes that draw it.
    pub fn draw(&mut self) -> Vec<u8> {
        self.0.draw()
    }

    /// Types, pastes or resizes.
    ///
    /// # Errors
    /// When the command makes no sense, or the system refuses.
    pub fn give(&mut self, command: &OwnCommand, agent: &mut Agent) -> Result<(), ApiError> {
        let is_input = matches!(command, OwnCommand::Type { .. } | OwnCommand::Paste { .. });
        if is_input && agent.is_full() {
            return Err(ApiError::new(ErrorCode::Conflict, "the program reads no input: nothing was typed"));
        }
        match command {
            OwnCommand::Type { bytes } => {
                let bytes = STANDARD.decode(bytes).map_err(|error| {
                    ApiError::new(ErrorCode::Invalid, format!("`bytes` is not base64: {error}"))
                })?;
                agent.write(bytes);
            }
            OwnCommand::Paste { text, enter } => {
                agent.write(pasted(text, self.0.brackets_paste()));
                if *enter {
                    agent.pause(BEFORE_ENTER);
                    agent.write(b"\r".to_vec());
                }
            }
            OwnCommand::Resize { size } => self.resize(agent, *size)?,
            _ => {}
        }
        Ok(())
    }

    /// The last view that was resized sets the size. The same size again does nothing.
    fn resize(&mut self, agent: &mut Agent, size: OwnSize) -> Result<(), ApiError> {
        let fits = (2..=1000).contains(&size.rows) && (2..=1000).contains(&size.cols);
        if !fits || u32::from(size.rows) * u32::from(size.cols) > MAX_CELLS {
            let words = format!("a terminal has 2 to 1000 lines and columns, and at most {MAX_CELLS} cells");
            return Err(ApiError::new(ErrorCode::Invalid, words));
        }
        if self.size() == size {
            return Ok(());
        }
        // Before the program draws for the new size.
        self.0.resize(size);
        agent
            .resize(size)
            .map_err(|error| ApiError::new(ErrorCode::Internal, format!("cannot resize: {error}")))
    }
}

/// Text as a terminal pastes it: line ends as Enter sends them, tabs, and no other control character.
fn pasted(text: &str, in_brackets: bool) -> Vec<u8> {
    let text = text.replace("\r\n", "\r").replace('\n', "\r");
    let text: String =
        text.chars().filter(|letter| matches!(letter, '\r' | '\t') || !letter.is_control()).collect();
    if in_brackets { format!("\x1b[200~{text}\x1b[201~").into_bytes() } else { text.into_bytes() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_cannot_leave_its_brackets() {
        assert_eq!(pasted("a\nb\x1b[201~rm\x03\u{9b}x\ty", true), b"\x1b[200~a\rb[201~rmx\ty\x1b[201~");
        assert_eq!(pasted("a\r\nb\u{7f}", false), b"a\rb");
    }
}

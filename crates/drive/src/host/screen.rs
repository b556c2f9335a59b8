//! The terminal of a session: output to the grid and to views, and what users type and paste.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::host::HostMessage;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSize};

use super::mailbox::Mailbox;
use super::session::{Session, message};

/// Between pasted text and Enter: agents take an Enter that comes with the text for a part of it (Claude Code 2.1.329).
const BEFORE_ENTER: Duration = Duration::from_millis(50);

impl Session {
    /// Takes output of the terminal.
    pub(super) fn output(&mut self, bytes: &[u8]) {
        let Some(grid) = self.grid.as_mut() else { return };
        let fed = grid.feed(bytes);
        self.state.works = true;
        if !fed.answers.is_empty()
            && let Some(agent) = &self.agent
        {
            agent.write(fed.answers);
        }
        if fed.left_other_screen {
            // Views that came while the other screen was up have never drawn the screen below.
            for mailbox in &self.mailboxes {
                mailbox.drop_output();
            }
        } else if !fed.shown.is_empty()
            && !self.mailboxes.is_empty()
            && let Some(output) = message(&HostMessage::Output { bytes: STANDARD.encode(fed.shown) })
        {
            for mailbox in &self.mailboxes {
                mailbox.send_output(&output);
            }
        }
    }

    /// The screen for a new reader, sent after the log and before new output.
    pub(super) fn greet(&mut self, mailbox: &Arc<Mailbox>) {
        self.redraw(mailbox);
        if let Some(message) = message(&HostMessage::CaughtUp) {
            mailbox.send(&message);
        }
    }

    /// Sends the screen.
    pub(super) fn redraw(&mut self, mailbox: &Arc<Mailbox>) {
        let Some(grid) = self.grid.as_mut() else { return };
        let screen = HostMessage::Screen { bytes: STANDARD.encode(grid.draw()), size: grid.size() };
        if let Some(message) = message(&screen) {
            mailbox.send_screen(&message);
        }
    }

    /// Types, pastes or resizes.
    pub(super) fn give_terminal(&mut self, command: &OwnCommand) -> Result<(), ApiError> {
        let (Some(agent), Some(grid)) = (self.agent.as_mut(), self.grid.as_mut()) else {
            return Err(ApiError::new(ErrorCode::Conflict, "no program runs in the terminal"));
        };
        match command {
            OwnCommand::Type { bytes } => {
                let bytes = STANDARD.decode(bytes).map_err(|error| {
                    ApiError::new(ErrorCode::Invalid, format!("`bytes` is not base64: {error}"))
                })?;
                agent.write(bytes);
            }
            OwnCommand::Paste { text, enter } => {
                agent.write(pasted(text, grid.brackets_paste()));
                if *enter {
                    agent.pause(BEFORE_ENTER);
                    agent.write(b"\r".to_vec());
                }
            }
            OwnCommand::Resize { size } => resize(agent, grid, *size)?,
            _ => {}
        }
        Ok(())
    }

    /// Agents take Escape for it, a shell Ctrl-C. It is typed once.
    pub(super) fn interrupt_terminal(&mut self) {
        let key = if self.spec.agent == OwnAgent::Shell { b"\x03" } else { b"\x1b" };
        if let Some(agent) = &self.agent {
            agent.write(key.to_vec());
        }
    }

    /// Keeps the last screen as a picture.
    pub(super) fn keep_screen(&mut self) {
        if self.spec.kind != OwnKind::Pty {
            return;
        }
        if let Some(grid) = self.grid.as_mut()
            && let Err(error) = std::fs::write(self.folder.screen(), grid.draw())
        {
            tracing::warn!(%error, "the last screen is not kept");
        }
    }
}

/// The last view that was resized sets the size. The same size again does nothing.
fn resize(
    agent: &mut super::agent::Agent,
    grid: &mut super::grid::Grid,
    size: OwnSize,
) -> Result<(), ApiError> {
    if !(2..=1000).contains(&size.rows) || !(2..=1000).contains(&size.cols) {
        return Err(ApiError::new(ErrorCode::Invalid, "a terminal has 2 to 1000 lines and columns"));
    }
    if grid.size() == size {
        return Ok(());
    }
    // Before the program draws for the new size.
    grid.resize(size);
    agent.resize(size).map_err(|error| ApiError::new(ErrorCode::Internal, format!("cannot resize: {error}")))
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

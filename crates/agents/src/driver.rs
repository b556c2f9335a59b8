//! The interface of all drivers: a driver folds the lines of the log into events, and writes commands as lines.

use watchbill_core::time::Timestamp;
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::event::OwnWhat;

/// The most bytes that a driver keeps: open requests, growing texts, items of a turn.
pub const MAX_DRIVER_BYTES: usize = 640 << 10;

/// What a text ends in whose end was left out of the log, because the line was too long.
pub const CUT_MARK: &str = " [Watchbill left out the rest of this text]";

/// The field of a line in the log that was shortened.
pub const SHORTENED: &str = "watchbillShortened";

/// One record of the log, as a driver sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLine<'a> {
    /// A line that the agent wrote to standard output, without its line feed.
    Out(&'a str),
    /// A line that was written to the agent.
    In(&'a str),
    /// A line of the agent's standard error.
    Err(&'a str),
}

/// Why a command cannot be carried out now. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The agent has no such thing.
    #[error("{0}")]
    Unsupported(String),
    /// What it answers or changes is not there any more.
    #[error("{0}")]
    Gone(String),
}

impl Refusal {
    /// A command of the host or of a terminal.
    pub(crate) fn not_for_a_driver() -> Self {
        Self::Unsupported("an agent that talks in lines has no such command".to_owned())
    }
}

/// Why an agent ends at its start: what it says of the conversation that it was started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversation {
    /// A new one was asked for, but one with this id exists.
    Exists,
    /// The one to resume does not exist.
    Missing,
}

/// The driver of one process of an agent: pure. Folding the same log gives the same events and the same state.
pub trait Driver: Send {
    /// Folds one record. Events come in the order in which they happened. A line that cannot be read gives
    /// [`OwnWhat::Error`] with the cause `protocol`, and changes nothing else.
    fn fold(&mut self, at: Timestamp, line: LogLine<'_>) -> Vec<OwnWhat>;

    /// The lines that the driver itself has to write now: the greeting, replies to calls that only it answers. They are taken.
    /// The caller asks at the start and after each record. It does not ask in a replay: what is in the log was written.
    /// Folding such a line removes it here.
    fn due(&mut self) -> Vec<String>;

    /// A command as lines for the agent. The caller writes each to the log and to the agent, and folds it.
    ///
    /// The host keeps the queue: it hands over a prompt only when it may be written. That is when the agent is idle; with
    /// `PromptWhen::Steer` also while a turn runs. For `PromptWhen::Now` the host interrupts first, and hands the prompt over
    /// after the turn's end. No line can come back: a new model of Codex goes with the next prompt.
    ///
    /// # Errors
    /// When the agent cannot take it now.
    fn command(&mut self, command: &OwnCommand) -> Result<Vec<String>, Refusal>;

    /// The agent can take the next prompt: it is ready, and no turn runs.
    fn is_idle(&self) -> bool;

    /// The agent is not ready, and has said that it will not be: the conversation is not as its start had it.
    fn start_refusal(&self) -> Option<Conversation> {
        None
    }
}

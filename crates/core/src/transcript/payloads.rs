//! The payloads of one record. A caller decodes only those that it needs, up to a limit.
//!
//! The state fold reads [`super::record::Record`] and skips payloads. The history and the timeline also need their texts, from
//! the same pass over the line. A text without an escape is borrowed from the line.

use std::borrow::Cow;

use super::json::{Raw, each_string, unescape_onto};
use super::record::{Prompt, PromptOrigin};
use crate::history::private::rest_closes_block;

/// What the parser of an agent reads from a record on demand. Limits are in bytes.
pub trait Payloads<'a> {
    /// The id of the turn that a prompt or a result belongs to, if the agent writes it.
    fn prompt_id(&self) -> Option<&'a str>;
    /// The plan that a prompt carries out, if the agent put it there.
    fn plan_content(&self, limit: usize) -> Option<Cow<'a, str>>;
    /// Where the agent keeps the session's plan.
    fn plan_path(&self) -> Option<Cow<'a, str>>;
    /// The text of a prompt without the agent's wrappers.
    fn prompt(&self, prompt: &Prompt<'_>, limit: usize) -> String;
    /// The text of a prompt that was taken out of the queue, and its origin if the user did not put it there.
    fn queued_prompt(&self, limit: usize) -> (String, Option<PromptOrigin>);
    /// Whether a person typed the prompt, as far as its record shows.
    fn is_typed(&self) -> bool;
    /// The text of the message: its string, or its text blocks.
    fn words(&self, limit: usize) -> Cow<'a, str>;
    /// The command that the user typed, and the output of commands.
    fn commands(&self, limit: usize) -> Vec<CommandPart>;
    /// The content of the message.
    fn content(&self) -> &Content<'a>;
    /// The file that a call touches.
    fn file(&self, tool: &str, call: &RawBlock<'a>) -> Option<Cow<'a, str>>;
    /// Whether the agent wrote, on a resume, that it was killed before the result came. The call may have run.
    fn was_killed(&self) -> bool;
    /// Whether a call that the user refused was running: an interrupt is written as a refusal.
    fn was_stopped(&self) -> bool;
    /// What the agent keeps of a result beside the text for the model: an object, or nothing.
    fn result(&self) -> Raw<'a>;
    /// Whether the result is about one file, which it names.
    fn is_of_file(&self) -> bool;
    /// The subagent that a call started.
    fn started_agent(&self) -> Option<Cow<'a, str>>;
    /// The process that a call goes on with, or that a result leaves running, if the agent numbers such processes.
    fn process(&self, _block: &RawBlock<'_>) -> Option<u64> {
        None
    }
    /// How long a turn took, in milliseconds.
    fn duration_ms(&self) -> Option<u64>;
}

/// One part of a command's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandPart {
    /// The user's input: `/rename new name`, `! ls`.
    Command(String),
    /// The output, without colours.
    Output(String),
}

/// A text, and how much of it was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Piece<'p> {
    /// The text, cut at a character boundary.
    pub text: &'p str,
    /// Bytes of the line that the cut left out; an escape counts as it is written.
    pub cut: u64,
}

/// The content of a message.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one per line, on the stack; a box would cost an allocation each"
)]
#[derive(Debug, Default)]
pub enum Content<'a> {
    /// Absent, or of an unknown form.
    #[default]
    Absent,
    /// A string, undecoded.
    Text(Raw<'a>),
    /// Blocks. One is by far the usual number and costs no allocation.
    Blocks(RawBlock<'a>, Vec<RawBlock<'a>>),
    /// An empty array.
    Empty,
}

impl<'a> Content<'a> {
    /// The blocks in order; a string has none.
    pub fn blocks(&self) -> impl Iterator<Item = &RawBlock<'a>> + Clone {
        let (first, more) = match self {
            Self::Blocks(first, more) => (Some(first), more.as_slice()),
            _ => (None, [].as_slice()),
        };
        first.into_iter().chain(more)
    }

    /// The message, if it is a string and not blocks.
    pub fn string<'b>(&self, limit: usize, buffer: &'b mut String) -> Option<Piece<'b>>
    where
        'a: 'b,
    {
        match *self {
            Self::Text(raw) => Some(decode(raw, limit, buffer)),
            _ => None,
        }
    }
}

/// One block of a message, undecoded.
#[derive(Debug, Default)]
pub struct RawBlock<'a> {
    /// `text`, `thinking`, `tool_use`, `tool_result`, …; see [`RawBlock::kind`].
    pub kind: Raw<'a>,
    /// The text of a `text` block.
    pub text: Raw<'a>,
    /// The text of a `thinking` block.
    pub thinking: Raw<'a>,
    /// The id of a call.
    pub id: Raw<'a>,
    /// The tool of a call.
    pub name: Raw<'a>,
    /// The input of a call.
    pub input: Raw<'a>,
    /// The call that a result answers.
    pub tool_use_id: Raw<'a>,
    /// Whether a result is an error.
    pub is_error: Raw<'a>,
    /// The text of a result: a string or blocks.
    pub content: Raw<'a>,
}

impl<'a> RawBlock<'a> {
    /// `text`, `thinking`, `tool_use`, `tool_result`, …; empty if absent.
    pub fn kind(&self) -> &'a str {
        self.kind.word().unwrap_or_default()
    }

    /// The text of a `text` block.
    pub fn text<'b>(&self, limit: usize, buffer: &'b mut String) -> Piece<'b>
    where
        'a: 'b,
    {
        decode(self.text, limit, buffer)
    }

    /// The text of a `thinking` block. Most are empty, because the agent keeps only their signature.
    pub fn thinking<'b>(&self, limit: usize, buffer: &'b mut String) -> Piece<'b>
    where
        'a: 'b,
    {
        decode(self.thinking, limit, buffer)
    }

    /// The strings of a call's input, one per line, without keys: the text that search finds.
    pub fn input_words<'b>(&self, limit: usize, buffer: &'b mut String) -> Piece<'b> {
        buffer.clear();
        let mut cut = 0;
        if let Raw::Nested(input) = self.input {
            each_string(input, &mut |value| cut += push_line(buffer, value, limit));
        }
        Piece { text: buffer, cut }
    }

    /// The input as it stands in the line, cut.
    pub fn input_json(&self, limit: usize) -> &'a str {
        match self.input {
            Raw::Nested(raw) | Raw::Plain(raw) => &raw[..raw.floor_char_boundary(limit)],
            _ => "",
        }
    }

    /// Id and tool of a call.
    pub fn call(&self) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        Some((self.id.whole()?, self.name.whole()?))
    }

    /// The text of a `tool_result` block: its string or its text blocks.
    pub fn result<'b>(&self, limit: usize, buffer: &'b mut String) -> Piece<'b>
    where
        'a: 'b,
    {
        if let Raw::Str(_) = self.content {
            return decode(self.content, limit, buffer);
        }
        buffer.clear();
        let mut cut = 0;
        self.content.elements(|cursor| {
            if let Raw::Str(text) = cursor.value()?.get("text") {
                cut += push_line(buffer, text, limit);
            }
            Some(())
        });
        Piece { text: buffer, cut }
    }
}
/// Adds a line; returns how many bytes of `raw` were left out.
fn push_line(buffer: &mut String, raw: &str, limit: usize) -> u64 {
    if !buffer.is_empty() && buffer.len() < limit {
        buffer.push('\n');
    }
    let room = limit.saturating_sub(buffer.len());
    let cut = unescape_onto(buffer, raw, room);
    if cut > 0 && rest_closes_block(buffer, &raw[raw.floor_char_boundary(raw.len() - cut)..]) {
        buffer.clear();
    }
    cut as u64
}

/// Decodes a string into `buffer`. A string without an escape is borrowed instead.
fn decode<'b>(raw: Raw<'b>, limit: usize, buffer: &'b mut String) -> Piece<'b> {
    let Raw::Str(raw) = raw else { return Piece::default() };
    let (head, rest) = raw.split_at(raw.floor_char_boundary(limit));
    if rest_closes_block(head, rest) {
        return Piece { text: "", cut: raw.len() as u64 };
    }
    if memchr::memchr(b'\\', head.as_bytes()).is_none() {
        return Piece { text: head, cut: rest.len() as u64 };
    }
    buffer.clear();
    let cut = unescape_onto(buffer, raw, limit) as u64;
    Piece { text: buffer, cut }
}

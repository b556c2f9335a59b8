//! The payloads of one record. A caller decodes only those that it needs, up to a limit.
//!
//! The state fold reads [`super::record::Record`] and skips payloads. The history also needs their texts, from the
//! same pass over the line. A text without an escape is borrowed from the line.

use std::borrow::Cow;

use super::commands::{CommandPart, command_parts};
use super::fields::{Content, Fields, RawBlock};
use super::json::{Raw, each_string, unescape_onto};
use super::prompt_source::{is_typed, queued_origin};
use super::record::{Prompt, PromptOrigin};
use super::target;
use super::user::{prompt_words, tagged};
use super::words::{content_text, joined_text};
use crate::history::private::rest_closes_block;

/// The payloads of one record.
#[derive(Debug, Clone, Copy)]
pub struct Full<'r, 'a>(&'r Fields<'a>);

/// A text, and how much of it was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Piece<'p> {
    /// The text, cut at a character boundary.
    pub text: &'p str,
    /// Bytes of the line that the cut left out; an escape counts as it is written.
    pub cut: u64,
}

impl<'r, 'a> Full<'r, 'a> {
    pub(super) fn new(fields: &'r Fields<'a>) -> Self {
        Self(fields)
    }

    /// `promptId`, since 2.1.87; hooks call it `prompt_id`. Prompts and results carry the id of their turn.
    pub fn prompt_id(self) -> Option<&'a str> {
        self.0.prompt_id.word().filter(|id| !id.is_empty())
    }

    /// `planContent`: the plan that a prompt carries out, if the agent put it there.
    pub fn plan_content(self, limit: usize) -> Option<Cow<'a, str>> {
        self.0.plan_content.text(limit)
    }

    /// `attachment.planFilePath`: where the agent keeps the session's plan.
    pub fn plan_path(self) -> Option<Cow<'a, str>> {
        self.0.attached.plan_path.whole()
    }

    /// The text of a prompt without the agent's wrappers.
    pub fn prompt(self, prompt: &Prompt<'_>, limit: usize) -> String {
        prompt_words(self.0, prompt, limit)
    }

    /// The text of a prompt that was taken out of the queue, and its origin if the user did not put it there.
    pub fn queued_prompt(self, limit: usize) -> (String, Option<PromptOrigin>) {
        let text = joined_text(self.0.attached.prompt, limit);
        let origin = queued_origin(self.0, &text);
        match tagged(&text, "summary") {
            Some(summary) if origin == Some(PromptOrigin::TaskNotification) => {
                (summary.trim().to_owned(), origin)
            }
            _ => (text.into_owned(), origin),
        }
    }

    /// Whether a person typed the prompt, as far as its record shows.
    pub fn is_typed(self) -> bool {
        is_typed(self.0)
    }

    /// The text of the message: its string, or its text blocks.
    pub fn words(self, limit: usize) -> Cow<'a, str> {
        match self.0.message.content {
            Content::Absent => joined_text(self.0.content, limit),
            _ => content_text(&self.0.message.content, limit),
        }
    }

    /// The command that the user typed, and the output of commands.
    pub fn commands(self, limit: usize) -> (Option<String>, Vec<String>) {
        let (mut typed, mut printed) = (None, Vec::new());
        for part in command_parts(&self.words(limit)) {
            match part {
                CommandPart::Command(text) => typed = Some(text),
                CommandPart::Output(text) if !text.is_empty() => printed.push(text),
                CommandPart::Output(_) => {}
            }
        }
        (typed, printed)
    }

    /// The blocks of the message, in order.
    pub fn blocks(self) -> impl Iterator<Item = FullBlock<'r, 'a>> {
        self.0.message.content.blocks().map(FullBlock)
    }

    /// The message, if it is a string and not blocks.
    pub fn string<'b>(self, limit: usize, buffer: &'b mut String) -> Option<Piece<'b>>
    where
        'a: 'b,
    {
        match self.0.message.content {
            Content::Text(raw) => Some(decode(raw, limit, buffer)),
            _ => None,
        }
    }

    /// Whether the agent wrote, on a resume, that it was killed before the result came. The call may have run.
    pub fn was_killed(self) -> bool {
        self.0.denial_kind.word() == Some("interrupted")
    }

    /// Whether `toolUseResult` is about one file, which it names.
    pub fn is_of_file(self) -> bool {
        let result = self.0.tool_use_result.whole;
        result.get("filePath").is_there() || result.get("file").is_there()
    }

    /// A string in `toolUseResult`.
    pub fn result_field(self, key: &str, limit: usize) -> Option<Cow<'a, str>> {
        self.0.tool_use_result.whole.get(key).text(limit)
    }

    /// Whether a field of `toolUseResult` is `true`.
    pub fn result_flag(self, key: &str) -> bool {
        self.0.tool_use_result.whole.get(key).is_true()
    }
}

/// One block of a message.
#[derive(Debug, Clone, Copy)]
pub struct FullBlock<'r, 'a>(&'r RawBlock<'a>);

impl<'a> FullBlock<'_, 'a> {
    /// `text`, `thinking`, `tool_use`, `tool_result`, …; empty if absent.
    pub fn kind(self) -> &'a str {
        self.0.kind.word().unwrap_or_default()
    }

    /// The text of a `text` block.
    pub fn text<'b>(self, limit: usize, buffer: &'b mut String) -> Piece<'b>
    where
        'a: 'b,
    {
        decode(self.0.text, limit, buffer)
    }

    /// The text of a `thinking` block. Most are empty, because the agent keeps only their signature.
    pub fn thinking<'b>(self, limit: usize, buffer: &'b mut String) -> Piece<'b>
    where
        'a: 'b,
    {
        decode(self.0.thinking, limit, buffer)
    }

    /// The strings of a call's input, one per line, without keys: the text that search finds.
    pub fn input_words<'b>(self, limit: usize, buffer: &'b mut String) -> Piece<'b> {
        buffer.clear();
        let mut cut = 0;
        if let Raw::Nested(input) = self.0.input {
            each_string(input, &mut |value| cut += push_line(buffer, value, limit));
        }
        Piece { text: buffer, cut }
    }

    /// The input as it stands in the line, cut.
    pub fn input_json(self, limit: usize) -> &'a str {
        match self.0.input {
            Raw::Nested(raw) | Raw::Plain(raw) => &raw[..raw.floor_char_boundary(limit)],
            _ => "",
        }
    }

    /// Id and tool of a call.
    pub fn call(self) -> Option<(Cow<'a, str>, Cow<'a, str>)> {
        Some((self.0.id.whole()?, self.0.name.whole()?))
    }

    /// What a call acts on, in one line.
    pub fn target(self, tool: &str) -> Cow<'a, str> {
        target::of(tool, self.0.input)
    }

    /// The file that a call touches.
    pub fn file(self, tool: &str) -> Option<Cow<'a, str>> {
        let key = match tool {
            "Read" | "Edit" | "MultiEdit" | "Write" => "file_path",
            "NotebookEdit" | "NotebookRead" => "notebook_path",
            _ => return None,
        };
        self.input_field(key, usize::MAX)
    }

    /// A string of a call's input.
    pub fn input_field(self, key: &str, limit: usize) -> Option<Cow<'a, str>> {
        self.0.input.get(key).text(limit)
    }

    /// The text of a `tool_result` block: its string or its text blocks.
    pub fn result<'b>(self, limit: usize, buffer: &'b mut String) -> Piece<'b>
    where
        'a: 'b,
    {
        if let Raw::Str(_) = self.0.content {
            return decode(self.0.content, limit, buffer);
        }
        buffer.clear();
        let mut cut = 0;
        self.0.content.elements(|cursor| {
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

//! The texts of one record, decoded on demand.

use std::borrow::Cow;

use watchbill_core::transcript::json::Raw;
use watchbill_core::transcript::payloads::{CommandPart, Content, Payloads, RawBlock};
use watchbill_core::transcript::record::{Prompt, PromptOrigin};

use super::calls;
use crate::words::content_text;

/// What one record carries beside its facts.
#[derive(Debug, Default)]
pub(super) struct Texts<'a> {
    pub content: Content<'a>,
    /// A text that is no message: an error, a summary.
    pub text: Raw<'a>,
    /// A text of our own about the record.
    pub note: Option<String>,
    pub pictures: usize,
    pub stopped: bool,
    pub duration_ms: Option<u64>,
}

impl<'a> Payloads<'a> for Texts<'a> {
    fn prompt_id(&self) -> Option<&'a str> {
        None
    }

    fn plan_content(&self, _limit: usize) -> Option<Cow<'a, str>> {
        None
    }

    fn plan_path(&self) -> Option<Cow<'a, str>> {
        None
    }

    fn prompt(&self, _prompt: &Prompt<'_>, limit: usize) -> String {
        let words = content_text(&self.content, limit);
        match (words.is_empty(), self.pictures) {
            (true, 1) => "[image]".to_owned(),
            (true, n) if n > 1 => format!("[{n} images]"),
            _ => words.into_owned(),
        }
    }

    fn queued_prompt(&self, _limit: usize) -> (String, Option<PromptOrigin>) {
        (String::new(), None)
    }

    /// The record of a prompt does not say who wrote it; that of the session does.
    fn is_typed(&self) -> bool {
        true
    }

    fn words(&self, limit: usize) -> Cow<'a, str> {
        match &self.note {
            Some(note) => Cow::Owned(note.clone()),
            None => self.text.head(limit).unwrap_or_default(),
        }
    }

    fn commands(&self, _limit: usize) -> Vec<CommandPart> {
        Vec::new()
    }

    fn content(&self) -> &Content<'a> {
        &self.content
    }

    fn file(&self, tool: &str, call: &RawBlock<'a>) -> Option<Cow<'a, str>> {
        calls::file(tool, call.input)
    }

    fn was_killed(&self) -> bool {
        false
    }

    fn was_stopped(&self) -> bool {
        self.stopped
    }

    fn result(&self) -> Raw<'a> {
        Raw::Absent
    }

    fn is_of_file(&self) -> bool {
        false
    }

    fn started_agent(&self) -> Option<Cow<'a, str>> {
        None
    }

    fn process(&self, block: &RawBlock<'_>) -> Option<u64> {
        match block.kind() {
            "tool_use" => block.input.get("session_id").number(),
            "tool_result" => calls::running_process(block.content),
            _ => None,
        }
    }

    fn duration_ms(&self) -> Option<u64> {
        self.duration_ms
    }
}

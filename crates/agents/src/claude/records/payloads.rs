//! The payloads of one record, decoded from its raw fields on demand.

use std::borrow::Cow;

use watchbill_core::transcript::json::Raw;
use watchbill_core::transcript::payloads::{CommandPart, Content, Payloads, RawBlock};
use watchbill_core::transcript::record::{Prompt, PromptOrigin};

use super::commands::command_parts;
use super::fields::Fields;
use super::prompt_source::{is_typed, queued_origin};
use super::user::{prompt_words, tagged, was_stopped};
use crate::words::{content_text, joined_text};

impl<'a> Payloads<'a> for Fields<'a> {
    /// `promptId`, since 2.1.87; hooks call it `prompt_id`.
    fn prompt_id(&self) -> Option<&'a str> {
        self.prompt_id.word().filter(|id| !id.is_empty())
    }

    /// `planContent`.
    fn plan_content(&self, limit: usize) -> Option<Cow<'a, str>> {
        self.plan_content.text(limit)
    }

    /// `attachment.planFilePath`.
    fn plan_path(&self) -> Option<Cow<'a, str>> {
        self.attached.plan_path.whole()
    }

    fn prompt(&self, prompt: &Prompt<'_>, limit: usize) -> String {
        prompt_words(self, prompt, limit)
    }

    fn queued_prompt(&self, limit: usize) -> (String, Option<PromptOrigin>) {
        let text = joined_text(self.attached.prompt, limit);
        let origin = queued_origin(self, &text);
        match tagged(&text, "summary") {
            Some(summary) if origin == Some(PromptOrigin::TaskNotification) => {
                (summary.trim().to_owned(), origin)
            }
            _ => (text.into_owned(), origin),
        }
    }

    fn is_typed(&self) -> bool {
        is_typed(self)
    }

    fn words(&self, limit: usize) -> Cow<'a, str> {
        match self.message.content {
            Content::Absent => joined_text(self.content, limit),
            _ => content_text(&self.message.content, limit),
        }
    }

    fn commands(&self, limit: usize) -> Vec<CommandPart> {
        command_parts(&self.words(limit))
    }

    fn content(&self) -> &Content<'a> {
        &self.message.content
    }

    fn file(&self, tool: &str, call: &RawBlock<'a>) -> Option<Cow<'a, str>> {
        let key = match tool {
            "Read" | "Edit" | "MultiEdit" | "Write" => "file_path",
            "NotebookEdit" | "NotebookRead" => "notebook_path",
            _ => return None,
        };
        call.input.get(key).whole()
    }

    /// `toolDenialKind` is `interrupted`.
    fn was_killed(&self) -> bool {
        self.denial_kind.word() == Some("interrupted")
    }

    fn was_stopped(&self) -> bool {
        was_stopped(self)
    }

    /// `toolUseResult`.
    fn result(&self) -> Raw<'a> {
        self.tool_use_result.whole
    }

    fn is_of_file(&self) -> bool {
        let result = self.tool_use_result.whole;
        result.get("filePath").is_there() || result.get("file").is_there()
    }

    /// `toolUseResult.agentId`.
    fn started_agent(&self) -> Option<Cow<'a, str>> {
        self.tool_use_result.agent_id.whole().filter(|id| !id.is_empty())
    }

    /// `durationMs`.
    fn duration_ms(&self) -> Option<u64> {
        self.duration_ms.number()
    }
}

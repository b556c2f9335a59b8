//! The long texts of a hook payload, borrowed from its bytes, for the history.

use std::borrow::Cow;

use super::payload::HookError;
use crate::transcript::json::{Cursor, Raw};

/// The full texts of a payload. `None` for a text that the event does not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookTexts<'a> {
    /// `prompt`.
    pub prompt: Option<Cow<'a, str>>,
    /// `tool_input`: JSON as the agent wrote it, balanced but not validated.
    pub tool_input: Option<&'a str>,
    /// `tool_response`: JSON as the agent wrote it; for a string the text itself.
    pub tool_response: Option<Cow<'a, str>>,
    /// `last_assistant_message`.
    pub last_assistant_message: Option<Cow<'a, str>>,
    /// `compact_summary`.
    pub compact_summary: Option<Cow<'a, str>>,
    /// `custom_instructions` of a compaction.
    pub custom_instructions: Option<Cow<'a, str>>,
    /// `error` of a tool or of a request.
    pub error: Option<Cow<'a, str>>,
    /// `error_details`.
    pub error_details: Option<Cow<'a, str>>,
    /// `message` of a notification or an elicitation.
    pub message: Option<Cow<'a, str>>,
    /// `agent_transcript_path`: where a subagent's own transcript lies. For the worker of a compaction nothing lies there.
    pub agent_transcript_path: Option<Cow<'a, str>>,
    /// `duration_ms` of a tool.
    pub duration_ms: Option<u64>,
}

impl<'a> HookTexts<'a> {
    /// Reads them from a payload that [`super::parse_payload`] accepts, given as text.
    pub fn read(text: &'a str) -> Result<Self, HookError> {
        let mut texts = Self::default();
        Cursor::new(text)
            .object(|cursor, key| {
                let value = cursor.value()?;
                match key {
                    "prompt" => texts.prompt = value.whole(),
                    "tool_input" => texts.tool_input = json(value),
                    "tool_response" => {
                        texts.tool_response = value.whole().or_else(|| json(value).map(Cow::Borrowed));
                    }
                    "last_assistant_message" => texts.last_assistant_message = value.whole(),
                    "compact_summary" => texts.compact_summary = value.whole(),
                    "custom_instructions" => texts.custom_instructions = value.whole(),
                    "error" => texts.error = value.whole(),
                    "error_details" => texts.error_details = value.whole(),
                    "message" => texts.message = value.whole(),
                    "agent_transcript_path" => texts.agent_transcript_path = value.whole(),
                    "duration_ms" => texts.duration_ms = value.number(),
                    _ => {}
                }
                Some(())
            })
            .ok_or(HookError::Malformed)?;
        Ok(texts)
    }
}

/// The raw JSON of a value. A string has lost its quotes, so it gives `None`.
fn json(value: Raw<'_>) -> Option<&str> {
    match value {
        Raw::Nested(raw) => Some(raw),
        Raw::Plain(raw) if raw != "null" => Some(raw),
        _ => None,
    }
}

//! The long texts of a hook payload, borrowed from its bytes, for the history. `watchbill_agents` reads them.

use std::borrow::Cow;

use crate::transcript::record::PromptOrigin;

/// The full texts of a payload. `None` for a text that the event does not have.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookTexts<'a> {
    /// `prompt`.
    pub prompt: Option<Cow<'a, str>>,
    /// The summary in a prompt that tells of ended background work.
    pub notice: Option<Cow<'a, str>>,
    /// Who wrote the prompt, where its first words name someone other than the user.
    pub prompt_origin: Option<PromptOrigin>,
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

//! What a line is, by its type and the type inside its payload.

use super::fields::Fields;

/// Record types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Session,
    Settings,
    Compacted,
    TurnStarted,
    TurnComplete,
    TurnAborted,
    /// `event_msg/error`.
    Failed,
    Tokens,
    Title,
    RolledBack,
    /// `event_msg/user_message`.
    UserMessage,
    /// `event_msg/agent_message`.
    AgentMessage,
    /// `event_msg/item_completed`.
    Item,
    /// `response_item/agent_message`: from one agent to another.
    Task,
    Reasoning,
    Call,
    ShellCall,
    WebSearch,
    CallOutput,
    Irrelevant,
}

impl Kind {
    /// `None` for a type that this program does not know.
    pub fn of(f: &Fields<'_>) -> Option<Self> {
        let inner = f.payload.kind.word().unwrap_or_default();
        Some(match f.kind.word()? {
            "session_meta" => Self::Session,
            "turn_context" => Self::Settings,
            "compacted" => Self::Compacted,
            "event_msg" => return Self::of_event(inner, f.ordinal.is_there()),
            "response_item" => return Self::of_item(inner),
            "world_state"
            | "retained_context"
            | "token_usage_record"
            | "inter_agent_communication"
            | "inter_agent_communication_metadata"
            | "tool_manifest"
            | "sampling_boundary" => Self::Irrelevant,
            _ => return None,
        })
    }

    /// Records with a number repeat prompts and answers in `item_completed` alone, and older ones in events of their own. A
    /// record of the other form would be a second report.
    fn of_event(inner: &str, is_numbered: bool) -> Option<Self> {
        Some(match inner {
            "task_started" | "turn_started" => Self::TurnStarted,
            "task_complete" | "turn_complete" => Self::TurnComplete,
            "turn_aborted" => Self::TurnAborted,
            "token_count" => Self::Tokens,
            "thread_name_updated" => Self::Title,
            "thread_rolled_back" => Self::RolledBack,
            "item_completed" => Self::Item,
            "user_message" if !is_numbered => Self::UserMessage,
            "agent_message" if !is_numbered => Self::AgentMessage,
            // With a number, the end of the turn says it.
            "error" if !is_numbered => Self::Failed,
            _ => return is_known_event(inner).then_some(Self::Irrelevant),
        })
    }

    fn of_item(inner: &str) -> Option<Self> {
        Some(match inner {
            "function_call" | "custom_tool_call" => Self::Call,
            "function_call_output" | "custom_tool_call_output" => Self::CallOutput,
            "local_shell_call" => Self::ShellCall,
            "web_search_call" => Self::WebSearch,
            "reasoning" => Self::Reasoning,
            "agent_message" => Self::Task,
            // Instructions, and what the events say as well.
            "message" => Self::Irrelevant,
            "ghost_snapshot"
            | "compaction"
            | "compaction_summary"
            | "compaction_trigger"
            | "context_compaction"
            | "tool_search_call"
            | "tool_search_output"
            | "image_generation_call"
            | "additional_tools"
            | "other" => Self::Irrelevant,
            _ => return None,
        })
    }
}

fn is_known_event(inner: &str) -> bool {
    // What begins or goes on is followed by its end.
    let ends = ["_begin", "_end", "_delta", "_request", "_started", "_completed", "_update", "_updated"];
    ends.iter().any(|end| inner.ends_with(end))
        || matches!(
            inner,
            "user_message"
                | "agent_message"
                | "agent_reasoning"
                | "agent_reasoning_raw_content"
                | "agent_reasoning_section_break"
                | "background_event"
                | "context_compacted"
                | "deprecation_notice"
                | "entered_review_mode"
                | "exited_review_mode"
                | "error"
                | "mcp_startup_complete"
                | "model_reroute"
                | "model_verification"
                | "raw_response_item"
                | "realtime_conversation_closed"
                | "safety_buffering"
                | "session_configured"
                | "shutdown_complete"
                | "stream_error"
                | "sub_agent_activity"
                | "request_user_input"
                | "request_permissions"
                | "terminal_interaction"
                | "thread_settings_applied"
                | "turn_diff"
                | "turn_moderation_metadata"
                | "view_image_tool_call"
                | "warning"
        )
}

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

/// Events without facts of their own, in the order of their names.
const OTHER_EVENTS: &[&str] = &[
    "agent_message",
    "agent_message_content_delta",
    "agent_reasoning",
    "agent_reasoning_raw_content",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_request",
    "entered_review_mode",
    "error",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "exited_review_mode",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_started",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "mcp_tool_call_progress",
    "model_reroute",
    "model_verification",
    "patch_apply_begin",
    "patch_apply_end",
    "patch_apply_updated",
    "plan_delta",
    "plan_update",
    "raw_response_item",
    "realtime_conversation_closed",
    "realtime_conversation_started",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "request_permissions",
    "request_user_input",
    "safety_buffering",
    "session_configured",
    "shutdown_complete",
    "stream_error",
    "sub_agent_activity",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_settings_applied",
    "turn_diff",
    "turn_moderation_metadata",
    "undo_completed",
    "undo_started",
    "user_message",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
    "web_search_end",
];

fn is_known_event(inner: &str) -> bool {
    OTHER_EVENTS.binary_search(&inner).is_ok()
}

#[cfg(test)]
mod tests {
    use super::OTHER_EVENTS;

    #[test]
    fn the_events_are_in_order() {
        assert!(OTHER_EVENTS.is_sorted());
    }
}

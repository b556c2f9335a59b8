//! Slash commands, `!` lines and their output, without the agent's tags.

use watchbill_core::transcript::bounded_text::without_escapes;
use watchbill_core::transcript::payloads::CommandPart;

use super::user::{command_name, tagged, unknown_command};

/// Removes the agent's tags.
pub(super) fn command_parts(text: &str) -> Vec<CommandPart> {
    if let Some(name) = command_name(text) {
        let args = tagged(text, "command-args").map(str::trim).filter(|args| !args.is_empty());
        return vec![CommandPart::Command(args.map_or(name.clone(), |args| format!("{name} {args}")))];
    }
    if let Some(input) = tagged(text, "bash-input") {
        return vec![CommandPart::Command(format!("! {}", input.trim()))];
    }
    if let Some(refusal) = unknown_command(text) {
        return vec![CommandPart::Output(refusal.to_owned())];
    }
    ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"]
        .into_iter()
        .filter_map(|tag| tagged(text, tag))
        .map(|output| without_escapes(output).trim().to_owned())
        .filter(|output| !output.is_empty())
        .map(CommandPart::Output)
        .collect()
}

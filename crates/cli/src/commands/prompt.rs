//! `prompt`: types a prompt of the user into a session's terminal.

use anyhow::bail;
use watchbill_protocol::prompt::{PromptCall, PromptOutcome, PromptSent};

use super::{emit, holder, to_json};
use crate::args::{Global, Prompt};

/// Sends a prompt and prints its outcome.
///
/// # Errors
/// When it was not sent, when this program may not send it, or when the agent says nothing of it.
pub fn prompt(global: &Global, wanted: &Prompt) -> anyhow::Result<()> {
    let mut client = holder::connect(global, "send prompts")?;
    let session = client.why(&wanted.session)?.session_id;
    let sent = client.prompt(&PromptCall { session, text: wanted.text.clone() })?;
    if wanted.json {
        emit(&to_json(&sent)?)?;
    } else if sent.outcome == PromptOutcome::Submitted {
        emit(words(&sent))?;
    }
    if sent.outcome == PromptOutcome::Unknown {
        bail!(
            "Enter was pressed, but no file shows the prompt; look at its terminal before you send it again"
        );
    }
    Ok(())
}

fn words(sent: &PromptSent) -> &'static str {
    match (sent.proof.as_deref(), sent.whole) {
        (_, Some(true)) => "submitted\n",
        (_, Some(false)) => "submitted, but the agent has another text: look at its terminal\n",
        (Some("transcript"), None) => "submitted as a command\n",
        _ => "submitted: the session works; its transcript does not show the text yet\n",
    }
}

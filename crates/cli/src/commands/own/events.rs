//! Prints the events of an own session as text, and waits for the end of a prompt.

use watchbill_drive::client::{HostError, follow};
use watchbill_drive::folder::Folder;
use watchbill_protocol::own::event::{OwnEvent, OwnWhat, PromptPlace};
use watchbill_protocol::own::host::HostMessage;

use crate::commands::{emit, to_json};
use crate::terminal_text::{Paint, Tone, lines, one_line};

/// How the events are printed.
#[derive(Debug, Clone, Copy)]
pub struct Printing {
    /// One JSON object a line.
    pub json: bool,
    /// Colours of text.
    pub paint: Paint,
}

/// How a prompt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The turn that took it was completed.
    Completed,
    /// Another end, in words.
    Otherwise(String),
}

/// Passes each event of a session to `sink`, from the record `from` on, until it gives `false` or the host ends.
///
/// # Errors
/// When no host runs.
pub fn each(folder: &Folder, from: u64, sink: &mut dyn FnMut(&OwnEvent) -> bool) -> Result<(), HostError> {
    let mut pass = |message: HostMessage| match message {
        HostMessage::Events { events } => events.iter().all(&mut *sink),
        HostMessage::CaughtUp | HostMessage::Screen { .. } | HostMessage::Output { .. } => true,
    };
    follow(folder, from, &mut pass).map(drop)
}

/// Prints the events of a session until a prompt is done.
///
/// # Errors
/// When no host runs, or the output cannot be written.
pub fn wait(folder: &Folder, from: u64, prompt: &str, printing: Printing) -> anyhow::Result<End> {
    let (mut end, mut written) = (None, Ok(()));
    each(folder, from, &mut |event| {
        written = print(event, printing);
        end = end_of(&event.what, prompt).or(end.take());
        end.is_none() && written.is_ok()
    })?;
    written?;
    Ok(end.unwrap_or_else(|| End::Otherwise("its host ended".to_owned())))
}

/// The end of a prompt, if this event is it. A prompt that a running turn took in is done with that turn.
fn end_of(what: &OwnWhat, prompt: &str) -> Option<End> {
    match what {
        OwnWhat::TurnEnd { reason, prompts, .. } if prompts.iter().any(|id| id == prompt) => {
            Some(match reason.as_str() {
                "completed" => End::Completed,
                "interrupted" => End::Otherwise("the turn was interrupted".to_owned()),
                other => End::Otherwise(format!("the turn ended with `{}`", one_line(other))),
            })
        }
        OwnWhat::Prompt { id, place, .. } if id == prompt => match place {
            PromptPlace::Dropped => Some(End::Otherwise("the prompt was taken back".to_owned())),
            PromptPlace::Unknown => {
                Some(End::Otherwise("the agent ended before it said that it has the prompt".to_owned()))
            }
            PromptPlace::Queued | PromptPlace::Sent | PromptPlace::Started | PromptPlace::Done => None,
        },
        OwnWhat::SessionEnded { .. } => Some(End::Otherwise("the session has ended".to_owned())),
        _ => None,
    }
}

/// Prints one event.
///
/// # Errors
/// When the output cannot be written.
pub fn print(event: &OwnEvent, printing: Printing) -> anyhow::Result<()> {
    if printing.json {
        return emit(&to_json(event)?);
    }
    match words(&event.what, printing.paint) {
        Some(text) => emit(&text),
        None => Ok(()),
    }
}

/// An event in words; `None` for one that says nothing to a reader.
fn words(what: &OwnWhat, paint: Paint) -> Option<String> {
    let line = |tone, text: String| Some(paint.tone(tone, &text) + "\n");
    match what {
        OwnWhat::Prompt { text, place: PromptPlace::Started, .. } => line(Tone::Bold, marked("> ", text)),
        OwnWhat::Block { text, thinking: false, .. } if !text.trim().is_empty() => {
            Some(marked("", text.trim_end()) + "\n")
        }
        OwnWhat::ToolUse { tool, target, .. } => {
            line(Tone::Dim, format!("{}: {}", one_line(tool), one_line(target)))
        }
        OwnWhat::ToolResult { text, failed: true, .. } => {
            let first = text.lines().next().unwrap_or_default();
            line(Tone::Dim, format!("failed: {}", one_line(first)))
        }
        OwnWhat::Request { request } => line(Tone::Bold, format!("asks: {}", one_line(&request.summary))),
        OwnWhat::RequestClosed { by, .. } => {
            line(Tone::Dim, format!("the request is over: {}", one_line(by)))
        }
        OwnWhat::Retry { attempt, cause, .. } => {
            line(Tone::Dim, format!("try {attempt} failed: {}", one_line(cause)))
        }
        OwnWhat::Compaction { done: true, .. } => {
            line(Tone::Dim, "the conversation was compacted".to_owned())
        }
        OwnWhat::Error { text, .. } => line(Tone::Bold, format!("error: {}", one_line(text))),
        OwnWhat::QueueHeld { held: true, cause } => {
            let cause = one_line(cause.as_deref().unwrap_or("interrupted"));
            line(
                Tone::Dim,
                format!(
                    "queued prompts wait ({cause}): `watchbill queue --go-on`, with the session's id, lets them go on"
                ),
            )
        }
        OwnWhat::TurnEnd { reason, .. } => line(Tone::Dim, format!("turn ended: {}", one_line(reason))),
        OwnWhat::SessionEnded { words, .. } => {
            let words = words.as_deref().map(|words| format!(": {}", one_line(words)));
            line(Tone::Dim, format!("session ended{}", words.unwrap_or_default()))
        }
        _ => None,
    }
}

/// Text in lines that no text can steer, each with a mark before it.
fn marked(mark: &str, text: &str) -> String {
    lines(text).map(|line| format!("{mark}{line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(json: &str) -> OwnWhat {
        serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    #[test]
    fn a_prompt_is_done_with_the_turn_that_took_it() {
        let end = |json| end_of(&what(json), "p");
        assert_eq!(
            end(r#"{"event":"turn_end","reason":"completed","prompts":["o","p"]}"#),
            Some(End::Completed)
        );
        assert_eq!(end(r#"{"event":"turn_end","reason":"completed","prompts":["o"]}"#), None);
        let not = |json| matches!(end(json), Some(End::Otherwise(_)));
        assert!(not(r#"{"event":"turn_end","reason":"interrupted","prompts":["p"]}"#));
        assert!(not(r#"{"event":"prompt","id":"p","text":"x","place":"unknown"}"#));
        assert!(not(r#"{"event":"session_ended","asked":true}"#));
        assert_eq!(end(r#"{"event":"prompt","id":"p","text":"x","place":"done"}"#), None);
    }

    #[test]
    fn text_of_an_agent_cannot_steer_the_terminal() {
        let said = words(&what(r#"{"event":"block","block":"b","text":"one\n\u001b[2Jtwo"}"#), Paint(false));
        assert_eq!(said.as_deref(), Some("one\n[2Jtwo\n"));
    }
}

//! Prints the events of an own session as text, and waits for the end of a prompt.

use watchbill_drive::client::{HostError, follow};
use watchbill_drive::folder::Folder;
use watchbill_protocol::own::event::{OwnEvent, OwnWhat, PromptPlace};
use watchbill_protocol::own::host::HostMessage;

use crate::commands::{emit, to_json};
use crate::render::local_date_time;
use crate::terminal_text::{Paint, Tone, is_steering, lines, one_line};

/// How the events are printed.
#[derive(Debug, Clone, Copy)]
pub struct Printing {
    /// One JSON object a line.
    pub json: bool,
    /// Colours of text.
    pub paint: Paint,
}

/// Prints events. Text appears as it arrives.
#[derive(Debug)]
pub struct Printer {
    printing: Printing,
    /// The block whose text stands on the last line, which has no end yet.
    open: Option<OpenBlock>,
}

#[derive(Debug)]
struct OpenBlock {
    block: String,
    /// What is printed of it.
    said: String,
    /// Spaces after that. The end of a block has none.
    held: String,
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
    let (mut end, mut written, mut printer) = (None, Ok(()), Printer::new(printing));
    each(folder, from, &mut |event| {
        written = printer.print(event);
        end = end_of(&event.what, prompt).or(end.take());
        end.is_none() && written.is_ok()
    })?;
    written?;
    printer.end()?;
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

impl Printer {
    /// Has printed nothing yet.
    pub const fn new(printing: Printing) -> Self {
        Self { printing, open: None }
    }

    /// Prints one event.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn print(&mut self, event: &OwnEvent) -> anyhow::Result<()> {
        if self.printing.json {
            return emit(&to_json(event)?);
        }
        let text = self.text(&event.what);
        if text.is_empty() { Ok(()) } else { emit(&text) }
    }

    /// Ends the last line.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn end(&mut self) -> anyhow::Result<()> {
        let end = self.line_end();
        if end.is_empty() { Ok(()) } else { emit(end) }
    }

    /// What an event adds to the output.
    fn text(&mut self, what: &OwnWhat) -> String {
        match what {
            OwnWhat::Text { block, delta } => self.grown(block, delta),
            OwnWhat::Block { block, text, thinking: false, .. } => {
                let whole = marked("", text.trim_end());
                let open = self.open.take_if(|open| open.block == *block && whole.starts_with(&open.said));
                match open {
                    _ if whole.trim().is_empty() => self.line_end().to_owned(),
                    Some(open) => format!("{}\n", &whole[open.said.len()..]),
                    None => format!("{}{whole}\n", self.line_end()),
                }
            }
            what => match words(what, self.printing.paint) {
                Some(words) => self.line_end().to_owned() + &words,
                None => String::new(),
            },
        }
    }

    /// Ends the last line, if it has no end yet.
    fn line_end(&mut self) -> &'static str {
        if self.open.take().is_some_and(|open| !open.said.is_empty()) { "\n" } else { "" }
    }

    fn grown(&mut self, block: &str, delta: &str) -> String {
        let mut out = String::new();
        if self.open.as_ref().is_some_and(|open| open.block != block) {
            out.push_str(self.line_end());
        }
        let mut text = self.open.as_mut().map(|open| std::mem::take(&mut open.held)).unwrap_or_default();
        let tabs_are_spaces = delta.chars().map(|c| if c == '\t' { ' ' } else { c });
        text.extend(tabs_are_spaces.filter(|c| *c == '\n' || !is_steering(*c)));
        let held = text.split_off(text.trim_end().len());
        out.push_str(&text);
        let open = self.open.get_or_insert_with(|| OpenBlock {
            block: block.to_owned(),
            said: String::new(),
            held: String::new(),
        });
        open.said.push_str(&text);
        open.held = held;
        out
    }
}

/// An event in words; `None` for one that says nothing to a reader.
fn words(what: &OwnWhat, paint: Paint) -> Option<String> {
    let line = |tone, text: String| Some(paint.tone(tone, &text) + "\n");
    match what {
        OwnWhat::Prompt { text, place: PromptPlace::Started, .. } => line(Tone::Bold, marked("> ", text)),
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
        OwnWhat::QueueHeld { held: true, until: Some(until), .. } => {
            line(Tone::Dim, format!("queued prompts wait until {}", local_date_time(until)))
        }
        OwnWhat::QueueHeld { held: true, cause, .. } => {
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

    fn printed(events: &[&str]) -> Vec<String> {
        let mut printer = Printer::new(Printing { json: false, paint: Paint(false) });
        events.iter().map(|event| printer.text(&what(event))).collect()
    }

    #[test]
    fn text_of_an_agent_cannot_steer_the_terminal() {
        assert_eq!(
            printed(&[r#"{"event":"block","block":"b","text":"one\n\u001b[2Jtwo"}"#]),
            ["one\n[2Jtwo\n"]
        );
        let grown = [
            r#"{"event":"text","block":"b","delta":"one\u001b"}"#,
            r#"{"event":"text","block":"b","delta":"[2Jtwo"}"#,
        ];
        assert_eq!(printed(&grown), ["one", "[2Jtwo"]);
    }

    #[test]
    fn text_grows_and_is_printed_once() {
        let text =
            |block: &str, delta: &str| format!(r#"{{"event":"text","block":"{block}","delta":"{delta}"}}"#);
        let whole =
            |block: &str, text: &str| format!(r#"{{"event":"block","block":"{block}","text":"{text}"}}"#);
        let tool = r#"{"event":"tool_use","id":"t","tool":"Bash","target":"ls","input":{}}"#.to_owned();
        for (events, expected) in [
            (vec![text("b", "The "), text("b", "log"), whole("b", "The log\\n")], vec!["The", " log", "\n"]),
            (
                vec![text("b", "a\\r\\n"), text("b", "\\tb"), whole("b", "a\\r\\n\\tb")],
                vec!["a", "\n b", "\n"],
            ),
            // The host has not seen every delta, or the agent begins the block again.
            (vec![text("b", "The"), whole("b", "The whole log")], vec!["The", " whole log\n"]),
            (
                vec![text("b", "A"), whole("b", ""), text("b", "B"), whole("b", "B")],
                vec!["A", "\n", "B", "\n"],
            ),
            (vec![text("b", "A"), text("c", "B"), whole("c", "B")], vec!["A", "\nB", "\n"]),
            (
                vec![text("b", "A"), tool.clone(), whole("b", "A and B")],
                vec!["A", "\nBash: ls\n", "A and B\n"],
            ),
            (vec![whole("b", "A"), tool, whole("c", " ")], vec!["A\n", "Bash: ls\n", ""]),
        ] {
            let events: Vec<&str> = events.iter().map(String::as_str).collect();
            assert_eq!(printed(&events), expected, "{events:?}");
        }
    }
}

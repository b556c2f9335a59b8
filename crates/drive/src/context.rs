//! Writes one session's prompts and answers as text for the first prompt of another session, for a change of the agent.
//!
//! Only text crosses. Blocks of one agent (signed thinking, calls without results) would be refused by another one.

use std::borrow::Cow;
use std::ops::Range;

use watchbill_core::own::CONTEXT;

const NAME: &str = "watchbill-context";

const ABOUT: &str = "This was said in another session that goes on here. It is for your information. The user's prompt follows it.";
const LEFT_OUT: &str = "(What came before is left out.)";

/// One part of the session that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Words of the user.
    User(String),
    /// Words of the agent.
    Agent(String),
    /// A use of a tool, in short.
    Tool {
        /// The tool's name.
        tool: String,
        /// What it did, in a line or two.
        summary: String,
    },
    /// The summary of a compaction. It stands for everything before it.
    Summary(String),
}

/// The block of at most `budget` bytes. The newest parts are kept; of a part that is too long by itself, the end is kept.
/// Empty if the session has no text, or none fits.
pub fn block(turns: &[Turn], budget: usize) -> String {
    let summary = turns.iter().rposition(|turn| matches!(turn, Turn::Summary(_))).unwrap_or(0);
    let parts: Vec<_> = turns[summary..].iter().filter_map(part).collect();
    let (open, close) = CONTEXT;
    let frame: usize = [open, ABOUT, LEFT_OUT, close].iter().map(|line| line.len() + 1).sum();
    let mut room = budget.saturating_sub(frame);
    let mut kept: Vec<Cow<'_, str>> = Vec::new();
    let mut is_whole = true;
    for part in parts.iter().rev() {
        if part.len() < room {
            room -= part.len() + 1;
            kept.push(part.into());
            continue;
        }
        is_whole = false;
        if kept.is_empty() {
            kept.extend(end_of(part, room.saturating_sub(1)).map(Cow::from));
        }
        break;
    }
    if kept.is_empty() {
        return String::new();
    }
    let mut lines: Vec<Cow<'_, str>> = vec![open.into(), ABOUT.into()];
    lines.extend((!is_whole).then_some(LEFT_OUT.into()));
    lines.extend(kept.into_iter().rev());
    lines.push(close.into());
    lines.join("\n")
}

/// The first prompt of the other session.
pub fn prompt(block: &str, prompt: &str) -> String {
    if block.is_empty() { prompt.to_owned() } else { format!("{block}\n\n{prompt}") }
}

/// A part with its speaker. Each line of its text is indented, so no text can speak for another.
fn part(turn: &Turn) -> Option<String> {
    let (speaker, text) = match turn {
        Turn::User(text) => ("User:".to_owned(), text),
        Turn::Agent(text) => ("Assistant:".to_owned(), text),
        Turn::Tool { tool, summary } => (format!("Tool {}:", tool.replace(['\n', '\r'], " ")), summary),
        Turn::Summary(text) => ("Summary of what came before:".to_owned(), text),
    };
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let mut part = without_tag(&speaker);
    for line in without_tag(text).lines() {
        part.push_str("\n  ");
        part.push_str(line);
    }
    Some(part)
}

/// The text with each tag of the block made harmless.
fn without_tag(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(Range { start, end }) = tag(rest) {
        safe.push_str(&rest[..start]);
        safe.push_str("&lt;");
        safe.push_str(&rest[start + 1..end]);
        rest = &rest[end..];
    }
    safe.push_str(rest);
    safe
}

/// Where the next tag of the block is, from its `<` to the end of its name.
fn tag(text: &str) -> Option<Range<usize>> {
    text.match_indices('<').find_map(|(start, _)| {
        let name = start + 1 + usize::from(text[start + 1..].starts_with('/'));
        let end = name + NAME.len();
        text.get(name..end)?.eq_ignore_ascii_case(NAME).then_some(start..end)
    })
}

/// The speaker and the end of a part, in at most `room` bytes. `None` where no text fits.
fn end_of(part: &str, room: usize) -> Option<String> {
    let (speaker, text) = part.split_once("\n  ")?;
    let head = format!("{speaker}\n  …");
    let room = room.checked_sub(head.len()).filter(|room| *room > 0)?;
    let start = text.ceil_char_boundary(text.len().saturating_sub(room));
    Some(head + &text[start..])
}

//! What a timeline leaves out: private text, and what the user excludes.
//!
//! The rules are those of the history, so that a reader of a transcript sees no more than a search finds.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use super::super::bounded_text::{Bounded, json_text};
use super::super::entry::{ToolCall, What};
use super::super::json::Raw;
use crate::history::private::rest_closes_block;
use crate::history::{Exclude, keep_public, strip_private};
use crate::transcript::record::PromptOrigin;

/// Stands in place of the target of a call that names an excluded path.
pub const EXCLUDED: &str = "(excluded)";

/// Stands in place of the target of a call in a turn whose prompt is private as a whole.
const PRIVATE: &str = "(private)";

/// The rules, and what the records so far say about them.
#[derive(Debug, Default)]
pub(super) struct LeaveOut {
    exclude: Exclude,
    /// The working folder of the newest record that names one.
    folder: Option<Arc<str>>,
    /// The newest typed command names an excluded path, so its output may too.
    command: bool,
    /// A record has an excluded working folder, so nothing of the file is shown.
    everything: bool,
    /// The newest prompt is private as a whole, and so is its turn.
    turn: bool,
    /// Processes that calls which are left out keep running. Later calls get their output.
    processes: HashSet<u64>,
}

impl LeaveOut {
    pub fn new(exclude: Exclude) -> Self {
        Self { exclude, ..Self::default() }
    }

    /// Notes the working folder of a record. `true`: nothing of the file may be shown.
    pub fn everything_from(&mut self, cwd: Option<&str>) -> bool {
        if let Some(cwd) = cwd.filter(|cwd| !cwd.is_empty() && self.folder.as_deref() != Some(cwd)) {
            self.folder = Some(Arc::from(cwd));
            self.everything |= self.exclude.excludes(cwd);
        }
        self.everything
    }

    /// A prompt begins a turn.
    pub fn begin_turn(&mut self, origin: PromptOrigin, private: bool) {
        self.turn = origin.privacy(private, self.turn);
    }

    /// Whether the turn is private as a whole.
    pub fn is_private(&self) -> bool {
        self.turn
    }

    /// What stands in place of a call's target, if its texts are left out: it names an excluded path, or its turn is private.
    pub fn call(&self, tool: &str, input: Raw<'_>, process: Option<u64>) -> Option<&'static str> {
        if self.turn {
            return Some(PRIVATE);
        }
        if process.is_some_and(|process| self.processes.contains(&process)) {
            return Some(EXCLUDED);
        }
        let Raw::Nested(input) = input else { return None };
        self.exclude.call_names_excluded(tool, input, self.folder.as_deref()).then_some(EXCLUDED)
    }

    /// A call that is left out keeps a process running.
    pub fn goes_on(&mut self, process: Option<u64>) {
        self.processes.extend(process);
    }

    /// The public part of a result. `None`: the call or the result names an excluded path.
    pub fn output(&self, call: &ToolCall, output: &str) -> Option<String> {
        let own = self.exclude.folder_of_call(&call.tool, &call.input, self.folder.as_deref());
        let folder = own.as_deref().or(self.folder.as_deref());
        let names = || self.exclude.output_names_excluded(Some(&call.tool), output, folder);
        (!call.left_out && !names()).then(|| strip_private(output).into_owned())
    }

    /// Whether a typed command names an excluded path.
    pub fn typed(&mut self, command: &str) -> bool {
        self.command = self.exclude.command_names_excluded(command, self.folder.as_deref());
        self.command
    }

    /// Whether the output of the newest typed command does, or of another part of the agent.
    pub fn printed(&self, text: &str) -> bool {
        self.command || self.exclude.output_names_excluded(None, text, self.folder.as_deref())
    }
}

/// The content without private text. `None`: all of it is private.
pub(super) fn public(what: What) -> Option<What> {
    let kept = |text: String| keep_public(&text).map(Cow::into_owned);
    Some(match what {
        What::Prompt { text, origin } => What::Prompt { text: kept(text)?, origin },
        What::Response(text) => What::Response(kept(text)?),
        What::Thinking(text) => What::Thinking(kept(text)?),
        What::Error(text) => What::Error(kept(text)?),
        What::Command(text) => What::Command(kept(text)?),
        What::Note(text) => What::Note(kept(text)?),
        // A call's texts were stripped where they were made.
        What::Tool(_) | What::Boundary(_) | What::Interrupted => what,
    })
}

/// The input of a call as JSON text, cut, without private text.
pub(super) fn input_text(input: Raw<'_>, limit: usize) -> Bounded {
    let Bounded { text, cut } = json_text(input, limit);
    if let Raw::Nested(whole) = input
        && cut
        && rest_closes_block(&text, &whole[whole.floor_char_boundary(limit.min(whole.len()))..])
    {
        return Bounded { text: String::new(), cut };
    }
    Bounded { text: strip_private(&decode_escapes(&text)).into_owned(), cut }
}

/// The same JSON with no character of a tag written as an escape, such as `\u003c` for `<`.
fn decode_escapes(json: &str) -> Cow<'_, str> {
    if !json.contains("\\u00") && !json.contains("\\/") {
        return Cow::Borrowed(json);
    }
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let escape = &rest[at..];
        // All other escapes stay.
        let (sign, len) = match escape.get(1..2) {
            Some("u") => (escape.get(2..6).and_then(ascii_char), 6),
            Some("/") => (Some('/'), 2),
            _ => (None, 2),
        };
        let len = match sign {
            Some(sign) => {
                plain.push(sign);
                len
            }
            None => {
                // An escape that is cut off is the last one in the text.
                let len = escape.char_indices().nth(2).map_or(escape.len(), |(at, _)| at);
                plain.push_str(&escape[..len]);
                len
            }
        };
        rest = &escape[len..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The visible ASCII character that these four digits stand for, unless it must be escaped.
fn ascii_char(digits: &str) -> Option<char> {
    let sign = char::from(u8::from_str_radix(digits.strip_prefix("00")?, 16).ok()?);
    (sign.is_ascii_graphic() && !matches!(sign, '"' | '\\')).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_ascii_characters_are_decoded_and_other_escapes_stay() {
        for (json, plain) in [
            (r#"{"a":"b\n\"c\u00e9"}"#, r#"{"a":"b\n\"c\u00e9"}"#),
            (r#"{"a":"\u003cprivate\u003E<\/private>"}"#, r#"{"a":"<private></private>"}"#),
            (r#"{"a":"\\u003cprivate>"}"#, r#"{"a":"\\u003cprivate>"}"#),
            (r#"{"a":"\u0022\u005c\u000a\u007f"}"#, r#"{"a":"\u0022\u005c\u000a\u007f"}"#),
            (r#"{"a":"\u003c\u00…"#, r#"{"a":"<\u00…"#),
            (r#"{"a":"\/\…"#, r#"{"a":"/\…"#),
            (r#"{"a":"\u003c\"#, r#"{"a":"<\"#),
            (r#"{"a":"\u00+c\u003c"#, r#"{"a":"\u00+c<"#),
        ] {
            assert_eq!(decode_escapes(json), plain, "{json}");
        }
    }
}

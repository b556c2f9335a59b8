//! Adds to JSON with comments, and removes from it, as text: all other bytes stay unchanged.
//!
//! Each addition can be undone exactly, from the text alone. So the text must show whether a list was empty before,
//! or was made for our item. In a list that was empty, our first item follows the bracket after one blank. In a list
//! made for it, the item has a line of its own.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions};

use super::error::SettingsError;

/// The text before an item in a list or an object that was empty.
const WAS_EMPTY: &str = " ";

/// The lines of a plugin around its settings.
const PLUGINS_SETTINGS: [&str; 2] = ["// watchbill: settings begin", "// watchbill: settings end"];

/// What stands before settings, the settings, and what stands behind them: a byte order mark that some editors write, or the program of
/// a plugin of ours.
pub(super) fn parts(text: &str) -> (&str, &str, &str) {
    let [begin, end] = PLUGINS_SETTINGS;
    let line_end = |at: usize| text[at..].find('\n').map(|end| at + end + 1);
    let plugin = text.find(begin).and_then(line_end).zip(text.rfind(end));
    if let Some((from, to)) = plugin.filter(|(from, to)| from <= to) {
        return (&text[..from], &text[from..to], &text[to..]);
    }
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mark, rest) = text.split_at(text.len() - rest.len());
    (mark, rest, "")
}

/// Parses settings: JSON with comments, nothing looser.
///
/// # Errors
/// When the text is not such JSON, with line and column.
pub(super) fn parse(text: &str) -> Result<Value<'_>, SettingsError> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options);
    let parsed = parsed.map_err(|error| SettingsError::Malformed {
        line: error.line_display(),
        column: error.column_display(),
        what: error.kind().to_string(),
    })?;
    parsed.value.ok_or(SettingsError::Empty)
}

/// Checks settings of an agent that takes no comments. An empty text is left to [`parse`].
///
/// # Errors
/// When the text is not plain JSON, with line and column.
pub(super) fn check_plain(text: &str) -> Result<(), SettingsError> {
    match serde_json::from_str::<serde::de::IgnoredAny>(text) {
        Err(error) if !text.trim().is_empty() => Err(SettingsError::Malformed {
            line: error.line(),
            column: error.column(),
            what: format!("the agent reads plain JSON without comments, and cannot read this: {error}"),
        }),
        _ => Ok(()),
    }
}

/// The error for a wrong kind of value at `range`.
pub(super) fn unexpected(text: &str, range: &impl Ranged, what: &str) -> SettingsError {
    let before = &text[..range.start()];
    let line_begin = before.rfind('\n').map_or(0, |at| at + 1);
    SettingsError::Malformed {
        line: before.matches('\n').count() + 1,
        column: before[line_begin..].chars().count() + 1,
        what: what.to_owned(),
    }
}

/// A list or an object: its position, and its items.
#[derive(Debug, Clone)]
pub(super) struct Container {
    /// The range with the brackets.
    pub range: Range<usize>,
    /// The range of each item, without commas.
    pub items: Vec<Range<usize>>,
}

impl From<&Array<'_>> for Container {
    fn from(array: &Array<'_>) -> Self {
        let items = array.elements.iter().map(|item| item.start()..item.end()).collect();
        Self { range: array.start()..array.end(), items }
    }
}

impl From<&Object<'_>> for Container {
    fn from(object: &Object<'_>) -> Self {
        let items = object.properties.iter().map(|item| item.start()..item.end()).collect();
        Self { range: object.start()..object.end(), items }
    }
}

impl Container {
    /// Whether `items[index]` is the only item, and the container was made for it.
    pub fn was_made_for(&self, text: &str, index: usize) -> bool {
        let item = &self.items[index];
        let (before, after) = (&text[self.range.start + 1..item.start], &text[item.end..self.range.end - 1]);
        self.items.len() == 1 && before != WAS_EMPTY && before.trim().is_empty() && after.trim().is_empty()
    }

    /// The text with one more item at the end.
    pub fn append(&self, text: &str, item: &str) -> String {
        let mut new = text.to_owned();
        let Some(last) = self.items.last() else {
            new.insert_str(self.range.start + 1, &format!("{WAS_EMPTY}{item}"));
            return new;
        };
        let comma = comma_after(text, last.end);
        let (place, in_line_comment) = after_comments(text, comma.map_or(last.end, |at| at + 1));
        let apart = match self.indent(text) {
            Some(indent) => format!("{}{indent}", newline(text)),
            None if in_line_comment => newline(text).to_owned(),
            None => WAS_EMPTY.to_owned(),
        };
        new.insert_str(place, &format!("{apart}{item}{}", if comma.is_some() { "," } else { "" }));
        if comma.is_none() {
            new.insert(last.end, ',');
        }
        new
    }

    /// The white space before the last item, if it begins a line.
    fn indent<'t>(&self, text: &'t str) -> Option<&'t str> {
        let before = &text[..self.items.last()?.start];
        let blank = &before[before.trim_end().len()..];
        blank.rfind('\n').map(|at| &blank[at + 1..])
    }

    /// The text without one item, its comma and the white space before it.
    pub fn remove(&self, text: &str, index: usize) -> String {
        let item = &self.items[index];
        let previous = index.checked_sub(1).map(|previous| self.items[previous].end);
        let begin = previous.unwrap_or(self.range.start + 1);
        let before = begin + text[begin..item.start].trim_end().len();
        let rest = text[item.end..].trim_start_matches([' ', '\t', ',']);
        // A line comment would swallow the text that follows.
        let keeps_newline = ends_in_line_comment(&text[begin..before]) && !rest.starts_with(['\n', '\r']);
        let instead = if keeps_newline { "\n" } else { "" };
        let comma = comma_after(text, item.end);
        let mut new = text.to_owned();
        if let Some(comma) = comma {
            // Comments between the item and its comma are not ours, so they stay.
            new.replace_range(comma..=comma, "");
        }
        new.replace_range(before..item.end, instead);
        if comma.is_none()
            && let Some(comma) = previous.and_then(|end| comma_after(text, end))
        {
            new.replace_range(comma..=comma, "");
        }
        new
    }
}

/// Whether `gap` ends within a line comment. It has only white space, commas and comments.
fn ends_in_line_comment(gap: &str) -> bool {
    let mut rest = gap;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        if rest.starts_with("//") {
            let Some(end) = rest.find('\n') else { return true };
            rest = &rest[end..];
        } else if let Some(end) = rest.strip_prefix("/*").and_then(|inner| inner.find("*/")) {
            rest = &rest[end + 4..];
        } else {
            return false;
        }
    }
}

/// The next comma, if only white space and comments come before it.
fn comma_after(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start().len();
        let rest = &rest[blank..];
        at += blank;
        if rest.starts_with("//") {
            at += rest.find('\n')?;
        } else if rest.starts_with("/*") {
            at += rest.find("*/")? + 2;
        } else {
            return rest.starts_with(',').then_some(at);
        }
    }
}

/// The place after the comments on the same line, which belong to the item before them. Also whether the last one is
/// a line comment.
fn after_comments(text: &str, from: usize) -> (usize, bool) {
    let mut place = from;
    loop {
        let rest = &text[place..];
        let comment = rest.trim_start_matches([' ', '\t']);
        let begin = place + rest.len() - comment.len();
        if comment.starts_with("//") {
            let line = comment.split('\n').next().unwrap_or(comment);
            return (begin + line.trim_end_matches('\r').len(), true);
        }
        match comment.strip_prefix("/*").and_then(|inner| inner.find("*/").map(|at| (inner, at))) {
            Some((inner, at)) if !inner[..at].contains('\n') => place = begin + 2 + at + 2,
            _ => return (place, false),
        }
    }
}

/// The line end that the text uses.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether only white space is around the settings.
pub(super) fn is_all(text: &str, root: &Object<'_>) -> bool {
    text[..root.start()].trim().is_empty() && text[root.end()..].trim().is_empty()
}

/// A property. If there are two, the agent uses the last.
pub(super) fn last<'v, 't>(object: &'v Object<'t>, name: &str) -> Option<&'v ObjectProp<'t>> {
    object.properties.iter().rfind(|property| property.name.as_str() == name)
}

/// A value as an object.
///
/// # Errors
/// When it is another value; `what` says what it must be.
pub(super) fn object<'v, 't>(
    text: &str,
    value: &'v Value<'t>,
    what: &str,
) -> Result<&'v Object<'t>, SettingsError> {
    match value {
        Value::Object(object) => Ok(object),
        other => Err(unexpected(text, other, what)),
    }
}

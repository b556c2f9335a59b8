//! Wraps the status line of an agent's settings into ours, and takes it out again.
//!
//! The person's own command becomes the last word of ours, in single quotes. It stays as it is spelled in the file, with its
//! escapes, so that the way back gives the same bytes.

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use watchbill_agents::{Agent, hook_traits};

use super::command::{self, HookCommand, HookTarget, Purpose};
use super::error::SettingsError;
use super::text::{Container, is_all, last, object, parse, parts, unexpected};

/// What stands before and behind the person's own command.
const OWN: &str = " -- '";
const OWN_END: &str = "'";
/// A quote, in both spellings of JSON.
const QUOTES: [&str; 2] = ["'", r"\u0027"];
/// What stands before and behind a quote that lies within single quotes of a shell, as JSON spells it.
const BEFORE_QUOTE: &str = r"'\\";
const BEHIND_QUOTE: &str = "'";

/// Our status line in settings.
pub(super) struct Found {
    /// The program that it starts.
    pub called: HookTarget,
    /// Its line, without the person's own command.
    line: String,
    /// The person's own command, as the file spells it.
    own: Option<String>,
    /// The range of the command in the file, within its quotes.
    command: (usize, usize),
    /// Its place among the settings.
    at: usize,
}

/// The settings with the person's status line in ours. Without one, ours prints nothing.
///
/// # Errors
/// When the settings have a status line that names no command.
pub(super) fn install(before: Option<&str>, command: &HookCommand) -> Result<String, SettingsError> {
    let line = command.line();
    if let Some(text) = before
        && find(text)?.is_some_and(|found| found.line == line)
    {
        return Ok(text.to_owned());
    }
    let ours = serde_json::Value::from(line).to_string();
    let setting = hook_traits(command.agent).status_line.unwrap_or_default();
    let entry = format!("\"{setting}\": {{ \"type\": \"command\", \"command\": {ours} }}");
    let Some(before) = before.map(uninstall).transpose()?.flatten() else {
        return Ok(format!("{{\n  {entry}\n}}\n"));
    };
    let (mark, text, tail) = parts(&before);
    let root = parse(text)?;
    let root = object(text, &root, "settings must be an object")?;
    let new = match last(root, setting) {
        None => Container::from(root).append(text, &entry),
        Some(property) => {
            let command = command_of(text, property)?;
            let (from, to) = (command.start() + 1, command.end() - 1);
            let (ours, own) = (&ours[1..ours.len() - 1], quoted(&text[from..to]));
            format!("{}{ours}{OWN}{own}{OWN_END}{}", &text[..from], &text[to..])
        }
    };
    parse(&new)?;
    Ok(format!("{mark}{new}{tail}"))
}

/// The settings with the person's own status line; `None` when the file had been made for ours alone.
pub(super) fn uninstall(before: &str) -> Result<Option<String>, SettingsError> {
    let Some(found) = find(before)? else { return Ok(Some(before.to_owned())) };
    let (mark, text, tail) = parts(before);
    let new = if let Some(own) = &found.own {
        let (from, to) = found.command;
        format!("{}{own}{}", &text[..from], &text[to..])
    } else {
        let root = parse(text)?;
        let root = object(text, &root, "settings must be an object")?;
        let container = Container::from(root);
        if container.was_made_for(text, found.at) && is_all(text, root) {
            return Ok(None);
        }
        container.remove(text, found.at)
    };
    Ok(Some(format!("{mark}{new}{tail}")))
}

/// Our status line in settings, of any version.
pub(super) fn find(text: &str) -> Result<Option<Found>, SettingsError> {
    let text = parts(text).1;
    let root = parse(text)?;
    let Value::Object(root) = &root else { return Ok(None) };
    let settings = Agent::ALL.into_iter().filter_map(|agent| hook_traits(agent).status_line);
    Ok(settings.into_iter().find_map(|setting| found_in(text, root, setting)))
}

fn found_in(text: &str, root: &Object<'_>, setting: &str) -> Option<Found> {
    let at = root.properties.iter().rposition(|property| property.name.as_str() == setting)?;
    let Value::StringLit(command) = command_of(text, &root.properties[at]).ok()? else { return None };
    let command = (command.start() + 1, command.end() - 1);
    let spelled = &text[command.0..command.1];
    // What stands before a separator is our line if a shell would read it so: a folder may have the separator in its name.
    let ours = |end: usize| {
        let line: String = serde_json::from_str(&format!("\"{}\"", &spelled[..end])).ok()?;
        let called = command::called_by(&line).filter(|called| called.purpose == Purpose::StatusLine)?;
        (line == line.trim_end()).then_some((called, line))
    };
    let separated = spelled.match_indices(OWN).find_map(|(end, _)| Some((ours(end)?, end + OWN.len())));
    if let Some(((called, line), begin)) = separated {
        let inner = spelled[begin..].strip_suffix(OWN_END)?;
        // A person has changed what does not come from `quoted`, so it is no longer ours to undo.
        let own = unquoted(inner).filter(|own| quoted(own) == inner)?;
        return Some(Found { called, line, own: Some(own), command, at });
    }
    let (called, line) = ours(spelled.len())?;
    let has_own = line.split_whitespace().any(|word| word == OWN.trim_end_matches(OWN_END).trim());
    (!has_own).then_some(Found { called, line, own: None, command, at })
}

/// The command of a status line, which is a text.
fn command_of<'v, 't>(text: &str, property: &'v ObjectProp<'t>) -> Result<&'v Value<'t>, SettingsError> {
    let what = "this status line has no command that Watchbill could run";
    match last(object(text, &property.value, what)?, "command").map(|command| &command.value) {
        Some(command @ Value::StringLit(_)) => Ok(command),
        _ => Err(unexpected(text, &property.value, what)),
    }
}

/// A command as JSON spells it, for single quotes of a shell.
fn quoted(own: &str) -> String {
    let (mut quoted, mut rest) = (String::with_capacity(own.len()), own);
    while let Some(c) = rest.chars().next() {
        let quote = QUOTES.into_iter().find(|quote| rest.starts_with(quote));
        // A backslash and what it escapes stay together: behind another one, `u0027` is no quote.
        let escaped = if c == '\\' { rest[1..].chars().next().map_or(0, char::len_utf8) } else { 0 };
        let (taken, left) = rest.split_at(quote.map_or(c.len_utf8() + escaped, str::len));
        match quote {
            Some(quote) => quoted.extend([BEFORE_QUOTE, quote, BEHIND_QUOTE]),
            None => quoted.push_str(taken),
        }
        rest = left;
    }
    quoted
}

/// The way back. `None` if the text does not come from [`quoted`].
fn unquoted(quoted: &str) -> Option<String> {
    let (mut own, mut rest) = (String::with_capacity(quoted.len()), quoted);
    while let Some(at) = rest.find('\'') {
        own.push_str(&rest[..at]);
        rest = rest[at..].strip_prefix(BEFORE_QUOTE)?;
        let quote = QUOTES.into_iter().find(|quote| rest.starts_with(quote))?;
        own.push_str(quote);
        rest = rest[quote.len()..].strip_prefix(BEHIND_QUOTE)?;
    }
    own.push_str(rest);
    Some(own)
}
